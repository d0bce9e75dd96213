"""Whether a live object holds something that a new object would not have, from what was read for a plan."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from dpsync.api import Options
from dpsync.planner.sides import Sides
from tests.direct import reading

from .lab import Lab, spaces
from .stages import Case
from .test_cascades import prune

EVERYTHING = prune("teams", "collections", "sites")
TEAM, COLLECTION, SITE = ("team", "t"), ("collection", "c"), ("site", "s")
OWN: dict[str, list[dict[str, Any]]] = {
    "team": [{"id": "t", "title": "Sales"}],
    "collection": [{"id": "c", "title": "Shelf"}],
    "site": [{"id": "s", "title": "Docs"}],
}
BODY = "teams: {}\ncollections: {}\nsites: {}"


def read(lab: Lab, body: str = BODY, policy: str = EVERYTHING) -> Sides:
    with reading(lab.server) as client:
        return lab.session(body, policy).read(client, Options())


@pytest.mark.parametrize(("identity", "empty"), [(TEAM, True), (COLLECTION, True), (SITE, False)])
def test_unused_team_or_collection_is_empty_unlike_site(
    lab: Lab, identity: tuple[str, str], empty: bool
) -> None:
    """A site has settings and URLs that a new site would not have."""
    lab.holds(teams=OWN["team"], collections=OWN["collection"], sites=OWN["site"])
    assert read(lab).is_nonempty(identity) is not empty


@pytest.mark.parametrize(
    ("identity", "world"),
    [
        (TEAM, {"teams": [{"id": "t", "title": "Sales", "members": [{"user": "bo", "role": "member"}]}]}),
        (TEAM, {"spaces": spaces("x", permissions={"teams": {"t": "read"}})}),
        (TEAM, {"collections": [{"id": "c", "title": "Shelf", "permissions": {"teams": {"t": "read"}}}]}),
        (COLLECTION, {"spaces": spaces("x", parent="c")}),
        (COLLECTION, {"collections": [*OWN["collection"], {"id": "d", "title": "Inner", "parent": "c"}]}),
        (COLLECTION, {"collections": [{**OWN["collection"][0], "permissions": {"users": {"bo": "read"}}}]}),
    ],
    ids=[
        "team with a member", "team with a role in a space", "team with a role in a collection",
        "collection with a space", "collection with a collection", "collection with a permission",
    ],
)  # fmt: skip
def test_object_with_children_or_references_is_nonempty(
    lab: Lab, identity: tuple[str, str], world: dict[str, Any]
) -> None:
    """Deleting such an object takes access or content away that nothing in the files can bring back."""
    lab.holds(**{"teams": OWN["team"], "collections": OWN["collection"], **world})
    assert read(lab).is_nonempty(identity)


@pytest.mark.parametrize("identity", [TEAM, COLLECTION])
def test_object_without_read_contents_is_nonempty(lab: Lab, identity: tuple[str, str]) -> None:
    """Without `prune`, no plan reads the members of an undeclared team."""
    lab.holds(teams=OWN["team"], collections=OWN["collection"])
    body = "teams: { n: { title: New } }\ncollections: { n: { title: New } }"
    assert read(lab, body, "{}").is_nonempty(identity)


def test_object_with_unreadable_contents_is_nonempty() -> None:
    """A list that answers 403 may hold anything."""
    sides = Case(live={"team": {"old": {"title": "Old"}}}).sides()
    identity = ("team", "team-old")
    looked_at = replace(sides.snapshot.delete_evidence, checked_objects=frozenset({identity}))
    seen = replace(sides, snapshot=replace(sides.snapshot, delete_evidence=looked_at))
    refused = replace(
        looked_at, checked_objects=frozenset(), unreadable_dependents={identity: "/teams/old/members"}
    )
    unseen = replace(sides, snapshot=replace(sides.snapshot, delete_evidence=refused))

    assert not seen.is_nonempty(identity)
    assert unseen.is_nonempty(identity)
