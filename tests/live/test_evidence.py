"""What is read because something is deleted or given away, and what is concluded from it: plain values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, cast

import pytest
from msgspec.structs import replace

from dpsync.client.client import ReadClient
from dpsync.client.errors import ForbiddenError, NotFoundError
from dpsync.client.observer import NullObserver
from dpsync.live.delete_evidence import DeleteEvidenceReader
from dpsync.live.sources import ReadSource
from dpsync.model.address import Address
from dpsync.model.diagnostic import DiagnosticError
from dpsync.model.snapshot import Identity, LiveObject, Snapshot
from dpsync.model.values import LiveId
from tests.planner.lab import REGISTRY

CLIENT = cast(ReadClient, SimpleNamespace(observer=NullObserver(), requests=0))
ACME: Identity = ("organization", "acme")
ORG = "/orgs/acme"


def thing(kind: str, id: str, source: str, parent: Identity = ACME, **fields: Any) -> LiveObject:
    return LiveObject(
        kind, id, parent, None, fields, f"{ORG}{source}", has_unique_id=REGISTRY[kind].has_unique_id
    )


def team(id: str) -> LiveObject:
    return thing("team", id, "/teams")


def member(team_id: str, user: str) -> LiveObject:
    return thing("team_member", user, f"/teams/{team_id}/members", ("team", team_id), user=LiveId(user))


def space(id: str, **fields: Any) -> LiveObject:
    return thing("space", id, "/spaces", **fields)


@dataclass
class Lists:
    """A platform: what is in each list now. What is in none of them is empty."""

    now: dict[str, Sequence[LiveObject]] = field(default_factory=dict)
    refused: set[str] = field(default_factory=set)
    gone: set[str] = field(default_factory=set)
    read: list[str] = field(default_factory=list)

    def around(self, *known: LiveObject, again: bool = False, **more: Any) -> DeleteEvidenceReader:
        """Return the surroundings that were read before: the organization and the `known` objects."""
        organization = LiveObject("organization", "acme", None, None, {}, ORG)
        objects = {item.identity: item for item in (organization, *known)}
        snapshot = Snapshot(**{"objects": objects, "matches": {}, "scopes": {}, "sibling_order": {}} | more)
        found = DeleteEvidenceReader(CLIENT, REGISTRY, snapshot, 1, again)
        found.sources.read = self._read
        found.sources.read_ids_and_bodies = self._named
        return found

    def _read(self, source: ReadSource) -> tuple[LiveObject, ...]:
        return tuple(self._of(source.url))

    def _named(self, path: str) -> list[tuple[str, dict[str, Any]]]:
        return [(item.id, {"object": item.kind, "title": item.id.title()}) for item in self._of(path)]

    def _of(self, url: str) -> Sequence[LiveObject]:
        self.read.append(url)
        if url in self.refused:
            raise ForbiddenError("GET", url, 403, "")
        if url in self.gone:
            raise NotFoundError("GET", url, 404, "")
        return self.now.get(url, ())


# The second reading.


@pytest.mark.parametrize("now", [[team("a")], [team("a"), team("b"), team("c")], []])
def test_plan_fails_if_reread_list_has_changed(now: list[LiveObject]) -> None:
    around = Lists({f"{ORG}/teams": now}).around(team("a"), team("b"))
    with pytest.raises(DiagnosticError, match="returned different objects"):
        around.check_lists_unchanged([("team", "a")])


def test_reread_before_delete_ignores_platform_output_objects() -> None:
    """It stands in the list, and was left out of what was read on purpose.

    Otherwise, where one space came out of a translation nothing is ever pruned.
    """
    lists = Lists({f"{ORG}/spaces": [space("a"), space("out")]})
    lists.around(space("a"), output_identities=frozenset({("space", "out")})).check_lists_unchanged(
        [("space", "a")]
    )


def test_reread_before_delete_accepts_unchanged_list() -> None:
    lists = Lists({f"{ORG}/teams": [team("b"), team("a")]})
    lists.around(team("a"), team("b")).check_lists_unchanged([("team", "a"), ("team", "b")])
    assert lists.read == [f"{ORG}/teams"]


def test_reread_before_delete_covers_affected_lists_only() -> None:
    """Otherwise, a delete of what is gone meanwhile ends the plan with a mistake of our own."""
    lists = Lists({f"{ORG}/teams": [team("a")]})
    lists.around(team("a"), space("s")).check_lists_unchanged([("team", "a"), ("team", "of another reading")])
    assert lists.read == [f"{ORG}/teams"]


# What goes along.

SHOWN = thing("site_space", "place", "/sites/docs/structure", ("site", "docs"), space=LiveId("a"))
DOCS = thing("site", "docs", "/sites")


def test_children_of_deleted_object_are_read() -> None:
    """Otherwise, the members of a deleted team go along unseen."""
    lists = Lists({f"{ORG}/teams/a/members": [member("a", "ada")]})
    around = lists.around(team("a"))
    assert around.read_dependents([("team", "a")])
    assert member("a", "ada").identity in around.snapshot.objects


def test_children_of_tree_node_need_no_request() -> None:
    """Otherwise, a node is looked into by a URL that there is not, which ends the plan."""
    section = thing("section", "one", "/sites/docs/structure", ("site", "docs"))
    assert list(Lists().around(DOCS, section).content_sources(section)) == []


def test_children_of_deleted_site_exclude_its_settings() -> None:
    """Otherwise, each part of a deleted site costs a request, and one that may not be read keeps the site."""
    inside = {source.url for source in Lists().around(DOCS).content_sources(DOCS)}
    site = f"{ORG}/sites/docs"
    assert {f"{site}/redirects", f"{site}/share-links", f"{site}/structure"} <= inside
    assert not {f"{site}/customization", f"{site}/adaptive-schema"} & inside


def test_dependents_of_deleted_object_are_read_once() -> None:
    """Otherwise, a plan with a delete never ends reading."""
    lists = Lists()
    around = lists.around(team("a"))
    assert around.read_dependents([("team", "a")]) is True
    before = list(lists.read)
    assert around.read_dependents([("team", "a"), ("team", "nobody")]) is False
    assert lists.read == before


def test_delete_check_without_children_reads_only_references() -> None:
    lists = Lists()
    lists.around(team("a")).read_dependents([("team", "a")], with_contents=False)
    assert f"{ORG}/teams/a/members" not in lists.read


@pytest.mark.parametrize("url", [f"{ORG}/teams/a/members", f"{ORG}/saml", "/spaces/s/permissions/teams"])
def test_unreadable_list_is_recorded_for_the_delete(url: str) -> None:
    """Otherwise, where nobody may see what goes along it is deleted all the same."""
    lists = Lists({f"{ORG}/spaces": [space("s")]}, refused={url})
    around = lists.around(team("a"), team("b"))
    around.read_dependents([("team", "a")])
    assert around.snapshot.delete_evidence.unreadable_dependents == {("team", "a"): url}


def test_objects_referring_to_deleted_space_enter_snapshot() -> None:
    """Otherwise, a place that shows a deleted space goes along unseen."""
    others = [thing("site", f"s{number}", "/sites") for number in range(5)]
    lists = Lists(
        {
            f"{ORG}/sites": [DOCS, *others],
            f"{ORG}/sites/docs/structure": [SHOWN],
            f"{ORG}/sites?space=a": [DOCS],
        }
    )
    around = lists.around(space("a"), space("b"))
    around.read_dependents([("space", "a")])
    assert SHOWN.identity in around.snapshot.objects


def test_sites_without_deleted_space_are_not_read() -> None:
    others = [thing("site", f"s{number}", "/sites") for number in range(5)]
    lists = Lists({f"{ORG}/sites": [DOCS, *others], f"{ORG}/sites?space=a": [DOCS]})
    lists.around(space("a")).read_dependents([("space", "a")])
    assert [url for url in lists.read if url.endswith("/structure")] == [f"{ORG}/sites/docs/structure"]


def test_several_deleted_spaces_read_all_site_structures() -> None:
    others = [thing("site", f"s{number}", "/sites") for number in range(2)]
    lists = Lists({f"{ORG}/sites": others})
    deleted = [space(id) for id in "abc"]
    lists.around(*deleted).read_dependents([item.identity for item in deleted])
    assert not [url for url in lists.read if "?space=" in url]
    assert sum(url.endswith("/structure") for url in lists.read) == 2


def test_forbidden_site_query_marks_delete_dependents_unreadable() -> None:
    others = [thing("site", f"s{number}", "/sites") for number in range(5)]
    lists = Lists({f"{ORG}/sites": others}, refused={f"{ORG}/sites?space=a"})
    around = lists.around(space("a"))
    around.read_dependents([("space", "a")])
    assert around.snapshot.delete_evidence.unreadable_dependents == {("space", "a"): f"{ORG}/sites?space=a"}


def test_organization_is_reread_before_delete() -> None:
    """Its default content, say: no list has it, and it is not below anything.

    Otherwise, what the organization itself names is lost, unseen.
    """
    lists = Lists()
    lists.around(DOCS).read_dependents([("site", "docs")])
    assert ORG not in lists.read  # it is known already
    lists.around(DOCS, again=True).read_dependents([("site", "docs")])
    assert ORG in lists.read


def test_several_deletes_read_each_list_once() -> None:
    lists = Lists()
    lists.around(team("a"), team("b")).read_dependents([("team", "a"), ("team", "b")])
    assert len(lists.read) == len(set(lists.read))


TRANSLATIONS, PLACE = Address.parse("acme/translations"), Address.parse("acme/spaces")


@pytest.mark.parametrize("declared", [True, False])
def test_output_space_of_deleted_translation_enters_declared_scope(
    declared: bool,
) -> None:
    """Otherwise, deleting a translation also deletes the spaces of other translations.

    Otherwise, a plan that deletes a translation, in files without spaces, ends in an internal error.

    Otherwise, a plan that deletes a translation, in files without spaces, ends in a mistake of dpsync's.
    """
    maker = thing("translation", "t", "/translations", result=LiveId("out"), status="completed")
    places = {TRANSLATIONS: (maker.identity,), **({PLACE: (("space", "a"),)} if declared else {})}
    lists = Lists({f"{ORG}/spaces": [space("a"), space("out"), space("other")]})
    around = lists.around(space("a"), maker, scopes=places, output_identities=frozenset({("space", "out")}))
    around.read_dependents([maker.identity])
    assert (("space", "out") in around.snapshot.objects) is declared
    found = around.snapshot.scopes.get(PLACE)
    assert found == ((("space", "a"), ("space", "out")) if declared else None)


# Right before a delete: what was read before counts no more.


def test_reread_removes_missing_object_and_children_from_snapshot() -> None:
    """Otherwise, right before a delete what was read long ago counts as still there.

    Otherwise, what was in something that is gone counts as still there.
    """
    lists = Lists({f"{ORG}/teams": [team("a")]})
    around = lists.around(team("a"), team("b"), member("b", "bo"), again=True)
    around.read_dependents([("team", "a")])
    assert set(around.snapshot.objects) == {ACME, ("team", "a")}


def test_reread_updates_changed_object_in_snapshot() -> None:
    renamed = replace(team("a"), fields={"title": "Quite another"})
    around = Lists({f"{ORG}/teams": [renamed]}).around(team("a"), again=True)
    around.read_dependents([("team", "a")])
    assert around.snapshot.objects["team", "a"] == renamed


def test_reread_before_delete_ignores_404_below_deleted_object() -> None:
    """Otherwise, what somebody else has deleted meanwhile ends an apply halfway."""
    lists = Lists({f"{ORG}/teams": []}, gone={f"{ORG}/teams/a/members"})
    around = lists.around(team("a"), again=True)
    assert around.read_dependents([("team", "a")])
    assert ("team", "a") not in around.snapshot.objects


def test_first_read_fails_on_missing_list() -> None:
    """Otherwise, a list that is not there is taken for an empty one, and what it holds is not shown."""
    with pytest.raises(NotFoundError):
        Lists(gone={f"{ORG}/teams/a/members"}).around(team("a")).read_dependents([("team", "a")])


def test_reread_keeps_output_objects_out_of_snapshot() -> None:
    """Otherwise, what something has put out counts as an object of its own."""
    lists = Lists({f"{ORG}/spaces": [space("a"), space("out")]})
    around = lists.around(space("a"), output_identities=frozenset({("space", "out")}), again=True)
    around.read_dependents([("space", "a")])
    assert ("space", "out") not in around.snapshot.objects


# What is given away.


def test_transfer_reads_children_and_showing_sites() -> None:
    lists = Lists({f"{ORG}/sites?space=a": [DOCS], "/spaces/a/permissions/users": []})
    around = lists.around(space("a"))
    around.read_transferred([("space", "a")])
    assert around.snapshot.delete_evidence.shown_in == {("space", "a"): ((("site", "docs"), "Docs"),)}
    assert "/spaces/a/permissions/users" in lists.read


@pytest.mark.parametrize("url", [f"{ORG}/sites?space=a", "/spaces/a/permissions/users"])
def test_unreadable_list_of_transferred_space_is_recorded(url: str) -> None:
    """Otherwise, where nobody may see what is in a space it is given away all the same.

    Otherwise, where nobody may see which sites show a space it is given away all the same.
    """
    around = Lists(refused={url}).around(space("a"))
    around.read_transferred([("space", "a")])
    assert around.snapshot.delete_evidence.unreadable_dependents == {("space", "a"): url}


def test_sites_are_not_queried_for_transferred_collection() -> None:
    lists = Lists()
    around = lists.around(thing("collection", "c", "/collections"))
    around.read_transferred([("collection", "c")])
    evidence: Mapping[Identity, Any] = around.snapshot.delete_evidence.shown_in
    assert evidence == {("collection", "c"): ()}
    assert not [url for url in lists.read if "?" in url]
