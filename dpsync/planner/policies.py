"""What the policy says about things, now and in the git base, and what was not selected."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from dpsync.model.address import Address, Pattern
from dpsync.model.base import Base
from dpsync.model.desired import Policy
from dpsync.model.snapshot import Identity
from dpsync.planner.names import Names


@dataclass(frozen=True)
class Policies:
    """The policy of the configuration and that of the git base, over the names of both sides."""

    now: Policy
    base: Base
    names: Names
    chosen: frozenset[Address] | None
    """The part that is planned, where that is not everything."""

    def ignored(self, address: Address, field: str | None = None) -> bool:
        """Whether the policy leaves it alone, or it was not selected."""
        return self.left_out(address) or self.now.ignores(address, field)

    def left_out(self, address: Address) -> bool:
        """Whether something was not selected."""
        return self.chosen is not None and address not in self.chosen

    def protected(self, identity: Identity) -> Literal["now", "before"] | None:
        """Whether an object may not be deleted: by the present policy, or by that of the git base."""
        addresses = [self.names.address(identity)]
        if identity in self.names.earlier_addresses:
            addresses.append(self.names.earlier_addresses[identity])
        if any(pattern.matches(address) for pattern in self.now.protect for address in addresses):
            return "now"
        before = self.base.desired.policy.protect if self.base.desired else ()
        return "before" if any(item.matches(address) for item in before for address in addresses) else None

    def forgotten(self, identity: Identity, pattern: Pattern | None = None) -> bool:
        """Whether `forget` names a live object, by its present name or by the one in the git base.

        With a `pattern`, by that one alone.
        """
        patterns = self.now.forget if pattern is None else (pattern,)
        return bool(patterns) and any(
            pattern.covers(name) for name in self.names.every_address(identity) for pattern in patterns
        )
