"""What kinds are on a server with other operations: data says which, one declaration serves all."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from dpsync.kinds.kind import Call, NodeListsRead, TreeRead
from dpsync.kinds.profiles import FULL, REFERENCE, Operation, Profile
from dpsync.kinds.registry import Registry, SupportedKind, build_registry
from dpsync.kinds.types import Text

DECLARED = build_registry().declared.values()
SITE = "/orgs/{}/sites/{}"


def kinds(*more: Operation, but: tuple[Operation, ...] = ()) -> dict[str, SupportedKind]:
    """Return the kinds of a server with the documented operations, plus `more` and without `but`."""
    operations = (REFERENCE.operations or frozenset()) | {*more}
    return Registry(DECLARED, replace(REFERENCE, name="other", operations=operations - {*but})).kinds


def test_space_creation_is_supported_with_create_operation() -> None:
    assert kinds()["space"].create is None
    assert isinstance(kinds(("POST", "/orgs/{}/spaces"))["space"].create, Call)


def test_call_falls_back_to_alternative_supported_operation() -> None:
    assert isinstance(kinds()["section"].read, NodeListsRead)
    assert isinstance(kinds(("GET", f"{SITE}/structure"))["section"].read, TreeRead)
    order = kinds(("PATCH", f"{SITE}/structure/sort"))["section"].order
    assert order is not None
    assert not order.orders_kinds_separately
    moves = kinds()["section"].order
    assert moves is not None
    assert (moves.call.path, moves.orders_kinds_separately) == ("{self}/move", True)


@pytest.mark.parametrize("missing", ["section-groups", "sections", "site-spaces"])
def test_structure_kinds_need_every_list_operation(missing: str) -> None:
    there = kinds(but=(("GET", f"{SITE}/{missing}"),))
    assert not {"section", "section_group", "site_space"} & {*there}


def test_kind_is_unsupported_when_parent_is_unreadable() -> None:
    assert "team_member" not in kinds(but=(("GET", "/orgs/{}/teams"),))


def test_field_missing_from_update_body_uses_separate_call() -> None:
    section = kinds()["section"]
    assert isinstance(section.field("group").own_call, dict)
    assert section.field("draft").own_call == {}
    assert section.field("title").own_call is None
    assert section.unsupported_fields == {"draft", "localizedTitle", "localizedDescription"}


def test_operation_with_several_id_path_segments_is_recognized() -> None:
    path = "/integrations/{}/installations/{}"
    there = kinds(("GET", "/orgs/{}/installations"), ("PATCH", path))["installation"]
    assert there.update is not None
    assert there.unsupported == {"delete"}


def test_shared_kind_needs_list_operation_of_all_parents() -> None:
    owners = ("/spaces/{}", "/collections/{}", SITE)
    lists = [("GET", f"{owner}/permissions/teams") for owner in owners]
    assert "team_permission" in kinds(*lists)
    assert "team_permission" not in kinds(*lists[:2])


def test_api_version_error_names_missing_operation() -> None:
    assert (
        REFERENCE.missing_operation_text("moving a group")
        == "the API version reference has no operation for moving a group"
    )
    assert FULL.has_operation("PATCH", "/anything")
    assert Profile("none", frozenset()).has_operation("GET", "/orgs") is False


def test_api_version_can_change_field_limits() -> None:
    declared, there = (
        build_registry().kinds["share_link"].field("name"),
        build_registry("published").kinds["share_link"].field("name"),
    )
    assert (declared.type, there.type) == (Text(1, 100), Text(1, 50))


def test_api_version_can_exclude_operations() -> None:
    """Otherwise, a plan has a request that the platform lacks, and its 404 counts as a missing object."""
    move = ("POST", "/spaces/{}/move")
    assert Profile("whole").has_operation(*move)
    assert not Profile("less", missing_operations=frozenset({move})).has_operation(*move)
    assert build_registry("published").kinds["space"].lifecycle.transfer is None
    assert build_registry("full").kinds["space"].lifecycle.transfer is not None


def test_declarable_kinds_are_independent_of_api_version() -> None:
    whole = build_registry("reference").with_all_kinds
    assert whole.profile.name == "reference"
    assert whole.kinds.keys() == build_registry().with_all_kinds.kinds.keys()
    assert whole.kinds["space"].unsupported == frozenset()
