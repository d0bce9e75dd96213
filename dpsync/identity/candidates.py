"""What each entry could be: the live objects that bear its present name, and those that bear an earlier one.

An earlier name is one of `previously`, or what the same address has in the git base. Of an entry that went by
a first key which nothing bears any more, the later keys count only while its present name is nowhere either.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import IntEnum, auto
from functools import cached_property
from typing import Literal

from msgspec import Struct, field
from msgspec.structs import replace

from dpsync.identity.ids_lines import NOTHING_RECORDED, Recorded
from dpsync.identity.natural_keys import Index, Key, NaturalKeys, names, of_child
from dpsync.kinds.kind import Kind
from dpsync.model.address import Address
from dpsync.model.desired import Desired, Entry
from dpsync.model.snapshot import LiveObject
from dpsync.model.values import Value

How = Literal["previously", "base", "kept"]
"""By what an earlier name is known. "kept": the entry still has that of the base, beside a new one."""


class Rank(IntEnum):
    """Who of two entries has the better claim to an object: the one that comes first here."""

    UNCHANGED = auto()
    """Since the git base."""
    RENAMED = auto()
    NEW = auto()
    NEW_BY_LATER_KEY = auto()
    """Its first natural key is not given."""


class Past(Struct, frozen=True):
    """What is known of earlier: the entries of the git base, and the lines of the ids file."""

    entries: Mapping[Address, Entry] = field(default_factory=dict)
    first_child: Callable[[Entry], Entry | None] = lambda _: None
    recorded: Recorded = NOTHING_RECORDED
    earlier_configurations: Iterable[Desired] = ()
    """The configurations in commits before the git base, latest first. Each is read when it is needed."""
    has_no_lines: bool = False
    """Whether the ids file has no line for the organization. Then names in earlier commits count as well."""

    def earlier_entries(self, address: Address) -> Iterator[Entry]:
        """Return the entries at an address in the git base and in earlier commits, latest first."""
        if address in self.entries:
            yield self.entries[address]
        for desired in self.earlier_configurations:
            if address in desired.resources:
                yield desired.resources[address]

    def without_lines(self, objects: Iterable[LiveObject]) -> list[LiveObject]:
        """Return the objects about which git may decide: the ids file has no line for them."""
        return [item for item in objects if item.id not in self.recorded.orphans]

    def keys(self, view: NaturalKeys) -> NaturalKeys:
        """How keys are read of earlier entries, which had the first children of then."""
        return replace(view, first_child=self.first_child)


class EntryCandidates(Struct, eq=False):
    """An entry with the live objects that bear its present name and those that bear an earlier one."""

    resource: Entry
    now: list[LiveObject]
    was: list[LiveObject]
    fits: list[LiveObject]
    """Those of `now` that bear an earlier name, too: a name was taken off the entry."""
    how: How | None
    by: Key | None
    """The natural key that found `now`."""
    rank: Rank

    @property
    def address(self) -> Address:
        return self.resource.address


class Candidates(Struct, frozen=True, dict=True):
    """Looks up what the entries of one place could be."""

    view: NaturalKeys
    past: Past
    index: Index

    @cached_property
    def before(self) -> NaturalKeys:
        return self.past.keys(self.view)

    def of(self, resource: Entry) -> EntryCandidates:
        """The entry with its candidates; those that bear an earlier name and the present one come first."""
        now, by = self._now(resource)
        was, how = self._was(resource, now)
        both = [item for item in now if item in was]
        fits: list[LiveObject] = []
        if both and len(both) == len(was):
            fits, was, how = both, [], None
        elif both:
            now, was, how = both, [], None  # it bears the earlier name and the present one
        if was:
            rank = Rank.RENAMED
        elif resource.address in self.past.entries:
            rank = Rank.UNCHANGED
        else:
            rank = Rank.NEW if by == self.view.first_key else Rank.NEW_BY_LATER_KEY
        return EntryCandidates(resource, now, was, fits, how, by, rank)

    def _now(self, resource: Entry) -> tuple[list[LiveObject], Key | None]:
        for key in self.view.kind.identity:
            value = self.view.wanted(resource, key)
            if value is not None:
                return self._nearest(resource, self.index.bearing(key, value)), key
        return [], None

    def _was(self, resource: Entry, now: list[LiveObject]) -> tuple[list[LiveObject], How | None]:
        if declared := self._declared_earlier(resource, now):
            return declared, "previously"
        earlier = self.past.entries.get(resource.address)
        if earlier is None or (
            resource.has_earlier_name
            and (resource.previously, resource.former) != (earlier.previously, earlier.former)
        ):
            return [], None  # what somebody has just written says more than the base
        if not (self.view.kind.can_be_renamed or self.view.kind.content):
            return [], None  # another name is another thing; of content that is never done silently
        given = [key for key in self.view.kind.identity if self.before.wanted(earlier, key) is not None]
        for later, key in enumerate(given):
            value = self.before.wanted(earlier, key)
            kept = value == self.view.wanted(resource, key)
            if later and (kept or now):
                continue  # what the entry went by is an earlier key, which nothing bears any more
            hits = self.past.without_lines(self.index.bearing(key, value))
            if hits:
                return self._nearest(earlier, hits), "kept" if kept else "base"
        return [], None

    def _declared_earlier(self, resource: Entry, now: list[LiveObject]) -> list[LiveObject]:
        """Return the objects that `previously` names: by its first live name, and by its first known address.

        Two objects are a question (DP305): nobody can tell whether the text means the name or the key.
        """
        named: list[LiveObject] = []
        for fields in resource.previously:
            key = key_of(self.view.kind, fields)
            value = self.view.wanted(replace(resource, fields=fields), key)
            if hits := self.index.bearing(key, value):
                named = self._nearest(resource, hits)
                break
        found = (self._formerly_at(address, latest_only=bool(now)) for address in resource.former)
        addressed = next(filter(None, found), [])
        return named + [item for item in addressed if item not in named]

    def _formerly_at(self, address: Address, latest_only: bool) -> list[LiveObject]:
        """Return the objects of a former entry: by its line, or by its names in the latest commit with it.

        `latest_only`: of the commits, only the git base is asked, since reading the others takes long.
        """
        recorded = self.past.recorded.orphans
        if by_line := [item for item in self.index.live if recorded.get(item.id) == address]:
            return by_line
        earlier = self.past.entries.get(address)
        if earlier is None and not latest_only:
            earlier = next(self.past.earlier_entries(address), None)
        if earlier is None or earlier.kind != self.view.kind.name:
            return []
        for key in self.view.kind.identity:
            if hits := self.index.bearing(key, self.before.wanted(earlier, key)):
                return self._nearest(earlier, hits)
        return []

    def _nearest(self, resource: Entry, hits: list[LiveObject]) -> list[LiveObject]:
        best = max((self.view.tie_breakers(resource, item) for item in hits), default=())
        return [item for item in hits if self.view.tie_breakers(resource, item) == best]


def key_of(kind: Kind, fields: Mapping[str, Value]) -> Key:
    """Return the key that some fields make up: of a field that has a key in each member, the members."""
    parts = [part for key in kind.identity for part in names(key) if not of_child(part)]
    inside = {part.partition(".")[0] for part in parts if "." in part}
    found: list[str] = []
    for name, value in fields.items():
        members = value if name in inside and isinstance(value, dict) else None
        found += [name] if members is None else [f"{name}.{member}" for member in members]
    return tuple(found)
