"""`collectionOrder` puts collections in order: those in a collection, and those at the top."""

from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec.structs import replace

from dpsync.api import Options
from dpsync.client.client import ReadClient, WriteClient
from dpsync.client.transport import Request, Response, Stats, Transport
from dpsync.model.values import LiveId
from tests.direct import reading, transport
from tests.live.answers import Tape

from .lab import Lab, spaces
from .stages import Case, Things

AT_THE_TOP = """
    collectionOrder: [c, a, b]
    collections:
      a: { title: A, parent: null }
      b: { title: B, parent: null }
      c: { title: C, parent: null }
"""
IN_ONE = """
    collections:
      x: { title: X, collectionOrder: [c, a, b] }
      a: { title: A, parent: x }
      b: { title: B, parent: x }
      c: { title: C, parent: x }
"""


def collections(**parents: str | None) -> list[dict[str, Any]]:
    """Live ones, by what they lie in, in the order of the navigation."""
    return [{"id": key, "title": key.upper(), "parent": parent} for key, parent in parents.items()]


def order(lab: Lab, parent: str = "") -> str:
    """Return the titles of the live collections in a parent or at the top, in navigation order."""
    (organization,) = lab.world()["organizations"]
    found = {item["id"]: item for item in organization["collections"]}
    titles = {item["position"]: item["title"] for item in found.values() if _in(found, item) == parent}
    return "".join(titles[position] for position in sorted(titles))


def _in(found: dict[str, Any], item: dict[str, Any]) -> str:
    return str(found[item["parent"]]["title"]) if item["parent"] else ""


# What is planned.


@pytest.mark.parametrize(("text", "parent"), [(AT_THE_TOP, None), (IN_ONE, "x")], ids=["top", "in one"])
def test_misplaced_collection_is_moved_beside_neighbor(lab: Lab, text: str, parent: str | None) -> None:
    lab.holds(collections=collections(x=None, a=parent, b=parent, c=parent))
    (change,) = lab.plan(text).changes
    (step,) = change.steps
    assert (change.address, change.moved) == ("acme/collections/c", "before acme/collections/a")
    assert (step.method, step.path) == ("POST", "/collections/c/move")
    assert step.body == {"position": {"before": {"type": "collection", "collection": "a"}}}


def test_collection_order_is_unmanaged_when_undeclared(lab: Lab) -> None:
    lab.holds(collections=collections(c=None, b=None, a=None))
    assert lab.plan(AT_THE_TOP.replace("collectionOrder: [c, a, b]", "")).changes == ()


def test_undeclared_collections_keep_their_position(lab: Lab) -> None:
    lab.holds(collections=collections(a=None, u=None, b=None, v=None, c=None))
    lab.converges(AT_THE_TOP)
    assert order(lab) == "CAUBV"


def test_collection_order_needs_no_extra_request(lab: Lab) -> None:
    lab.holds(collections=collections(c=None, a=None, b=None))
    asked = []
    for text in (AT_THE_TOP, AT_THE_TOP.replace("collectionOrder: [c, a, b]", "")):
        with reading(lab.server) as client:
            lab.session(text).plan(client, Options())
            asked.append(client.requests)
    assert asked[0] == asked[1]


def test_collection_and_space_moves_are_sequential() -> None:
    names = Case({"collection": {"x": {}, "a": {}, "b": {}}, "space": {"s": {}, "t": {}}})
    inner = tuple(names.ref("collection", key) for key in "ab")
    shown = tuple(names.ref("space", key) for key in "st")
    at = names.ref("collection", "x")
    wanted: Things = {
        "collection": {
            "x": {"title": "X", "collectionOrder": inner, "order": shown},
            **{key: {"title": key, "parent": at} for key in "ab"},
        },
        "space": {key: {"title": key, "collection": at} for key in "st"},
    }
    there = LiveId("collection-x")
    live: Things = {
        "collection": {"x": {"title": "X"}, **{key: {"title": key, "parent": there} for key in "ba"}},
        "space": {key: {"title": key, "collection": there} for key in "ts"},
    }
    steps, _ = Case(wanted, live).lanes()
    (first,) = (id for id in steps.drafts.steps if not steps.edges.follows(id))
    (second,) = steps.drafts.steps.keys() - {first}
    assert steps.edges.follows(second) == {first}


def test_unreadable_collection_list_blocks_collection_order(lab: Lab) -> None:
    lab.holds(collections=collections(a=None, b=None, c=None))
    tape = Tape(lab.server.url, "token", refused={"/orgs/acme/collections"})
    with ReadClient(lab.server.url, "token", transport=tape) as client:
        plan = lab.session(AT_THE_TOP).plan(client, Options()).plan
    assert plan.changes == ()
    assert {item.address for item in plan.blocked} == {
        "acme#collectionOrder", *(f"acme/collections/{key}" for key in "abc"),
    }  # fmt: skip


# What is applied.


def test_collections_are_created_in_declared_order(lab: Lab) -> None:
    lab.holds()
    lab.converges(AT_THE_TOP.replace(" }", ", new: true }"))
    assert order(lab) == "CAB"
    assert lab.writes == ["POST /orgs/acme/collections"] * 3


def test_moved_collection_is_ordered_in_new_parent(lab: Lab) -> None:
    lab.holds(collections=collections(a=None, x=None, c=None, b="x"), spaces=spaces("s", parent="x"))
    lab.converges(IN_ONE)
    assert order(lab, "X") == "CAB"
    assert sorted(lab.writes) == [
        "POST /collections/a/move", "POST /collections/b/move", "POST /collections/c/move",
    ]  # fmt: skip


def test_collections_and_spaces_share_ordered_parent(lab: Lab) -> None:
    """On the platform they are siblings of each other."""
    lab.holds(
        collections=collections(x=None, a="x", b="x", c="x"),
        spaces=[{"id": key, "title": key.upper(), "parent": "x"} for key in "st"],
    )
    lab.converges(
        IN_ONE.replace("[c, a, b]", "[c, a, b], order: [t, s]")
        + "    spaces: { s: { title: S, collection: x }, t: { title: T, collection: x } }\n"
    )
    assert (order(lab, "X"), sorted(lab.writes)) == (
        "CAB",
        ["POST /collections/c/move", "POST /spaces/t/move"],
    )


def test_swapped_parent_and_child_collections_are_ordered(lab: Lab) -> None:
    """What holds the others becomes what is held, between the two others."""
    lab.holds(collections=collections(a=None, b="a", c="a", d="a"))
    text = """
        collectionOrder: [b]
        collections:
          b: { title: B, parent: null, collectionOrder: [d, a, c] }
          a: { title: A, parent: b }
          c: { title: C, parent: b }
          d: { title: D, parent: b }
    """
    lab.converges(text)
    assert (order(lab), order(lab, "B")) == ("B", "DAC")


class AsMade:
    """A platform whose list of collections stands in the order of their ids, whatever their navigation."""

    def __init__(self, inner: Transport) -> None:
        self._inner = inner

    def send(self, request: Request) -> Response:
        answer = self._inner.send(request)
        if (request.method, request.path) != ("GET", "/orgs/acme/collections"):
            return answer
        body = json.loads(answer.body)
        body["items"].sort(key=lambda item: item["id"])
        return replace(answer, body=json.dumps(body).encode())

    def close(self) -> None:
        self._inner.close()

    def stats(self) -> Stats:
        return self._inner.stats()


def test_apply_reports_remaining_move_when_platform_reorders(lab: Lab) -> None:
    lab.holds(collections=collections(a=None, b=None, c=None))
    session = lab.session(AT_THE_TOP)
    with WriteClient(lab.server.url, "token", transport=AsMade(transport(lab.server))) as client:
        report = session.apply(client, session.plan(client, Options()))
    assert report.remaining is not None
    assert not report.converged
    assert [change.moved for change in report.remaining.changes] == ["before acme/collections/a"]
