"""Write the questions that an apply asks at a terminal."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Final

from dpsync.kinds.registry import build_registry
from dpsync.model.address import Address
from dpsync.model.change import Change
from dpsync.model.plan import Plan
from dpsync.model.text import MAX_LISTED_NAMES, format_count, join_with_and
from dpsync.render.names import delete_noun, kind_noun
from dpsync.render.visible import visible

_UNQUOTED: Final = re.compile(r"[\w.@+-]+")
"""A key that reads like a word of the sentence."""


def apply_question(plan: Plan) -> str:
    """Return the question whether to apply a plan, with its organizations and platform."""
    return f"Apply these changes to {_platform_and_organizations(plan)}? [y/N]"


def delete_question(plan: Plan) -> str:
    """Return the question for the number of deletes, with the objects that a plan deletes."""
    number = f"Type the number of deletes ({plan.deletes}):"
    return (
        f"Delete {join_with_and([*_deleted_names(plan)])} in "
        f"{_platform_and_organizations(plan)}? {_restore_sentence(plan)} {number}"
    )


def _platform_and_organizations(plan: Plan) -> str:
    names = sorted({visible(change.location.organization.last_segment) for change in plan.changes})
    return f"{join_with_and(names)} on {visible(plan.platform)}" if names else visible(plan.platform)


def _deleted_changes(plan: Plan) -> list[Change]:
    return [change for change in plan.changes if change.action == "delete"]


def _deleted_names(plan: Plan) -> Iterator[str]:
    """Yield the names of a few deleted objects, or else their number by kind, and the number of cascades."""
    deletes = _deleted_changes(plan)
    kinds = Counter[str]()
    for change in deletes:
        if len(deletes) > MAX_LISTED_NAMES:
            kinds[delete_noun(change.kind)] += 1
        else:
            yield f"{kind_noun(change.kind)} {_deleted_name(change)}"
    kinds.update(delete_noun(effect.kind) for change in deletes for effect in change.effects if effect.counts)
    yield from (format_count(number, noun) for noun, number in kinds.items())


def _deleted_name(change: Change) -> str:
    """Return the key of the entry that an object had, or its title."""
    key = (
        Address.parse(change.removed.address).last_segment
        if change.removed is not None
        else change.location.last_segment
    )
    return visible(key) if _UNQUOTED.fullmatch(key) else f'"{visible(change.label or key)}"'


def _restore_sentence(plan: Plan) -> str:
    """Return which deleted objects can be restored. What a delete removes by cascade cannot."""
    registry, kinds = build_registry(plan.profile), Counter[str]()
    restore_rules = []
    for change in deletes]
    restore_days (restore := registry[change.kind].lifecycle.days for restore in restore_rules if restore) is not None:
            days.append(restore_days)
            kinds[delete_noun(restore_rules)] += 1
    if not days:
        return "This cannot be undone."
    if len(days) == plan.deletes:
        return f"{'It' if len(restore_days) == 1 else 'They'} can be restored for {min(restore_days)} days."
    restorable = [noun if number == 1 else format_count(number, noun) for noun, number in kinds.items()]
    return f"Only the {join_with_and(restorable)} can be restored, for {min(days)} days."
