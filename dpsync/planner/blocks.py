"""Find the entries and fields that dpsync cannot create or write (*blocked*), and what depends on them.

`Blocker` finds blocked entries when it is created, and blocked fields while `decide.py` decides about
entries. `Blocking` is the result. A blocked entry also blocks the entries inside and the entries whose create
request refers to it; another reference to it blocks only that field. `missing_pages` finds references to
pages that do not exist, because GitBook would refuse a request with such a reference.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from msgspec import Struct

from dpsync.identity.questions import pin_text
from dpsync.kinds.kind import Call, Field, ManualStep
from dpsync.kinds.page_references import page_references, space_id
from dpsync.model.address import Address
from dpsync.model.change import Blocked
from dpsync.model.desired import Entry, Unsupported
from dpsync.model.text import MAX_LISTED_NAMES, did_you_mean, format_command, join_with_or, shorten_list
from dpsync.model.values import Ref, references
from dpsync.planner.answers import NEW, Answer
from dpsync.planner.compare import visibility_change
from dpsync.planner.create_hidden import initial_value
from dpsync.planner.restructuring import RestructuredTree, Restructuring, first_entry_to_create
from dpsync.planner.sides import Sides

_MAX_PAGES: Final = 8
"""The number of pages that a message lists; it only counts the others."""


def missing_pages(sides: Sides, entry: Entry) -> Iterator[tuple[Field, str, str]]:
    """Yield each field of an entry that refers to a missing page, with a reason and what the user can do.

    Fields that refer to a space whose pages could not be read are skipped.
    """
    declared = sides.entries.get(entry.address, entry)
    for reference in page_references(sides.registry, declared, sides.entries, sides.snapshot.objects):
        id = space_id(reference.space, sides.values.live_id)
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
    """Return a hint with pages similar to a missing page, and the first pages of the space.

    `pages` maps page ids to paths. Pages with the same last segment are similar, otherwise one with a similar
    id or path, otherwise those with a similar last segment.
    """
    paths = sorted(path for path in pages.values() if path)
    if not paths:
        return "create the page and apply again: the space has no pages"
    page_list = f"use the path of a page in that space: {shorten_list(paths, _MAX_PAGES)}"
    by_slug: dict[str, list[str]] = {}
    for path in paths:
        by_slug.setdefault(path.rpartition("/")[2].casefold(), []).append(path)
    page = page.strip("/")
    slug = page.rpartition("/")[2]
    similar = by_slug.get(slug.casefold(), [])
    if not similar:
        nearest = did_you_mean(page, [*pages, *pages.values()])
        similar = [nearest] if nearest else by_slug.get(did_you_mean(slug, by_slug) or "", [])
    if not similar:
        return page_list
    quoted = join_with_or([f'"{path}"' for path in similar[:MAX_LISTED_NAMES]])
    return f"did you mean {quoted}? Otherwise, {page_list}"


_TODO_AFTER_CREATION = f"after GitBook has created that object, run {format_command('apply')}"
_TODO_AFTER_RESTORE = f"after the restore, run {format_command('apply')}"
_TODO_RESTORE = "restore the object in GitBook, or remove the entry"
_TODO_REPOSITORY = "add the missing object to the repository, or remove this reference"


def _pending_output_reason(address: Address) -> str:
    """Return the reason for a reference to an output that the platform has not created yet."""
    return (
        f"this entry refers to the object that {address} creates, and GitBook has not created that object yet"
    )


def _as_blocked(address: str, unsupported: Unsupported) -> Blocked:
    """Return an unsupported entry, field or list as blocked, with the reason that the loader found."""
    return Blocked(
        address=address, reason=unsupported.reason, todo=unsupported.todo, because=unsupported.because
    )


class Blocking(Struct, frozen=True):
    """The blocked entries and fields, each with the reason and what the user can do."""

    entries: Mapping[Address, Blocked]
    fields: Mapping[tuple[Address, str], Blocked]
    created_first: Mapping[Address, Address]
    """By restructured navigation: the only entry of the navigation that this plan creates."""
    other_blocks: tuple[Blocked, ...]
    """Unsupported fields, and lists with `prune` whose undeclared objects are unknown."""
    ignored: frozenset[Address]
    """Unsupported entries that the policy ignores, so no output mentions them."""
    requested_answers: frozenset[Answer]

    def is_entry_blocked(self, address: Address) -> bool:
        """Return whether an entry is blocked."""
        return address in self.entries

    def is_field_blocked(self, address: Address, field: Field) -> bool:
        """Return whether a field of an entry that is not blocked itself is blocked."""
        return (address, field.name) in self.fields

    def reported(self) -> tuple[Blocked, ...]:
        """Return every blocked entry, field and list for the output, by address, without ignored entries."""
        entries = (
            blocked_entry for address, blocked_entry in self.entries.items() if address not in self.ignored
        )
        blocked = (*entries, *self.fields.values(), *self.other_blocks)
        return tuple(sorted(blocked, key=lambda block: block.address))


class Blocker:
    """Find blocked entries when created, and blocked fields while the planner decides about each entry."""

    def __init__(self, sides: Sides, restructuring: Restructuring) -> None:
        """Find the blocked entries: unsupported ones, those that cannot be created, and their dependents."""
        self._sides = sides
        self._entries: dict[Address, Blocked] = {
            address: _as_blocked(str(address), unsupported)
            for address, unsupported in sides.desired.unsupported.items()
        }
        self._fields: dict[tuple[Address, str], Blocked] = {}
        self._requested_answers: set[Answer] = set()
        self.created_first: dict[Address, Address] = {}
        self._entries |= dict(self._missing_content())
        self._entries |= dict(self._unhideable_entries())
        self._block_dependents()
        for tree in restructuring.confirmed:
            if not tree.becomes_site_spaces:
                self._block_navigation(tree)
        for address, owner in restructuring.owners_of_replaced_targets.items():
            reason = (
                "this entry refers to an object that dpsync deletes before dpsync creates the new navigation "
                f"of {owner}"
            )
            self._entries[address] = Blocked(
                address=str(address),
                reason=reason,
                todo=f"to create the object of this entry again, run {format_command('apply')}",
            )
        if self.created_first:
            self._block_dependents()

    def _missing_content(self) -> Iterator[tuple[Address, Blocked]]:
        """Yield entries with content whose object, recorded in the ids file, was deleted or is not readable.

        Creating a new object would lose the old contents, so the user must confirm that with `new ADDRESS`.
        """
        sides = self._sides
        for address, missing in sides.snapshot.missing_objects.items():
            entry = sides.entries.get(address)
            if entry is None or not sides.kind(entry).has_content or sides.live(address) is not None:
                continue
            create_answer = Answer(NEW, str(address))
            self._requested_answers.add(create_answer)
            if sides.answers.contains(create_answer) or sides.policy.is_ignored(address):
                continue
            state = "was deleted" if missing.restorable else "does not exist, or this token cannot see it"
            noun = sides.kind(entry).noun
            pin_line = pin_text(missing.id, bool(sides.desired.environments))
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
        """Yield new entries that the files declare as hidden although the server has no request to hide them.

        dpsync does not create such an object, because it would be visible.
        """
        sides = self._sides
        for address, entry in sides.entries.items():
            kind = sides.kind(entry)
            if (
                not kind.unsupported_fields
                or sides.live(address) is not None
                or sides.policy.is_ignored(address)
            ):
                continue
            for field in kind.fields:
                value = entry.fields.get(field.name)
                if value is None or field.name not in kind.unsupported_fields:
                    continue
                hides = visibility_change(field, initial_value(field), value) == "withdraw"
                is_settable = field.call_for_value(value) is not None
                if hides and not is_settable and not sides.policy.is_ignored(address, field.name):
                    displayed = str(value).lower() if isinstance(value, bool) else value
                    operation = f"setting {field.name} to {displayed}"
                    reason = sides.registry.profile.missing_operation_text(operation)
                    todo = (
                        "create the object in GitBook yourself. Or remove the field "
                        f"{field.name}; dpsync then creates the object, but the object is visible"
                    )
                    yield address, Blocked(address=str(address), reason=reason, todo=todo)

    def _block_dependents(self) -> None:
        """Block new entries that cannot be created or that need a blocked entry.

        Repeat until no more are found, because each blocked entry may block others.
        """
        previous_count = -1
        while previous_count != len(self._entries):
            previous_count = len(self._entries)
            for entry in self._sides.entries.values():
                address = entry.address
                is_decided = address in self._entries or address in self.created_first.values()
                if is_decided or self._sides.live(address) is not None:
                    continue
                block = self._creation_block(entry)
                if block is not None:
                    self._entries[address] = block

    def _block_navigation(self, tree: RestructuredTree) -> None:
        """Block all entries of a navigation that changes from spaces to sections, except the first section.

        This plan creates only the first section, and GitBook moves the spaces of the site into it. Later
        plans create the other entries.
        """
        nodes = [
            address
            for address in self._sides.hierarchy.subtree(tree.scope.address)
            if address not in self._entries
        ]
        first = first_entry_to_create(self._sides, tree, nodes)
        if first is not None:
            self.created_first[tree.scope.address] = first
        reason = (
            f"dpsync first creates one section in {tree.scope.parent}, and GitBook moves the site's spaces "
            "into the section"
        )
        todo = f"then run {format_command('apply', '--confirm', str(tree.confirmation))}"
        for address in nodes:
            if address != first:
                self._entries[address] = Blocked(address=str(address), reason=reason, todo=todo)

    def _creation_block(self, entry: Entry) -> Blocked | None:
        """Return why dpsync cannot create the object of an entry in this plan, None if it can.

        Reasons by the entry itself: its parent is being restored, the platform's output that contains the
        object does not exist, or the API cannot create objects of the kind.
        """
        kind, address = self._sides.kind(entry), str(entry.address)
        if self._sides.policy.is_ignored(entry.address):
            return None
        parent = self._sides.live(entry.parent) if entry.parent is not None else None
        if parent is not None and parent.deleted:
            reason = f"restoring {entry.parent} may also restore the object of this entry"
            return Blocked(address=address, reason=reason, todo=_TODO_AFTER_RESTORE)
        if kind.is_part_of_output and entry.parent is not None:
            had_space = self._sides.values.live_id(entry.parent) is not None
            state, todo = "does not exist yet", _TODO_AFTER_CREATION
            if had_space:
                state, todo = "no longer exists", _TODO_RESTORE
            return Blocked(address=address, reason=f"the space of {entry.parent} {state}", todo=todo)
        create = kind.create_call(entry.pin, entry.fields)
        if isinstance(create, ManualStep) or (create is None and not kind.exists_with_parent):
            todo = create.todo.format(key=entry.key) if isinstance(create, ManualStep) else ""
            reason = f"dpsync cannot create {kind.noun_with_article}"
            if "create" in kind.unsupported:
                operation = f"creating {kind.noun_with_article}"
                reason = self._sides.registry.profile.missing_operation_text(operation)
            return Blocked(address=address, reason=reason, todo=todo)
        return self._block_by_references(entry)

    def _block_by_references(self, entry: Entry) -> Blocked | None:
        """Return why the create request of an entry cannot refer to other objects, None if it can.

        It may refer to an output that does not exist yet, to an ignored or blocked entry, or to a page that
        does not exist. The parent of the entry counts like a reference.
        """
        address, referenced = str(entry.address), self._needed_for_creation(entry)
        for needed in sorted(referenced):
            if self._lacks_output(needed) and not self._will_be_output(needed):
                reason = _pending_output_reason(needed)
                return Blocked(address=address, reason=reason, todo=_TODO_AFTER_CREATION)
        containers = {container for container in (entry.parent, entry.holder) if container is not None}
        for needed in sorted(containers | referenced):
            if self._is_never_created(needed):
                reason, todo = self._ignored_reason(needed)
                return Blocked(address=address, reason=reason, todo=todo)
            if needed in self._entries:
                cause = self._entries[needed]
                reason = f"this entry needs {needed}, which is blocked"
                return Blocked(address=address, reason=reason, because=cause.because or cause.address)
        block = None
        for field, reason, todo in missing_pages(self._sides, entry):
            block = Blocked(address=str(entry.address.field(field.name)), reason=reason, todo=todo)
        return block

    def _needed_for_creation(self, entry: Entry) -> set[Address]:
        """Return the addresses that the create request of an entry refers to, also for its first child."""
        kind = self._sides.kind(entry)
        needed: set[Address] = set()
        for field in kind.fields:
            if field.written_in in ("create", "both") or field.name == kind.key_field:
                needed |= references(entry.fields.get(field.name))
        if isinstance(kind.create, Call) and kind.create.first_child_id_path and entry.children:
            needed |= self._needed_for_creation(self._sides.entries[entry.children[0]])
        return needed - {entry.address}

    def _is_never_created(self, address: Address) -> bool:
        """Return whether an entry is not live and never created, because the policy ignores it."""
        is_declared = address in self._sides.entries
        is_ignored = is_declared and self._sides.policy.is_unmanaged(address)
        return is_ignored and self._sides.live(address) is None

    def _ignored_reason(self, address: Address) -> tuple[str, str]:
        """Return why dpsync never creates an ignored entry, and what the user can do."""
        if self._sides.git_synced.contains(address):
            return (
                f"this entry needs {address}, which is missing in the repository connected by Git Sync",
                _TODO_REPOSITORY,
            )
        return (
            f"this entry needs {address}, which does not exist and is in policy.ignore",
            f"create {address} in GitBook, or remove {address} from policy.ignore",
        )

    def _lacks_output(self, address: Address) -> bool:
        """Return whether a reference to an entry has no id yet, because GitBook has not created its output.

        An output is an object that the platform itself creates some time after the entry's object.
        """
        entry = self._sides.entries.get(address)
        has_outputs = entry is not None and self._sides.kind(entry).platform_work.outputs is not None
        return has_outputs and self._sides.values.live_id(address) is None

    def _will_be_output(self, address: Address) -> bool:
        """Return whether the platform is creating the output of an entry, or will do so during this plan.

        That is so if the plan creates the entry, if the user confirmed an action that starts the work, or if
        the platform is already working.
        """
        entry = self._sides.entries[address]
        kind, live = self._sides.kind(entry), self._sides.live(address)
        if kind.platform_work.busy is None:
            return False
        if live is None:
            return not self._sides.policy.is_ignored(address)
        start_answers = [Answer(word, str(address)) for word in kind.platform_work.user_actions]
        self._requested_answers.update(start_answers)
        if any(map(self._sides.answers.contains, start_answers)):
            return True
        return live.fields.get(kind.platform_work.busy.field) in kind.platform_work.busy.values

    def is_entry_blocked(self, address: Address) -> bool:
        """Return whether an entry is blocked."""
        return address in self._entries

    def block_field_if_needed(self, entry: Entry, field: Field) -> bool:
        """Block a field that refers to a missing object or page, and return whether the field is blocked.

        The referenced entry may be blocked, ignored by the policy, or wait for the platform's output.
        """
        for referenced in sorted(references(entry.fields.get(field.name))):
            if referenced in self._entries:
                reason = f"this field refers to {referenced}, which is blocked"
                self.block_field(entry, field, reason, because=str(referenced))
                return True
            if self._is_never_created(referenced):
                self.block_field(entry, field, *self._ignored_reason(referenced))
                return True
            if self._lacks_output(referenced) and not self._will_be_output(referenced):
                self.block_field(entry, field, _pending_output_reason(referenced), _TODO_AFTER_CREATION)
                return True
        for field_with_page, reason, todo in missing_pages(self._sides, entry):
            if field_with_page.name == field.name:
                self.block_field(entry, field, reason, todo)
                return True
        return False

    def block_field(
        self, entry: Entry, field: Field, reason: str, todo: str = "", because: str | None = None
    ) -> None:
        """Record a field of an entry as blocked: the plan does not write it.

        `reason` says why, and `todo` what the user can do.

        `because` is the address of the blocked entry that causes this.
        """
        address = str(entry.address.field(field.name))
        self._fields[entry.address, field.name] = Blocked(
            address=address, reason=reason, todo=todo, because=because
        )

    def blocking(self) -> Blocking:
        """Return the blocked entries and fields after all entries were decided.

        Also report unsupported fields, and lists with `prune` where dpsync cannot tell which objects are
        undeclared, and therefore deletes nothing.
        """
        sides = self._sides
        unsupported_fields = [
            _as_blocked(str(address.field(name)), unsupported)
            for (address, name), unsupported in sides.desired.unsupported_fields.items()
            if not sides.policy.is_ignored(address, name)
        ]
        prune_unsafe_lists = [
            _as_blocked(str(address), unsupported)
            for address, unsupported in sides.snapshot.prune_unsafe.items()
            if sides.options.delete
            and sides.desired.is_pruned(address)
            and address in sides.desired.scopes
            and not sides.policy.is_ignored(address)
        ]
        return Blocking(
            self._entries,
            self._fields,
            self.created_first,
            (*unsupported_fields, *prune_unsafe_lists),
            frozenset(filter(sides.policy.is_ignored, sides.desired.unsupported)),
            frozenset(self._requested_answers),
        )
