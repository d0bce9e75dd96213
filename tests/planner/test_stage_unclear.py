"""What is asked before anything is made or renamed that may be live already, from plain values."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from msgspec.structs import replace

from dpsync.model.entries.ids import RecordedLine
from dpsync.model.entries.match import Match, MatchedBy
from dpsync.model.entries.values import LiveId
from dpsync.planner.inputs.sides import Sides
from dpsync.planner.plan import make_plan
from dpsync.planner.questions.candidates import MOST
from dpsync.planner.questions.lookalikes import Lookalike, Reason

from .lab import REGISTRY
from .stages import ACME, Case, Things

NAMES = Case({"collection": {key: {} for key in "abcdn"}, "space": {key: {} for key in "nstuv"}})
"""Only for references to what it has."""
LOOKS, PLACE, REMOVED = Reason.LOOKS.value, Reason.PLACE.value, Reason.REMOVED.value
OTHERS, GOING, UNSEEN = Reason.OTHERS.value, Reason.GOING.value, Reason.UNSEEN_PAST.value
BY_BASE, NO_LINES = Reason.BASE_LINE.value, Reason.NO_LINES.value


def asked(case: Case | Sides, code: str = "unclear") -> dict[str, dict[str, str]]:
    """By key of an entry that is asked about: the ids that it could have, with the reasons."""
    plan = make_plan(case.sides() if isinstance(case, Case) else case)
    return {
        item.address.rpartition("/")[2]: {one.id: one.why for one in item.candidates}
        for item in plan.refusals
        if item.code == code
    }


# Names that may have gone round by hand.


def within(live: bool = False, **collections: str | None) -> Things:
    """Spaces by the collection that each is in; they have the letters of their collections' keys."""

    def at(key: str | None) -> Any:
        if key is None:
            return None
        return LiveId(f"collection-{key}") if live else NAMES.ref("collection", key)

    return {
        "collection": {key: {"title": key} for key in "abc"},
        "space": {name: {"title": name, "collection": at(key)} for name, key in collections.items()},
    }


HERE = within(s="a", t="b")


@pytest.mark.parametrize(
    ("wanted", "live", "rings"),
    [
        (HERE, within(True, s="b", t="a"), "ab"),
        (HERE, within(True, s="a", t="b"), ""),
        (HERE, within(True, s="b", t="b"), ""),
        (HERE, within(True, s="b", t=None), ""),
        (HERE, within(True, s="b", t="x"), ""),
        (within(s="a", t="b", u="c"), within(True, s="b", t="c", u="a"), "abc"),
        (within(s="a", t="b", u="c"), within(True, s="b", t="a", u="a"), "ab"),
        (within(s="a", t="b", u="a"), within(True, s="b", t="a", u="a"), ""),
        (within(s="a", t="b", u="a"), within(True, s="b", t="a", u="b"), "ab"),
        (within(s="a", t="b", u=None), within(True, s="b", t="a", u="a"), "ab"),
    ],
)
def test_where_all_that_names_one_names_the_next_it_is_asked_which_is_which(
    wanted: Things, live: Things, rings: str
) -> None:
    found = asked(Case(wanted, live), "exchanged")
    assert sorted(found) == sorted(rings)
    for key, candidates in found.items():
        [own, other] = candidates
        assert own == f"collection-{key}"
        assert other == next(
            f"collection-{live['space'][name]['collection'].id[-1]}"
            for name, one in wanted["space"].items()
            if one["collection"] == NAMES.ref("collection", key)
        )


@pytest.mark.parametrize(
    "more",
    [
        {"lines": [("collection", "a")]},
        {"lines": [("collection", "b")]},
        {"ignore": ["collections"]},
        {"base": within(s="b", t="a")},
        {"base": within(s="a", t="a")},
    ],
)
def test_names_that_something_else_tells_apart_have_not_gone_round(more: dict[str, Any]) -> None:
    """Otherwise, what a line of the ids file tells is asked about at each exchange of names.

    Otherwise, what is ignored is asked about.
    """
    live = within(True, s="b", t="a")
    assert asked(Case(HERE, live, **more), "exchanged") == {}
    assert asked(Case(HERE, live, ignore=["collections/a"], base=HERE), "exchanged").keys() == {"a", "b"}


@pytest.mark.parametrize("by", [MatchedBy.PIN, MatchedBy.PREVIOUSLY, MatchedBy.BASE])
def test_what_somebody_has_answered_is_not_known_by_its_name_alone(by: MatchedBy) -> None:
    """Otherwise, what somebody has said with an id is asked about again as if only its name told it."""
    sides = Case(HERE, within(True, s="b", t="a")).sides()
    matches = {**sides.snapshot.matches, NAMES.address("collection", "a"): Match("collection-a", by)}
    assert asked(replace(sides, snapshot=replace(sides.snapshot, matches=matches)), "exchanged") == {}


# What an entry that would be made could be.


def into(**collections: str | None) -> Case:
    """Spaces that are to go into a new collection, by the one that each is in now."""
    wanted = {
        "collection": {"n": {"title": "N"}},
        "space": {key: {"title": key, "collection": NAMES.ref("collection", "n")} for key in collections},
    }
    at = {key: LiveId(f"collection-{to}") if to else None for key, to in collections.items()}
    live = {
        "collection": {"old": {"title": "Old"}, "other": {"title": "Other"}},
        "space": {key: {"title": key, "collection": to} for key, to in at.items()},
    }
    return Case(wanted, live)


@pytest.mark.parametrize(
    ("case", "found"),
    [
        (into(s="old", t="old"), {"n": {"collection-old": PLACE}}),
        (into(s="old", t="other"), {}),
        (into(s="old", t=None), {}),
        (into(s=None, t=None), {}),
        (into(s="old"), {"n": {"collection-old": PLACE}}),
    ],
)
def test_what_all_that_goes_into_it_lies_in_now_may_be_it(case: Case, found: Mapping[str, Any]) -> None:
    """Otherwise, where one entry of a place is open, those of all others are.

    Otherwise, everything that nobody declares is said to have lost its entry.
    Otherwise, of two places in which things lie one is said to be the new one.
    """
    assert asked(case) == found


def showing(new: Mapping[str, Any], shown: str, *others: str, declared: bool = True) -> Case:
    """A place that is to show the new space `n`, and shows another one now."""
    tree: Things = {"site": {"d": {"title": "D"}}, "section": {"d/k": {"title": "K", "path": "k"}}}
    spaces = {key: {"title": key} for key in (shown, *others)}
    place = {"d/k/p": {"path": "p", "space": LiveId(f"space-{shown}")}}
    key = "p" if declared else "q"
    there = {f"d/k/{key}": {"path": key, "space": NAMES.ref("space", "n")}}
    wanted = {**tree, "space": {"n": {"title": "N", **new}}, "site_space": there}
    return Case(wanted, {**tree, "space": spaces, "site_space": place})


@pytest.mark.parametrize(
    ("case", "found"),
    [
        (showing({}, "old"), {"n": {"space-old": PLACE}}),
        (showing({}, "old", "other"), {"n": {"space-old": PLACE}}),
        (showing({"new": True}, "old"), {}),
        (dataclasses.replace(showing({}, "old"), ignore=["spaces/n"]), {}),
        (dataclasses.replace(showing({}, "old"), forget=["spaces/[old]"]), {}),
        # A place is known by what it shows: it is not found, and what is beside it shows the old one.
        (showing({}, "old", declared=False), {"n": {"space-old": PLACE}}),
    ],
)
def test_what_is_shown_where_a_new_one_is_to_be_shown_may_be_it(case: Case, found: Mapping[str, Any]) -> None:
    """Otherwise, what is an entry already is offered to another one.

    Otherwise, what the policy ignores is asked about.
    Otherwise, what is to be left where it is is offered to an entry.
    """
    assert asked(case) == found


def spaces(*keys: str, **fields: Any) -> Things:
    return {"space": {key: {"title": f"The {key}", **fields} for key in keys}}


def recorded(case: Case, earlier: Sequence[str] = (), *, empty: bool = False, **base: bool) -> Sides:
    """Sides of which the ids file of the git base has lines, too; or there is no line for any of them."""
    sides = case.sides()
    lines = [
        RecordedLine(case.address("space", key), f"space-{live}")
        for key, live in (one.split("=") for one in earlier)
    ]
    known = replace(
        sides.snapshot.records,
        earlier={line.address: line for line in lines},
        empty=frozenset({ACME}) if empty else frozenset(),
    )
    snapshot = replace(sides.snapshot, records=known)
    return replace(sides, snapshot=snapshot, base=replace(sides.base, **base))


GONE = {"space-gone": REMOVED}


@pytest.mark.parametrize(
    ("sides", "found"),
    [
        (recorded(Case(spaces("n"), spaces("gone"))), {}),
        (recorded(Case(spaces("n"), spaces("gone"), lines=[("space", "gone")])), {"n": GONE}),
        (recorded(Case(spaces("n"), spaces("gone"), base=spaces("gone"))), {"n": GONE}),
        (recorded(Case(spaces("n"), spaces("gone")), ["gone=gone"]), {"n": GONE}),
        (recorded(Case(spaces("n"), spaces("gone")), ["n=gone"]), {"n": {"space-gone": BY_BASE}}),
        (recorded(Case(spaces("n"), spaces("gone")), ["n=lost"]), {}),
        # Of two that are new both are asked about when one is.
        (recorded(Case(spaces("n", "m"), spaces("gone", "x")), ["n=gone"]),
         {"n": {"space-gone": BY_BASE}, "m": {"space-gone": OTHERS, "space-x": OTHERS}}),
        (recorded(Case(spaces("n", "m"), spaces("gone", "x"), lines=[("space", "gone")])),
         {"n": GONE, "m": GONE}),
        # What an entry is already, and what nobody may touch, it is not.
        (recorded(Case(spaces("n", "s"), spaces("s"), lines=[("space", "s")])), {}),
        (recorded(Case(spaces("n"), spaces("gone"), lines=[("space", "gone")], ignore=["spaces/[The gone]"])),
         {}),
        # The entry was there when ids were not yet recorded; but HEAD was perhaps never applied.
        (recorded(Case(spaces("n"), spaces("x"), base=spaces("n")), empty=True),
         {"n": {"space-x": NO_LINES}}),
        (recorded(Case(spaces("n"), spaces("x"), base=spaces("n")), empty=True, present=True), {}),
        (recorded(Case(spaces("n"), spaces("x"), base=spaces()), empty=True), {}),
        (recorded(Case(spaces("n"), spaces("x"), base=spaces("n"))), {}),
        (recorded(Case(spaces("n"), spaces("x")), empty=True, lacking=True), {"n": {}}),
        # Or its line was lost, and what it was is called otherwise by now.
        (recorded(Case(spaces("n"), spaces("x")), lacking=True), {"n": {"space-x": UNSEEN}}),
        (recorded(Case(spaces("n", "x"), spaces("x")), lacking=True), {}),
        (recorded(Case(spaces("n"), spaces("x"), lines=[("space", "n")]), lacking=True),
         {"n": {"space-x": UNSEEN}}),
    ],
)  # fmt: skip
def test_what_an_entry_that_is_gone_from_the_files_was_may_be_a_new_one(
    sides: Sides, found: Mapping[str, Any]
) -> None:
    """Otherwise, in a clone of one commit content is made that was there.

    Otherwise, an entry of the git base without a line is made a second time beside its object.
    Otherwise, a project that was only just written is asked about each entry.
    Otherwise, what is new in the files is asked about as if it had been there.
    Otherwise, one object is offered to two entries.
    Otherwise, what is to be left where it is is offered to an entry, also of what the policy ignores.
    """
    assert asked(sides) == found


def test_of_many_candidates_some_are_named_and_the_others_counted() -> None:
    keys = [f"gone{number:03}" for number in range(MOST + 3)]
    plan = make_plan(Case(spaces("n"), spaces(*keys), lines=[("space", key) for key in keys]).sides())
    [refusal] = plan.refusals
    assert len(refusal.candidates) == MOST
    assert "3 more than are named here" in refusal.message
    assert len(refusal.answers) == MOST + 1


def test_the_others_that_must_be_answered_are_counted() -> None:
    plan = make_plan(Case(spaces("m", "n"), spaces("gone"), lines=[("space", "gone")]).sides())
    assert ["1 other space would be made" in item.message for item in plan.refusals] == [True, True]
    assert [one.add for one in plan.refusals[0].answers] == ["id: space-gone", "new: true"]
    assert not any("more than are named here" in item.message for item in plan.refusals)


@pytest.mark.parametrize(
    ("case", "found"),
    [
        # An entry is new, its name was there, and the object of a removed entry would be deleted.
        (Case(spaces("s"), spaces("s", "gone"), prune=["spaces"], base=spaces("gone")),
         {"s": {"space-s": "it has its name", "space-gone": REMOVED}}),
        (Case(spaces("s"), spaces("s", "gone"), prune=["spaces"], base=spaces("s", "gone")), {}),
        (Case(spaces("s"), spaces("s", "gone"), base=spaces("gone")), {}),
        (Case(spaces("s"), spaces("s", "gone"), prune=["spaces"], base=spaces()), {}),
        (Case(spaces("s"), spaces("s", "gone"), prune=["spaces"], base=spaces("gone"),
              lines=[("space", "s")]), {}),
    ],
)  # fmt: skip
def test_a_new_entry_with_a_name_that_was_there_is_asked_about_when_another_goes(
    case: Case, found: Mapping[str, Any]
) -> None:
    """Otherwise, an entry that the git base has is taken for a new one, and asked about."""
    assert asked(case) == found


def test_of_what_looks_like_it_the_most_alike_is_named_first() -> None:
    looks = {"a": {"title": "The Guidexx"}, "b": {"title": "The Guide"}}
    found = asked(Case({"space": {"n": {"title": "The Guides"}}}, {"space": looks}))
    assert list(found["n"].items()) == [("space-b", LOOKS), ("space-a", LOOKS)]


@pytest.mark.parametrize("empty", [False, True])
def test_where_ids_were_never_recorded_and_there_is_no_base_nobody_knows_what_is_new(empty: bool) -> None:
    """Otherwise, where nothing tells which entries are new, each one that has a name is asked about."""
    case = Case(spaces("s"), spaces("s", "gone"), prune=["spaces"], lines=[("space", "gone")])
    assert asked(recorded(case, empty=empty)).keys() == (set() if empty else {"s"})


def test_a_candidate_tells_what_shows_it() -> None:
    case = showing({}, "old")
    [refusal] = make_plan(case.sides()).refusals
    assert [one.shown_in for one in refusal.candidates] == [("acme/sites/d/structure/k/p",)]


@pytest.mark.parametrize(("put_out", "deleted"), [(True, False), (False, True), (False, False)])
def test_what_the_platform_has_put_out_or_deleted_is_no_candidate(put_out: bool, deleted: bool) -> None:
    """Otherwise, what the platform has made of an entry becomes another entry.

    Otherwise, what is deleted is offered as what an entry could be.
    """
    sides = recorded(Case(spaces("n"), spaces("gone"), lines=[("space", "gone")]))
    gone = replace(sides.snapshot.objects["space", "space-gone"], deleted=deleted)
    objects = {**sides.snapshot.objects, gone.identity: gone}
    outputs = frozenset({gone.identity}) if put_out else frozenset()
    snapshot = replace(sides.snapshot, objects=objects, output_identities=outputs)
    assert bool(asked(replace(sides, snapshot=snapshot))) is not (put_out or deleted)


# All questions about one kind are one.


def replacing(**more: Any) -> Case:
    """A new space beside one that was never declared and that `prune` would delete; and a team that goes."""
    live: Things = {"space": {"old": {"title": "Old"}}, "team": {"gone": {"title": "Gone"}}}
    wanted: Things = {"space": {"n": {"title": "Quite another"}}, "team": {}}
    return Case(wanted, live, prune=["spaces", "teams"], agreed=False, **more)


def test_what_would_be_deleted_while_another_of_its_kind_is_made_is_one_question_with_all_answers() -> None:
    """Otherwise, what is of another kind is offered as what an entry could be."""
    plan = make_plan(replacing().sides())
    assert [(item.code, item.address) for item in plan.refusals] == [
        ("unclear", "acme/spaces/n"),
        ("content", "acme/teams/[Gone]"),
    ]
    asked, other = plan.refusals
    assert [(one.id, one.why) for one in asked.candidates] == [("space-old", GOING)]
    assert [(one.address, one.add) for one in asked.answers] == [
        ("acme/spaces/n", "id: space-old"),
        ("acme/spaces/n", "new: true"),
        ("policy", 'removed: ["acme/spaces/[Old~space-old]"]'),
        ("acme/spaces/[Old]", '--confirm "delete content 2"'),
    ]
    assert "acme/spaces/[Old]" not in other.message


@pytest.mark.parametrize(
    ("more", "codes"),
    [
        ({"confirm": ["delete content 2"]}, []),
        ({"confirm": ["delete object acme/spaces/[Old]", "delete object acme/teams/[Gone]"]}, []),
        ({"removed": ["spaces/[Old]"]}, ["content"]),
        ({"removed": ["spaces/[Old]", "teams/[Gone]"]}, []),
    ],
)
def test_what_was_named_to_go_is_no_question_any_more(more: dict[str, Any], codes: list[str]) -> None:
    assert [item.code for item in make_plan(replacing(**more).sides()).refusals] == codes


def test_an_entry_that_is_said_to_be_new_leaves_the_question_what_may_go() -> None:
    """Otherwise, what is said to be new is asked about for ever."""
    case = replacing()
    new = dataclasses.replace(
        case, wanted={**case.wanted, "space": {"n": {"title": "Quite another", "new": True}}}
    )
    assert [item.code for item in make_plan(new.sides()).refusals] == ["content"]


def test_what_cannot_change_is_asked_about_after_who_is_who() -> None:
    """Names gone round by hand: what the next plan says of the type follows from the answer.

    Otherwise, of an entry that is perhaps another object it is said what cannot change about the wrong one.
    """
    site: Things = {"site": {"a": {"title": "A", "type": "basic"}, "b": {"title": "B", "type": "premium"}}}
    other: Things = {"site": {**site["site"], "a": {"title": "A", "type": "premium"}}}
    case = Case(site, other, base={"site": {"b": site["site"]["b"]}})
    assert [item.code for item in make_plan(case.sides()).refusals] == ["create-only"]
    gone = {"site": {"gone": {"title": "Gone", "type": "basic"}}}
    asked = Case(
        {"site": {"a": site["site"]["a"]}}, {"site": {"a": other["site"]["a"], **gone["site"]}},
        base=gone, prune=["sites"], agreed=False,
    )  # fmt: skip
    assert [item.code for item in make_plan(asked.sides()).refusals] == ["unclear"]


@pytest.mark.parametrize(("number", "told"), [(3, ""), (4, " and 1 more"), (5, " and 2 more")])
def test_of_many_that_an_entry_looks_like_three_are_named_and_the_others_counted(
    number: int, told: str
) -> None:
    case = Case(
        {"team": {"t": {"title": "T"}}}, {"team": {f"t{n}": {"title": f"T{n}"} for n in range(number)}}
    )
    sides = case.sides()
    live = tuple(item for item in sides.snapshot.objects.values() if item.kind == "team")
    found = Lookalike(sides.resources[case.address("team", "t")], REGISTRY["team"], live)
    assert found.named() == f'"T0" (team-t0) or "T1" (team-t1) or "T2" (team-t2){told}'
