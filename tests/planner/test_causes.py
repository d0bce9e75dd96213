"""Why each difference of a plan is there: the odd cases, from plain values through the whole planner."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace

from dpsync.model.entries.address import Address
from dpsync.model.entries.values import LiveId, Secret
from dpsync.model.findings.span import Span
from dpsync.model.plans.cause import cause_text
from dpsync.model.plans.grouping import drifted_parts, parts
from dpsync.model.plans.plan import Plan
from dpsync.planner.drift import find_drift
from dpsync.planner.inputs.sides import Options
from dpsync.planner.plan import make_plan
from dpsync.render.words.plan import WHOLE

from .stages import SPAN, Case, Things

NAMES = Case({"team": {"a": {}, "b": {}}, "collection": {"c": {}, "d": {}}})
"""Only for references to what it has."""


def told(case: Case) -> dict[str, str]:
    """By address or field what the plan says in parentheses."""
    plan = make_plan(case.sides())
    found = {}
    for change in plan.changes:
        if change.cause is not None:
            found[change.address] = cause_text(change.cause, WHOLE[change.action])
        if change.action == "update":
            found |= {f"{change.address}#{item.field}": item.cause for item in change.differences}
    return found


def space(**fields: Any) -> Things:
    return {"space": {"s": {"title": "S", **fields}}}


def saml(**fields: Any) -> Things:
    own = {"label": "S", "ssoURL": "https://s", "defaultRole": "read"}
    return {"team": {"a": {"title": "A"}, "b": {"title": "B"}}, "saml": {"s": {**own, **fields}}}


TEAM: Things = {"team": {"t": {"title": "T"}}}
NONE: Things = {"team": {}}
OLD: Things = {"space": {"old": {"title": "S", "emoji": "A"}}}


CASES: dict[str, tuple[Case, dict[str, str]]] = {
    # Fields that the base, or an earlier commit, did not name.
    "a field that is new in the files": (
        Case(space(emoji="B"), space(emoji="A"), base=space()),
        {"acme/spaces/s#emoji": "edited here"},
    ),
    "a field of an entry that is new in the files, and was live": (
        Case(space(emoji="B"), space(emoji="A"), base={"space": {}}),
        {"acme/spaces/s#emoji": "edited here"},
    ),
    "a field that was added by the base and is not live": (
        Case(space(emoji="B"), space(), base=space(emoji="B"), earlier=[space()]),
        {"acme/spaces/s#emoji": "origin unknown"},
    ),
    "a field that was added by the base and is something else": (
        Case(space(emoji="B"), space(emoji="A"), base=space(emoji="B"), earlier=[space()]),
        {"acme/spaces/s#emoji": "origin unknown"},
    ),
    "a field of an entry that the base added": (
        Case(space(emoji="B"), space(), base=space(emoji="B"), earlier=[{"space": {}}]),
        {"acme/spaces/s#emoji": "changed outside"},
    ),
    "a field of an entry that nobody ever applied": (
        Case(space(emoji="B"), space(emoji="A"), base=space(emoji="B"), lines=[("team", "t")]),
        {"acme/spaces/s#emoji": "not applied yet"},
    ),
    "an edit on top of what somebody cleared": (
        Case(space(emoji="C"), space(), base=space(emoji="B")),
        {"acme/spaces/s#emoji": "both"},
    ),
    # Commits before the base.
    "a field as two commits before the base": (
        Case(
            space(emoji="C"), space(emoji="A"),
            base=space(emoji="C"), earlier=[space(emoji="B"), space(emoji="A")],
        ),
        {"acme/spaces/s#emoji": "not applied yet"},
    ),
    "an edit of what was not applied yet": (
        Case(space(emoji="C"), space(emoji="A"), base=space(emoji="B"), earlier=[space(emoji="A")]),
        {"acme/spaces/s#emoji": "edited here"},
    ),
    "an edit that goes back to what is live": (
        Case(space(emoji="A"), space(emoji="A"), base=space(emoji="B"), earlier=[space(emoji="A")]),
        {},
    ),
    "an entry that earlier commits did not have": (
        Case(space(emoji="B"), space(emoji="A"), base=space(emoji="B"), earlier=[{"space": {}}]),
        {"acme/spaces/s#emoji": "changed outside"},
    ),
    # Null.
    "a field that is cleared here": (
        Case(space(emoji=None), space(emoji="A"), base=space(emoji="A")),
        {"acme/spaces/s#emoji": "edited here"},
    ),
    "a field that was cleared and set again outside": (
        Case(space(emoji=None), space(emoji="A"), base=space(emoji=None)),
        {"acme/spaces/s#emoji": "changed outside"},
    ),
    "a field that is taken off the entry is no change": (
        Case(space(), space(emoji="A"), base=space(emoji="B")),
        {},
    ),
    # Whole things.
    "an entry that is new": (Case(TEAM, base=NONE), {"acme/teams/t": "added here"}),
    "an entry that was live and is not": (Case(TEAM, base=TEAM), {"acme/teams/t": "deleted outside"}),
    "an entry that was never made": (
        Case(TEAM, base=TEAM, earlier=[TEAM, NONE]),
        {"acme/teams/t": "not applied yet"},
    ),
    "an entry that was made once, as its line says": (
        Case(TEAM, base=TEAM, earlier=[NONE], lines=[("team", "t")]),
        {"acme/teams/t": "deleted outside"},
    ),
    "an entry that is removed": (
        Case(NONE, TEAM, prune=["teams"], base=TEAM),
        {"acme/teams/[T]": "removed here"},
    ),
    "a thing that nobody ever declared": (
        Case(NONE, TEAM, prune=["teams"], base=NONE),
        {"acme/teams/[T]": "made outside"},
    ),
    "an entry that was removed before the base, and not deleted": (
        Case(NONE, TEAM, prune=["teams"], base=NONE, earlier=[NONE, TEAM]),
        {"acme/teams/[T]": "not applied yet"},
    ),
    "an entry that is removed and whose thing is gone is no change": (
        Case(NONE, NONE, prune=["teams"], base=TEAM),
        {},
    ),
    "without a base": (
        Case({"team": {"n": {"title": "N"}}}, TEAM, prune=["teams"]),
        {"acme/teams/n": "origin unknown", "acme/teams/[T]": "origin unknown"},
    ),
    # Names that changed.
    "an entry under another key": (
        Case(space(emoji="A"), space(emoji="B"), base=OLD),
        {"acme/spaces/s#emoji": "changed outside"},
    ),
    "a reference to an entry whose key has changed": (
        Case(
            {"collection": {"c": {"title": "C"}}, **space(collection=NAMES.ref("collection", "c"))},
            {"collection": {"c": {"title": "C"}}, **space()},
            base={"collection": {"d": {"title": "C"}}, **space(collection=NAMES.ref("collection", "d"))},
        ),
        {"acme/spaces/s#collection": "changed outside"},
    ),
    "a reference that is edited here": (
        Case(
            saml(defaultTeam=NAMES.ref("team", "b")),
            saml(defaultTeam=LiveId("team-a")),
            base=saml(defaultTeam=NAMES.ref("team", "a")),
        ),
        {"acme/saml/s#defaultTeam": "edited here"},
    ),
    "a reference that was changed outside to something unmanaged": (
        Case(
            saml(defaultTeam=NAMES.ref("team", "b")),
            saml(defaultTeam=LiveId("team-9")),
            base=saml(defaultTeam=NAMES.ref("team", "b")),
        ),
        {"acme/saml/s#defaultTeam": "changed outside"},
    ),
    # What cannot be compared.
    "a value that held a variable which only the past needed": (
        Case(space(emoji="B"), space(emoji="A"), base=space(emoji="${OLD}")),
        {"acme/spaces/s#emoji": "origin unknown"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_a_plan_says_whose_a_difference_is(name: str) -> None:
    """Otherwise, a change that moves nothing has the cause of a move.

    Otherwise, what was merged and not applied yet is told as changed outside.
    Otherwise, a commit that could not have had an entry makes its origin doubtful.
    Otherwise, of what has a line of its own it is doubted whether it was applied.
    Otherwise, a value with a variable that only the past needed is told as edited.
    Otherwise, a reference to an entry whose key has changed is told as edited.
    Otherwise, what a line says was made once is told as never made.
    """
    case, causes = CASES[name]
    assert told(case) == causes


@pytest.mark.parametrize(("file", "cause"), [("gone.yaml", "removed here"), (SPAN.file, "not applied yet")])
def test_an_entry_that_went_with_its_file_is_removed_here_whichever_commit_did_that(
    file: str, cause: str
) -> None:
    """`git mv` to where no include names it, and a commit: that deletes things which no line removed.

    Otherwise, what was removed and not applied yet is told as removed here.
    Otherwise, what went with its file is told as not applied yet.
    """
    sides = Case(NONE, TEAM, prune=["teams"], base=NONE, earlier=[TEAM]).sides()
    (before,) = sides.base.earlier
    at = Address.parse("acme/teams/t")
    entry = replace(before.resources[at], span=Span(file, 1, 1, 1, 2))
    earlier = (replace(before, resources={**before.resources, at: entry}),)
    (change,) = make_plan(replace(sides, base=replace(sides.base, earlier=earlier))).changes
    assert change.cause is not None
    assert cause_text(change.cause, "removed") == cause


def test_what_a_line_without_an_entry_names_was_an_entry_once() -> None:
    """Otherwise, what was an entry once is told as made outside."""
    lined = Case(NONE, TEAM, prune=["teams"], base=NONE, lines=[("team", "t")])
    assert told(lined) == {"acme/teams/[T]": "not applied yet"}
    other = Case(NONE, TEAM, prune=["teams"], base=NONE, lines=[("space", "t")])
    assert told(other) == {"acme/teams/[T]": "made outside"}


def member(*people: str) -> Things:
    everybody: Things = {"member": {one: {"role": "read"} for one in ("a@x.example", "b@x.example")}}
    return {**everybody, **TEAM, "team_member": {f"t/{one}": {"role": "owner"} for one in people}}


@pytest.mark.parametrize(
    ("earlier", "lines", "cause"),
    [
        # Its team was recorded, so that it was made along with it.
        ([], [("team", "t")], "deleted outside"),
        ([member("a@x.example")], [("team", "t")], "deleted outside"),
        # It came to a team that was there: nobody can see whether that was applied.
        ([member()], [("team", "t")], "origin unknown"),
        ([member()], [("space", "s")], "not applied yet"),
    ],
)
def test_what_has_no_line_of_its_own_was_made_with_what_it_is_in(
    earlier: list[Things], lines: list[tuple[str, str]], cause: str
) -> None:
    """Otherwise, what has a line of its own is judged by what it is in.

    Otherwise, what somebody deleted outside is told as new here.
    Otherwise, what somebody deleted outside is told as not applied yet.
    Otherwise, of whatever has no line it is doubted whether somebody deleted it.
    Otherwise, what may never have been made is told as deleted outside.
    """
    case = Case(member("a@x.example"), member(), base=member("a@x.example"), earlier=earlier, lines=lines)
    assert told(case) == {"acme/teams/t/members/a@x.example": cause}


def script(of: str, secret: str = "KEY") -> Things:
    """Neither its script nor its secrets are ever given back."""
    return {
        "published_integration": {"bot": {"title": "Bot", "script": of, "secrets": {"K": Secret(secret)}}}
    }


BOT: Things = {"published_integration": {"bot": {"title": "Bot"}}}


@pytest.mark.parametrize(
    ("base", "confirm", "causes"),
    [
        (script("old"), (), {"script": "edited here"}),
        (script("new", "OTHER"), (), {"secrets": "edited here"}),
        (script("new"), ("send acme/publishedIntegrations/bot#script",), {"script": "origin unknown"}),
        (script("new"), (), {}),
        (None, (), {}),
    ],
)
def test_what_cannot_be_read_differs_because_it_is_edited_here(
    base: Things | None, confirm: tuple[str, ...], causes: dict[str, str]
) -> None:
    """Otherwise, a secret is sent again by each apply.

    Otherwise, what cannot be read and was edited here is told as changed outside, or of no origin.
    Otherwise, whatever somebody changed outside is told as edited here, too.
    """
    found = told(Case(script("new"), BOT, base=base, confirm=confirm))
    assert found == {f"acme/publishedIntegrations/bot#{name}": cause for name, cause in causes.items()}


def installed(**configuration: Any) -> Things:
    return {"installation": {"bot": {"configuration": configuration}}}


@pytest.mark.parametrize(
    ("live", "secret", "cause"),
    [("b", "OLD", "changed outside"), ("b", "NEW", "both"), ("a", "NEW", "edited here")],
)
def test_of_a_value_that_is_read_in_part_both_parts_tell(live: str, secret: str, cause: str) -> None:
    """Otherwise, the part of a value that is as it should be has a cause."""
    case = Case(
        installed(mode="a", token=Secret(secret)),
        installed(mode=live, x=1),
        base=installed(mode="a", token=Secret("OLD")),
    )
    assert told(case) == {"acme/integrations/bot#configuration": cause}


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
    links = {f"d/{key}": {"title": key, "url": "https://x"} for key in keys}
    return {"site": {"d": {"title": "D", "basename": "d"}}, "external_link": links}


@pytest.mark.parametrize(
    ("base", "here", "live", "earlier", "moves"),
    [
        ("abc", "cab", "abc", None, {"c": "moved here"}),
        ("abc", "abc", "cab", None, {"c": "moved outside"}),
        ("abc", "abc", "cab", "cab", {"c": "not applied yet"}),
        ("abcde", "eabcd", "bacde", None, {"e": "moved here", "a": "moved outside"}),
        (None, "abc", "cab", None, {"c": "origin unknown"}),
    ],
)
@pytest.mark.parametrize(
    ("siblings", "place"),
    [
        (ordered, "spaces"),
        (collections, "collections"),
        (nodes, "sites/d/structure"),
    ],
    ids=["spaces", "collections", "nodes"],
)
def test_a_place_says_who_has_moved_it(
    base: str | None,
    here: str,
    live: str,
    earlier: str | None,
    moves: dict[str, str],
    siblings: Callable[..., Things],
    place: str,
) -> None:
    def things(keys: str, live: bool = False) -> Things:
        return siblings(*keys, live=live)

    case = Case(
        things(here),
        things(live, live=True),
        base=None if base is None else things(base),
        earlier=[things(earlier)] if earlier else [],
    )
    assert told(case) == {f"acme/{place}/{key}": cause for key, cause in moves.items()}


def test_of_spaces_and_collections_in_one_thing_each_says_who_has_moved_it() -> None:
    def things(inner: str, shown: str, live: bool = False) -> Things:
        names = Case({"collection": {key: {} for key in "xab"}, "space": {key: {} for key in "st"}})
        at = LiveId("collection-x") if live else names.ref("collection", "x")
        lists = {"collectionOrder": ("collection", inner), "order": ("space", shown)}
        orders = {name: tuple(names.ref(kind, key) for key in keys) for name, (kind, keys) in lists.items()}
        inside = {key: {"title": key, "parent": at} for key in inner}
        return {
            "collection": {"x": {"title": "X", **({} if live else orders)}, **inside},
            "space": {key: {"title": key, "collection": at} for key in shown},
        }

    case = Case(things("ba", "st"), things("ab", "ts", live=True), base=things("ab", "st"))
    causes = told(case)
    assert [causes.get(f"acme/collections/{key}") for key in "ab"].count("moved here") == 1
    assert [causes.get(f"acme/spaces/{key}") for key in "st"].count("moved outside") == 1


def test_what_is_live_as_it_was_edited_is_counted_and_is_no_change() -> None:
    """Otherwise, behind the first entry that is not live no edit on both sides is counted.

    Otherwise, behind the first field that nobody edited no edit on both sides is counted.
    """
    new: Things = {"collection": {"n": {"title": "N"}}}
    case = Case(
        {**new, **space(emoji="B", language="en")}, space(emoji="B", language="en"),
        base=space(emoji="A", language="en"),
    )  # fmt: skip
    plan = make_plan(case.sides())
    assert [change.action for change in plan.changes] == ["create"]
    assert plan.same_edit_twice == ("acme/spaces/s#emoji",)
    assert make_plan(Case(space(emoji="B"), space(emoji="B")).sides()).same_edit_twice == ()


def test_what_an_apply_has_done_is_no_edit_twice() -> None:
    sides = Case(space(emoji="B"), space(emoji="B"), base=space(emoji="A")).sides()
    assert make_plan(replace(sides, options=Options(proof=True))).same_edit_twice == ()


@pytest.mark.parametrize(("base", "cause"), [("c", "moved here"), ("d", "moved outside")])
def test_what_comes_from_elsewhere_is_moved_by_who_has_put_it_there(base: str, cause: str) -> None:
    """Otherwise, where there are no lines at all everything counts as never applied.

    Otherwise, who has put something into a place from elsewhere is not told.
    """

    def things(at: str, live: bool = False) -> Things:
        two = Case({"collection": {"c": {}, "d": {}}, "space": {"s": {}, "x": {}}})
        order = {} if live else {"order": (two.ref("space", "s"), two.ref("space", "x"))}
        inside = {key: LiveId(f"collection-{key}") if live else two.ref("collection", key) for key in "cd"}
        return {
            "collection": {"c": {"title": "C"}, "d": {"title": "D", **order}},
            "space": {
                "s": {"title": "S", "collection": inside[at]},
                "x": {"title": "X", "collection": inside["d"]},
            },
        }

    found = told(Case(things("d"), things("c", live=True), base=things(base)))
    assert found["acme/spaces/s"] == cause


def names(plan: Plan) -> dict[str, dict[str, list[str]]]:
    return {
        part.group: {item.address: [one.field for one in item.differences] for item in part.items}
        for part in parts(plan)
    }


def test_a_thing_with_fields_of_both_parts_stands_in_both_with_its_own() -> None:
    case = Case(
        {**space(emoji="B", language="en"), **TEAM}, {**space(emoji="A", language="de"), **NONE},
        base={**space(emoji="A", language="en"), **TEAM},
    )  # fmt: skip
    sides = case.sides()
    plan = make_plan(sides)
    assert names(plan) == {
        "this change": {"acme/spaces/s": ["emoji"]},
        "there already": {"acme/spaces/s": ["language"], "acme/teams/t": ["title"]},
    }
    assert [part.group for part in drifted_parts(find_drift(sides, plan))] == ["there already", "this change"]
    unknown = Case(space(emoji="B"), space(emoji="A"))
    assert names(make_plan(unknown.sides())) == {"origin unknown": {"acme/spaces/s": ["emoji"]}}


def test_causes_change_nothing_that_is_done() -> None:
    for case, _ in CASES.values():
        without = Case(**{**vars(case), "earlier": ()})
        one, other = make_plan(case.sides()), make_plan(without.sides())
        assert one.digest == other.digest
        assert [change.done for change in one.changes] == [change.done for change in other.changes]
