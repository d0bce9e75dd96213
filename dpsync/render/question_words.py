"""Write the questions that `dpsync apply` asks at a terminal before it applies or deletes."""

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
    """Return the question that a person answers with the number of deletes.

    It names the objects that the plan deletes, and says whether they can be restored. An object that GitBook
    deletes together with its parent cannot be restored.
    """
    return (
        f"Delete {join_with_and([*_deleted_names(plan)])} in {_platform_and_organizations(plan)}? "
        f"{_restore_sentence(plan)} Type the number of deletes ({plan.deletes}):"
    )


def _restore_sentence(plan: Plan) -> str:
    """Return which deleted objects can be restored, and for how many days."""
    registry, counts = build_registry(plan.profile), Counter[str]()
    days = []
    for change in _deleted_changes(plan):
        if (restore := registry[change.kind].lifecycle.restore) is not None:
            days.append(restore.days)
            counts[delete_noun(change.kind)] += 1
    if not days:
        return "This cannot be undone."
    if len(days) == plan.deletes:
        return f"{'It' if len(days) == 1 else 'They'} can be restored for {min(days)} days."
    restorable = [noun if number == 1 else format_count(number, noun) for noun, number in counts.items()]
    return f"Only the {join_with_and(restorable)} can be restored, for {min(days)} days."


def _platform_and_organizations(plan: Plan) -> str:
    """Return "ORGANIZATIONS on PLATFORM", as far as a plan changes them."""
    names = sorted({visible(change.location.organization.last_segment) for change in plan.changes})
    return f"{join_with_and(names)} on {visible(plan.platform)}" if names else visible(plan.platform)


def _deleted_changes(plan: Plan) -> list[Change]:
    """Return the changes of a plan that delete an object."""
    return [change for change in plan.changes if change.action == "delete"]


def _deleted_names(plan: Plan) -> Iterator[str]:
    """Yield the deleted objects by name if they are few, otherwise by number, and the number of cascades.

    A name is the kind with the key of the entry, or with the title if the key is not a word.
    """
    deletes = _deleted_changes(plan)
    kinds = Counter[str]()
    for change in deletes:
        if len(deletes) > MAX_LISTED_NAMES:
            kinds[delete_noun(change.kind)] += 1
            continue
        address = change.location if change.removed is None else Address.parse(change.removed.address)
        key = address.last_segment
        name = visible(key) if _UNQUOTED.fullmatch(key) else f'"{visible(change.label or key)}"'
        yield f"{kind_noun(change.kind)} {name}"
    kinds.update(delete_noun(effect.kind) for change in deletes for effect in change.effects if effect.counts)
    yield from (format_count(number, noun) for noun, number in kinds.items())
