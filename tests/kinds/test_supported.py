"""What kinds are on a server with other operations: data says which, one declaration serves all."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from dpsync.kinds.editions import FULL, REFERENCE, Operation, Profile
from dpsync.kinds.kind import Call, Lists, Tree
from dpsync.kinds.registry import Registry, SupportedKind, load
from dpsync.kinds.types import Text

DECLARED = load().declared.values()
SITE = "/orgs/{}/sites/{}"


def kinds(*more: Operation, but: tuple[Operation, ...] = ()) -> dict[str, SupportedKind]:
    """The kinds of a server with the documented operations, some more, some fewer."""
    operations = (REFERENCE.operations or frozenset()) | {*more}
    return Registry(DECLARED, replace(REFERENCE, name="other", operations=operations - {*but})).kinds


def test_an_operation_more_is_one_line_of_data() -> None:
    assert kinds()["space"].create is None
    assert isinstance(kinds(("POST", "/orgs/{}/spaces"))["space"].create, Call)


def test_the_first_way_that_the_server_has_is_taken() -> None:
    assert isinstance(kinds()["section"].read, Lists)
    assert isinstance(kinds(("GET", f"{SITE}/structure"))["section"].read, Tree)
    order = kinds(("PATCH", f"{SITE}/structure/sort"))["section"].order
    assert order is not None
    assert not order.apart
    moves = kinds()["section"].order
    assert moves is not None
    assert (moves.call.path, moves.apart) == ("{self}/move", True)


@pytest.mark.parametrize("missing", ["section-groups", "sections", "site-spaces"])
def test_all_lists_are_needed(missing: str) -> None:
    there = kinds(but=(("GET", f"{SITE}/{missing}"),))
    assert not {"section", "section_group", "site_space"} & {*there}


def test_what_hangs_below_something_that_cannot_be_read_is_not_there_either() -> None:
    assert "team_member" not in kinds(but=(("GET", "/orgs/{}/teams"),))


def test_a_member_that_a_body_does_not_take_is_written_otherwise_or_not_at_all() -> None:
    section = kinds()["section"]
    assert isinstance(section.field("group").via, dict)
    assert section.field("draft").via == {}
    assert section.field("title").via is None
    assert section.unsupported_fields == {"draft", "localizedTitle", "localizedDescription"}


def test_a_url_of_several_parts_is_one_path_of_the_table() -> None:
    path = "/integrations/{}/installations/{}"
    there = kinds(("GET", "/orgs/{}/installations"), ("PATCH", path))["installation"]
    assert there.update is not None
    assert there.unsupported == {"delete"}


def test_a_call_below_several_parents_is_there_when_all_of_them_have_it() -> None:
    owners = ("/spaces/{}", "/collections/{}", SITE)
    lists = [("GET", f"{owner}/permissions/teams") for owner in owners]
    assert "team_permission" in kinds(*lists)
    assert "team_permission" not in kinds(*lists[:2])


def test_profiles_say_what_they_lack() -> None:
    assert (
        REFERENCE.lacks("moving a group") == "the API version reference has no operation for moving a group"
    )
    assert FULL.has("PATCH", "/anything")
    assert Profile("none", frozenset()).has("GET", "/orgs") is False


def test_the_words_of_a_field_may_be_others_with_a_profile() -> None:
    declared, there = (
        load().kinds["share_link"].field("name"),
        load("published").kinds["share_link"].field("name"),
    )
    assert (declared.type, there.type) == (Text(1, 100), Text(1, 50))


def test_a_profile_may_lack_operations_that_all_others_have() -> None:
    """Otherwise, a request that the platform does not have is planned, and its 404 is taken for something
    that is not there.
    """
    move = ("POST", "/spaces/{}/move")
    assert Profile("whole").has(*move)
    assert not Profile("less", missing=frozenset({move})).has(*move)
    assert load("published").kinds["space"].lifecycle.transfer is None
    assert load("full").kinds["space"].lifecycle.transfer is not None


def test_what_may_be_written_does_not_depend_on_the_operations() -> None:
    whole = load("reference").whole
    assert whole.profile.name == "reference"
    assert whole.kinds.keys() == load().whole.kinds.keys()
    assert whole.kinds["space"].unsupported == frozenset()
