"""What a plan says of where new nodes are, and in which order it lists siblings."""

from __future__ import annotations

import re

from dpsync.model.plan import Plan
from dpsync.render.paint import Paint
from dpsync.render.view_text import render_plan

from .lab import Lab, group, section, site, spaces

STRUCTURE = """
    sites:
      docs:
        title: Docs
        structure:
          - { type: section, key: z, title: Zed, path: z, children: [
                { type: space, key: two, space: { id: y }, path: two },
                { type: space, key: one, space: { id: x }, path: one } ] }
          - type: section-group
            key: m
            title: More
            children:
              - { type: section, key: c, title: Cee, path: c, children: [
                    { type: space, key: s, space: { id: x } } ] }
              - { type: section-group, key: b, title: Bee, children: [
                    { type: external-link, key: l, title: Link, url: "https://acme.example" } ] }
          - { type: section, key: a, title: Section a, path: a, children: [
                { type: space, key: x, space: { id: x } } ] }
"""


def listed(plan: Plan) -> list[str]:
    return [change.address.partition("structure/")[2] for change in plan.changes]


def printed(plan: Plan) -> list[str]:
    """Return what the text of a plan names as changed, from top to bottom."""
    lines = render_plan(plan, Paint(on=False), verbose=1).splitlines()
    found = [re.search(r"^[+~-] .*?/structure/(\S+)", line) for line in lines]
    return [one[1] for one in found if one is not None]


def test_new_siblings_are_listed_in_order(lab: Lab) -> None:
    """Otherwise, siblings of a navigation are listed by name, and not as they will stand."""
    lab.holds(spaces=spaces("x", "y"), sites=[site(section("a", "x"))])
    plan = lab.plan(STRUCTURE)
    order = ["z", "z/two", "z/one", "m", "c", "c/s", "b", "l"]
    assert listed(plan)[: len(order)] == order
    assert [name for name in printed(plan) if name in order] == [x for x in order if x != "c/s"]


def test_plan_shows_group_of_new_section(lab: Lab) -> None:
    lab.holds(spaces=spaces("x", "y"), sites=[site(section("a", "x"))])
    plan = lab.plan(STRUCTURE)
    within = {change.address.rpartition("structure/")[2]: change.inside for change in plan.changes}
    place = "acme/sites/docs/structure"
    assert {name: found for name, found in within.items() if found} == {
        "c": f"{place}/m", "b": f"{place}/m", "l": f"{place}/b",
    }  # fmt: skip
    group = {change.address: [item.after for item in change.differences if item.field == "group"]
             for change in plan.changes}  # fmt: skip
    assert group[f"{place}/c"] == [{"dpsync:ref": f"{place}/m"}]
    assert group[f"{place}/z"] == []
    text = render_plan(plan, Paint(on=False))
    assert '+ section c "Cee" in m ' in text
    assert "path c, shows space " in text
    assert '+ section z "Zed" ' in text


def test_plan_lists_deleted_section_after_siblings(lab: Lab) -> None:
    lab.holds(spaces=spaces("x", "y"), sites=[site(section("a", "x"), group("b", section("q", "x")))])
    policy = "{ prune: [sites/docs/structure], limits: { deletes: 99, percent: 100 } }"
    body = """
        sites:
          docs:
            title: Docs
            structure:
              - { type: section, key: z, title: Zed, children: [{ type: space, key: x, space: { id: x } }] }
              - { type: section-group, key: b, title: Group b }
              - { type: section, key: a, title: Say, path: a,
                  children: [{ type: space, key: x, space: { id: x } }] }
    """
    assert printed(lab.plan(body, policy)) == ["z", "b", "a", "[Section"]


def test_plan_lists_spaces_in_collection_order(lab: Lab) -> None:
    lab.holds()
    body = """
        collections: { c: { title: Cee, order: [e, b, d] } }
        spaces:
          a: { title: Sa }
          b: { title: Sb, collection: c }
          c: { title: Sc }
          d: { title: Sd, collection: c }
          e: { title: Se, collection: c }
          f: { title: Sf }
    """
    keys = [change.address.rpartition("/")[2] for change in lab.plan(body).changes]
    assert keys == [
        "c",
        "a",
        "e",
        "b",
        "d",
        "c",
        "f",
    ]


def test_plan_ignores_yaml_key_order(lab: Lab) -> None:
    lab.holds(spaces=spaces("x", "y"), sites=[site(section("a", "x"))])
    swapped = STRUCTURE.replace(
        "type: section-group\n            key: m\n", "key: m\n            type: section-group\n"
    )
    assert swapped != STRUCTURE
    assert lab.plan(STRUCTURE).canonical_json() == lab.plan(swapped).canonical_json()
