"""The answers are those that the OpenAPI document declares, whatever is asked; schemathesis does the asking.

Half of the path parameters name what is in the built-in world, so that more than 404 is answered. A normal
run asks some of the operations, with every case at the bounds of their parameters (about a hundred each); a
soak asks all of them. Every other test of the companion holds the answers against their models, too.
"""

from typing import Any

import schemathesis
from cases import IDS
from companion_calls import Api
from hypothesis import HealthCheck, settings
from pydantic_core import from_json
from schemathesis import checks

from dpsync.server.http.app import build_companion
from dpsync.server.store import open_store
from tests.soak import examples, slice_of

OPERATIONS = 2
"""How many operations of each profile a normal run asks."""
EXAMPLES = examples(5, soak=300)
"""How many cases are drawn for each, beside those at the bounds."""
CHECKS = [
    checks.not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_schema_conformance,
]


def document(profile: str) -> dict[str, Any]:
    store = open_store(":memory:")
    found: dict[str, Any] = from_json(build_companion(store, profile=profile).openapi_json())
    store.close()
    for methods in found["paths"].values():
        for operation in methods.values():
            for parameter in operation["parameters"]:
                if parameter["in"] == "path" and (known := IDS.get(parameter["name"])):
                    parameter["schema"] = {"anyOf": [{"const": known}, parameter["schema"]]}
    return found


def asked(profile: str) -> Any:
    """All operations of a profile in a soak, else a slice of them."""
    everything = schemathesis.openapi.from_dict(document(profile))
    labels = sorted(found.ok().label for found in everything.get_all_operations())
    chosen = set(slice_of(labels, OPERATIONS))
    return everything.include(lambda context: context.operation.label in chosen)


reference_schema, full_schema, published_schema = map(asked, ("reference", "full", "published"))
drawn = settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))


@reference_schema.parametrize()
@drawn
def test_fuzzed_reference_api_version_responses_match_openapi(
    reference: Api, case: schemathesis.Case
) -> None:
    hold(reference, case, adds=True)


@full_schema.parametrize()
@drawn
def test_fuzzed_full_api_version_responses_match_openapi(api: Api, case: schemathesis.Case) -> None:
    hold(api, case)


@published_schema.parametrize()
@drawn
def test_fuzzed_published_api_version_responses_match_openapi(
    published: Api, case: schemathesis.Case
) -> None:
    hold(published, case)


def hold(api: Api, case: schemathesis.Case, adds: bool = False) -> None:
    """Check the answer to one request against the OpenAPI document of the companion.

    `adds`: a method that the document does not have may be an addition, which is refused as one.
    """
    response = case.call(base_url=f"{api.server.url}/v1", headers={"Authorization": f"Bearer {api.token}"})
    if adds and response.status_code == 501:
        assert "does not have the operation" in response.text
        return
    if case.method != "GET" and response.status_code < 300:
        api.server.reset()
    case.validate_response(response, checks=CHECKS)
