"""Whether the entry of a live object was removed in git, or only disappeared.

A person removes an entry: a commit has it, and its file, which the configuration still reads, does not have
it any more; or git shows that file as deleted. An entry also disappears without being removed: its file is no
longer included, was renamed or cut off, or belongs to an overlay that is not given. Only what a person
removed may be deleted without being named.

The commit that counts is the newest one with the entry: the git base, or one before it. So the removal counts
as well when it is applied several commits later.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import cached_property

from msgspec import Struct

from dpsync.model.address import Address
from dpsync.model.desired import Base, Desired, Entry
from dpsync.model.snapshot import Identity, Snapshot
from dpsync.planner.inputs.history import FormerNames

NO_ENTRY = "neither the ids file nor git has an entry for the object"
KEPT = "an apply kept the object after the entry was removed"
NOT_PRUNED = "no prune pattern covers the list that contains the object"
DEEPER = "this clone lacks the commits that show whether the entry was removed"


class Removal(Struct, frozen=True):
    """Why an object does not count as removed in git; nothing if it does."""

    reason: str = ""
    file: str | None = None
    """The file of the project that still has its entry and that nothing includes."""
    new_prune: bool = False
    """Whether the change that removes the entry also adds what lets the object go."""


class Removals(Struct, frozen=True, dict=True):
    """Finds the removed entries of undeclared objects. Commits before the base are read only where needed."""

    desired: Desired
    snapshot: Snapshot
    base: Base
    former: FormerNames

    def of(self, identity: Identity) -> Removal:
        """Return how the entry of an undeclared object was removed, if it was."""
        if identity not in self._pruned:
            return self._not_removed(identity, NOT_PRUNED)
        if any(line.kept for line in self.former.lines_of(identity).values()):
            return self._not_removed(identity, KEPT)
        if (newest := self._newest(identity)) is None:
            return self._not_removed(identity, self._unknown())
        return self._removed_since(identity, *newest)

    def entry(self, identity: Identity) -> Entry | None:
        """Return the newest entry of an undeclared object in the base or in a commit before it, if any."""
        newest = self._newest(identity)
        return newest[1].resources[newest[0]] if newest else None

    def _newest(self, identity: Identity) -> tuple[Address, Desired, Desired] | None:
        """Return the newest entry of an object: its address, its configuration, and the one after that."""
        newer = self.desired
        for number, then in enumerate(self._earlier):
            if addresses := self._addresses(identity, number, then):
                return min(addresses), then, newer
            newer = then
        return None

    @property
    def _earlier(self) -> Iterator[Desired]:
        """The configurations of the base and of commits before it, the latest first."""
        if self.base.desired is not None:
            yield self.base.desired
            yield from self.base.earlier

    @cached_property
    def _pruned(self) -> Collection[Identity]:
        scopes = self.snapshot.scopes
        return {one for place, items in scopes.items() if self.desired.pruned(place) for one in items}

    def _addresses(self, identity: Identity, number: int, then: Desired) -> set[Address]:
        """The addresses of the entries that an object had in an earlier configuration."""
        if self.former.registry[identity[0]].recorded and self._has_lines(identity):
            # The ids file says which entry it was; a name may be another object's by now.
            lines, only = self.former.lines_of(identity), frozenset({identity})
            known = {address for address in lines if self.former.meant(address) == only}
        else:
            known = self.former.addresses_in(number, then, identity)
        return {at for at in known if at in then.resources and then.resources[at].kind == identity[0]}

    def _has_lines(self, identity: Identity) -> bool:
        top = self.former.names.address(identity).top
        return top not in self.snapshot.records.empty or top in self._tops_before

    @cached_property
    def _tops_before(self) -> Collection[Address]:
        return {address.top for address in self.snapshot.records.earlier}

    def _removed_since(self, identity: Identity, address: Address, then: Desired, newer: Desired) -> Removal:
        place = next((at for at in address.upward() if at in then.scopes), address.place)
        new_prune = not then.pruned(place) or then.policy.leaves(address)
        if new_prune and newer is not self.desired and not newer.pruned(place):
            return self._not_removed(
                identity, "no prune pattern covered the entry when the entry was removed"
            )
        other = self._other_file(address)
        if other is not None:
            return Removal(f"the entry is in {other}, which no file includes", other)
        file = then.resources[address].span.file
        reason = self._still_there(file, address, then)
        return Removal(f"the entry was in {file}, and {reason}" if reason else "", new_prune=new_prune)

    def _not_removed(self, identity: Identity, reason: str) -> Removal:
        """The reason, or the file of the project that has the entry and that nothing includes."""
        for file in self.desired.not_included:
            names = self.former.of(identity)
            if names & file.entries or self.former.before(identity, file.entries.__contains__) & file.entries:
                return Removal(f"the entry is in {file.file}, which no file includes", file.file)
        return Removal(reason)

    def _other_file(self, address: Address) -> str | None:
        return next((one.file for one in self.desired.not_included if address in one.entries), None)

    def _still_there(self, file: str, address: Address, then: Desired) -> str:
        """Why the file of an entry does not show its removal; "" if it does."""
        if file not in self.desired.texts:
            return self.base.missing_file(then.commit or "", file)
        if address in self.desired.entries_in(file):
            return "that file still has the entry, but an overlay or an environment removes the entry"
        return "that file seems to be incomplete" if self._is_cut(file, then) else ""

    def _is_cut(self, file: str, then: Desired) -> bool:
        """Whether a file ends in the middle of what it was: a person removes whole entries."""
        before, now = then.texts.get(file, ""), self.desired.texts[file]
        if before == now or not before.startswith(now):
            return False
        remaining = (
            (entry, self.desired.resources[address])
            for address, entry in then.resources.items()
            if entry.span.file == file and address in self.desired.resources
        )
        lost_fields = any(old.fields.keys() - new.fields.keys() for old, new in remaining)
        return lost_fields or (before.endswith("\n") and not now.endswith("\n"))

    def _unknown(self) -> str:
        if self.base.lacking or self.base.shallow:
            return DEEPER
        return NO_ENTRY if self.base.desired is not None else f"{NO_ENTRY} ({self.base.name})"
