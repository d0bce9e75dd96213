"""Find the entries and fields that dpsync cannot create or write, and everything that depends on them.

`Blocker` finds blocked entries when it is created, and blocked fields while entries are decided
(planner/decide.py). `Blocking` is the result. A blocked entry also blocks the entries inside of it and the
entries that need it for their creation; another reference to it blocks only that field. `missing_pages` finds
references to pages that do not exist, because the platform would refuse a request with such a reference.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from msgspec import Struct

from dpsync.identity.questions import pin
from dpsync.kinds.kind import ByHand, Call, Field
from dpsync.kinds.page_references import page_references, space_id
from dpsync.model.address import Address
from dpsync.model.change import Blocked
from dpsync.model.desired import Entry, Unserved
from dpsync.model.text import FEW, command, did_you_mean, one_or_other, some
from dpsync.model.values import Ref, references
from dpsync.planner.answers import NEW, Answer
from dpsync.planner.compare import direction
from dpsync.planner.create_hidden import at_first
from dpsync.planner.restructuring import Restructure, Restructuring, first_section
from dpsync.planner.sides import Sides

_MOST_PAGES: Final = 8
"""The number of pages that a message lists; it only counts the others."""


def missing_pages(sides: Sides, resource: Entry) -> Iterator[tuple[Field, str, str]]:
    """Yield each field that refers to a missing page, with the reason and what to do.

    Fields that refer to a space whose pages could not be read are skipped.
    """
    declared = sides.resources.get(resource.address, resource)
    for found in page_references(sides.registry, declared, sides.resources, sides.snapshot.objects):
        id = space_id(found.space, sides.values.known_id)
        if isinstance(found.space, Ref) and id is None:
            reason = f"{found.space.address} does not exist yet, so it has no pages"
            yield found.field, reason, "when the space exists, create the page and apply again"
        elif (pages := sides.snapshot.pages.get(id or "")) is not None and found.page not in pages:
            space = found.space.address if isinstance(found.space, Ref) else f"the space {id}"
            yield found.field, f'there is no page "{found.page}" in {space}', _todo(found.page, pages)


def _todo(page: str, pages: Mapping[str, str]) -> str:
    """Suggest pages that are similar to a missing page, and list the pages of the space."""
    paths = sorted(path for path in pages.values() if path)
    if not paths:
        return "create the page and apply again: the space has no pages"
    listed = f"use the path of a page in that space: {some(paths, _MOST_PAGES)}"
    similar = _similar(page.strip("/"), pages)
    if not similar:
        return listed
    quoted = one_or_other([f'"{one}"' for one in similar[:FEW]])
    return f"did you mean {quoted}? Otherwise, {listed}"


def _similar(page: str, pages: Mapping[str, str]) -> list[str]:
    """Return the pages with the same last segment, else those with a similar id, path or last segment."""
    by_slug: dict[str, list[str]] = {}
    for path in sorted(filter(None, pages.values())):
        by_slug.setdefault(path.rpartition("/")[2].casefold(), []).append(path)
    slug = page.rpartition("/")[2]
    if same := by_slug.get(slug.casefold()):
        return same
    nearest = did_you_mean(page, [*pages, *pages.values()])
    return [nearest] if nearest else by_slug.get(did_you_mean(slug, by_slug) or "", [])


_LATER = f"after GitBook has created that object, run {command('apply')}"
_BACK = f"after the restore, run {command('apply')}"
_ANEW = "restore the object in GitBook, or remove the entry"


_REPOSITORY = "add the missing object to the repository, or remove this reference"


def _not_yet(address: Address) -> str:
    """Return the reason for a reference to an output that the platform has not created yet."""
    return (
        f"this entry refers to the object that {address} creates, and GitBook has not created that object yet"
    )


def _unserved(address: str, item: Unserved) -> Blocked:
    return Blocked(address=address, reason=item.reason, todo=item.todo, because=item.because)


class Blocking(Struct, frozen=True):
    """The blocked entries and fields."""

    entries: Mapping[Address, Blocked]
    fields: Mapping[tuple[Address, str], Blocked]
    first: Mapping[Address, Address]
    """By restructured navigation: the only entry of it that this plan creates."""
    rest: tuple[Blocked, ...]
    """Unsupported fields, and pruned places whose undeclared objects are unknown."""
    ignored: frozenset[Address]
    """Unsupported entries that the policy ignores, so no output mentions them."""
    asked: frozenset[Answer]

    def entry(self, address: Address) -> bool:
        """Return whether an entry is blocked."""
        return address in self.entries

    def noted(self, address: Address, item: Field) -> bool:
        """Return whether a field of an entry is blocked."""
        return (address, item.name) in self.fields

    def all(self) -> tuple[Blocked, ...]:
        """Return every blocked entry and field that is reported, by address."""
        entries = (item for address, item in self.entries.items() if address not in self.ignored)
        found = (*entries, *self.fields.values(), *self.rest)
        return tuple(sorted(found, key=lambda item: item.address))


class Blocker:
    """Find blocked entries at the start, and blocked fields while each entry is decided."""

    def __init__(self, sides: Sides, decided: Restructuring) -> None:
        self._sides = sides
        self._entries: dict[Address, Blocked] = {
            address: _unserved(str(address), item) for address, item in sides.desired.unserved.items()
        }
        self._fields: dict[tuple[Address, str], Blocked] = {}
        self._asked: set[Answer] = set()
        self.first: dict[Address, Address] = {}
        self._entries |= dict(self._missing())
        self._entries |= dict(self._cannot_hide())
        self._settle()
        for item in decided.agreed:
            if not item.alone:
                self._hold(item)
        for address, owner in decided.replaced.items():
            reason = f"dpsync deletes the target of this entry before creating the new navigation of {owner}"
            self._entries[address] = Blocked(
                address=str(address),
                reason=reason,
                todo=f"to create the object of this entry again, run {command('apply')}",
            )
        if self.first:
            self._settle()

    def _missing(self) -> Iterator[tuple[Address, Blocked]]:
        """Yield content whose recorded object is deleted or not readable: re-creating it needs an answer."""
        sides = self._sides
        for address, missing in sides.snapshot.missing.items():
            entry = sides.resources.get(address)
            if entry is None or not sides.kind(entry).content or sides.live(address) is not None:
                continue
            anew = Answer(NEW, str(address))
            self._asked.add(anew)
            if sides.answers.gives(anew) or sides.policy.ignored(address):
                continue
            what = "was deleted" if missing.restorable else "does not exist, or this token cannot see it"
            noun = sides.kind(entry).noun
            back = pin(missing.id, bool(sides.desired.environments))
            back = f"to restore the object, add {back}. Otherwise, " if missing.restorable else ""
            yield (
                address,
                Blocked(
                    address=str(address),
                    reason=f"the {noun} with the id {missing.id} {what}",
                    todo=f"{back}to create a new {noun}, add {anew.flag}",
                ),
            )

    def _cannot_hide(self) -> Iterator[tuple[Address, Blocked]]:
        """Yield new entries that are declared as hidden while no request hides them: they would be seen."""
        sides = self._sides
        for address, entry in sides.resources.items():
            kind = sides.kind(entry)
            if (
                not kind.unsupported_fields
                or sides.live(address) is not None
                or sides.policy.ignored(address)
            ):
                continue
            for item in kind.fields:
                value = entry.fields.get(item.name)
                if value is None or item.name not in kind.unsupported_fields:
                    continue
                less = direction(item, at_first(item), value) == "withdraw"
                if less and item.setting(value) is None and not sides.policy.ignored(address, item.name):
                    said = str(value).lower() if isinstance(value, bool) else value
                    reason = sides.registry.profile.lacks(f"setting {item.name} to {said}")
                    todo = (
                        f"create the object in GitBook, or remove the field {item.name}: then dpsync "
                        "creates a visible object"
                    )
                    yield address, Blocked(address=str(address), reason=reason, todo=todo)

    def _settle(self) -> None:
        """Block entries that need blocked entries, until no more are found."""
        grown = -1
        while grown != len(self._entries):
            grown = len(self._entries)
            for resource in self._sides.resources.values():
                address = resource.address
                known = address in self._entries or address in self.first.values()
                if not known and self._sides.live(address) is None:
                    self._consider(resource)

    def _hold(self, item: Restructure) -> None:
        """Block all of a navigation except the entry that is created first; later plans create the rest."""
        nodes = [
            address
            for address in self._sides.lineage.below(item.scope.address)
            if address not in self._entries
        ]
        first = first_section(self._sides, item, nodes)
        if first is not None:
            self.first[item.scope.address] = first
        reason = (
            f"dpsync first creates one section in {item.scope.parent}, and GitBook moves the site's spaces "
            "into the section"
        )
        todo = f"then run {command('apply', '--confirm', str(item.question))}"
        for address in nodes:
            if address != first:
                self._entries[address] = Blocked(address=str(address), reason=reason, todo=todo)

    def _consider(self, resource: Entry) -> None:
        """Block a new entry if dpsync cannot create it, or not before something else exists."""
        kind = self._sides.kind(resource)
        address = str(resource.address)
        if self._sides.policy.ignored(resource.address):
            return
        around = self._sides.live(resource.parent) if resource.parent is not None else None
        if around is not None and around.deleted:
            reason = f"restoring {resource.parent} may also restore the object of this entry"
            self._entries[resource.address] = Blocked(address=address, reason=reason, todo=_BACK)
            return
        if kind.of_output and resource.parent is not None:
            made = self._sides.values.known_id(resource.parent) is not None
            reason = f"the space of {resource.parent} {'no longer exists' if made else 'does not exist yet'}"
            self._entries[resource.address] = Blocked(
                address=address, reason=reason, todo=_ANEW if made else _LATER
            )
            return
        create = kind.creating(resource.pin, resource.fields)
        if isinstance(create, ByHand) or (create is None and not kind.comes_along):
            todo = create.todo.format(key=resource.key) if isinstance(create, ByHand) else ""
            reason = f"dpsync cannot create {kind.one}"
            if "create" in kind.unsupported:
                reason = self._sides.registry.profile.lacks(f"creating {kind.one}")
            self._entries[resource.address] = Blocked(address=address, reason=reason, todo=todo)
            return
        named = self._for_creating(resource)
        for other in sorted(named):
            if self._lacks_output(other) and not self._will_be(other):
                self._entries[resource.address] = Blocked(
                    address=address, reason=_not_yet(other), todo=_LATER
                )
                return
        needed = {resource.parent, resource.holder} | named
        for other in sorted(item for item in needed if item is not None):
            if self._never_made(other):
                reason, todo = self._left_alone(other)
                self._entries[resource.address] = Blocked(address=address, reason=reason, todo=todo)
                return
            if other in self._entries:
                cause = self._entries[other]
                reason = f"this entry needs {other}, which is blocked"
                self._entries[resource.address] = Blocked(
                    address=address, reason=reason, because=cause.because or cause.address
                )
                return
        for field, reason, todo in missing_pages(self._sides, resource):
            at = str(resource.address.field(field.name))
            self._entries[resource.address] = Blocked(address=at, reason=reason, todo=todo)

    def _for_creating(self, resource: Entry) -> set[Address]:
        """Return the addresses that the request which creates an entry refers to."""
        kind = self._sides.kind(resource)
        needed: set[Address] = set()
        for item in kind.fields:
            if item.on in ("create", "both") or item.name == kind.natural:
                needed |= references(resource.fields.get(item.name))
        if isinstance(kind.create, Call) and kind.create.also_creates and resource.children:
            needed |= self._for_creating(self._sides.resources[resource.children[0]])
        return needed - {resource.address}

    def _never_made(self, address: Address) -> bool:
        """Return whether an entry is not live and never created, because the policy ignores it."""
        declared = address in self._sides.resources
        alone = declared and self._sides.policy.leaves_alone(address)
        return alone and self._sides.live(address) is None

    def _left_alone(self, address: Address) -> tuple[str, str]:
        """Return why dpsync never creates an ignored entry, and what the user can do."""
        if self._sides.synced.has(address):
            return (
                f"this entry needs {address}, which is missing in the repository connected by Git Sync",
                _REPOSITORY,
            )
        return (
            f"this entry needs {address}, which does not exist and is in policy.ignore",
            f"create {address} in GitBook, or remove {address} from policy.ignore",
        )

    def _lacks_output(self, address: Address) -> bool:
        """Return whether a reference needs an output that the platform has not created yet."""
        resource = self._sides.resources.get(address)
        puts_out = resource is not None and self._sides.kind(resource).platform.outputs is not None
        return puts_out and self._sides.values.known_id(address) is None

    def _will_be(self, address: Address) -> bool:
        """Return whether the platform is creating an output, or will do so after this plan starts it."""
        resource = self._sides.resources[address]
        kind, live = self._sides.kind(resource), self._sides.live(address)
        if kind.platform.busy is None:
            return False
        if live is None:
            return not self._sides.policy.ignored(address)
        starts = [Answer(word, str(address)) for word in kind.platform.acts]
        self._asked.update(starts)
        if any(map(self._sides.answers.gives, starts)):
            return True
        return live.fields.get(kind.platform.busy.field) in kind.platform.busy.values

    def entry(self, address: Address) -> bool:
        """Return whether an entry is blocked."""
        return address in self._entries

    def field(self, resource: Entry, item: Field) -> bool:
        """Return whether a field needs something that does not exist; if so, note the field as blocked."""
        for other in sorted(references(resource.fields.get(item.name))):
            if other in self._entries:
                self.note(
                    resource, item, f"this field refers to {other}, which is blocked", because=str(other)
                )
                return True
            if self._never_made(other):
                self.note(resource, item, *self._left_alone(other))
                return True
            if self._lacks_output(other) and not self._will_be(other):
                self.note(resource, item, _not_yet(other), _LATER)
                return True
        for named, reason, todo in missing_pages(self._sides, resource):
            if named.name == item.name:
                self.note(resource, item, reason, todo)
                return True
        return False

    def note(
        self, resource: Entry, item: Field, reason: str, todo: str = "", because: str | None = None
    ) -> None:
        """Note a field as blocked."""
        name = str(resource.address.field(item.name))
        self._fields[resource.address, item.name] = Blocked(
            address=name, reason=reason, todo=todo, because=because
        )

    def blocking(self) -> Blocking:
        """Return the blocked entries and fields, each with its reason."""
        unserved = self._sides.desired.unserved
        return Blocking(
            self._entries,
            self._fields,
            self.first,
            (*self._unserved_fields(), *self._undeletable()),
            frozenset(filter(self._sides.policy.ignored, unserved)),
            frozenset(self._asked),
        )

    def _unserved_fields(self) -> Iterator[Blocked]:
        for (address, name), item in self._sides.desired.unserved_fields.items():
            if not self._sides.policy.ignored(address, name):
                yield _unserved(str(address.field(name)), item)

    def _undeletable(self) -> Iterator[Blocked]:
        """Yield the pruned places whose undeclared objects are unknown."""
        sides = self._sides
        for address, item in sides.snapshot.unsettled.items():
            pruned = sides.options.delete and sides.desired.pruned(address)
            if pruned and address in sides.desired.scopes and not sides.policy.ignored(address):
                yield _unserved(str(address), item)
