"""Putting siblings in another order takes as few moves as there can be, and nothing else."""

from __future__ import annotations

from collections.abc import Sequence

from .configurations import Written, document, world
from .laws import law, said
from .mutations import Managed
from .organizations import Draw, Organization, live_organization, repair
from .platform import Platform


@law(30)
def test_reordering_siblings_uses_fewest_moves(platform: Platform, draw: Draw) -> None:
    live = live_organization(draw, "acme", 5)
    repair(draw, live, strict=True)
    wanted = live.copy()
    wanted.spaces = draw.shuffled(wanted.spaces)
    wanted.collections = draw.shuffled(wanted.collections)
    for site in wanted.sites:
        for nodes in site.holders():
            nodes[:] = draw.shuffled(nodes)
    written = Written(draw, live, wanted, Managed(), explicit=True).configuration()
    platform.server.reset(world([live]))
    session = platform.session(document({"acme": written}))

    plan = platform.plan(session).plan

    steps = [step for change in plan.changes for step in change.steps]
    assert {step.verb for step in steps} <= {"move"}
    assert len(steps) == fewest(live, wanted)
    report = platform.apply(session)
    assert report.complete, said(report)


def fewest(live: Organization, wanted: Organization) -> int:
    """Return the fewest moves: per list of siblings, n − (the longest part that is already in order)."""
    found = 0
    for holder in (None, *(collection.key for collection in live.collections)):
        before, after = ([c.key for c in org.collections if c.parent == holder] for org in (live, wanted))
        found += _moves(before, after)
        if holder is not None:  # that of spaces at the top is not managed
            before, after = ([s.key for s in org.spaces if s.collection == holder] for org in (live, wanted))
            found += _moves(before, after)
    for old, new in zip(live.sites, wanted.sites, strict=True):
        now = {frozenset(node.key for node in nodes): [node.key for node in nodes] for nodes in new.holders()}
        for nodes in old.holders():
            before = [node.key for node in nodes]
            found += _moves(before, now[frozenset(before)])
    return found


def _moves(before: Sequence[str], after: Sequence[str]) -> int:
    """By the quadratic method, which is not the one under test."""
    at = [before.index(key) for key in after]
    longest: list[int] = []
    for index, number in enumerate(at):
        longest.append(1 + max((longest[i] for i in range(index) if at[i] < number), default=0))
    return len(at) - max(longest, default=0)
