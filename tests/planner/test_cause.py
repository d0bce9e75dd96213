"""Three values, one cause: against a definition of its own, over values of every type."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from random import Random
from typing import Any, Final

import pytest

from dpsync.kinds.kind import Field
from dpsync.kinds.types import Enum, Flag, Json, Many, Object, Reference, Table, Text
from dpsync.kinds.types.texts import Certificate, Markdown
from dpsync.model.entries.address import Address
from dpsync.model.entries.values import LiveId, Ref
from dpsync.model.plans.cause import Cause, cause_text, common_cause, group
from dpsync.planner.steps.order import moves
from dpsync.planner.why.cause import UNKNOWN, UNSAID, of_field, of_places, ranks
from tests.soak import examples

EDITED: Final = "edited here"
OUTSIDE: Final = "changed outside"
TWICE: Final = "same edit twice"


@dataclass(frozen=True)
class Sample:
    """A field, values that it may have, and what each of them means: with one meaning they are one value."""

    field: Field
    values: Sequence[Any]
    meaning: Callable[[Any], Any] = repr


def words(value: Any) -> Any:
    return value if value is None else tuple(value.split())


def members(value: Any) -> Any:
    return value if value is None else frozenset(map(repr, value))


def bare(value: Any) -> Any:
    return value if value is None else "".join(value.replace("-----", "|").split("|")[2].split())


def pem(text: str) -> str:
    return f"-----BEGIN CERTIFICATE-----\n{text}\n-----END CERTIFICATE-----\n"


TEAM, OTHER = Ref(Address.parse("acme/teams/a")), Ref(Address.parse("acme/teams/b"))
SAMPLES = {
    "text": Sample(Field("f", Text(0, 9)), [None, "", "a", "A", "b", "a "]),
    "word": Sample(
        Field("f", Enum(("guest", "read", "admin")), absent="guest"),
        [None, "guest", "read", "admin"],
        lambda value: value or "guest",
    ),
    "flag": Sample(Field("f", Flag(), absent=False), [None, False, True], bool),
    "list": Sample(Field("f", Many(Text())), [None, [], ["a"], ["a", "b"], ["b", "a"]]),
    "set": Sample(Field("f", Many(Text(), as_set=True)), [None, ["a"], ["a", "b"], ["b", "a"], []], members),
    "reference": Sample(Field("f", Reference.to("team")), [None, TEAM, OTHER, LiveId("t-9"), LiveId("t-8")]),
    "set of references": Sample(
        Field("f", Many(Reference.to("team"), as_set=True)),
        [[TEAM], [OTHER, TEAM], [TEAM, OTHER], [LiveId("team-9")]],
        members,
    ),
    "table": Sample(
        Field("f", Table(Enum(("en", "de")), Text())),
        [None, {"en": "a"}, {"en": "b"}, {"en": "a", "de": "a"}, {"de": "a", "en": "a"}],
        lambda value: value if value is None else frozenset(value.items()),
    ),
    "object": Sample(
        Field("f", Object({"a": Text(), "b": Many(Text(), as_set=True)}, ("a", "b"))),
        [{"a": "x", "b": ["p", "q"]}, {"a": "x", "b": ["q", "p"]}, {"a": "y", "b": ["p", "q"]}, None],
        lambda value: value if value is None else (value["a"], frozenset(value["b"])),
    ),
    "JSON": Sample(
        Field("f", Json()),
        [None, {}, {"a": [1, 2]}, {"a": [2, 1]}, {"a": {"b": None}}, {"c": 1, "a": 1}, {"a": 1, "c": 1}],
        lambda value: value if value is None else repr(sorted(value.items())),
    ),
    "certificate": Sample(
        Field("f", Certificate()), [None, pem("abcd"), pem("ab\ncd"), pem("abce")], bare
    ),
    "Markdown": Sample(
        Field("f", Markdown()), [None, "Some words.", "Some\nwords.", "Some words.\n\n", "Others."], words
    ),
}  # fmt: skip


def defined(sample: Sample, base: Any, here: Any, live: Any, earlier: Sequence[Any]) -> str | None:
    """The definition: three meanings, and the place where each two of them are one."""
    has, wants = sample.meaning(live), sample.meaning(here)
    said = [item for item in earlier if item not in (UNKNOWN, UNSAID)]
    past = {sample.meaning(item) for item in said}
    if base in (UNKNOWN, UNSAID):
        tells = "origin unknown" if base is UNKNOWN else EDITED
        return None if has == wants else tells
    match sample.meaning(base) == wants, sample.meaning(base) == has, wants == has:
        case True, True, True:
            return None
        case False, False, True:
            return TWICE
        case True, False, False:
            return (
                "not applied yet" if has in past else OUTSIDE if said == list(earlier) else "origin unknown"
            )
        case False, True, False:
            return EDITED
    return EDITED if has in past else "both"


@pytest.mark.parametrize("name", SAMPLES)
def test_any_three_values_have_the_cause_that_is_defined(name: str) -> None:
    """Otherwise, a field that is live as nobody edited it counts as edited on both sides."""
    sample, random, told = SAMPLES[name], Random(name), set[str | None]()
    for _ in range(examples(400, 20_000)):
        here, live = random.choice(sample.values), random.choice(sample.values)
        live = sample.field.absent if live is None else live  # as it is decoded
        base = random.choice([*sample.values, *sample.values, UNKNOWN, UNSAID])
        past = random.choices([*sample.values, UNKNOWN, UNSAID], k=random.randrange(3))
        wanted = defined(sample, base, here, live, past)
        assert of_field(sample.field, base, here, live, past) == wanted, (base, here, live, past)
        told.add(wanted)
    all_six = {None, EDITED, OUTSIDE, TWICE, "both", "not applied yet", "origin unknown"}
    assert told == (all_six - {"both"} if name == "flag" else all_six)


def test_what_earlier_commits_said_is_asked_only_where_the_base_is_not_live() -> None:
    """Otherwise, what was edited here is told as changed outside."""

    def earlier() -> Any:
        raise AssertionError("a commit was read")
        yield

    field = SAMPLES["text"].field
    assert of_field(field, "a", "b", "a", earlier()) == EDITED
    assert of_field(field, "a", "b", "b", earlier()) == TWICE
    assert of_field(field, UNKNOWN, "b", "a", earlier()) == "origin unknown"


@pytest.mark.parametrize(
    ("base", "here", "live", "earlier", "cause"),
    [
        # Before the first commit nothing was said, so that nothing of it can be not applied yet.
        ("a", "a", None, [], OUTSIDE),
        ("a", "b", None, [], "both"),
        # A commit had the entry without the field: nobody can see whether the next one was applied.
        ("a", "a", None, [UNSAID], "origin unknown"),
        ("a", "a", "c", ["a", UNSAID], "origin unknown"),
        ("a", "a", "c", [UNSAID, "c"], "not applied yet"),
        ("a", "b", "c", [UNSAID], "both"),
    ],
)
def test_only_what_an_earlier_commit_said_can_be_not_applied_yet(
    base: Any, here: Any, live: Any, earlier: list[Any], cause: str
) -> None:
    """Otherwise, where nobody can tell what a commit said somebody is said to have changed it outside."""
    assert of_field(SAMPLES["text"].field, base, here, live, earlier) == cause


def test_of_what_nobody_ever_applied_nothing_was_changed_outside() -> None:
    """Otherwise, what nobody ever applied is told as changed outside.

    Otherwise, an edit of what nobody ever applied is told as not applied yet.
    """
    field = SAMPLES["text"].field
    assert of_field(field, "a", "a", "c", never_applied=True) == "not applied yet"
    assert of_field(field, "a", "b", "c", never_applied=True) == EDITED


PARTIAL = Field("f", Json(partial=True, shape={"type": "object"}))


@pytest.mark.parametrize(
    ("base", "here", "live", "cause"),
    [
        ({"a": 1}, {"a": 1}, {"a": 2, "x": 1}, OUTSIDE),
        ({"a": 1}, {"a": 1, "b": 1}, {"a": 1}, EDITED),
        (
            {"a": 1, "b": 1},
            {"a": 1},
            {"a": 2, "b": 1},
            OUTSIDE,
        ),  # what is no longer named is no edit of the rest
        ({"a": 1}, {"a": 2}, {"a": 1, "x": 9}, EDITED),
        ({"a": 1}, {"a": 2}, {"a": 3}, "both"),
        ({"a": 1}, {"a": 2}, {"a": 2, "x": 9}, TWICE),
    ],
)
def test_of_what_is_managed_in_part_the_parts_that_are_written_tell(
    base: Any, here: Any, live: Any, cause: str
) -> None:
    assert of_field(PARTIAL, base, here, live) == cause


# Places.


def moving(here: Sequence[int], live: Sequence[int]) -> set[Any]:
    return {move.item for move in moves(list(live), list(here))}


def pairs(base: Sequence[int], here: Sequence[int], live: Sequence[int], past: Sequence[int]) -> set[str]:
    """Of all two siblings that stand the other way round, who has put them so."""

    def first(order: Sequence[int], one: int, other: int) -> bool:
        return order.index(one) < order.index(other)

    told = set()
    for one, other in combinations(here, 2):
        now = first(live, one, other)
        if first(here, one, other) != now:
            edited = not {one, other} <= set(base) or first(base, one, other) == now
            pending = {one, other} <= set(past) and first(past, one, other) == now
            told.add(EDITED if edited else "not applied yet" if pending else OUTSIDE)
    return told


MADE_OF: dict[str, set[str]] = {
    EDITED: {EDITED},
    "not applied yet": {"not applied yet"},
    OUTSIDE: {OUTSIDE},
    "both": {EDITED},
}
"""What there is at least where several causes are told as one."""


def test_of_any_three_orders_every_edit_is_told_and_none_is_invented() -> None:
    """Otherwise, who has moved something is not told.

    Otherwise, a sibling that something does not pass tells who has moved it.
    Otherwise, what was merged and not applied yet is told as moved outside.
    Otherwise, what somebody moved outside is told as not applied yet.
    """
    for seed in range(examples(300, 20_000)):
        random = Random(seed)
        here, live, past = (random.sample(range(6), 6) for _ in range(3))
        base = random.choice([random.sample(range(6), random.choice([4, 6])), here, live])
        past = random.choice([past, past[:4], live])
        gone = moving(here, live)
        causes = of_places(gone, ranks(base), ranks(here), ranks(live), [ranks(past)])
        told, wanted = set(causes.values()), pairs(base, here, live, past)
        assert causes.keys() == gone
        assert (EDITED in wanted) == bool(told & {EDITED, "both"}), (seed, causes)
        assert bool(wanted - {EDITED}) == bool(told - {EDITED}), (seed, causes)
        assert all(MADE_OF[str(cause)] <= wanted for cause in told), (seed, causes)


@pytest.mark.parametrize(
    ("base", "here", "live", "causes"),
    [
        ("abcde", "eabcd", "abcde", {"e": EDITED}),
        ("abcde", "abcde", "eabcd", {"e": OUTSIDE}),
        # Two authors, two siblings: each has its own.
        ("abcdef", "fabcde", "bacdef", {"f": EDITED, "a": OUTSIDE}),
        ("abcde", "bcdea", "cabde", {"a": EDITED, "b": OUTSIDE}),
        ("yxz", "xyz", "zyx", {"x": "both", "y": "both"}),
        # What is new in the files, and what comes from elsewhere.
        ("bc", "abc", "bca", {"a": EDITED}),
        ("abc", "abc", "bc", {}),
    ],
)
def test_a_move_is_told_by_the_siblings_that_it_passes(
    base: str, here: str, live: str, causes: dict[str, str]
) -> None:
    """Otherwise, what those that stay explain is told again as moved by somebody else.

    Otherwise, a sibling that is not live ends the run in an error of the program.
    Otherwise, nobody is said to have moved anything.
    """
    gone = {move.item for move in moves(list[Any](live), [one for one in here if one in live])}
    assert of_places(gone, ranks(base), ranks(here), ranks(live)) == causes


def test_of_a_thousand_siblings_that_are_reversed_each_has_a_cause() -> None:
    here = list(range(1000))
    live = here[::-1]
    causes = of_places(moving(here, live), ranks(here), ranks(here), ranks(live))
    assert set(causes.values()) == {OUTSIDE}
    assert len(causes) == 999


# The words.


@pytest.mark.parametrize(
    ("causes", "one"),
    [
        ([], None),
        ([EDITED, EDITED], EDITED),
        ([EDITED, OUTSIDE], "both"),
        ([EDITED, "not applied yet"], "both"),
        ([OUTSIDE, "not applied yet"], OUTSIDE),
        ([EDITED, "origin unknown"], "origin unknown"),
    ],
)
def test_several_causes_are_one(causes: list[Cause], one: str | None) -> None:
    assert common_cause(causes) == one


def test_a_whole_thing_and_a_place_have_words_of_their_own() -> None:
    assert [cause_text(EDITED, what) for what in ("field", "made", "removed", "place")] == [
        "edited here", "added here", "removed here", "moved here",
    ]  # fmt: skip
    assert [cause_text(OUTSIDE, what) for what in ("field", "made", "removed", "place")] == [
        "changed outside", "deleted outside", "made outside", "moved outside",
    ]  # fmt: skip
    assert cause_text("not applied yet", "made") == "not applied yet"
    mine: list[Cause | None] = [EDITED, "both", None]
    assert {group(cause) for cause in mine} == {"this change"}
    theirs: list[Cause] = [OUTSIDE, "not applied yet"]
    assert {group(cause) for cause in theirs} == {"there already"}
    assert group("origin unknown") == "origin unknown"


def test_who_moved_what_in_a_long_list() -> None:
    """As fast as the list is long where only one side has changed it, and where both have."""
    many = range(3_000)
    turned = [*reversed(many)]
    gone = set(many) - {0}
    orders = ranks(many), ranks(turned)
    assert set(of_places(gone, orders[0], orders[1], orders[0]).values()) == {"edited here"}
    assert set(of_places(gone, orders[0], orders[0], orders[1]).values()) == {"changed outside"}
    past = [orders[1]]
    assert set(of_places(gone, orders[0], orders[0], orders[1], past).values()) == {"not applied yet"}
    assert of_places({2}, ranks([1, 0, 2]), ranks([2, 0, 1]), ranks([0, 1, 2])) == {2: "edited here"}


def test_what_stays_in_another_order_than_here_is_passed_all_the_same() -> None:
    """1 and 2 were not selected: they stay as they are live, and 0 passes both."""
    here, live = ranks([1, 0, 2, 3]), ranks([2, 0, 1, 3])
    assert of_places({0}, live, here, live) == {0: "edited here"}
    assert of_places({0}, ranks([1, 2, 0, 3]), here, live) == {0: "both"}
    assert of_places({3}, live, here, live) == {3: None}
