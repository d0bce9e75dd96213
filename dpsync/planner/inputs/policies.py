"""What the policy says about things, now and in the git base, and what was not selected."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from dpsync.model.address import Address, Pattern
from dpsync.model.desired import Base, Policy
from dpsync.model.snapshot import Identity
from dpsync.planner.inputs.history import FormerNames
from dpsync.planner.inputs.names import Names
from dpsync.planner.inputs.synced import SyncedParts


class Policies(Struct, frozen=True):
    """The policy of the configuration and that of the git base, over the names of both sides."""

    now: Policy
    base: Base
    names: Names
    former: FormerNames
    chosen: frozenset[Address] | None
    """The part that is planned, where that is not everything."""
    synced: SyncedParts

    def ignored(self, address: Address, field: str | None = None) -> bool:
        """Whether it is left alone, or was not selected."""
        return self.left_out(address) or self.leaves_alone(address, field)

    def leaves_alone(self, address: Address, field: str | None = None) -> bool:
        """Whether the policy ignores it, or the platform itself keeps it as a repository has it."""
        return self.now.ignores(address, field) or self.synced.has(address, field)

    def left_out(self, address: Address) -> bool:
        """Whether something was not selected."""
        return self.chosen is not None and address not in self.chosen

    def protected(self, identity: Identity) -> Literal["now", "before"] | None:
        """Whether an object may not be deleted: by the present policy, or by that of the git base.

        Whatever it was ever called counts, so that removing its entry does not end its protection.
        """
        then = self.base.desired.policy.protect if self.base.desired else ()
        if self._protects(self.now.protect, identity):
            return "now"
        return "before" if self._protects(then, identity) else None

    def skips(self, identity: Identity) -> bool:
        """Whether an object is protected and kept while the rest of the plan goes on."""
        return self._protects(self.now.skip, identity)

    def _protects(self, patterns: tuple[Pattern, ...], identity: Identity) -> bool:
        def named(address: Address) -> bool:
            return any(pattern.matches(address) for pattern in patterns)

        if not patterns:
            return False
        return any(map(named, self.former.of(identity))) or any(
            map(named, self.former.before(identity, named))
        )

    def removed(self, identity: Identity) -> bool:
        """Whether `removed` names an object. A pattern that means several things names none of them."""
        return any(named == {identity} for named in map(self.former.named, self.now.removed))

    def forgotten(self, identity: Identity, pattern: Pattern | None = None) -> bool:
        """Whether `forget` names a live object, by its present name or by the one in the git base.

        With a `pattern`, by that one alone.
        """
        patterns = self.now.forget if pattern is None else (pattern,)
        return bool(patterns) and any(
            pattern.covers(name) for name in self.names.every_address(identity) for pattern in patterns
        )
