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
    for reference in page_references(sides.registry, declared, sides.resources, sides.snapshot.objects):
        id = space_id(reference.space, sides.values.known_id)
        if isinstance(reference.space, Ref) and id is None:
            reason = f"{reference.space.address} does not exist yet, so it has no pages"
            yield reference.field, reason, "when the space exists, create the page and apply again"
        elif (pages := sides.snapshot.pages.get(id or "")) is not None and reference.page not in pages:
            space = reference.space.address if isinstance(reference.space, Ref) else f"the space {id}"
            yield (
                reference.field,
                f'there is no page "{reference.page}" in {space}',
                _suggest_pages(reference.page, pages),
            )


def _suggest_pages(page: str, pages: Mapping[str, str]) -> str:
    """Suggest pages that are similar to a missing page, and list the pages of the space."""
    paths = sorted(path for path in pages.values() if path)
    if not paths:
        return "create the page and apply again: the space has no pages"
    page_list = f"use the path of a page in that space: {some(paths, _MOST_PAGES)}"
    similar = _similar_pages(page.strip("/"), pages)
    if not similar:
        return page_list
    quoted = one_or_other([f'"{path}"' for path in similar[:FEW]])
    return f"did you mean {quoted}? Otherwise, {page_list}"


def _similar_pages(page: str, pages: Mapping[str, str]) -> list[str]:
    """Return the pages with the same last segment, else those with a similar id, path or last segment."""
    by_slug: dict[str, list[str]] = {}
    for path in sorted(filter(None, pages.values())):
        by_slug.setdefault(path.rpartition("/")[2].casefold(), []).append(path)
    slug = page.rpartition("/")[2]
    if same := by_slug.get(slug.casefold()):
        return same
    nearest = did_you_mean(page, [*pages, *pages.values()])
    return [nearest] if nearest else by_slug.get(did_you_mean(slug, by_slug) or "", [])


_TODO_AFTER_CREATION = f"after GitBook has created that object, run {command('apply')}"
_TODO_AFTER_RESTORE = f"after the restore, run {command('apply')}"
_TODO_RESTORE = "restore the object in GitBook, or remove the entry"


_TODO_REPOSITORY = "add the missing object to the repository, or remove this reference"


def _output_pending_reason(address: Address) -> str:
    """Return the reason for a reference to an output that the platform has not created yet."""
    return (
        f"this entry refers to the object that {address} creates, and GitBook has not created that object yet"
    )


def _unsupported(address: str, item: Unserved) -> Blocked:
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
        blocked = (*entries, *self.fields.values(), *self.rest)
        return tuple(sorted(blocked, key=lambda item: item.address))


class Blocker:
    """Find blocked entries at the start, and blocked fields while each entry is decided."""

    def __init__(self, sides: Sides, decided: Restructuring) -> None:
        self._sides = sides
        self._entries: dict[Address, Blocked] = {
            address: _unsupported(str(address), item) for address, item in sides.desired.unserved.items()
        }
        self._fields: dict[tuple[Address, str], Blocked] = {}
        self._asked: set[Answer] = set()
        self.first: dict[Address, Address] = {}
        self._entries |= dict(self._missing_content())
        self._entries |= dict(self._unhideable_entries())
        self._block_dependents()
        for item in decided.agreed:
            if not item.alone:
                self._block_navigation(item)
        for address, owner in decided.replaced.items():
            reason = f"dpsync deletes the target of this entry before creating the new navigation of {owner}"
            self._entries[address] = Blocked(
                address=str(address),
                reason=reason,
                todo=f"to create the object of this entry again, run {command('apply')}",
            )
        if self.first:
            self._block_dependents()

    def _missing_content(self) -> Iterator[tuple[Address, Blocked]]:
        """Yield content whose recorded object is deleted or not readable: re-creating it needs an answer."""
        sides = self._sides
        for address, missing in sides.snapshot.missing.items():
            entry = sides.resources.get(address)
            if entry is None or not sides.kind(entry).content or sides.live(address) is not None:
                continue
            create_answer = Answer(NEW, str(address))
            self._asked.add(create_answer)
            if sides.answers.gives(create_answer) or sides.policy.ignored(address):
                continue
            state = "was deleted" if missing.restorable else "does not exist, or this token cannot see it"
            noun = sides.kind(entry).noun
            pin_line = pin(missing.id, bool(sides.desired.environments))
            restore_hint = f"to restore the object, add {pin_line}. Otherwise, " if missing.restorable else ""
            yield (
                address,
                Blocked(
                    address=str(address),
                    reason=f"the {noun} with the id {missing.id} {state}",
                    todo=f"{restore_hint}to create a new {noun}, add {create_answer.flag}",
                ),
            )

    def _unhideable_entries(self) -> Iterator[tuple[Address, Blocked]]:
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
                hides = direction(item, at_first(item), value) == "withdraw"
                if hides and item.setting(value) is None and not sides.policy.ignored(address, item.name):
                    displayed = str(value).lower() if isinstance(value, bool) else value
                    reason = sides.registry.profile.lacks(f"setting {item.name} to {displayed}")
                    todo = (
                        f"create the object in GitBook, or remove the field {item.name}: then dpsync "
                        "creates a visible object"
                    )
                    yield address, Blocked(address=str(address), reason=reason, todo=todo)

    def _block_dependents(self) -> None:
        """Block entries that need blocked entries, until no more are found."""
        count = -1
        while count != len(self._entries):
            count = len(self._entries)
            for resource in self._sides.resources.values():
                address = resource.address
                is_decided = address in self._entries or address in self.first.values()
                if not is_decided and self._sides.live(address) is None:
                    self._block_if_impossible(resource)

    def _block_navigation(self, item: Restructure) -> None:
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

    def _block_if_impossible(self, resource: Entry) -> None:
        """Block a new entry if dpsync cannot create it, or not before something else exists."""
        kind = self._sides.kind(resource)
        address = str(resource.address)
        if self._sides.policy.ignored(resource.address):
            return
        parent = self._sides.live(resource.parent) if resource.parent is not None else None
        if parent is not None and parent.deleted:
            reason = f"restoring {resource.parent} may also restore the object of this entry"
            self._entries[resource.address] = Blocked(
                address=address, reason=reason, todo=_TODO_AFTER_RESTORE
            )
            return
        if kind.of_output and resource.parent is not None:
            had_space = self._sides.values.known_id(resource.parent) is not None
            reason = (
                f"the space of {resource.parent} {'no longer exists' if had_space else 'does not exist yet'}"
            )
            self._entries[resource.address] = Blocked(
                address=address, reason=reason, todo=_TODO_RESTORE if had_space else _TODO_AFTER_CREATION
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
        referenced = self._needed_for_creation(resource)
        for other in sorted(referenced):
            if self._lacks_output(other) and not self._will_be_output(other):
                self._entries[resource.address] = Blocked(
                    address=address, reason=_output_pending_reason(other), todo=_TODO_AFTER_CREATION
                )
                return
        needed = {resource.parent, resource.holder} | referenced
        for other in sorted(item for item in needed if item is not None):
            if self._is_never_created(other):
                reason, todo = self._ignored_reason(other)
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
            field_address = str(resource.address.field(field.name))
            self._entries[resource.address] = Blocked(address=field_address, reason=reason, todo=todo)

    def _needed_for_creation(self, resource: Entry) -> set[Address]:
        """Return the addresses that the request which creates an entry refers to."""
        kind = self._sides.kind(resource)
        needed: set[Address] = set()
        for item in kind.fields:
            if item.on in ("create", "both") or item.name == kind.natural:
                needed |= references(resource.fields.get(item.name))
        if isinstance(kind.create, Call) and kind.create.also_creates and resource.children:
            needed |= self._needed_for_creation(self._sides.resources[resource.children[0]])
        return needed - {resource.address}

    def _is_never_created(self, address: Address) -> bool:
        """Return whether an entry is not live and never created, because the policy ignores it."""
        is_declared = address in self._sides.resources
        is_ignored = is_declared and self._sides.policy.leaves_alone(address)
        return is_ignored and self._sides.live(address) is None

    def _ignored_reason(self, address: Address) -> tuple[str, str]:
        """Return why dpsync never creates an ignored entry, and what the user can do."""
        if self._sides.synced.has(address):
            return (
                f"this entry needs {address}, which is missing in the repository connected by Git Sync",
                _TODO_REPOSITORY,
            )
        return (
            f"this entry needs {address}, which does not exist and is in policy.ignore",
            f"create {address} in GitBook, or remove {address} from policy.ignore",
        )

    def _lacks_output(self, address: Address) -> bool:
        """Return whether a reference needs an output that the platform has not created yet."""
        resource = self._sides.resources.get(address)
        has_outputs = resource is not None and self._sides.kind(resource).platform.outputs is not None
        return has_outputs and self._sides.values.known_id(address) is None

    def _will_be_output(self, address: Address) -> bool:
        """Return whether the platform is creating an output, or will do so after this plan starts it."""
        resource = self._sides.resources[address]
        kind, live = self._sides.kind(resource), self._sides.live(address)
        if kind.platform.busy is None:
            return False
        if live is None:
            return not self._sides.policy.ignored(address)
        start_answers = [Answer(word, str(address)) for word in kind.platform.acts]
        self._asked.update(start_answers)
        if any(map(self._sides.answers.gives, start_answers)):
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
            if self._is_never_created(other):
                self.note(resource, item, *self._ignored_reason(other))
                return True
            if self._lacks_output(other) and not self._will_be_output(other):
                self.note(resource, item, _output_pending_reason(other), _TODO_AFTER_CREATION)
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
            (*self._unserved_fields(), *self._prune_unsafe_places()),
            frozenset(filter(self._sides.policy.ignored, unserved)),
            frozenset(self._asked),
        )

    def _unserved_fields(self) -> Iterator[Blocked]:
        for (address, name), item in self._sides.desired.unserved_fields.items():
            if not self._sides.policy.ignored(address, name):
                yield _unsupported(str(address.field(name)), item)

    def _prune_unsafe_places(self) -> Iterator[Blocked]:
        """Yield the pruned places whose undeclared objects are unknown."""
        sides = self._sides
        for address, item in sides.snapshot.unsettled.items():
            pruned = sides.options.delete and sides.desired.pruned(address)
            if pruned and address in sides.desired.scopes and not sides.policy.ignored(address):
                yield _unsupported(str(address), item)
