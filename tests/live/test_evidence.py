"""What is read because something is deleted or given away, and what is concluded from it: plain values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, cast

import pytest
from msgspec.structs import replace

from dpsync.client.client import ReadClient
from dpsync.client.errors import Forbidden, NotFound
from dpsync.client.observer import Nobody
from dpsync.live.delete_evidence import Surroundings
from dpsync.live.sources import Source
from dpsync.model.address import Address
from dpsync.model.diagnostic import DiagnosticError
from dpsync.model.snapshot import Identity, LiveObject, Snapshot
from dpsync.model.values import LiveId
from tests.planner.lab import REGISTRY

CLIENT = cast(ReadClient, SimpleNamespace(observer=Nobody(), requests=0))
ACME: Identity = ("organization", "acme")
ORG = "/orgs/acme"


def thing(kind: str, id: str, source: str, parent: Identity = ACME, **fields: Any) -> LiveObject:
    return LiveObject(kind, id, parent, None, fields, f"{ORG}{source}", own_id=REGISTRY[kind].own_id)


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

    def around(self, *known: LiveObject, again: bool = False, **more: Any) -> Surroundings:
        """What was read before is `known`; the organization always is."""
        organization = LiveObject("organization", "acme", None, None, {}, ORG)
        objects = {item.identity: item for item in (organization, *known)}
        snapshot = Snapshot(**{"objects": objects, "matches": {}, "scopes": {}, "lanes": {}} | more)
        found = Surroundings(CLIENT, REGISTRY, snapshot, 1, again)
        found.sources.read = self._read
        found.sources.named = self._named
        return found

    def _read(self, source: Source) -> tuple[LiveObject, ...]:
        return tuple(self._of(source.url))

    def _named(self, path: str) -> list[tuple[str, dict[str, Any]]]:
        return [(item.id, {"object": item.kind, "title": item.id.title()}) for item in self._of(path)]

    def _of(self, url: str) -> Sequence[LiveObject]:
        self.read.append(url)
        if url in self.refused:
            raise Forbidden("GET", url, 403, "")
        if url in self.gone:
            raise NotFound("GET", url, 404, "")
        return self.now.get(url, ())


# The second reading.


@pytest.mark.parametrize("now", [[team("a")], [team("a"), team("b"), team("c")], []])
def test_a_list_that_moved_between_two_readings_ends_the_plan(now: list[LiveObject]) -> None:
    around = Lists({f"{ORG}/teams": now}).around(team("a"), team("b"))
    with pytest.raises(DiagnosticError, match="returned different objects"):
        around.check([("team", "a")])


def test_what_something_has_put_out_is_no_sign_that_somebody_is_writing() -> None:
    """It stands in the list, and was left out of what was read on purpose.

    Otherwise, where one space came out of a translation nothing is ever pruned.
    """
    lists = Lists({f"{ORG}/spaces": [space("a"), space("out")]})
    lists.around(space("a"), output_identities=frozenset({("space", "out")})).check([("space", "a")])


def test_a_list_that_is_the_same_is_read_twice_and_no_more_said() -> None:
    lists = Lists({f"{ORG}/teams": [team("b"), team("a")]})
    lists.around(team("a"), team("b")).check([("team", "a"), ("team", "b")])
    assert lists.read == [f"{ORG}/teams"]


def test_only_the_lists_of_what_is_deleted_are_read_a_second_time() -> None:
    """Otherwise, a delete of what is gone meanwhile ends the plan with a mistake of our own."""
    lists = Lists({f"{ORG}/teams": [team("a")]})
    lists.around(team("a"), space("s")).check([("team", "a"), ("team", "of another reading")])
    assert lists.read == [f"{ORG}/teams"]


# What goes along.

SHOWN = thing("site_space", "place", "/sites/docs/structure", ("site", "docs"), space=LiveId("a"))
DOCS = thing("site", "docs", "/sites")


def test_what_lies_in_a_deleted_thing_is_read() -> None:
    """Otherwise, the members of a deleted team go along unseen."""
    lists = Lists({f"{ORG}/teams/a/members": [member("a", "ada")]})
    around = lists.around(team("a"))
    assert around.look([("team", "a")])
    assert member("a", "ada").identity in around.snapshot.objects


def test_what_lies_in_a_node_was_read_with_its_tree() -> None:
    """Otherwise, a node is looked into by a URL that there is not, which ends the plan."""
    section = thing("section", "one", "/sites/docs/structure", ("site", "docs"))
    assert list(Lists().around(DOCS, section).inside(section)) == []


def test_of_what_lies_in_a_thing_its_lists_are_read_and_no_part_of_it() -> None:
    """Otherwise, each part of a deleted site costs a request, and one that may not be read keeps the site."""
    inside = {source.url for source in Lists().around(DOCS).inside(DOCS)}
    site = f"{ORG}/sites/docs"
    assert {f"{site}/redirects", f"{site}/share-links", f"{site}/structure"} <= inside
    assert not {f"{site}/customization", f"{site}/adaptive-schema"} & inside


def test_of_what_was_looked_at_nothing_is_read_again_and_nothing_new_is_said() -> None:
    """Otherwise, a plan with a delete never ends reading."""
    lists = Lists()
    around = lists.around(team("a"))
    assert around.look([("team", "a")]) is True
    before = list(lists.read)
    assert around.look([("team", "a"), ("team", "nobody")]) is False
    assert lists.read == before


def test_where_only_what_refers_to_it_is_asked_for_its_inside_is_not_read() -> None:
    lists = Lists()
    lists.around(team("a")).look([("team", "a")], inside=False)
    assert f"{ORG}/teams/a/members" not in lists.read


@pytest.mark.parametrize("url", [f"{ORG}/teams/a/members", f"{ORG}/saml", "/spaces/s/permissions/teams"])
def test_a_list_that_may_not_be_read_is_noted_for_the_delete_that_rests_on_it(url: str) -> None:
    """Otherwise, where nobody may see what goes along it is deleted all the same."""
    lists = Lists({f"{ORG}/spaces": [space("s")]}, refused={url})
    around = lists.around(team("a"), team("b"))
    around.look([("team", "a")])
    assert around.snapshot.evidence.unseen == {("team", "a"): url}


def test_every_object_that_refers_to_a_deleted_one_comes_into_the_snapshot() -> None:
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
    around.look([("space", "a")])
    assert SHOWN.identity in around.snapshot.objects


def test_a_site_that_shows_nothing_of_what_is_deleted_is_not_looked_into() -> None:
    others = [thing("site", f"s{number}", "/sites") for number in range(5)]
    lists = Lists({f"{ORG}/sites": [DOCS, *others], f"{ORG}/sites?space=a": [DOCS]})
    lists.around(space("a")).look([("space", "a")])
    assert [url for url in lists.read if url.endswith("/structure")] == [f"{ORG}/sites/docs/structure"]


def test_of_many_things_every_site_is_looked_into_which_takes_fewer_requests() -> None:
    others = [thing("site", f"s{number}", "/sites") for number in range(2)]
    lists = Lists({f"{ORG}/sites": others})
    deleted = [space(id) for id in "abc"]
    lists.around(*deleted).look([item.identity for item in deleted])
    assert not [url for url in lists.read if "?space=" in url]
    assert sum(url.endswith("/structure") for url in lists.read) == 2


def test_where_it_may_not_be_asked_which_sites_show_it_the_delete_has_no_evidence() -> None:
    others = [thing("site", f"s{number}", "/sites") for number in range(5)]
    lists = Lists({f"{ORG}/sites": others}, refused={f"{ORG}/sites?space=a"})
    around = lists.around(space("a"))
    around.look([("space", "a")])
    assert around.snapshot.evidence.unseen == {("space", "a"): f"{ORG}/sites?space=a"}


def test_what_the_organization_itself_names_is_read_with_it() -> None:
    """Its default content, say: no list has it, and it is not below anything.

    Otherwise, what the organization itself names is lost, unseen.
    """
    lists = Lists()
    lists.around(DOCS).look([("site", "docs")])
    assert ORG not in lists.read  # it is known already
    lists.around(DOCS, again=True).look([("site", "docs")])
    assert ORG in lists.read


def test_each_list_is_read_once_for_all_deletes() -> None:
    lists = Lists()
    lists.around(team("a"), team("b")).look([("team", "a"), ("team", "b")])
    assert len(lists.read) == len(set(lists.read))


TRANSLATIONS, PLACE = Address.parse("acme/translations"), Address.parse("acme/spaces")


@pytest.mark.parametrize("declared", [True, False])
def test_what_a_deleted_translation_has_made_is_an_object_of_its_own_place_from_then_on(
    declared: bool,
) -> None:
    """Otherwise, any space that came out of some translation goes as undeclared with the translation that is
    deleted.

    Otherwise, a plan that deletes a translation, in files without spaces, ends in a mistake of dpsync's.
    """
    maker = thing("translation", "t", "/translations", result=LiveId("out"), status="completed")
    places = {TRANSLATIONS: (maker.identity,), **({PLACE: (("space", "a"),)} if declared else {})}
    lists = Lists({f"{ORG}/spaces": [space("a"), space("out"), space("other")]})
    around = lists.around(space("a"), maker, scopes=places, output_identities=frozenset({("space", "out")}))
    around.look([maker.identity])
    assert (("space", "out") in around.snapshot.objects) is declared
    found = around.snapshot.scopes.get(PLACE)
    assert found == ((("space", "a"), ("space", "out")) if declared else None)


# Right before a delete: what was read before counts no more.


def test_what_is_no_longer_in_its_list_is_out_of_the_snapshot_with_all_that_was_in_it() -> None:
    """Otherwise, right before a delete what was read long ago counts as still there.

    Otherwise, what was in something that is gone counts as still there.
    """
    lists = Lists({f"{ORG}/teams": [team("a")]})
    around = lists.around(team("a"), team("b"), member("b", "bo"), again=True)
    around.look([("team", "a")])
    assert set(around.snapshot.objects) == {ACME, ("team", "a")}


def test_what_was_changed_is_in_the_snapshot_as_it_is_now() -> None:
    renamed = replace(team("a"), fields={"title": "Quite another"})
    around = Lists({f"{ORG}/teams": [renamed]}).around(team("a"), again=True)
    around.look([("team", "a")])
    assert around.snapshot.objects["team", "a"] == renamed


def test_a_list_below_something_that_is_gone_meanwhile_is_empty() -> None:
    """Otherwise, what somebody else has deleted meanwhile ends an apply halfway."""
    lists = Lists({f"{ORG}/teams": []}, gone={f"{ORG}/teams/a/members"})
    around = lists.around(team("a"), again=True)
    assert around.look([("team", "a")])
    assert ("team", "a") not in around.snapshot.objects


def test_the_first_time_a_list_that_is_not_there_ends_the_reading() -> None:
    """Otherwise, a list that is not there is taken for an empty one, and what it holds is not shown."""
    with pytest.raises(NotFound):
        Lists(gone={f"{ORG}/teams/a/members"}).around(team("a")).look([("team", "a")])


def test_what_something_has_put_out_does_not_come_back_as_an_object_of_its_own() -> None:
    """Otherwise, what something has put out counts as an object of its own."""
    lists = Lists({f"{ORG}/spaces": [space("a"), space("out")]})
    around = lists.around(space("a"), output_identities=frozenset({("space", "out")}), again=True)
    around.look([("space", "a")])
    assert ("space", "out") not in around.snapshot.objects


# What is given away.


def test_of_what_is_given_away_it_is_read_what_lies_in_it_and_what_shows_it() -> None:
    lists = Lists({f"{ORG}/sites?space=a": [DOCS], "/spaces/a/permissions/users": []})
    around = lists.around(space("a"))
    around.look_at_given([("space", "a")])
    assert around.snapshot.evidence.shown_in == {("space", "a"): ((("site", "docs"), "Docs"),)}
    assert "/spaces/a/permissions/users" in lists.read


@pytest.mark.parametrize("url", [f"{ORG}/sites?space=a", "/spaces/a/permissions/users"])
def test_what_cannot_be_seen_of_what_is_given_away_is_noted(url: str) -> None:
    """Otherwise, where nobody may see what is in a space it is given away all the same.

    Otherwise, where nobody may see which sites show a space it is given away all the same.
    """
    around = Lists(refused={url}).around(space("a"))
    around.look_at_given([("space", "a")])
    assert around.snapshot.evidence.unseen == {("space", "a"): url}


def test_what_no_site_can_show_is_asked_of_none() -> None:
    lists = Lists()
    around = lists.around(thing("collection", "c", "/collections"))
    around.look_at_given([("collection", "c")])
    evidence: Mapping[Identity, Any] = around.snapshot.evidence.shown_in
    assert evidence == {("collection", "c"): ()}
    assert not [url for url in lists.read if "?" in url]
