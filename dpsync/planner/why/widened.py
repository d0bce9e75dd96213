"""Where the change itself lets things be deleted: `prune` covers more, `ignore` or `forget` covers less.

Who reads only the entries that are removed does not see that. So what goes because of it is named beside the
line of the policy, by comparison with the git base.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator

from dpsync.model.entries.address import Address, Pattern
from dpsync.model.entries.desired import Desired
from dpsync.model.entries.snapshot import Identity
from dpsync.model.plans.remark import Note
from dpsync.model.texts.words import some
from dpsync.planner.decide.deletions import Deletions
from dpsync.planner.inputs.sides import Sides
from dpsync.planner.why.unmatched import where


def widened(sides: Sides, found: Deletions) -> Iterator[Note]:
    """A warning for each line of the policy that lets something go which the policy of the base kept."""
    then = sides.base.desired
    if then is None or not found.roots:
        return
    for pattern, items in _pruned_since(sides, then, found).items():
        added = pattern not in then.policy.prune
        why = "this change adds it" if added else f"{sides.base.said} did not have it for what is there"
        text = f"{why}, and so what {sides.base.said} kept would be deleted: {_named(sides, items)}"
        yield Note(address=where("prune", pattern), text=text, severity="warning")
    for name, pattern, items in _left_alone_until_now(sides, then, found):
        taken = pattern not in getattr(sides.desired.policy, name)
        why = "this change takes it away" if taken else "it does not cover it under its present name"
        text = f"{why}, and so what {sides.base.said} left alone would be deleted: {_named(sides, items)}"
        yield Note(address=where(name, pattern), text=text, severity="warning")


def _pruned_since(sides: Sides, then: Desired, found: Deletions) -> dict[Pattern, list[Identity]]:
    """By pattern, the deletes in places that the base did not prune, under any name that they had."""
    since: dict[Pattern, list[Identity]] = defaultdict(list)
    for place, items in sides.snapshot.scopes.items():
        deleted = [identity for identity in items if identity in found.roots]
        if not deleted or any(map(then.pruned, _names_of(sides, place))):
            continue
        for pattern in sides.desired.policy.prune:
            if pattern.matches(place):
                since[pattern] += deleted
                break
    return since


def _names_of(sides: Sides, place: Address) -> set[Address]:
    """The addresses of a list, now and before: what it belongs to may have had another key."""
    for around in place.upward():
        live = sides.live(around)
        if live is not None:
            inside = place.segments[len(around.segments) :]
            return {place, *(Address((*name.segments, *inside)) for name in sides.former.of(live.identity))}
    return {place}


def _left_alone_until_now(
    sides: Sides, then: Desired, found: Deletions
) -> Iterator[tuple[str, Pattern, list[Identity]]]:
    """Each pattern of the base that left alone what goes now, also what goes along."""
    for name in ("ignore", "forget"):
        for pattern in getattr(then.policy, name):
            covered = [
                identity
                for identity in found.everything
                if pattern.field is None and any(map(pattern.covers, sides.former.of(identity)))
            ]
            if covered:
                yield name, pattern, covered


def _named(sides: Sides, items: Collection[Identity]) -> str:
    """The outermost of these."""
    those = set(items)
    outermost = (one for one in those if not those & {*sides.snapshot.above(sides.snapshot.objects[one])})
    return some(sorted(str(sides.names.address(one)) for one in outermost))
