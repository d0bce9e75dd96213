"""The label of each difference of a plan, from plain values through the whole planner."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from operator import eq
from typing import Any

import pytest
from msgspec.structs import replace

from dpsync.model.change import Cause, cause_text
from dpsync.model.desired import NO_LABELS
from dpsync.model.values import LiveId, Secret
from dpsync.planner.drift import find_drift
from dpsync.planner.labels import UNDECLARED, UNKNOWN, label_of_value
from dpsync.planner.plan import make_plan
from dpsync.render.plan_words import WHOLE_CHANGE_SUBJECTS

from .stages import Case, Things

NAMES = Case({"team": {"a": {}, "b": {}}, "collection": {"c": {}, "d": {}}})
"""Only for references to its entries."""


def found_labels(case: Case) -> dict[str, str | None]:
    """Return the label of each object and field of a plan, in the words of the plan."""
    found: dict[str, str | None] = {}
    for change in make_plan(case.sides()).changes:
        if change.action != "update" or change.moved:
            found[change.address] = change.cause and cause_text(
                change.cause, WHOLE_CHANGE_SUBJECTS[change.action]
            )
        if change.action == "update":
            found |= {f"{change.address}#{item.field}": item.cause for item in change.differences}
    return found


def _defined(here: str, live: str, compared: Any, since: Sequence[Any]) -> Cause | None:
    """Return the label as the documentation defines it, by another way than the planner."""
    known = all(isinstance(value, str) for value in since)
    outside = bool(since) and known and live not in since
    edited = compared != here if compared is not UNKNOWN else False
    if edited and outside:
        return "both"
    if edited:
        return "edited here"
    return "changed outside" if outside and since[0] == here else None


def test_drift_label_matches_definition_for_all_value_combinations() -> None:
    values = ("a", "b", "c", UNKNOWN, UNDECLARED)
    histories = [(), *product(values), *product(values, values)]
    for here, live, compared, since in product("ab", "abc", values, histories):
        if here == live:
            continue
        expected = _defined(here, live, compared, since)
        found = label_of_value(here, live, compared, since, eq, eq)
        assert found == expected, (here, live, compared, since)


@pytest.mark.parametrize("since", [(), ("a",), ("a", "b")])
def test_unreadable_value_is_never_labeled_changed_outside(since: tuple[str, ...]) -> None:
    assert label_of_value("b", UNKNOWN, "a", since, eq, eq) == "edited here"
    assert label_of_value("a", UNKNOWN, "a", since, eq, eq) is None


def space(**fields: Any) -> Things:
    return {"space": {"s": {"title": "S", **fields}}}


def saml(**fields: Any) -> Things:
    own = {"label": "S", "ssoURL": "https://s", "defaultRole": "read"}
    return {"team": {"a": {"title": "A"}, "b": {"title": "B"}}, "saml": {"s": {**own, **fields}}}


TEAM: Things = {"team": {"t": {"title": "T"}}}
NONE: Things = {"team": {}}
OLD: Things = {"space": {"old": {"title": "S", "emoji": "A"}}}


CASES: dict[str, tuple[Case, dict[str, str | None]]] = {
    "nothing is known": (Case(space(emoji="B"), space(emoji="A")), {"acme/spaces/s#emoji": None}),
    # The merge base, or the commit that --base names.
    "field edited since the merge base": (
        Case(space(emoji="B"), space(emoji="A"), compared=space(emoji="A")),
        {"acme/spaces/s#emoji": "edited here"},
    ),
    "field as in the merge base": (
        Case(space(emoji="B"), space(emoji="A"), compared=space(emoji="B")),
        {"acme/spaces/s#emoji": None},
    ),
    "field that the merge base does not declare": (
        Case(space(emoji="B"), space(emoji="A"), compared=space()),
        {"acme/spaces/s#emoji": "edited here"},
    ),
    "entry that the merge base does not have": (
        Case(space(emoji="B"), space(emoji="A"), compared={"space": {}}),
        {"acme/spaces/s#emoji": "edited here"},
    ),
    "field cleared since the merge base": (
        Case(space(emoji=None), space(emoji="A"), compared=space(emoji="A")),
        {"acme/spaces/s#emoji": "edited here"},
    ),
    "variable of which git knows no value": (
        Case(space(emoji="B"), space(emoji="A"), compared=space(emoji="${OLD}")),
        {"acme/spaces/s#emoji": None},
    ),
    # The commits since the last apply.
    "field changed outside": (
        Case(space(emoji="B"), space(emoji="A"), since=[space(emoji="B")]),
        {"acme/spaces/s#emoji": "changed outside"},
    ),
    "field edited since the last apply": (
        Case(space(emoji="B"), space(emoji="A"), since=[space(emoji="A"), space(emoji="B")]),
        {"acme/spaces/s#emoji": "edited here"},
    ),
    "field edited, and changed outside": (
        Case(space(emoji="B"), space(emoji="X"), since=[space(emoji="A"), space(emoji="B")]),
        {"acme/spaces/s#emoji": "both"},
    ),
    "value of a commit between": (
        Case(space(emoji="B"), space(emoji="A"), since=[space(emoji="B"), space(emoji="A")]),
        {"acme/spaces/s#emoji": None},
    ),
    "commit between that did not declare the field": (
        Case(space(emoji="B"), space(emoji="A"), since=[space(emoji="B"), space()]),
        {"acme/spaces/s#emoji": None},
    ),
    "field that was not declared when it was applied": (
        Case(space(emoji="B"), space(emoji="A"), since=[space(), space(emoji="B")]),
        {"acme/spaces/s#emoji": "edited here"},
    ),
    "ignored field": (
        Case(space(emoji="B"), space(emoji="A"), since=[space(emoji="B")], ignore=["spaces/*#title"]),
        {"acme/spaces/s#emoji": "changed outside"},
    ),
    "merge base and last apply": (
        Case(
            space(emoji="B", language="en"), space(emoji="A", language="de"),
            compared=space(emoji="A", language="en"), since=[space(emoji="A", language="en")],
        ),
        {"acme/spaces/s#emoji": "edited here", "acme/spaces/s#language": "changed outside"},
    ),
    # Whole objects.
    "new entry": (Case(TEAM, compared=NONE), {"acme/teams/t": "added here"}),
    "entry of the merge base": (Case(TEAM, compared=TEAM), {"acme/teams/t": None}),
    "entry that was applied": (Case(TEAM, since=[TEAM]), {"acme/teams/t": "deleted outside"}),
    "entry that a commit between did not have": (Case(TEAM, since=[TEAM, NONE]), {"acme/teams/t": None}),
    "new entry since the last apply": (Case(TEAM, since=[NONE, TEAM]), {"acme/teams/t": "added here"}),
    "removed entry": (
        Case(NONE, TEAM, prune=["teams"], compared=TEAM),
        {"acme/teams/[T]": "removed here"},
    ),
    "entry removed since the last apply": (
        Case(NONE, TEAM, prune=["teams"], since=[TEAM, NONE]),
        {"acme/teams/[T]": "removed here"},
    ),
    "object without an entry in the merge base": (
        Case(NONE, TEAM, prune=["teams"], compared=NONE),
        {"acme/teams/[T]": None},
    ),
    "object that the last apply would have deleted": (
        Case(NONE, TEAM, prune=["teams"], since=[NONE]),
        {"acme/teams/[T]": "made outside"},
    ),
    "object that may be an entry renamed outside": (
        Case({"team": {"x": {"title": "X"}}}, TEAM, prune=["teams"], since=[{"team": {"x": {"title": "X"}}}]),
        {"acme/teams/x": "deleted outside", "acme/teams/[T]": None},
    ),
    # Keys that changed.
    "entry under another key": (
        Case(space(emoji="A"), space(emoji="B"), base=OLD, since=[OLD, space(emoji="A")]),
        {"acme/spaces/s#emoji": "changed outside"},
    ),
    "new key of an entry that is not live": (
        Case({"team": {"new": {"title": "T"}}}, NONE, compared=TEAM),
        {"acme/teams/new": None},
    ),
    "reference to an entry with a new key": (
        Case(
            {"collection": {"c": {"title": "C"}}, **space(collection=NAMES.ref("collection", "c"))},
            {"collection": {"c": {"title": "C"}}, **space()},
            since=[{"collection": {"d": {"title": "C"}}, **space(collection=NAMES.ref("collection", "d"))}],
        ),
        {"acme/spaces/s#collection": "changed outside"},
    ),
    "reference to an entry with a new key that is not live": (
        Case(
            {"collection": {"c": {"title": "C"}}, **space(collection=NAMES.ref("collection", "c"))},
            space(),
            compared={"collection": {"d": {"title": "C"}}, **space(collection=NAMES.ref("collection", "d"))},
        ),
        {"acme/collections/c": None, "acme/spaces/s#collection": None},
    ),
    "edited reference": (
        Case(
            saml(defaultTeam=NAMES.ref("team", "b")),
            saml(defaultTeam=LiveId("team-a")),
            compared=saml(defaultTeam=NAMES.ref("team", "a")),
        ),
        {"acme/saml/s#defaultTeam": "edited here"},
    ),
    "reference changed outside to an unmanaged object": (
        Case(
            saml(defaultTeam=NAMES.ref("team", "b")),
            saml(defaultTeam=LiveId("team-9")),
            since=[saml(defaultTeam=NAMES.ref("team", "b"))],
        ),
        {"acme/saml/s#defaultTeam": "changed outside"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_plan_labels_difference_as_edited_here_or_outside(name: str) -> None:
    case, expected = CASES[name]
    assert found_labels(case) == expected


def script(of: str, secret: str = "KEY") -> Things:
    """Neither its script nor its secrets are ever given back."""
    return {
        "published_integration": {"bot": {"title": "Bot", "script": of, "secrets": {"K": Secret(secret)}}}
    }


BOT: Things = {"published_integration": {"bot": {"title": "Bot"}}}


@pytest.mark.parametrize(
    ("base", "confirm", "labels"),
    [
        (script("old"), (), {"script": "edited here"}),
        (script("new", "OTHER"), (), {"secrets": "edited here"}),
        (script("new"), ("send acme/publishedIntegrations/bot#script",), {"script": None}),
    ],
    ids=["edited script", "edited secret", "value sent again"],
)
def test_plan_labels_unreadable_field_edited_here(
    base: Things, confirm: tuple[str, ...], labels: dict[str, str | None]
) -> None:
    found = found_labels(Case(script("new"), BOT, base=base, compared=base, confirm=confirm))
    assert found == {f"acme/publishedIntegrations/bot#{name}": cause for name, cause in labels.items()}


def installed(**configuration: Any) -> Things:
    return {"installation": {"bot": {"configuration": configuration}}}


@pytest.mark.parametrize(
    ("live", "secret", "label"),
    [("b", "OLD", "changed outside"), ("b", "NEW", "both"), ("a", "NEW", "edited here")],
)
def test_plan_labels_partly_readable_installation_configuration(live: str, secret: str, label: str) -> None:
    before = installed(mode="a", token=Secret("OLD"))
    case = Case(
        installed(mode="a", token=Secret(secret)), installed(mode=live, x=1), base=before, since=[before],
    )  # fmt: skip
    assert found_labels(case) == {"acme/integrations/bot#configuration": label}


def ordered(*keys: str, live: bool = False) -> Things:
    """One collection with its spaces in this order."""
    names = Case({"collection": {"c": {}}, "space": {key: {} for key in keys}})
    at = LiveId("collection-c") if live else names.ref("collection", "c")
    spaces = {key: {"title": key, "collection": at} for key in keys}
    order = {} if live else {"order": tuple(names.ref("space", key) for key in keys)}
    return {"collection": {"c": {"title": "C", **order}}, "space": spaces}


def collections(*keys: str, live: bool = False) -> Things:
    """One collection with collections in this order, and with spaces that have none."""
    names = Case({"collection": {"x": {}, **{key: {} for key in keys}}})
    at = LiveId("collection-x") if live else names.ref("collection", "x")
    order = {} if live else {"collectionOrder": tuple(names.ref("collection", key) for key in keys)}
    inside = {key: {"title": key, "parent": at} for key in keys}
    spaces = {key: {"title": key, "collection": at} for key in "ba"}
    return {"collection": {"x": {"title": "X", **order}, **inside}, "space": spaces}


def nodes(*keys: str, live: bool = False) -> Things:
    del live
    links = {f"d/{key}": {"title": key, "url": "https://x"} for key in keys}
    return {"site": {"d": {"title": "D", "basename": "d"}}, "external_link": links}


@pytest.mark.parametrize(
    ("since", "here", "live", "moves"),
    [
        (["abc"], "cab", "abc", {"c": "moved here"}),
        (["abc"], "abc", "cab", {"c": "moved outside"}),
        (["abc", "cab"], "abc", "cab", {"c": None}),
        (["abcde"], "eabcd", "bacde", {"e": None, "a": None}),
        ([], "abc", "cab", {"c": None}),
    ],
    ids=["edited", "outside", "order of a commit between", "both", "unknown"],
)
@pytest.mark.parametrize(
    ("siblings", "place"),
    [(ordered, "spaces"), (collections, "collections"), (nodes, "sites/d/structure")],
    ids=["spaces", "collections", "nodes"],
)
def test_plan_labels_moved_siblings_as_edited_or_outside(
    since: list[str], here: str, live: str, moves: dict[str, str | None],
    siblings: Callable[..., Things], place: str,
) -> None:  # fmt: skip
    case = Case(siblings(*here), siblings(*live, live=True), since=[siblings(*keys) for keys in since])
    found = {address: label for address, label in found_labels(case).items() if "#" not in address}
    assert found == {f"acme/{place}/{key}": cause for key, cause in moves.items()}


def test_plan_decisions_are_independent_of_labels() -> None:
    for case, _ in CASES.values():
        sides = case.sides()
        one, other = make_plan(sides), make_plan(replace(sides, label_commits=NO_LABELS))
        assert one.digest == other.digest
        assert [change.without_labels for change in one.changes] == [
            change.without_labels for change in other.changes
        ]
        assert one.refusals == other.refusals


def test_drift_labels_equal_plan_labels() -> None:
    for case, expected in CASES.values():
        sides = case.sides()
        drift = find_drift(sides, make_plan(sides))
        fields = {f"{item.address}#{one.field}": one.cause for item in drift.found for one in item.fields}
        assert fields.items() <= expected.items()
