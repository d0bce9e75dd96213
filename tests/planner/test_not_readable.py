"""What a token may not read (403), in worlds that are small enough to say all that is blocked."""

from __future__ import annotations

from dpsync.client.client import ReadClient
from dpsync.model.plan import Plan
from tests.agreed import agreed
from tests.live.answers import Tape

from .lab import Lab, spaces

LIMITS = "limits: { deletes: 99, percent: 100 }"


def planned(lab: Lab, body: str, policy: str, *refused: str) -> Plan:
    tape = Tape(lab.server.url, "token", refused=set(refused))
    with ReadClient(lab.server.url, "token", transport=tape) as client:
        return agreed(lab.session(body, policy), client).plan


def blocked(plan: Plan) -> list[str]:
    return [item.address for item in plan.blocked]


def test_unreadable_list_without_entries_is_blocked(lab: Lab) -> None:
    lab.holds(teams=[{"id": "t", "title": "T"}])
    plan = planned(lab, "teams: {}", f"{{ prune: [teams], {LIMITS} }}", "/orgs/acme/teams")
    assert (blocked(plan), plan.changes) == (["acme/teams"], ())


def test_unreadable_space_order_blocks_only_order_field(lab: Lab) -> None:
    """Otherwise, a field that may not be read counts as empty, and is written.

    Otherwise, an order that may not be read ends the whole plan.
    """
    lab.holds(collections=[{"id": "c", "title": "C"}], spaces=spaces("x", "y", parent="c"))
    body = """
        collections: { c: { title: Cee, id: c, order: [y, x] } }
        spaces: { x: { title: Space x, collection: c }, y: { title: Space y, collection: c } }
    """
    plan = planned(lab, body, "{}", "/collections/c/spaces")
    assert blocked(plan) == ["acme/collections/c#order"]
    assert [(change.address, change.moved) for change in plan.changes] == [("acme/collections/c", None)]


def test_unreadable_collections_block_ambiguous_space(lab: Lab) -> None:
    """Two spaces of one title, which only their collections tell apart.

    Otherwise, a list that may not be read ends the whole plan.
    Otherwise, what may be unclear only because of what cannot be read is asked about.
    Otherwise, what is perhaps an entry that cannot be recognised is deleted.
    """
    two = [{"id": key, "title": "Same", "parent": key[-1]} for key in ("in-c", "in-d")]
    lab.holds(collections=[{"id": key, "title": key} for key in "cd"], spaces=two)
    body = "collections: { c: { title: c } }\nspaces: { s: { title: Same, collection: c } }"
    assert blocked(planned(lab, body, "{}")) == []
    plan = planned(lab, body, f"{{ prune: [spaces], {LIMITS} }}", "/orgs/acme/collections")
    assert blocked(plan) == ["acme/collections/c", "acme/spaces", "acme/spaces/s"]
    assert plan.changes == ()
