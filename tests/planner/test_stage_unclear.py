"""What a plan asks before it creates content that may be live under another name, from plain values."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from msgspec.structs import replace

from dpsync.model.desired import Limits
from dpsync.model.ids import RecordedLine
from dpsync.model.snapshot import Match, MatchedBy
from dpsync.model.values import LiveId
from dpsync.planner.answers import answer_in_flag
from dpsync.planner.identity_questions import MAX_QUESTIONS
from dpsync.planner.plan import make_plan
from dpsync.planner.rebound_ids import SimilarityReason, titles_and_ids
from dpsync.planner.sides import Options, Sides

from .stages import ACME, Case, Things

NAMES = Case({"collection": {key: {} for key in "abcdn"}, "space": {key: {} for key in "nstuv"}})
"""Only for references to what it has."""
SIMILAR, SHOWN, LOST = (
    SimilarityReason.SIMILAR.value,
    SimilarityReason.SHOWN_AT_POSITION.value,
    SimilarityReason.ENTRY_REMOVED.value,
)


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
def test_swapped_collection_titles_are_asked_about(wanted: Things, live: Things, rings: str) -> None:
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
def test_swapped_collections_with_evidence_need_no_question(more: dict[str, Any]) -> None:
    """Otherwise, what a line of the ids file tells is asked about at each exchange of names.

    Otherwise, what is ignored is asked about.
    """
    live = within(True, s="b", t="a")
    assert asked(Case(HERE, live, **more), "exchanged") == {}
    assert asked(Case(HERE, live, ignore=["collections/a"], base=HERE), "exchanged").keys() == {"a", "b"}


@pytest.mark.parametrize(
    "by", [MatchedBy.PIN, MatchedBy.PREVIOUSLY, MatchedBy.BASE, MatchedBy.EARLIER_COMMIT]
)
def test_title_swap_question_skips_entries_with_explicit_match(by: MatchedBy) -> None:
    """Otherwise, what somebody has said with an id is asked about again as if only its name told it."""
    sides = Case(HERE, within(True, s="b", t="a")).sides()
    matches = {**sides.snapshot.matches, NAMES.address("collection", "a"): Match("collection-a", by)}
    assert asked(replace(sides, snapshot=replace(sides.snapshot, matches=matches)), "exchanged") == {}


# What a new entry could be.


def showing(new: Mapping[str, Any], shown: str, *others: str, declared: bool = True) -> Case:
    """Return a case whose site space shows another space now and is to show the new space `n`."""
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
        (showing({}, "old"), {"n": {"space-old": SHOWN}}),
        (showing({}, "old", "other"), {"n": {"space-old": SHOWN}}),
        (showing({"new": True}, "old"), {}),
        (dataclasses.replace(showing({}, "old"), ignore=["spaces/n"]), {}),
        (dataclasses.replace(showing({}, "old"), forget=["spaces/[old]"]), {}),
        (showing({}, "old", declared=False), {}),
    ],
    ids=["shown", "one of two is shown", "declared new", "ignored entry", "forgotten object", "another path"],
)
def test_space_at_same_path_is_rename_candidate(case: Case, found: Mapping[str, Any]) -> None:
    """Otherwise, a site shows an empty new space in place of the real one that was renamed by hand."""
    assert asked(case) == found


def spaces(*keys: str, **fields: Any) -> Things:
    return {"space": {key: {"title": f"The {key}", **fields} for key in keys}}


def recorded(
    case: Case, earlier: Sequence[str] = (), kept: Sequence[str] = (), *, empty: bool = False, **base: Any
) -> Sides:
    """Sides with marks in the ids file; `empty` is without an ids file, but with that of the git base."""
    sides = case.sides()
    lines = [
        RecordedLine(case.address("space", key), f"space-{live}")
        for key, live in (one.split("=") for one in earlier)
    ]
    marked = {case.address("space", key) for key in kept}
    known = replace(
        sides.snapshot.recorded_ids,
        lines={at: replace(one, kept=at in marked) for at, one in sides.snapshot.recorded_ids.lines.items()},
        base_lines={line.address: line for line in lines},
        organizations_without_lines=frozenset({ACME}) if empty else frozenset(),
    )
    snapshot = replace(sides.snapshot, recorded_ids=known)
    return replace(sides, snapshot=snapshot, base=replace(sides.base, **base))


OLD = [("space", "gone")]
GONE = {"space-gone": LOST}


@pytest.mark.parametrize(
    ("sides", "found"),
    [
        pytest.param(recorded(Case(spaces("n"), spaces("gone"), lines=OLD)), {"n": GONE}, id="line left"),
        pytest.param(recorded(Case(spaces("n"), spaces("gone"), base=spaces("gone")), empty=True),
                     {"n": GONE}, id="no ids file, base has the entry"),
        pytest.param(recorded(Case(spaces("n"), spaces("gone"), base=spaces(), earlier=[spaces("gone")]),
                              empty=True), {"n": GONE}, id="no ids file, an older commit has the entry"),
        pytest.param(recorded(Case(spaces("n"), spaces("gone")), ["gone=gone"], empty=True), {"n": GONE},
                     id="no ids file, base has the file"),
        pytest.param(recorded(Case(spaces("n"), spaces("gone"), base=spaces("gone"), lines=[("space", "x")])),
                     {"n": GONE}, id="an ids file without a line for it, base has the entry"),
        pytest.param(recorded(Case(spaces("n"), spaces("gone")), ["n=gone"], empty=True),
                     {"n": {"space-gone": SimilarityReason.ENTRY_RENAMED.value}},
                     id="no ids file, base has the entry's line"),
    ],
)  # fmt: skip
def test_object_of_removed_entry_is_rename_candidate(sides: Sides, found: Mapping[str, Any]) -> None:
    """Otherwise, a space whose key and title change in one commit is created anew, without its pages."""
    assert asked(sides) == found


@pytest.mark.parametrize(
    "sides",
    [
        pytest.param(recorded(Case(spaces("n"), spaces("a", "b", "c"))), id="never declared"),
        pytest.param(recorded(Case(spaces("n"), spaces("a", "b", "c"), base=spaces("n")), empty=True),
                     id="never declared, no ids file, the entry is in the base"),
        pytest.param(recorded(Case(spaces("n"), spaces("gone"), lines=OLD), kept=["gone"]), id="kept"),
        pytest.param(recorded(Case(spaces("n", "s"), spaces("s"), lines=[("space", "s")])), id="declared"),
        pytest.param(recorded(Case(spaces("n"), spaces("gone"), lines=OLD, ignore=["spaces/[The gone]"])),
                     id="ignored"),
        pytest.param(recorded(Case(spaces("n"), spaces("gone"), lines=OLD, removed=["spaces/gone"])),
                     id="named in removed"),
        pytest.param(recorded(Case(spaces("n"), spaces("gone"), base=spaces(), earlier=[spaces("gone")],
                                   lines=[("space", "x")])),
                     id="an ids file, and an older commit has the entry"),
    ],
)  # fmt: skip
def test_ordinary_new_space_needs_no_question(sides: Sides) -> None:
    assert make_plan(sides).can_apply


@pytest.mark.parametrize("kind", ["team", "collection"])
@pytest.mark.parametrize("known", [True, False], ids=["known to be empty", "not read"])
def test_replacing_object_without_contents_needs_no_question(kind: str, known: bool) -> None:
    """What nothing hangs on may be created anew; what was not read may have members or spaces."""
    case = Case(
        {kind: {"n": {"title": "Quite another"}}}, {kind: {"old": {"title": "Old"}}}, lines=[(kind, "old")]
    )
    sides = case.sides()
    looked_at = frozenset({(kind, f"{kind}-old")} if known else ())
    evidence = replace(sides.snapshot.delete_evidence, checked_objects=looked_at)
    sides = replace(sides, snapshot=replace(sides.snapshot, delete_evidence=evidence))
    assert make_plan(sides).can_apply is known


def test_key_change_alone_is_no_rename_candidate() -> None:
    """Renaming the key of one space and adding another one is ordinary work."""
    case = Case(spaces("renamed", "n"), {"space": {"renamed": {"title": "The old"}}})
    sides = case.sides()
    lines = {at: RecordedLine(at, "space-renamed") for at in [case.address("space", "old")]}
    records = replace(sides.snapshot.recorded_ids, lines=lines)
    assert make_plan(replace(sides, snapshot=replace(sides.snapshot, recorded_ids=records))).can_apply


@pytest.mark.parametrize(("put_out", "deleted"), [(True, False), (False, True), (False, False)])
def test_translated_or_deleted_space_is_no_rename_candidate(put_out: bool, deleted: bool) -> None:
    """The space of a translation belongs to that, and a deleted space has its own answer."""
    sides = recorded(Case(spaces("n"), spaces("gone"), lines=OLD))
    gone = replace(sides.snapshot.objects["space", "space-gone"], deleted=deleted)
    objects = {**sides.snapshot.objects, gone.identity: gone}
    outputs = frozenset({gone.identity}) if put_out else frozenset()
    snapshot = replace(sides.snapshot, objects=objects, output_identities=outputs)
    assert bool(asked(replace(sides, snapshot=snapshot))) is not (put_out or deleted)


def test_most_similar_rename_candidate_comes_first() -> None:
    looks = {"a": {"title": "The Guidexx"}, "b": {"title": "The Guide"}}
    found = asked(Case({"space": {"n": {"title": "The Guides"}}}, {"space": looks}))
    assert list(found["n"].items()) == [("space-b", SIMILAR), ("space-a", SIMILAR)]


def test_rename_candidate_lists_its_site_spaces() -> None:
    case = showing({}, "old")
    [refusal] = make_plan(case.sides()).refusals
    assert [one.shown_in for one in refusal.candidates] == [("acme/sites/d/structure/k/p",)]


# A clone that cannot tell.


def test_plan_in_shallow_clone_gives_one_refusal() -> None:
    """In a clone of one commit without an ids file, each new space may be a renamed one."""
    case = Case(spaces("n", "m", "s"), spaces("x", "s"))
    lacking = recorded(
        case, empty=True, is_commit_missing=True, name="the parent of HEAD is not in this clone"
    )
    [refusal] = make_plan(lacking).refusals
    assert (refusal.code, refusal.address) == ("unclear", "acme")
    assert "2 entries" in refusal.message
    assert "fetch-depth: 0" in refusal.way_out
    [answer] = refusal.answers
    assert answer.add == '--confirm "new 2 acme/**"'
    confirmed = replace(lacking, options=Options(confirm=("new 2 acme/**",)))
    assert make_plan(confirmed).can_apply


def test_shallow_clone_refusal_includes_delete_flags() -> None:
    """Two refusals about the same clone would be two questions with one answer: fetch the whole history."""
    case = Case(spaces("n"), spaces("x"), prune=["spaces"], agreed=False)
    lacking = recorded(
        case, empty=True, is_commit_missing=True, desired=None, name="the parent of HEAD is not in this clone"
    )
    [refusal] = make_plan(lacking).refusals
    new, delete = '--confirm "new 1 acme/**"', '--confirm "delete acme/spaces/[The x]"'
    assert (refusal.code, refusal.address) == ("unclear", "acme")
    assert refusal.message == (
        "dpsync cannot tell whether GitBook already contains 1 entry under another name, or whether you "
        'removed the entry of space "The x" (id space-x), because there is no ids file and the parent of '
        "HEAD is not in this clone"
    )
    assert refusal.way_out.endswith(f"If the entries are new and the deletes are correct, add {new} {delete}")
    assert [way.add for way in refusal.answers] == [new, delete]
    answers = ("new 1 acme/**", "delete acme/spaces/[The x]")
    assert make_plan(replace(lacking, options=Options(confirm=answers))).can_apply
    assert [one.code for one in make_plan(replace(lacking, options=Options(answers[:1]))).refusals] == [
        "content"
    ]


@pytest.mark.parametrize("title", ["Others", "The groups"], ids=["another title", "a similar title"])
def test_plan_in_shallow_clone_asks_about_section_groups(title: str) -> None:
    """Otherwise, a group with a changed title is created a second time, and readers see an empty one."""
    site: Things = {"site": {"d": {"title": "D"}}}
    wanted = {**site, "section_group": {"d/n": {"title": title}}}
    case = Case(wanted, {**site, "section_group": {"d/g": {"title": "The group"}}})
    lacking = recorded(
        case, empty=True, is_commit_missing=True, name="the parent of HEAD is not in this clone"
    )
    [refusal] = make_plan(lacking).refusals
    assert [way.add for way in refusal.answers] == ['--confirm "new 1 acme/**"']
    for answer in ("new 1 acme/**", "new acme/sites/d/structure/n"):
        assert make_plan(replace(lacking, options=Options(confirm=(answer,)))).can_apply


@pytest.mark.parametrize(
    "sides",
    [
        pytest.param(
            recorded(Case(spaces("n", "x"), spaces("x")), empty=True, is_commit_missing=True),
            id="nothing undeclared",
        ),
        pytest.param(
            recorded(Case(spaces("n"), spaces("x"), lines=[("space", "n")]), is_commit_missing=True),
            id="ids file",
        ),
        pytest.param(
            recorded(Case(spaces("n", new=True), spaces("x")), empty=True, is_commit_missing=True),
            id="new: true",
        ),
    ],
)
def test_plan_in_shallow_clone_creates_certainly_new_entries(sides: Sides) -> None:
    assert make_plan(sides).can_apply


# One question for each kind and place.


def test_rename_question_for_one_entry_is_short() -> None:
    [refusal] = make_plan(Case(spaces("n"), spaces("gone"), lines=OLD).sides()).refusals
    assert refusal.message == (
        'Is acme/spaces/n a new space, or the space "The gone" (id space-gone) renamed?'
    )
    assert refusal.way_out == (
        'New: add new: true, or --confirm "new acme/spaces/n". Renamed: add previously: gone.'
    )
    assert [one.add for one in refusal.answers] == [
        "previously: gone", "new: true", '--confirm "new acme/spaces/n"',
    ]  # fmt: skip


def test_sixty_new_teams_share_one_question() -> None:
    """Sixty refusals for one removed team would bury everything else."""
    wanted = {"team": {f"t{number}": {"title": f"Number {number}"} for number in range(60)}}
    live = {"team": {"legacy": {"title": "Quite another"}}}
    case = Case(
        wanted, live, lines=[("team", "legacy")], base=live, base_policy={"prune": ["teams"]},
        prune=["teams"], agreed=False,
    )  # fmt: skip
    [refusal] = make_plan(case.sides()).refusals
    assert refusal.message == (
        'Are all 60 teams new, or does one of the entries rename the team "Quite another" (id team-legacy)? '
        "The entries: "
        "acme/teams/t0, acme/teams/t1, acme/teams/t10 and 57 more"
    )
    new, delete = '--confirm "new 60 acme/teams/*"', '--confirm "delete 1"'
    assert (
        refusal.way_out
        == f"New: add {new} {delete}. Renamed: add previously: legacy to the entry that has the new name."
    )
    answers = ("new 60 acme/teams/*", "delete 1")
    assert make_plan(dataclasses.replace(case, confirm=answers).sides()).can_apply


def test_deletions_in_shallow_clone_share_one_question() -> None:
    """A second refusal for the number would be a second run of the workflow."""
    case = Case(
        spaces("n"), spaces("old", "older"), lines=[("space", "old"), ("space", "older")],
        prune=["spaces"], limits=Limits(1, 100), agreed=False,
    )  # fmt: skip
    lacking = recorded(
        case, is_commit_missing=True, desired=None, name="the parent of HEAD is not in this clone"
    )
    [refusal] = make_plan(lacking).refusals
    answers = tuple(found for way in refusal.answers if (found := answer_in_flag(way.add)) is not None)
    names = ("delete acme/spaces/[The old]", "delete acme/spaces/[The older]")
    assert answers == ("new acme/spaces/n", "delete 2", *names)
    flags = " ".join(f'--confirm "{answer}"' for answer in answers)
    assert f"add {flags}" in refusal.way_out
    assert make_plan(replace(lacking, options=Options(confirm=answers))).can_apply


@pytest.mark.parametrize(
    ("answers", "codes"),
    [
        ((), ["unclear"]),
        (("new 2 acme/spaces/*",), ["content"]),
        (("new 2 spaces/*",), ["content"]),
        (("new acme/spaces/m", "new acme/spaces/n"), ["content"]),
        (("new acme/spaces/m",), ["unclear"]),
        (("new 3 acme/spaces/*",), ["unclear"]),
        (("new 2 acme/teams/*",), ["unclear"]),
        (("delete 1",), ["unclear"]),
        (("new 2 acme/spaces/*", "delete 1"), []),
    ],
    ids=[
        "none", "pattern", "pattern without organization", "each entry", "one of two entries",
        "another number", "another place", "only the delete", "both",
    ],
)  # fmt: skip
def test_confirm_new_must_match_question(answers: Sequence[str], codes: list[str]) -> None:
    """A number in the answer keeps it from answering a later question, about other entries."""
    gone = spaces("gone")
    case = Case(
        spaces("m", "n"), gone, lines=OLD, base=gone, base_policy={"prune": ["spaces"]}, prune=["spaces"],
        agreed=False, confirm=answers,
    )  # fmt: skip
    assert [item.code for item in make_plan(case.sides()).refusals] == codes


def test_unneeded_confirm_new_is_noted() -> None:
    answers = ["new 2 acme/spaces/*", "new 1 teams/*"]
    case = Case(spaces("m", "n"), spaces("gone"), lines=OLD, confirm=answers)
    notes = [item.address for item in make_plan(case.sides()).notes]
    assert notes == ['--confirm "new 1 */teams/*"']


def test_previously_on_one_entry_answers_question_of_others() -> None:
    """The removed team is one of the new entries, so all others are new."""
    case = Case(spaces("m", "n"), {"space": {"m": {"title": "The gone"}}}, lines=OLD)
    sides = case.sides()
    line = RecordedLine(case.address("space", "gone"), "space-m")
    matches = {**sides.snapshot.matches, case.address("space", "m"): Match("space-m", MatchedBy.PREVIOUSLY)}
    records = replace(sides.snapshot.recorded_ids, lines={line.address: line})
    assert make_plan(
        replace(sides, snapshot=replace(sides.snapshot, recorded_ids=records, matches=matches))
    ).can_apply


def test_rename_question_lists_limited_candidates() -> None:
    keys = [f"gone{number:03}" for number in range(MAX_QUESTIONS + 3)]
    plan = make_plan(Case(spaces("n"), spaces(*keys), lines=[("space", key) for key in keys]).sides())
    [refusal] = plan.refusals
    assert len(refusal.candidates) == MAX_QUESTIONS
    assert f"and {MAX_QUESTIONS} more?" in refusal.message
    assert len(refusal.answers) == MAX_QUESTIONS + 2


def test_create_only_change_is_refused_without_rename_question() -> None:
    """What the next plan says of the type follows from the answer."""
    site: Things = {"site": {"a": {"title": "A", "type": "basic"}, "b": {"title": "B", "type": "premium"}}}
    other: Things = {"site": {**site["site"], "a": {"title": "A", "type": "premium"}}}
    case = Case(site, other, base={"site": {"b": site["site"]["b"]}})
    assert [item.code for item in make_plan(case.sides()).refusals] == ["create-only"]


@pytest.mark.parametrize(("number", "told"), [(3, ""), (4, " and 1 more"), (5, " and 2 more")])
def test_refusal_lists_at_most_three_similar_objects(number: int, told: str) -> None:
    case = Case(
        {"team": {"t": {"title": "T"}}}, {"team": {f"t{n}": {"title": f"T{n}"} for n in range(number)}}
    )
    teams = [("team", f"team-t{n}") for n in range(number)]
    assert titles_and_ids(case.sides(), teams) == f'"T0" (team-t0) or "T1" (team-t1) or "T2" (team-t2){told}'
