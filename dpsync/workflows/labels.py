"""Find out who changed a value: a commit, the last apply, or a person in GitBook.

`label_commits` returns the commits that labels ("edited here", …) compare with. `with_last_events` adds the
last audit event of each object that differs from its entry. A successful apply of all files from a commit
leaves a note in `.dpsync/applied` (`AppliedNotes`), which selects a commit: HEAD or an ancestor, with the
digest of its configuration. Any other apply to the same organizations removes the note. dpsync ignores notes
that git tracks, because somebody else may have written them.
"""

from __future__ import annotations

import hashlib
import os
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Annotated, Final, Literal

from msgspec import Struct
from pydantic import BaseModel, ConfigDict, StringConstraints, ValidationError

from dpsync import disk
from dpsync.client.client import ReadClient
from dpsync.config.commits import CommitsSince, applied_digest, configuration_digest
from dpsync.config.git import NoRepositoryError, Repository
from dpsync.config.git_base import in_ci, read_base
from dpsync.config.layers import Layers
from dpsync.kinds.registry import Registry
from dpsync.kinds.registry import build_registry as load_registry
from dpsync.live.access import last_events
from dpsync.model.change import Note
from dpsync.model.desired import (
    AppliedCommit,
    ApplyTarget,
    Base,
    CommittedFiles,
    Desired,
    LabelCommits,
    LastApply,
)
from dpsync.model.diagnostic import DiagnosticError
from dpsync.model.drift import Drift, Drifted, LastEvent
from dpsync.model.text import json_text
from dpsync.planner.sides import Sides


def with_last_events(client: ReadClient, sides: Sides, drift: Drift) -> Drift:
    """Return the drift with the last audit event of each object that was not only edited in the files.

    The events tell who changed the object. No request is sent if nothing has drifted, or if the API version
    has no audit events. A note says why events cannot be read.
    """
    ids_by_root: dict[str, list[str]] = defaultdict(list)
    ids = {item.address: id for item in drift.found if (id := _live_object_id(sides, item)) is not None}
    for address, id in ids.items():
        ids_by_root[address.partition("/")[0]].append(id)
    events = {
        root: last_events(client, sides.registry.profile, organization.id, ids_by_root[root])
        for root in ids_by_root
        if (
            organization := next(
                (candidate for candidate in drift.organizations if candidate.address == root), None
            )
        )
    }
    if not any(events_of.by_id or events_of.unreadable_reason for events_of in events.values()):
        return drift

    def last_event(address: str) -> LastEvent | None:
        events_of = events.get(address.partition("/")[0])
        return events_of.by_id.get(ids.get(address, "")) if events_of is not None else None

    drifted = (item.model_copy(update={"last_event": last_event(item.address)}) for item in drift.found)
    notes = (
        *drift.notes,
        *(
            Note(address=root, text=f"dpsync cannot show who changed objects: {reason}")
            for root, events_of in events.items()
            if (reason := events_of.unreadable_reason) is not None
        ),
    )
    return drift.model_copy(update={"found": tuple(drifted), "notes": notes, "requests": client.requests})


def _live_object_id(sides: Sides, item: Drifted) -> str | None:
    """Return the id of an object with a difference that was possibly made in GitBook, otherwise None.

    An id that is unique only within a parent does not count: an audit event may be about another object.
    """
    labels = [part.cause for part in item.fields] or [item.cause]
    if item.place is not None:
        labels.append(item.cause)
    if set(labels) == {"edited here"} or not sides.registry[item.kind].has_unique_id:
        return None
    missing = sides.snapshot.missing_objects.get(item.location)
    return item.id or (missing.id if missing is not None else None)


_MAX_NOTE_BYTES: Final = 20_000
"""Maximum size of a note, in bytes."""
_MAX_NOTES: Final = 100
"""Maximum number of notes that are read."""

CommitId = Annotated[str, StringConstraints(pattern=r"^([0-9a-f]{40}|[0-9a-f]{64})$")]
Digest = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]


class AppliedNote(BaseModel):
    """The note about the last apply."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=False)
    format: Literal["dpsync.applied/1"] = "dpsync.applied/1"
    commit: CommitId
    root: str
    environment: str | None
    overlays: tuple[str, ...]
    platform: str
    organizations: tuple[str, ...]
    digest: Digest
    """The digest of the configuration in the commit, without values of environment variables."""

    def is_for(self, target: ApplyTarget) -> bool:
        """Return whether the apply wrote a target."""
        return self.platform == target.platform and {*self.organizations} == target.organizations


class NotRecorded(Struct, frozen=True):
    """Why an apply left no note. In messages, `reason` follows the word "because"."""

    reason: str
    resolution: str = ""
    """A sentence that says what a person can do; empty if there is nothing to do."""


class AppliedNotes(Struct, frozen=True):
    """The notes about the last applies of one configuration: a root file with its environment and overlays.

    Later plans compare the files with the commit in a note, to tell edits from changes in GitBook.
    """

    root: Path
    registry: Registry
    layers: Layers
    ids: Path | None = None

    @staticmethod
    def of(
        root: Path,
        overlays: Sequence[Path] = (),
        environment: str | None = None,
        profile: str | None = None,
        ids: Path | None = None,
    ) -> AppliedNotes:
        """Return the stored notes about the last applies of a root file (a configuration's main file).

        Raises DiagnosticError as `load_base` does.
        """
        return AppliedNotes(root, load_registry(), Layers.of(root, overlays, environment, profile), ids)

    @property
    def directory(self) -> Path:
        """Return the directory of the notes, `.dpsync/applied` beside the root file."""
        return self.root.parent / disk.OWN_DIRECTORY_NAME / "applied"

    def applies(self) -> Iterator[LastApply]:
        """Yield the last apply to each platform for which this configuration has a note."""
        configuration = self.root.name, self.layers.environment, self.layers.overlays
        notes = [
            note
            for _, note in self._read_notes()
            if note is not None and (note.root, note.environment, note.overlays) == configuration
        ]
        if not notes or self._is_note_tracked():
            return
        for note in notes:
            commits = CommitsSince(self.root, self.registry, self.layers, note.commit, self.ids, note.digest)
            yield LastApply(commits, note.is_for, is_complete=True)

    def forget(self, platform: str, organizations: Collection[str]) -> None:
        """Delete each note about the last apply to one of these organizations, also of another root file.

        Called before an apply, because the note is not true any more. An unreadable note is deleted, too.
        Raises OSError.
        """
        for path, note in list(self._read_notes()):
            if note is None or (note.platform == platform and {*organizations} & {*note.organizations}):
                path.unlink()

    @property
    def are_usable(self) -> bool:
        """Return whether later plans can use the notes: in a git repository, but not in a CI job."""
        return self._in_git() and not in_ci(os.environ)

    def _in_git(self) -> bool:
        """Return whether the root file is in a git repository."""
        try:
            Repository.containing(self.root.parent)
        except NoRepositoryError:
            return False
        return True

    def remember(self, desired: Desired, platform: str, organizations: Sequence[str]) -> NotRecorded | None:
        """Write a note that HEAD was applied, if the files (`desired`) declare what the commit HEAD declares.

        Called after an apply whose result was verified; later plans label what was edited since that commit.
        Return why no note was written, None if one was. Raises OSError if the note cannot be written.
        """
        if not self._in_git():
            return NotRecorded("your files are not in a git repository")
        uncommitted = NotRecorded(
            "your files differ from the commit HEAD", "Commit your files before the next apply."
        )
        try:
            head = read_base(self.root, self.registry, os.environ, "HEAD", self.layers)
        except DiagnosticError:  # for example, a repository without a commit
            return uncommitted
        if head.commit is None or head.desired is None:
            return uncommitted
        if not head.has_all_overlays:
            return NotRecorded("the commit HEAD does not contain all files of the configuration")
        if configuration_digest(head.desired) != configuration_digest(desired):
            return uncommitted
        digest = applied_digest(self.root, self.registry, self.layers, head.commit)
        if digest is None:
            return NotRecorded("the configuration in the commit HEAD needs environment variables")
        note = AppliedNote(
            commit=head.commit,
            root=self.root.name,
            environment=self.layers.environment,
            overlays=self.layers.overlays,
            platform=platform,
            organizations=tuple(sorted(organizations)),
            digest=digest,
        )
        disk.make_own_directory(self.directory.parent)
        disk.make_directory(self.directory, own=2)
        name = hashlib.sha256(json_text([platform, note.organizations]).encode()).hexdigest()[:32]
        disk.replace_file(self.directory / f"{name}.json", f"{json_text(note)}\n".encode(), private=True)
        return None

    def _is_note_tracked(self) -> bool:
        """Return whether git tracks files in the directory of the notes; also True if git cannot tell.

        Somebody else may have written and committed such a note, so notes are not used then.
        """
        try:
            return Repository.containing(self.root.parent).tracks(self.directory)
        except (NoRepositoryError, ValueError):
            return True

    def _read_notes(self) -> Iterator[tuple[Path, AppliedNote | None]]:
        """Yield the path of each file in the directory of notes, and its note (None if it is not valid).

        Yield nothing if the directory is a symbolic link or does not exist.
        """
        if any(
            disk.kind_of(directory) != "a directory" for directory in (self.directory.parent, self.directory)
        ):
            return
        for path in sorted(islice(self.directory.iterdir(), _MAX_NOTES)):
            yield path, _read_note(path)


def _read_note(path: Path) -> AppliedNote | None:
    """Return the note in a file, None if the file is not a valid note."""
    try:
        data = disk.read(path, _MAX_NOTE_BYTES, follow=False)
        return AppliedNote.model_validate_json(data) if len(data) <= _MAX_NOTE_BYTES else None
    except (OSError, ValidationError):
        return None


def label_commits(
    notes: AppliedNotes,
    base: Base,
    ref: str | None = None,
    env: Mapping[str, str] | None = None,
    applied: Collection[AppliedCommit] = (),
) -> LabelCommits:
    """Return the commits with which labels ("edited here", "changed outside") compare the files.

    `base` is the default commit to compare with, and `ref` the one that `--base` names. `applied` has the
    commit that was applied last to each target, if a caller knows it, and otherwise the notes of earlier
    applies tell it. Raises DiagnosticError (exit code 5) if `ref` cannot be used.
    """
    variables = os.environ if env is None else env
    chosen = base
    if ref is not None:
        chosen = read_base(notes.root, notes.registry, variables, ref, notes.layers, notes.ids)
    compared = None
    if (
        chosen.desired is not None
        and chosen.has_all_overlays
        and (ref is not None or (chosen.is_merge_base and not applied))
    ):
        compared = CommittedFiles(chosen.desired, chosen.ids)
    if not applied:
        return LabelCommits(compared, tuple(notes.applies()))
    applies = (
        LastApply(
            CommitsSince(notes.root, notes.registry, notes.layers, commit.commit, notes.ids),
            commit.matches_target,
        )
        for commit in applied
    )
    return LabelCommits(compared, tuple(applies))
