"""A place always has one default: what that means for entries that say `default: false` is told before."""

from __future__ import annotations

import pytest

from dpsync.model.plan import Plan
from dpsync.render.paint import Paint
from dpsync.render.view_text import render_report

from .lab import Lab, section, site, spaces

PRUNE = "{ prune: [sites/*/structure, spaces], limits: { deletes: 99, percent: 100 } }"
SHOWING = "sites: { docs: { title: Docs, structure: [%s] } }"


def place(key: str, *more: str) -> str:
    return (
        f"{{ {', '.join(('type: space', f'key: {key}', f'space: {{ id: {key} }}', f'path: {key}', *more))} }}"
    )


def part(key: str, shown: str, *more: str) -> str:
    words = ("type: section", f"key: {key}", f"title: Section {key}", f"path: {key}", f"children: [{shown}]")
    return f"{{ {', '.join((*words, *more))} }}"


def node(key: str, **more: bool) -> dict[str, object]:
    return {"type": "space", "id": key, "space": key, "path": key, **more}


def blocked(plan: Plan) -> list[str]:
    return [item.address.removeprefix("acme/sites/docs/structure/") for item in plan.blocked]


FALSE = "default: false"
TREES = {
    "the only place left says it is no default": (
        [node("x", default=True), node("y")], SHOWING % place("y", FALSE), ["y#default"]),
    "both places left say so: it will be one of them": (
        [node("x", default=True), node("y"), node("z")],
        SHOWING % f"{place('y', FALSE)}, {place('z', FALSE)}", ["y#default"]),
    "another one is to be it": (
        [node("x", default=True), node("y"), node("z")],
        SHOWING % f"{place('y', FALSE)}, {place('z', 'default: true')}", []),
    "another one may be it": (
        [node("x", default=True), node("y"), node("z")], SHOWING % f"{place('z')}, {place('y', FALSE)}", []),
    "the one that has it stays": (
        [node("x", default=True), node("y")], SHOWING % f"{place('x')}, {place('y', FALSE)}", []),
    "the one that has it stays and says it has none": (
        [node("y"), node("x", default=True)], SHOWING % f"{place('y', FALSE)}, {place('x', FALSE)}",
        ["x#default"]),
    "sections have one in the whole site": (
        [section("a", "x"), section("b", "y")], SHOWING % part("b", place("y"), FALSE), ["b#default"]),
    "the first place of a section that is made": (
        [section("a", "x")],
        SHOWING % f"{part('a', place('x'))}, {part('n', place('y', FALSE))}", ["n/y#default"]),
    "one section is well, and the next one is not": (
        [section("a", "x"), section("b", "y", "z")],
        SHOWING % f"{part('a', place('x'))}, {part('b', place('z', FALSE))}", ["b/z#default"]),
    "the first place of a site without any": ([], SHOWING % place("x", FALSE), ["x#default"]),
}  # fmt: skip


@pytest.mark.parametrize("case", TREES)
def test_default_false_on_only_section_is_blocked(case: str, lab: Lab) -> None:
    tree, body, expected = TREES[case]
    lab.holds(spaces=spaces("x", "y", "z"), sites=[site(*tree)])
    assert blocked(lab.plan(body, PRUNE)) == expected
    report = lab.apply(body, PRUNE)
    assert report.converged
    assert report.remaining is not None
    assert blocked(report.remaining) == expected


def test_apply_report_shows_default_blocked_meanwhile(lab: Lab) -> None:
    lab.holds(spaces=spaces("x", "y", "z"), sites=[site(node("x", default=True), node("y"), node("z"))])
    body = SHOWING % f"{place('y', FALSE)}, {place('z')}"
    plan, report = lab.plan(body, PRUNE), lab.apply(body, PRUNE)
    assert plan.blocked == ()
    text = render_report(plan, report, Paint(False))
    assert "! acme/sites/docs/structure/y#default" in text
    assert "blocked: one site space must always have default: true" in text
    assert "1 blocked, see above." in text
    assert report.remaining is not None
    again = render_report(report.remaining, report, Paint(False))
    assert "blocked: one site space must" not in again


def test_space_deletion_lists_changed_default_section(lab: Lab) -> None:
    """Otherwise, what goes with what it names is not shown, nor counted."""
    tree = [section("a", "x", "y"), section("b", "x")]
    lab.holds(spaces=spaces("x", "y"), sites=[site(*tree)])
    plan = lab.plan("spaces: { y: { title: Space y } }", PRUNE)
    (change,) = plan.changes
    effects = {effect.address: effect.counts for effect in change.effects}
    base = "acme/sites/[Docs]/structure"
    assert effects == {
        f"{base}/[Section a]": False,
        f"{base}/[Section a]/[x]": True,
        f"{base}/[Section b]": True,
        f"{base}/[Section b]/[x]": True,
    }
