"""Names that are passed round: by the git base it is known whose they were, and no interruption crosses them.

The ids prove it: they are what no configuration says.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import pytest

from dpsync.model.diagnostic import DiagnosticError
from dpsync.model.plan import Plan
from tests.soak import slice_of

from .past import Project
from .test_git_base import docs, teams


def section(id: str, title: str, path: str, space: str) -> dict[str, Any]:
    place = {"type": "space", "id": f"{id}-{space}", "space": space, "path": "en"}
    return {"type": "section", "id": id, "title": title, "path": path, "children": [place]}


def group(id: str, title: str, child: dict[str, Any]) -> dict[str, Any]:
    return {"type": "section-group", "id": id, "title": title, "children": [child]}


Setting = tuple[dict[str, Any], str, Callable[[Project], dict[str, Any]]]
"""What is live, the configuration with the names as N0, N1 …, and how to see who is called what."""

TEAMS: Setting = (
    {"teams": teams("N0", "N1", "N2")},
    "teams: { a: { title: N0 }, b: { title: N1 }, c: { title: N2 } }",
    lambda project: project.live("teams"),
)
SPACES: Setting = (
    {"spaces": [{**space, "emoji": f"1f4d{number}"} for number, space in enumerate(docs("N0", "N1", "N2"))]},
    "spaces:\n" + "".join(f'  {key}: {{ title: N{n}, emoji: "1f4d{n}" }}\n' for n, key in enumerate("abc")),
    lambda project: project.live("spaces"),
)
SITES: Setting = (
    {
        "sites": [
            {"id": f"site{n}", "title": f"Title {word}", "basename": f"N{n}"}
            for n, word in enumerate(("one", "two", "three"))
        ]
    },
    "sites: { a: { title: Title one, basename: N0 }, b: { title: Title two, basename: N1 }, "
    "c: { title: Title three, basename: N2 } }",
    lambda project: project.live("sites", "basename"),
)


def nodes(project: Project) -> dict[str, Any]:
    """By id, the title and path of every section and group."""
    found: dict[str, Any] = {}

    def walk(items: list[dict[str, Any]]) -> None:
        for item in items:
            if item["type"] != "space":
                found[item["id"]] = (item["title"], item.get("path"))
                walk(item["children"])

    for site in project.live("sites", "structure").values():
        walk(site)
    return found


def tree(*structure: dict[str, Any]) -> dict[str, Any]:
    site = {"id": "site", "title": "Docs", "basename": "docs", "structure": list(structure)}
    return {"spaces": docs("One", "Two", "Three"), "sites": [site]}


def structure(*lines: str) -> str:
    above = "spaces: { s1: { title: One }, s2: { title: Two }, s3: { title: Three } }\n"
    above += "sites:\n  docs:\n    title: Docs\n    basename: docs\n    structure:\n"
    return above + "".join(f"      - {line}\n" for line in lines)


def written(title: str, path: str, space: str, key: str) -> str:
    child = f"{{ type: space, key: en, space: {space}, path: en }}"
    return f"{{ type: section, key: {key}, title: {title}, path: {path}, children: [{child}] }}"


PATHS: Setting = (
    tree(*(section(f"sec{n}", f"Section {word}", f"N{n}", f"s{n + 1}") for n, word in enumerate("abc"))),
    structure(*(written(f"Section {word}", f"N{n}", f"s{n + 1}", word) for n, word in enumerate("abc"))),
    nodes,
)
GROUPS: Setting = (
    tree(
        *(
            group(f"grp{n}", f"N{n}", section(f"sec{n}", f"In {w}", w, f"s{n + 1}"))
            for n, w in enumerate("abc")
        )
    ),
    structure(
        *(
            f"{{ type: section-group, key: g{w}, title: N{n}, "
            f"children: [{written(f'In {w}', w, f's{n + 1}', w)}] }}"
            for n, w in enumerate("abc")
        )
    ),
    nodes,
)
ALL = {"teams": TEAMS, "spaces": SPACES, "sites": SITES, "paths": PATHS, "groups": GROUPS}
INTERRUPTED = 4
"""How many of the 30 exchanges a normal run interrupts at each of their writes."""
ROUND = {"two exchange": (1, 0, 2), "three in a ring": (1, 2, 0), "a chain": (1, 2, 3)}


def renamed(text: str, order: tuple[int, ...]) -> str:
    """Return the text with the names N0, N1 and N2 replaced in this order."""
    for number in range(3):
        text = text.replace(f"N{number}", f"<{order[number]}>")
    return text.replace("<", "N").replace(">", "")


def begin(
    project: Project, setting: Setting, order: tuple[int, ...], recorded: bool = True
) -> dict[str, Any]:
    """Prepare the platform and the checkout; return what must be live in the end."""
    world, text, seen = setting
    project.holds(**world).commit(text)
    project.ids = None
    if recorded:
        project.record()
    before = seen(project)
    project.write(renamed(text, order))
    mapping = {f"N{n}": f"N{to}" for n, to in enumerate(order)}

    def after(name: Any) -> Any:
        return tuple(after(part) for part in name) if isinstance(name, tuple) else mapping.get(name, name)

    return {id: after(name) for id, name in before.items()}


@pytest.mark.parametrize("order", ROUND.values(), ids=ROUND)
@pytest.mark.parametrize("setting", ALL.values(), ids=ALL)
def test_swapped_names_converge_to_original_objects(
    project: Project, setting: Setting, order: tuple[int, ...]
) -> None:
    wanted = begin(project, setting, order)
    report = project.converges()
    assert setting[2](project) == wanted
    assert {change.split()[1] for change in (item.step for item in report.outcomes)} <= {
        "update",
        "free",
    }
    assert project.plan().empty


@pytest.mark.parametrize(
    ("named", "how", "when"), slice_of([*product(ALL, ROUND, ("before", "after"))], INTERRUPTED)
)
def test_interrupted_swap_is_finished_later(project: Project, named: str, how: str, when: str) -> None:
    setting, order = ALL[named], ROUND[how]
    number = 0
    while True:
        wanted = begin(project, setting, order)
        if not project.dies(number, when):
            break
        project.converges()
        assert setting[2](project) == wanted, f"killed at write {number}"
        number += 1
    assert number >= 3


@pytest.mark.parametrize(("order", "writes"), [((1, 0, 2), 3), ((1, 2, 0), 4)], ids=["two", "three"])
def test_interrupted_swap_without_ids_file_is_finished_later(
    project: Project, order: tuple[int, ...], writes: int
) -> None:
    """Between the first write and the last, what is live says how far it came."""
    points = [("after", n) for n in range(writes - 1)] + [("before", n) for n in range(1, writes)]
    for when, number in points:
        wanted = begin(project, TEAMS, order)
        assert project.dies(number, when)
        project.converges()
        assert TEAMS[2](project) == wanted, (when, number)


@pytest.mark.parametrize("how", ["two exchange", "three in a ring"])
@pytest.mark.parametrize("named", ["teams", "spaces", "sites"])
def test_ambiguous_swap_without_ids_file_is_not_applied(project: Project, named: str, how: str) -> None:
    """Done or not, it looks the same: where nothing else about the entries tells, it is asked."""
    setting = ALL[named]
    begin(project, setting, ROUND[how], recorded=False)
    before = setting[2](project)
    told_apart = named != "teams"  # by an emoji, a title
    if told_apart:
        assert not project.plan().refusals
        return
    with pytest.raises(DiagnosticError) as asked:
        project.plan()
    assert {item.code for item in asked.value.findings} == {"DP305"}
    assert setting[2](project) == before


def test_second_plan_after_swap_is_empty(project: Project) -> None:
    """Neither does a third one, with the base from before the exchange."""
    wanted = begin(project, TEAMS, ROUND["two exchange"])
    project.converges()
    for _ in range(2):
        assert project.plan().empty
        project.converges()
    assert TEAMS[2](project) == wanted


COLLECTIONS = "collections: { a: { title: Handbook }, b: { title: News } }\n"
IN_THEM = COLLECTIONS + "spaces: { s: { title: One, collection: a }, t: { title: Two, collection: b } }"


def swapped_collections(project: Project) -> Project:
    """Somebody exchanged the titles of two collections by hand."""
    collections = [{"id": "col1", "title": "News"}, {"id": "col2", "title": "Handbook"}]
    one, two = docs("One", "Two")
    return project.holds(
        collections=collections, spaces=[{**one, "parent": "col1"}, {**two, "parent": "col2"}]
    )


def exchanged(plan: Plan) -> dict[str, list[str]]:
    """By entry, the answers to whether names were exchanged."""
    return {
        item.address: [answer.add for answer in item.answers]
        for item in plan.refusals
        if item.code == "exchanged"
    }


@pytest.mark.parametrize("committed", [False, True])
def test_manually_swapped_names_need_confirmation(project: Project, committed: bool) -> None:
    """Without lines it looks as if everything else had moved."""
    swapped_collections(project)
    project.commit(IN_THEM) if committed else project.write(IN_THEM)
    assert exchanged(project.plan()) == {
        "acme/collections/a": ["id: col2", "id: col1"],
        "acme/collections/b": ["id: col1", "id: col2"],
    }


@pytest.mark.parametrize("by_place", [False, True])
def test_pinned_id_answers_question_about_swapped_names(project: Project, by_place: bool) -> None:
    """Otherwise, a line goes before the pin that somebody has written to put it right."""
    swapped_collections(project)
    a, b = ("col1", "col2") if by_place else ("col2", "col1")
    pinned = IN_THEM.replace("a: { title", f"a: {{ id: {a}, title").replace(
        "b: { title", f"b: {{ id: {b}, title"
    )
    project.write(pinned).converges()
    assert project.live("collections") == {a: "Handbook", b: "News"}
    assert project.live("spaces", "parent") == {"s1": a, "s2": b}


def test_ids_lines_restore_manually_swapped_names(project: Project) -> None:
    """Otherwise, names that were exchanged are asked about although lines say who is who."""
    project.holds(collections=[{"id": "col1", "title": "Handbook"}, {"id": "col2", "title": "News"}])
    project.write(COLLECTIONS).record()
    swapped_collections(project).write(IN_THEM).converges()
    assert project.live("collections") == {"col1": "Handbook", "col2": "News"}


def test_title_swap_in_files_needs_no_question(project: Project) -> None:
    """The git base tells that somebody wants each in the place of the other; so does one that moves alone."""
    swapped_collections(project)
    here = IN_THEM.replace("collection: a", "collection: c").replace("collection: b", "collection: a")
    project.commit(here.replace("collection: c", "collection: b"))
    project.write(IN_THEM)
    assert exchanged(project.plan()) == {}
    swapped_collections(project)
    project.base = None
    project.write(IN_THEM.replace("collection: b", "collection: a"))
    assert exchanged(project.plan()) == {}
