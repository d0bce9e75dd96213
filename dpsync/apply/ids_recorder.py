"""Record the ids of created objects in the ids file, which says which live object each entry is.

`IdsRecorder` derives the changed lines from the outcomes of the steps, and writes them at the start, at most
once a second, and at the end. A file that cannot be written never stops an apply; `IdsRecorder.trouble` has
the reason. The recorder must never write a line of an entry outside its plan.
"""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import Final, Protocol

from msgspec.structs import replace

from dpsync.apply.ids_on_disk import IdsWriteError
from dpsync.apply.task import StepTask
from dpsync.kinds.address_patterns import PlaceTypes
from dpsync.kinds.registry import Registry
from dpsync.live.reading_state import recorded_lines
from dpsync.model.address import Address
from dpsync.model.desired import Desired
from dpsync.model.ids import IdsEdits, IdsFile, LinesByAddress, RecordedLine, is_id
from dpsync.model.journal import APPLIED, Outcome
from dpsync.model.plan import Plan
from dpsync.model.snapshot import LiveObject, Snapshot

WRITE_INTERVAL: Final = 1.0
"""Minimum seconds between two writes."""


class IdsStore(Protocol):
    """Where an IdsRecorder writes the lines of the ids file."""

    def edit(self, platform: str, edits: IdsEdits) -> None:
        """Change only these lines of the file. Raises IdsWriteError."""


class NullIdsStore:
    """A store that discards the lines, for callers without an ids file."""

    def edit(self, platform: str, edits: IdsEdits) -> None:
        """Discard the lines."""


class _SectionLines:
    """The lines of one organization in the ids file, indexed by address, by id and by parent address."""

    def __init__(self, lines: LinesByAddress) -> None:
        self.lines: dict[Address, RecordedLine] = {}
        self._by_id: dict[str, set[Address]] = defaultdict(set)
        self._below: dict[Address, set[Address]] = defaultdict(set)
        for line in lines.values():
            self.add(line)

    def add(self, line: RecordedLine) -> None:
        """Add a line, in place of a line with the same address."""
        self.remove(line.address)
        self.lines[line.address] = line
        self._by_id[line.id].add(line.address)
        for ancestor in line.address.self_and_ancestors():
            self._below[ancestor].add(line.address)

    def remove(self, address: Address) -> None:
        """Remove the line with an address, if there is one."""
        line = self.lines.pop(address, None)
        if line is not None:
            self._by_id[line.id].discard(address)
            for ancestor in address.self_and_ancestors():
                self._below[ancestor].discard(address)

    def addresses_of(self, id: str) -> list[Address]:
        """Return the addresses whose lines have this id."""
        return sorted(self._by_id[id])

    def below(self, address: Address) -> list[Address]:
        """Return the addresses of all lines at or below an address."""
        return sorted(self._below[address])


class IdsRecorder:
    """Records the ids of one apply in the ids file.

    `ids_before` is the content of the file when the plan was made. `selected` has the entries of a partial
    plan; None means all entries. Thread-safe, but only one thread may call `flush` and `close`.
    """

    def __init__(
        self,
        store: IdsStore,
        platform: str,
        ids_before: IdsFile,
        registry: Registry,
        desired: Desired,
        selected: Collection[Address] | None = None,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """Initialize without any line to write."""
        self._store = store
        self._platform = platform
        self._before = ids_before
        self._registry = registry
        self._desired = desired
        self._selected = selected
        self._now = now
        self._places = PlaceTypes(registry)
        self._lock = threading.Lock()
        self._organizations: dict[str, str] = {}
        """Organization ids by key."""
        self._sections: dict[str, _SectionLines] = {}
        self._lines_after_transfer: dict[Address, RecordedLine] = {}
        """Lines of objects that this apply has yet to transfer from another organization."""
        self._edits: dict[tuple[str, Address], RecordedLine | None] = {}
        self._has_pending_edits = False
        self._last_write_time = float("-inf")
        self.internal_error: str | None = None
        self.write_problem: str | None = None

    @property
    def current_ids(self) -> IdsFile:
        """Return the lines that the file has, or would have if it could be written."""
        with self._lock:
            return self._before.with_edits(self._platform, self._edits)

    # --- learning -------------------------------------------------------------------------------------

    def record_matches(self, snapshot: Snapshot, plan: Plan) -> None:
        """Record the id of each matched entry of a snapshot, except blocked and unselected entries.

        The lines of objects that the plan transfers wait until their transfer succeeded.
        """
        with self._catch_internal_errors():
            blocked = {item.address for item in plan.blocked}
            lines = recorded_lines(self._registry, self._desired, snapshot)
            with self._lock:
                self._load_sections(snapshot)
                self._lines_after_transfer = {}
                for address, line in lines.items():
                    if str(address) in blocked or not (self._selected is None or address in self._selected):
                        continue
                    ancestors = address.self_and_ancestors()
                    if any(ancestor in snapshot.transferred_entries for ancestor in ancestors):
                        self._lines_after_transfer[address] = line
                    else:
                        self._record_line(line)

    def record_outcome(self, task: StepTask, outcome: Outcome, ids: Callable[[Address], str | None]) -> None:
        """Record the ids that follow from the outcome of a step. `ids` returns the current id of an entry.

        A delete removes lines, a transfer and a created object add lines.
        """
        if outcome.result not in APPLIED:
            return
        step, change = task.step, task.change
        address = change.location
        with self._catch_internal_errors(), self._lock:
            if step.verb == "delete" and change.id is not None:
                self._remove_lines(self._organizations.get(address.organization_key), change.kind, change.id)
            if step.verb == "transfer":
                for other in [
                    candidate for candidate in self._lines_after_transfer if candidate.is_at_or_below(address)
                ]:
                    self._record_line(self._lines_after_transfer.pop(other))
            for gives in step.gives:
                self._record_created(gives.location, ids)

    def mark_kept(self, objects: Sequence[LiveObject]) -> None:
        """Mark the lines of live objects that have no entry and that a finished apply has left alone.

        A later plan then knows that the object was kept on purpose.
        """
        with self._catch_internal_errors(), self._lock:
            for owner, section in self._sections.items():
                for item in objects:
                    for address in self._lines_of(section, item.kind, item.id):
                        self._mark_kept(owner, section, address)

    def _mark_kept(self, owner: str, section: _SectionLines, address: Address) -> None:
        """Mark the ids line at an address, and the lines inside it, as kept, except lines of entries.

        `owner` is the id of the organization, `section` its lines.
        """
        desired = self._desired
        for line_address in section.below(address):
            line = section.lines[line_address]
            if (
                not line.kept
                and line_address not in desired.entries
                and line_address not in desired.unsupported
            ):
                section.add(replace(line, kept=True))
                self._edit(owner, line_address, section.lines[line_address])

    def _lines_of(self, section: _SectionLines, kind: str, id: str) -> list[Address]:
        """Return the addresses of the lines that name an object: same id, and an address of its kind."""
        return [
            address
            for address in section.addresses_of(id)
            if any(address_kind.name == kind for address_kind in self._places.kinds(address))
        ]

    @contextmanager
    def _catch_internal_errors(self) -> Iterator[None]:
        """Catch all errors in the `with` block and report them at the end, so that they stop nothing."""
        try:
            yield
        except Exception as error:
            self.internal_error = (
                f"dpsync did not record this step: dpsync has an internal error ({type(error).__name__})"
            )

    def _load_sections(self, snapshot: Snapshot) -> None:
        """Load the ids-file lines of all organizations: those in the snapshot, and all others in the file."""
        for id, key in snapshot.organizations.items():
            if id not in self._sections:
                self._organizations[key] = id
                self._sections[id] = _SectionLines(self._before.lines(self._platform, id, key))
        for id, lines in self._before.sections.get(self._platform, {}).items():
            if id not in self._sections:
                self._sections[id] = _SectionLines(lines)

    def _record_created(self, address: Address, ids: Callable[[Address], str | None]) -> None:
        """Record the line of an entry whose object was created, if its kind is recorded.

        The line has a second id if GitBook creates the entry's first child together with the entry. `ids`
        returns the id of the object of an entry; None if it is unknown.
        """
        entry, id = self._desired.entries.get(address), ids(address)
        if entry is None or id is None or not self._registry[entry.kind].has_ids_line:
            return
        has_child_id = self._registry[entry.kind].has_second_id and entry.children
        self._record_line(RecordedLine(address, id, ids(entry.children[0]) if has_child_id else None))

    def _record_line(self, line: RecordedLine) -> None:
        """Record a line of the ids file, and remove other lines of the same object.

        These are lines with former addresses and, for an object that the plan transferred, lines in other
        organizations.
        """
        owner = self._organizations.get(line.address.organization_key)
        if owner is None or not is_id(line.id):
            return
        if self._sections[owner].lines.get(line.address) != line:
            self._sections[owner].add(line)
            self._edit(owner, line.address, line)
        kind = self._registry[self._desired.entries[line.address].kind]
        # Another entry may get a former key of this entry, and must not inherit the line.
        section, desired = self._sections[owner], self._desired
        for address in self._lines_of(section, kind.name, line.id):
            if address not in desired.entries and address not in desired.unsupported:
                section.remove(address)
                self._edit(owner, address, None)
        if kind.lifecycle.transfer is not None:
            for other in self._sections:
                if other != owner:
                    self._remove_lines(other, kind.name, line.id)

    def _remove_lines(self, owner: str | None, kind: str, id: str) -> None:
        """Remove the lines of a deleted or transferred object and of its children from an organization."""
        if owner is None:
            return
        section = self._sections[owner]
        for address in self._lines_of(section, kind, id):
            for removed in section.below(address):
                section.remove(removed)
                self._edit(owner, removed, None)

    def _edit(self, owner: str, address: Address, line: RecordedLine | None) -> None:
        """Note a changed line to write; None for a removed line."""
        self._edits[owner, address] = line
        self._has_pending_edits = True

    # --- writing --------------------------------------------------------------------------------------

    @property
    def trouble(self) -> str | None:
        """Return why the file lacks recorded lines; None if the file is complete."""
        return self.write_problem or self.internal_error

    @property
    def seconds_to_next_write(self) -> float | None:
        """Return the seconds until the next write; None if there is nothing to write."""
        with self._lock:
            return (
                max(0.0, self._last_write_time + WRITE_INTERVAL - self._now())
                if self._has_pending_edits
                else None
            )

    def flush(self) -> None:
        """Write the pending lines, unless the last write was less than a second ago."""
        if self.seconds_to_next_write == 0:
            self._write()

    def close(self) -> None:
        """Write the pending lines. Raises nothing that could hide why the apply ended."""
        if self.seconds_to_next_write is not None:
            self._write()

    def _write(self) -> None:
        """Write the pending lines to the ids file. If that fails, keep them pending, and store the reason."""
        with self._lock:
            edits, self._has_pending_edits = dict(self._edits), False
        self._last_write_time = self._now()
        self.write_problem = None
        try:
            self._store.edit(self._platform, edits)
        except IdsWriteError as cannot:
            self.write_problem = str(cannot)
        except Exception as mistake:
            words = f"dpsync has an internal error ({type(mistake).__name__})"
            self.write_problem = f"the ids file cannot be written: {words}"
        if self.write_problem is not None:
            with self._lock:
                self._has_pending_edits = True  # it may work later
