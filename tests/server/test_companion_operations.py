"""Every operation of the table, once: it succeeds with its own status, and refuses who may not call it."""

from typing import Any

import pytest
from cases import BODIES, IDS, OTHER_IDS, QUERIES
from companion_calls import Api
from covers import covers_row

from dpsync.server.operation import Operation
from dpsync.server.operations import OPERATIONS

SERVED = [row for row in OPERATIONS if row.handler]
REFERENCE = [row for row in SERVED if row.profile == "reference"]


def path_of(row: Operation) -> str:
    path = row.path.format(**{**IDS, **OTHER_IDS.get(row.id, {})})
    return f"{path}?{QUERIES[row.id]}" if row.id in QUERIES else path


def prepare(api: Api, world: dict[str, Any]) -> None:
    """The built-in world, with a space and a collection that no site shows."""
    acme = world["organizations"][0]
    more = {
        **acme,
        "spaces": [*acme["spaces"], {"id": "unshown", "title": "Unshown"}],
        "collections": [*acme["collections"], {"id": "unshown", "title": "Unshown"}],
    }
    api.server.reset({**world, "organizations": [more, *world["organizations"][1:]]})


@pytest.mark.parametrize("row", SERVED, ids=lambda row: str(row.id))
def test_every_operation_succeeds_with_its_status(api: Api, row: Operation, builtin_world: Any) -> None:
    prepare(api, builtin_world)
    api.ok(row.method, path_of(row), BODIES.get(row.id), row.status)


@pytest.mark.parametrize("row", REFERENCE, ids=lambda row: str(row.id))
def test_every_operation_of_the_reference_is_served_by_its_profile(
    reference: Api, row: Operation, builtin_world: Any
) -> None:
    prepare(reference, builtin_world)
    reference.ok(row.method, path_of(row), BODIES.get(row.id), row.status)


@covers_row(401)
@pytest.mark.parametrize("row", SERVED, ids=lambda row: str(row.id))
def test_every_operation_needs_a_token(api: Api, row: Operation) -> None:
    api.as_("nobody").refused(401, row.method, path_of(row), BODIES.get(row.id))


@pytest.mark.parametrize("row", [row for row in SERVED if row.parameters], ids=lambda row: str(row.id))
def test_no_operation_shows_or_changes_anything_to_an_outsider(
    api: Api, row: Operation, builtin_world: Any
) -> None:
    prepare(api, builtin_world)
    answer = api.as_("hank-token").call(row.method, path_of(row), BODIES.get(row.id))
    hidden = row.id in ("deleteSpace", "deleteCollection")
    assert answer.status_code == (204 if hidden else 404)
    assert {"changelog", "unshown"} <= set(api.ids("/orgs/acme/spaces"))
    assert "api" in api.ids("/orgs/acme/collections")


@covers_row(403)
@pytest.mark.parametrize("row", [row for row in SERVED if row.needs == "admin"], ids=lambda row: str(row.id))
def test_no_operation_of_admins_is_done_for_another_member(
    api: Api, row: Operation, builtin_world: Any
) -> None:
    prepare(api, builtin_world)
    api.patch("/orgs/acme/members/grace", {"role": "create"})
    api.as_("grace-token").refused(403, row.method, path_of(row), BODIES.get(row.id))
