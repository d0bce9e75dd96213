"""What a person has agreed to: a saved plan, a digest, or a plan that was shown before a question.

It is not carried out itself: only a plan that was made now is. That plan must have the same changes, and no
refusal that was not there before.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from dpsync.model.change import Change
from dpsync.model.plan import DIGITS, Origin, Plan


class Refused(Exception):
    """Nothing was written: what the plan rests on has changed. `stale` says why, by address.

    `origins`: where entries are written.
    """

    def __init__(self, stale: Mapping[str, str], origins: Mapping[str, Origin] | None = None) -> None:
        self.stale = dict(stale)
        self.origins = dict(origins or {})
        super().__init__(self.stale)


class NotApproved(Exception):
    """Nothing was written: another plan was approved than the one at hand. Both are digests."""

    def __init__(self, approved: str, found: str) -> None:
        self.approved = approved
        self.found = found
        super().__init__(approved, found)


class Expected(Struct, frozen=True):
    """What the plan that is made now must be. Where nothing is given, any plan will do."""

    plan: Plan | None = None
    """A saved plan, or the plan that was shown before the confirmation."""
    approved: str | None = None
    """The first digits of a digest."""
    name: str = "the saved plan"
    """The words that messages use for `plan`."""

    @staticmethod
    def shown(plan: Plan) -> Expected:
        """Return the expectation of the plan that a person has confirmed."""
        return Expected(plan, name="the plan that you confirmed")

    def check(self, now: Plan) -> None:
        """Raises NotApproved, or Refused with every difference."""
        check_approved(now, self.approved)
        if self.plan is not None and (found := different(self.plan, now, self.name)):
            raise Refused(found, now.origins)


def check_approved(plan: Plan, approved: str | None) -> None:
    """Raises NotApproved unless `approved`, the first digits of a digest, names this plan."""
    if approved is None:
        return
    if len(approved) < DIGITS or not plan.digest.startswith(approved.lower()):
        raise NotApproved(approved, plan.digest)


def different(before: Plan, now: Plan, name: str) -> dict[str, str]:
    """Return the reason for each address where two plans differ. `name` stands for `before` in messages."""
    old, new = _by_address(before), _by_address(now)
    found = {}
    for address in sorted(old.keys() | new.keys()):
        if address not in new:
            found[address] = f"{name} is out of date: this object needs no change now"
        elif address not in old:
            found[address] = f"{name} is out of date: a new plan would also change this object"
        elif old[address] != new[address]:
            found[address] = f"{name} is out of date: a new plan would change this object differently"
    known = {(item.code, item.address) for item in before.refusals}
    for item in now.refusals:
        if (item.code, item.address) not in known:
            found[item.address] = f"dpsync would refuse a new plan ({item.code}): {item.message}"
    if before.platform != now.platform:
        found["platform"] = f"the plan was made for {before.platform}, but this is {now.platform}"
    if before.environment != now.environment:
        found["environment"] = f"the plan was made for another environment: {before.environment or 'none'}"
    return found


def _by_address(plan: Plan) -> dict[str, Change]:
    return {change.address: change.done for change in plan.changes}
