"""Which entries `import --update` takes for something with another name, from plain values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from dpsync.model.address import Pattern
from dpsync.planner.plan import make_plan
from dpsync.workflows.session import Planned
from dpsync.workflows.unmanaged import bind_renamed_entries
from tests.planner.lab import REGISTRY
from tests.planner.stages import Case, Things

EXACTLY, ALL = "acme/teams/new", "acme/teams/*"
Taken = dict[str, str]
Left = dict[str, list[str]]


def teams(**titles: str) -> Things:
    return {"team": {key: {"title": title} for key, title in titles.items()}}


def after(case: Case, *patterns: str) -> tuple[Taken, Left]:
    """Return the entries that were matched by their looks, and the candidates of all others."""
    sides = case.sides()
    wanted = [Pattern.parse(text, REGISTRY.pattern_words) for text in patterns]
    planned, left = bind_renamed_entries(Planned(make_plan(sides), sides), wanted)
    taken = {str(at): match.id for at, match in planned.snapshot.matches.items() if match.by == "looks"}
    return taken, {str(at): [one.id for one in item.candidates] for at, item in left.items()}


GONE = Case(teams(new="Billing"), teams(old="Alpha"), lines=[("team", "old")])
"""The line of an entry that is gone, under another key and another name."""
TWO_GONE = Case(
    teams(new="Billing"), teams(old="Alpha", other="Evening"), lines=[("team", "old"), ("team", "other")]
)
LOOKS = Case(teams(new="Technical writers"), teams(old="Technical writing"))
BESIDE = Case(
    teams(new="Technical writers"),
    teams(old="Technical writing", other="Evening"),
    prune=["teams"],
    agreed=False,
)
"""Another one would be deleted in the same plan."""
BOTH = Case(
    teams(new="Technical writers"), teams(old="Technical writing", other="Evening"), lines=[("team", "other")]
)
"""One looks like it, and the entry of another one is gone."""
OF_TWO = Case(teams(new="Technical writers", next="Technical writer"), teams(old="Technical writing"))
"""Two entries that could be the same one."""


@pytest.mark.parametrize(
    ("case", "patterns", "taken", "left"),
    [
        (GONE, [EXACTLY], {EXACTLY: "team-old"}, {}),
        (GONE, [ALL], {}, {EXACTLY: ["team-old"]}),
        (TWO_GONE, [EXACTLY], {}, {EXACTLY: ["team-old", "team-other"]}),
        (LOOKS, [EXACTLY], {EXACTLY: "team-old"}, {}),
        (LOOKS, [ALL], {EXACTLY: "team-old"}, {}),
        (BESIDE, [ALL], {EXACTLY: "team-old"}, {}),
        (BOTH, [EXACTLY], {}, {EXACTLY: ["team-old", "team-other"]}),
        (OF_TWO, [ALL], {}, {EXACTLY: ["team-old"], "acme/teams/next": ["team-old"]}),
        (GONE, ["acme/spaces"], {}, {}),
    ],
)  # fmt: skip
def test_import_update_matches_renamed_object_only_when_unambiguous(
    case: Case, patterns: Sequence[str], taken: Mapping[str, str], left: Mapping[str, Any]
) -> None:
    """Otherwise, two entries are taken for one live thing.

    Otherwise, a pattern over many entries takes what only might be one of them.
    Otherwise, of several things that an entry could be the first is taken.
    Otherwise, what merely lies where an entry was is taken for it.
    Otherwise, that something else is there too keeps what looks like an entry from being taken for it.
    """
    assert after(case, *patterns) == (taken, left)


def test_ambiguous_rename_lists_possible_ids() -> None:
    sides = TWO_GONE.sides()
    _, left = bind_renamed_entries(
        Planned(make_plan(sides), sides), [Pattern.parse(ALL, REGISTRY.pattern_words)]
    )
    (found,) = left.values()
    assert (found.code, found.address) == ("not-live", EXACTLY)
    assert [one.add for one in found.answers] == ["id: team-old", "id: team-other"]
    assert (
        found.hint
        == "add id: team-old if this is the same object, or delete the entry if the object no longer exists"
    )
