"""A part of a navigation: its plan and the plan that proves it ask the same, whatever stands beside it."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from random import Random
from typing import Any

import pytest

from dpsync.api import Options
from dpsync.model.plan import Plan
from tests.direct import writing

from .lab import Lab, site, spaces

SEEDS = range(int(os.environ.get("DPSYNC_SEEDS", "12")))
SPACES = ("s0", "s1", "s2")


@dataclass
class Node:
    """A node of a navigation, under the same name in the file and on the platform."""

    type: str
    key: str
    children: list[Node] = field(default_factory=list)

    def written(self, *, live: bool) -> dict[str, Any]:
        name = {"id": self.key} if live else {"key": self.key}
        node = {"type": self.type, **name, "title": f"Title {self.key}"}
        if self.type == "external-link":
            return {**node, "url": f"https://{self.key}.example/"}
        if self.type == "section":
            inside = [(f"{self.key}-{space}", space) for space in SPACES[: 1 + len(self.children)]]
            shown = [
                {"type": "space", ("id" if live else "key"): key, "space": space, "path": space}
                for key, space in inside
            ]
            return {**node, "path": self.key, "children": shown}
        return {**node, "children": [child.written(live=live) for child in self.children]}


def drawn(random: Random, names: list[str], depth: int = 2) -> list[Node]:
    """Return some of the names as a tree, in any order."""
    found = []
    while names and (depth == 2 or random.random() < 0.6):
        kind = random.choice(["section", "external-link", "section-group", "section-group"])
        node = Node(kind if depth else "external-link", names.pop())
        if node.type == "section-group" and depth:
            node.children = drawn(random, names, depth - 1)
        found.append(node)
    random.shuffle(found)
    return found


def nodes(tree: list[Node]) -> list[Node]:
    return [found for node in tree for found in (node, *nodes(node.children))]


def half(random: Random, tree: list[Node]) -> list[Node]:
    """Return about half of the tree's nodes in another order, as the live tree."""
    found = [Node(n.type, n.key, half(random, n.children)) for n in tree if random.random() < 0.5]
    random.shuffle(found)
    return found


def body(tree: list[Node]) -> str:
    titles = {key: {"title": f"Space {key}"} for key in SPACES}
    written = [node.written(live=False) for node in tree]
    docs = {"title": "Docs", "basename": "docs", "structure": written}
    return f"spaces: {json.dumps(titles)}\nsites: {json.dumps({'docs': docs})}"


def apply_part(lab: Lab, text: str, policy: str, options: Options) -> Plan:
    """Apply a part, verify that nothing is left, and return the plan that was applied."""
    session = lab.session(text, policy)
    with writing(lab.server) as client:
        planned = session.plan(client, options)
        report = session.apply(client, planned)
        left = report.remaining.changes if report.remaining else ()
        assert report.converged, f"{options}\n{text}\n{[(item.address, item.moved) for item in left]}"
        assert session.plan(client, options).plan.empty
    return planned.plan


@pytest.mark.parametrize("seed", SEEDS)
def test_selected_part_of_navigation_converges(lab: Lab, seed: int) -> None:
    random = Random(seed)
    tree = drawn(random, [f"n{number}" for number in range(random.randint(2, 9))])
    there = [site(*(node.written(live=True) for node in half(random, tree)))] if seed % 2 else []
    lab.holds(spaces=spaces(*SPACES), sites=there)
    wanted = [f"acme/sites/docs/structure/{node.key}" for node in nodes(tree)]
    ignored = random.sample(wanted, 1) if seed % 3 == 0 else []
    policy = json.dumps({"ignore": ignored})
    for address in random.sample(wanted, min(3, len(wanted))):
        apply_part(lab, body(tree), policy, Options(select=(address,)))
    lab.converges(body(tree), policy)
    assert lab.plan(body(tree), policy).empty


def test_selected_link_needs_no_unselected_siblings(lab: Lab) -> None:
    """Otherwise, what is not made and not live counts as a sibling, and others are moved beside it."""
    tree = [Node("section-group", "a"), Node("section-group", "b"), Node("external-link", "l")]
    lab.holds(spaces=spaces(*SPACES))
    plan = apply_part(lab, body(tree), "{}", Options(select=("acme/sites/docs/structure/l",)))
    assert [change.address for change in plan.changes] == ["acme/sites/docs", "acme/sites/docs/structure/l"]


@pytest.mark.parametrize("seed", range(6))
def test_sibling_order_converges_despite_ignored_sibling(lab: Lab, seed: int) -> None:
    random, keys = Random(seed), list("abcde")
    live = [Node("external-link", key).written(live=True) for key in random.sample(keys, len(keys))]
    lab.holds(spaces=spaces(*SPACES), sites=[site(*live)])
    text = body([Node("external-link", key) for key in keys])
    policy = json.dumps({"ignore": [f"acme/sites/docs/structure/{random.choice(keys)}"]})
    lab.converges(text, policy)
    assert lab.plan(text, policy).empty


def test_children_of_blocked_section_are_blocked(lab: Lab) -> None:
    """A section is made with its first place; its second one shows what is there."""
    lab.holds(spaces=[{"id": "a", "title": "A"}], sites=[site()])
    places = "{ type: space, key: new, space: new }, { type: space, key: a, space: { id: a } }"
    section = f"{{ type: section, key: s, title: Es, children: [{places}] }}"
    plan = lab.plan(
        f"spaces: {{ new: {{ title: New }} }}\nsites: {{ docs: {{ title: Docs, structure: [{section}] }} }}",
        json.dumps({"ignore": ["spaces/new"]}),
    )
    assert plan.empty
    base = "acme/sites/docs/structure/s"
    assert {item.address: item.because for item in plan.blocked} == {
        base: None, f"{base}/new": base, f"{base}/a": base,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("declared", "ignored", "blocked"),
    [
        pytest.param(
            "collections: { c: { title: New } }\nspaces: { a: { title: A, collection: c } }",
            "collections/c", "acme/spaces/a#collection", id="a field that names it",
        ),
        pytest.param(
            "sites: { docs: { title: Docs, structure: [{ type: section-group, key: g, title: G, children: ["
            "{ type: external-link, key: l, title: L1, url: 'https://l.example/' }] }] } }",
            "sites/docs/structure/g", "acme/sites/docs/structure/l", id="what is in it",
        ),
    ],
)  # fmt: skip
def test_reference_to_ignored_missing_object_is_blocked(
    lab: Lab, declared: str, ignored: str, blocked: str
) -> None:
    lab.holds(spaces=[{"id": "a", "title": "A"}], sites=[site()])
    plan = lab.plan(declared, json.dumps({"ignore": [ignored]}))
    assert plan.empty
    (found,) = plan.blocked
    assert found.address == blocked
    assert "is in policy.ignore" in found.reason
