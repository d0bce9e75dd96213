"""Every operation of the table, once: it succeeds with its own status, and refuses who may not call it."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from cases import BODIES, IDS, OTHER_IDS, QUERIES
from cases.agent_cases import STYLEGUIDE
from cases.audit_cases import AUDIT
from cases.git_sync_cases import GIT_SYNC
from cases.site_cases import with_more
from companion_calls import Api, fresh
from covers import covers_row

from dpsync.server.http.request_parsing import MAX_BODY_BYTES
from dpsync.server.operations import ALL_OPERATIONS, OPERATIONS
from dpsync.server.request.operation import Operation

SERVED = ALL_OPERATIONS
REFERENCE = [row for row in SERVED if row.profile == "reference"]


OUTSIDER = "homer-token"
"""Of a user who is in another organization only."""

OPEN = {"joinOrganizationWithInvite"}
"""For whoever is in no organization yet."""

ROLES = ("admin", "create", "review", "edit", "comment", "read", None)


@pytest.fixture
def api(row: Operation, request: pytest.FixtureRequest) -> Iterator[Api]:
    """Yield a companion with the operation, as today's edition only if no other edition has it."""
    today = row.profile == "published"
    yield from fresh(request.getfixturevalue("published_companion" if today else "companion"))


def rows(chosen: Callable[[Operation], object]) -> pytest.MarkDecorator:
    found = [row for row in SERVED if chosen(row)]
    return pytest.mark.parametrize("row", found, ids=lambda row: str(row.id))


def below(role: str | None) -> str | None:
    return ROLES[ROLES.index(role) + 1]


def path_of(row: Operation) -> str:
    path = row.path.format(**{**IDS, **OTHER_IDS.get(row.id, {})})
    return f"{path}?{QUERIES[row.id]}" if row.id in QUERIES else path


def prepare(api: Api, world: dict[str, Any]) -> None:
    """Load the built-in world with more objects for the operations.

    There are a space and a collection that no site shows, and roles on them and on a site, which has a link,
    a redirect and a share link as well.
    """
    acme = world["organizations"][0]
    roles = {"permissions": {"users": {"kim": "read"}, "teams": {"sales": "edit"}}}
    unshown = {"id": "unshown", "title": "Unshown", **roles}
    synced = {**unshown, **GIT_SYNC}
    more = {
        **acme,
        "spaces": [*acme["spaces"], synced, STYLEGUIDE],
        "collections": [*acme["collections"], unshown],
        **AUDIT,
        "glossary": [{"id": "term", "translations": {"en": "core"}}],
        "sites": [with_more({**acme["sites"][0], **roles}), *acme["sites"][1:]],
    }
    api.server.reset({**world, "organizations": [more, *world["organizations"][1:]]})


@pytest.mark.parametrize("row", OPERATIONS, ids=lambda row: str(row.id))
def test_every_operation_succeeds_with_its_status(api: Api, row: Operation, builtin_world: Any) -> None:
    prepare(api, builtin_world)
    api.ok(row.method, path_of(row), BODIES.get(row.id), row.status)


@pytest.mark.parametrize("row", REFERENCE, ids=lambda row: str(row.id))
def test_every_reference_operation_succeeds_in_reference_api_version(
    reference: Api, row: Operation, builtin_world: Any
) -> None:
    prepare(reference, builtin_world)
    reference.ok(row.method, path_of(row), BODIES.get(row.id), row.status)


@covers_row(401)
@pytest.mark.parametrize("row", SERVED, ids=lambda row: str(row.id))
def test_every_operation_returns_401_without_token(api: Api, row: Operation) -> None:
    api.as_("nobody").refused(401, row.method, path_of(row), BODIES.get(row.id))


@covers_row(404)
@rows(lambda row: 404 in row.refusal_statuses() and row.id not in OPEN)
def test_every_operation_returns_404_to_nonmember(api: Api, row: Operation, builtin_world: Any) -> None:
    prepare(api, builtin_world)
    api.as_(OUTSIDER).refused(404, row.method, path_of(row), BODIES.get(row.id))


READ = {row.path for row in SERVED if row.method == "GET" and row.path.endswith("}")}


def seen_at(row: Operation) -> str:
    """Where what a deletion names is read, or else what it is in."""
    path = row.path
    while path not in READ:
        path = path.rpartition("/")[0]
    return path


@rows(lambda row: row.method == "DELETE")
def test_delete_of_invisible_object_returns_404(api: Api, row: Operation, builtin_world: Any) -> None:
    """Whoever is shown 404 where it, or what it is in, is read is answered 404 here; nothing goes."""
    prepare(api, builtin_world)
    before = api.state()
    at = seen_at(row).format(**{**IDS, **OTHER_IDS.get(row.id, {})})
    blind = [
        api.as_(token)
        for token in builtin_world["tokens"]
        if api.as_(token).call("GET", at).status_code == 404
    ]
    assert len(blind) > 1
    for caller in blind:
        caller.refused(404, "DELETE", path_of(row))
    assert api.state() == before


@covers_row(403)
@rows(lambda row: row.required_role is not None)
def test_every_operation_returns_403_below_needed_role(api: Api, row: Operation, builtin_world: Any) -> None:
    prepare(api, builtin_world)
    api.patch("/orgs/acme/members/grace", {"role": below(row.required_role)})
    api.as_("grace-token").refused(403, row.method, path_of(row), BODIES.get(row.id))


@covers_row(400)
@rows(lambda row: row.body_model is not None)
def test_non_object_body_is_refused(api: Api, row: Operation) -> None:
    message = api.refused(400, row.method, path_of(row), [1])
    assert message.startswith(("body: ", "body.conversations.0: "))


@covers_row(415)
@rows(lambda row: row.body_model is not None)
def test_non_json_content_type_is_refused(api: Api, row: Operation) -> None:
    text = {"content": "title=New", "headers": {"Content-Type": "text/plain"}}
    assert "application/json is required" in api.refused(415, row.method, path_of(row), **text)


@covers_row(413)
@rows(lambda row: row.body_model is not None)
def test_body_above_size_limit_is_refused(api: Api, row: Operation) -> None:
    long = {"content": b" " * (MAX_BODY_BYTES + 1), "headers": {"Content-Type": "application/json"}}
    assert str(MAX_BODY_BYTES) in api.refused(413, row.method, path_of(row), **long)


@covers_row(400)
@rows(lambda row: row.query_model.can_be_invalid())
def test_invalid_query_parameter_is_refused(api: Api, row: Operation) -> None:
    fields = row.query_model.model_fields
    typed = next((name for name, field in fields.items() if field.annotation not in (str, str | None)), None)
    name = typed or next(iter(fields))
    path, given = path_of(row).partition("?")[0], {"params": {typed: "nonsense-"} if typed else {}}
    assert name in api.refused(400, row.method, path, BODIES.get(row.id), **given)
