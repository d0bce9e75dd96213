"""Laws of recognition over random places: before an apply the base is certain, after it nothing is asked.

Every seed is an example; a failure names it, with all that was declared and live.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations
from random import Random

import pytest

from dpsync.identity.candidates import certain_assignments
from dpsync.model.address import Address

from .cases import SHAPES, Case, applied, unapplied

SEEDS = 250
LEAST = 100
"""So many of them must be examples; the others have a base that says nothing certain."""


def cases(shape: str) -> Iterator[tuple[int, Case]]:
    found = 0
    for seed in range(SEEDS):
        case = unapplied(Random(seed), SHAPES[shape])
        if case is not None:
            found += 1
            yield seed, case
    assert found >= LEAST


@pytest.mark.parametrize("shape", SHAPES)
def test_git_base_matches_every_unchanged_entry(shape: str) -> None:
    """By the base alone, or it is asked: about names that went round, or a first key that was dropped."""
    told = 0
    for seed, case in cases(shape):
        answer = case.matched()
        asked = {Address.parse(str(item.address)) for item in answer.diagnostics}
        assert {item.code for item in answer.diagnostics} <= {"DP305"}
        if case.dropped and asked:
            continue  # an entry that lost its first key may look like any other
        found = {address: item.id for address, item in answer.matches.items()}
        if asked:
            found = {address: id for address, id in found.items() if address in case.own}
        own = {address: id for address, id in case.own.items() if address not in asked}
        assert found == own, f"seed {seed}\n{case}\n{answer.matches}"
        told += not asked
    assert told > LEAST / 2


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("base", [True, False], ids=["base", "no base"])
def test_ids_lines_match_every_entry_without_questions(shape: str, base: bool) -> None:
    exchanged = total = 0
    for seed, case in cases(shape):
        total += 1
        answer = case.matched(base=base, recorded=case.own)
        # Without a git base, entries that exchanged all fields look like swapped lines.
        allowed = set() if base else {"DP243"}
        assert {item.code for item in answer.diagnostics} <= allowed, (
            f"seed {seed}\n{case}\n{answer.diagnostics}"
        )
        exchanged += bool(answer.diagnostics)
        found = {address: item.id for address, item in answer.matches.items()}
        assert found == case.own, f"seed {seed}\n{case}\n{answer.matches}"
    assert exchanged <= total / 10


@pytest.mark.parametrize("shape", SHAPES)
def test_ids_lines_still_match_all_entries_after_apply(shape: str) -> None:
    for seed, before in cases(shape):
        case = applied(before)
        plain = case.matched(base=False)
        if {address: item.id for address, item in plain.matches.items()} != case.own:
            continue  # equal entries: no natural key tells one from the other
        answer = case.matched(recorded=case.own)
        assert answer.diagnostics == [], f"seed {seed}\n{case}"
        found = {address: item.id for address, item in answer.matches.items()}
        assert found == case.own, f"seed {seed}\n{case}\n{answer.matches}"


def best(candidates: dict[str, list[str]], rank: dict[str, int]) -> list[dict[str, str]]:
    """Every best assignment, by trying all of them."""
    objects = sorted({item for items in candidates.values() for item in items})
    entries = sorted(candidates)
    padded = [*objects, *("" for _ in entries)]
    found: dict[tuple[str, ...], tuple[int, ...]] = {}
    for order in set(permutations(padded, len(entries))):
        chosen = dict(zip(entries, order, strict=True))
        if all(not item or item in candidates[entry] for entry, item in chosen.items()):
            served = [rank[entry] for entry, item in chosen.items() if item]
            found[order] = tuple(served.count(level) for level in range(3))
    most = max(found.values())
    return [
        {entry: item for entry, item in zip(entries, order, strict=True) if item}
        for order, score in found.items()
        if score == most
    ]


@pytest.mark.parametrize("seed", range(60))
def test_certain_matches_equal_pairs_common_to_best_assignments(seed: int) -> None:
    """Otherwise, what is certain is held to be one of several choices.

    Otherwise, an entry of a lower rank that got nothing makes those of a higher one uncertain.
    Otherwise, what was served at a higher rank counts as a choice of those of a lower one.
    Otherwise, what could be otherwise is given as certain: an entry becomes another object by chance.
    Otherwise, one object is given to two entries.
    """
    random = Random(seed)
    entries = [f"e{n}" for n in range(random.randint(1, 4))]
    objects = [f"o{n}" for n in range(random.randint(1, 4))]
    candidates = {entry: random.sample(objects, random.randint(0, min(3, len(objects)))) for entry in entries}
    rank = {entry: random.randint(0, 2) for entry in entries}
    everything = best(candidates, rank)
    common = {
        entry: item
        for entry, item in everything[0].items()
        if all(other.get(entry) == item for other in everything)
    }
    assert certain_assignments(candidates, rank) == common


def test_matching_solves_chain_of_4000_entries() -> None:
    """Each of 4,000 entries could be one of two objects, and the last one only one."""
    names = [f"{n:04}" for n in range(4_000)]
    candidates = {name: [name, f"{n + 1:04}"] for n, name in enumerate(names)}
    candidates[names[-1]] = [names[-1]]
    assert certain_assignments(candidates, dict.fromkeys(names, 0)) == {name: name for name in names}
