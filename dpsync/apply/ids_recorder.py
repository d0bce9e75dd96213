"""Record the ids of created objects in the ids file.

`Recorder` derives the changed lines from the outcomes of the steps, and writes them at the start, at most
once a second, and at the end. A file that cannot be written never stops an apply; `Recorder.trouble` has the
reason. The recorder must never write a line of an entry outside its plan.
"""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import Final, Protocol

from msgspec.structs import replace

from dpsync.apply.ids_on_disk import CannotWrite
from dpsync.apply.task import Task
from dpsync.kinds.places import Places
from dpsync.kinds.registry import Registry
from dpsync.live.reading import recorded_lines
from dpsync.model.address import Address
from dpsync.model.desired import Desired
from dpsync.model.ids import Edits, IdsFile, Lines, RecordedLine, is_id
from dpsync.model.journal import APPLIED, Outcome
from dpsync.model.plan import Plan
from dpsync.model.snapshot import LiveObject, Snapshot

EVERY: Final = 1.0
"""Minimum seconds between two writes."""


class IdsStore(Protocol):
    """A store of the lines of the ids file."""

    def edit(self, platform: str, edits: Edits) -> None:
        """Change only these lines. Raises CannotWrite."""


class NoStore:
    """A store that keeps nothing, for callers without an ids file."""

    def edit(self, platform: str, edits: Edits) -> None:
        """Ignore the lines."""


class _Section:
    """The changing lines of one organization, by address and by id."""

    def __init__(self, lines: Lines) -> None:
        self.lines: dict[Address, RecordedLine] = {}
        self._by_id: dict[str, set[Address]] = defaultdict(set)
        self._below: dict[Address, set[Address]] = defaultdict(set)
        for line in lines.values():
            self.put(line)

    def put(self, line: RecordedLine) -> None:
        self.drop(line.address)
        self.lines[line.address] = line
        self._by_id[line.id].add(line.address)
        for above in line.address.upward():
            self._below[above].add(line.address)

    def drop(self, address: Address) -> None:
        line = self.lines.pop(address, None)
        if line is not None:
            self._by_id[line.id].discard(address)
            for above in address.upward():
                self._below[above].discard(address)

    def addresses_of(self, id: str) -> list[Address]:
        """Return the addresses that have this id."""
        return sorted(self._by_id[id])

    def below(self, address: Address) -> list[Address]:
        """Return the addresses of the lines of an entry and of everything inside it."""
        return sorted(self._below[address])


class Recorder:
    """Records the lines of one apply. Thread-safe, but only one thread may call `flush` and `close`.

    `known` is the content of the file when the plan was made. `chosen` has the entries of a partial plan;
    None means all entries.
    """

    def __init__(
        self,
        store: IdsStore,
        platform: str,
        known: IdsFile,
        registry: Registry,
        desired: Desired,
        chosen: Collection[Address] | None = None,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._store = store
        self._platform = platform
        self._before = known
        self._registry = registry
        self._desired = desired
        self._chosen = chosen
        self._now = now
        self._places = Places(registry)
        self._lock = threading.Lock()
        self._organizations: dict[str, str] = {}
        """Organization ids by key."""
        self._sections: dict[str, _Section] = {}
        self._waiting: dict[Address, RecordedLine] = {}
        """Lines of objects that this apply has yet to transfer from another organization."""
        self._edits: dict[tuple[str, Address], RecordedLine | None] = {}
        self._pending = False
        self._written = float("-inf")
        self.mistake: str | None = None
        self.unwritten: str | None = None

    @property
    def known(self) -> IdsFile:
        """The current lines of the file, or the lines that it would have if it could be written."""
        with self._lock:
            return self._before.edited(self._platform, self._edits)

    # --- learning -------------------------------------------------------------------------------------

    def recognised(self, snapshot: Snapshot, plan: Plan) -> None:
        """Record each matched entry of a snapshot, except blocked and unselected entries."""
        with self._internal_errors_noted():
            self._recognised(snapshot, plan)

    def _recognised(self, snapshot: Snapshot, plan: Plan) -> None:
        blocked = {item.address for item in plan.blocked}
        lines = recorded_lines(self._registry, self._desired, snapshot)
        with self._lock:
            self._load_sections(snapshot)
            self._waiting = {}
            for address, line in lines.items():
                if str(address) in blocked or not (self._chosen is None or address in self._chosen):
                    continue
                if any(above in snapshot.transferred for above in address.upward()):
                    self._waiting[address] = line
                else:
                    self._record_line(line)

    def settled(self, task: Task, outcome: Outcome, ids: Callable[[Address], str | None]) -> None:
        """Record what follows from the outcome of a step. `ids` returns the current id of an entry."""
        with self._internal_errors_noted():
            self._settled(task, outcome, ids)

    def _settled(self, task: Task, outcome: Outcome, ids: Callable[[Address], str | None]) -> None:
        if outcome.result not in APPLIED:
            return
        step, change = task.step, task.change
        address = change.location
        with self._lock:
            if step.verb == "delete" and change.id is not None:
                self._remove_lines(self._organizations.get(address.first), change.kind, change.id)
            if step.verb == "transfer":
                for other in [one for one in self._waiting if one.is_in(address)]:
                    self._record_line(self._waiting.pop(other))
            for gives in step.gives:
                self._record_created(gives.location, ids)

    def left_alone(self, objects: Sequence[LiveObject]) -> None:
        """Mark the lines of live objects without an entry that a finished apply has left alone."""
        with self._internal_errors_noted(), self._lock:
            for owner, section in self._sections.items():
                for item in objects:
                    for address in self._lines_of(section, item.kind, item.id):
                        self._mark_kept(owner, section, address)

    def _mark_kept(self, owner: str, section: _Section, address: Address) -> None:
        """Mark the lines of a kept object and of its former children."""
        known = self._desired
        for below in section.below(address):
            line = section.lines[below]
            if not line.kept and below not in known.resources and below not in known.unserved:
                section.put(replace(line, kept=True))
                self._edit(owner, below, section.lines[below])

    def _lines_of(self, section: _Section, kind: str, id: str) -> list[Address]:
        """Return the addresses of the lines that name an object."""
        return [
            at for at in section.addresses_of(id) if any(one.name == kind for one in self._places.kinds(at))
        ]

    @contextmanager
    def _internal_errors_noted(self) -> Iterator[None]:
        """Catch internal errors and report them at the end, so that they stop nothing."""
        try:
            yield
        except Exception as mistake:
            self.mistake = (
                f"dpsync did not record this step: dpsync has an internal error ({type(mistake).__name__})"
            )

    def _load_sections(self, snapshot: Snapshot) -> None:
        """Load the lines of each organization."""
        for id, key in snapshot.organizations.items():
            if id not in self._sections:
                self._organizations[key] = id
                self._sections[id] = _Section(self._before.lines(self._platform, id, key))
        for id, lines in self._before.sections.get(self._platform, {}).items():
            if id not in self._sections:
                self._sections[id] = _Section(lines)

    def _record_created(self, address: Address, ids: Callable[[Address], str | None]) -> None:
        """Record the line of an entry whose object was created."""
        resource, id = self._desired.resources.get(address), ids(address)
        if resource is None or id is None or not self._registry[resource.kind].recorded:
            return
        along = self._registry[resource.kind].has_also and resource.children
        self._record_line(RecordedLine(address, id, ids(resource.children[0]) if along else None))

    def _record_line(self, line: RecordedLine) -> None:
        """Record a line, and remove other lines of the same object."""
        owner = self._organizations.get(line.address.first)
        if owner is None or not is_id(line.id):
            return
        if self._sections[owner].lines.get(line.address) != line:
            self._sections[owner].put(line)
            self._edit(owner, line.address, line)
        kind = self._registry[self._desired.resources[line.address].kind]
        self._remove_former_keys(owner, line, kind.name)
        if kind.lifecycle.transfer is not None:
            for other in self._sections:
                if other != owner:
                    self._remove_lines(other, kind.name, line.id)

    def _remove_former_keys(self, owner: str, line: RecordedLine, kind: str) -> None:
        """Remove the lines of former keys of an entry, because another entry may get such a key."""
        section, known = self._sections[owner], self._desired
        for address in self._lines_of(section, kind, line.id):
            if address not in known.resources and address not in known.unserved:
                section.drop(address)
                self._edit(owner, address, None)

    def _remove_lines(self, owner: str | None, kind: str, id: str) -> None:
        """Remove the lines of a deleted object and of its children."""
        if owner is None:
            return
        section = self._sections[owner]
        for address in self._lines_of(section, kind, id):
            for removed in section.below(address):
                section.drop(removed)
                self._edit(owner, removed, None)

    def _edit(self, owner: str, address: Address, line: RecordedLine | None) -> None:
        self._edits[owner, address] = line
        self._pending = True

    # --- writing --------------------------------------------------------------------------------------

    @property
    def trouble(self) -> str | None:
        """Why the file lacks recorded lines; None if the file is complete."""
        return self.unwritten or self.mistake

    @property
    def due(self) -> float | None:
        """Seconds until the next write; None if there is nothing to write."""
        with self._lock:
            return max(0.0, self._written + EVERY - self._now()) if self._pending else None

    def flush(self) -> None:
        """Write the pending lines, unless the last write was less than a second ago."""
        if self.due == 0:
            self._write()

    def close(self) -> None:
        """Write the pending lines. Raises nothing that could hide why the apply ended."""
        if self.due is not None:
            self._write()

    def _write(self) -> None:
        with self._lock:
            edits, self._pending = dict(self._edits), False
        self._written = self._now()
        self.unwritten = None
        try:
            self._store.edit(self._platform, edits)
        except CannotWrite as cannot:
            self.unwritten = str(cannot)
        except Exception as mistake:
            words = f"dpsync has an internal error ({type(mistake).__name__})"
            self.unwritten = f"the ids file cannot be written: {words}"
        if self.unwritten is not None:
            with self._lock:
                self._pending = True  # it may work later
