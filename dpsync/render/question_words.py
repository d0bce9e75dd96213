"""Write the questions that an apply asks at a terminal."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Final

from dpsync.kinds.registry import load
from dpsync.model.address import Address
from dpsync.model.change import Change
from dpsync.model.plan import Plan
from dpsync.model.text import FEW, counted, listed
from dpsync.render.names import delete_noun, kind_noun
from dpsync.render.visible import visible

_PLAIN: Final = re.compile(r"[\w.@+-]+")
"""A key that reads like a word of the sentence."""


def apply_question(plan: Plan) -> str:
    """Return the question whether to apply a plan, with its organizations and platform."""
    return f"Apply these changes to {_where(plan)}? [y/N]"


def delete_question(plan: Plan) -> str:
    """Return the question for the number of deletes, with the objects that a plan deletes."""
    number = f"Type the number of deletes ({plan.deletes}):"
    return f"Delete {listed([*_deleted(plan)])} in {_where(plan)}? {_consequence(plan)} {number}"


def _where(plan: Plan) -> str:
    names = sorted({visible(change.location.top.last) for change in plan.changes})
    return f"{listed(names)} on {visible(plan.platform)}" if names else visible(plan.platform)


def _deletes(plan: Plan) -> list[Change]:
    return [change for change in plan.changes if change.action == "delete"]


def _deleted(plan: Plan) -> Iterator[str]:
    """Yield the names of a few deleted objects, or else their number by kind, and the number of cascades."""
    deletes = _deletes(plan)
    kinds = Counter[str]()
    for change in deletes:
        if len(deletes) > FEW:
            kinds[delete_noun(change.kind)] += 1
        else:
            yield f"{kind_noun(change.kind)} {_name(change)}"
    kinds.update(delete_noun(effect.kind) for change in deletes for effect in change.effects if effect.counts)
    yield from (counted(number, noun) for noun, number in kinds.items())


def _name(change: Change) -> str:
    """Return the key of the entry that an object had, or its title."""
    key = Address.parse(change.removed.address).last if change.removed is not None else change.location.last
    return visible(key) if _PLAIN.fullmatch(key) else f'"{visible(change.label or key)}"'


def _consequence(plan: Plan) -> str:
    """Return whether the deleted objects can be restored. What a delete removes by cascade cannot."""
    registry, deletes = load(plan.profile), _deletes(plan)
    restores = [registry[change.kind].lifecycle.restore for change in deletes]
    days = [restore.days for restore in restores if restore is not None]
    if len(days) < len(restores) or len(deletes) < plan.deletes:
        return "This cannot be undone."
    return f"{'It' if len(days) == 1 else 'They'} can be restored for {min(days)} days."
