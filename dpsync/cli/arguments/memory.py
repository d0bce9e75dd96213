"""What a command knows from before: the git base and the ids file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from dpsync.cli.arguments.place import ConfigurationPaths, applied_commits, shortest_path, warned
from dpsync.cli.terminal.output import Output
from dpsync.render.names import visible

if TYPE_CHECKING:
    from dpsync.api import AppliedNotes, IdsOnDisk, Session
    from dpsync.cli.arguments.connection import Connection
    from dpsync.model.desired import Base, Desired
    from dpsync.model.ids import IdsFile


class SavedBase(NamedTuple):
    """The base with which a saved plan was made: its commit, or the reason why there was none."""

    commit: str | None
    name: str


class Opened(NamedTuple):
    """A configuration that is ready to be planned, and where its ids file is."""

    session: Session
    ids: IdsOnDisk
    notes: AppliedNotes


def opened(
    out: Output,
    place: ConfigurationPaths,
    desired: Desired,
    to: Connection,
    parallelism: int,
    base: str | None = None,
    saved_base: SavedBase | None = None,
) -> Opened:
    """A configuration with what is known from before. `base` is the commit that labels compare with.

    `saved_base` is the base of a saved plan, which takes the place of the default base. Raises
    DiagnosticError when the ids file or a named base cannot be used.
    """
    from dpsync.api import AppliedNotes, Base, Session, label_commits, load_registry

    if to.pending and desired.environment is not None:
        desired = replace(desired, environment=replace(desired.environment, pending=to.pending))
    path = ids_file(out, place.root, to, place.ids)
    ids = on_disk(path, place.root.parent, place.commit)
    known = ids.read()
    tell_repeated(out, known)
    if saved_base is None:
        past = git_base(out, place, None, path)
    else:
        past = git_base(out, place, saved_base.commit, path) if saved_base.commit else Base(saved_base.name)
    notes = AppliedNotes.of(place.root, place.overlays, place.environment, place.profile, path)
    labels = label_commits(notes, past, base, applied=applied_commits())
    session = Session(desired, load_registry(desired.profile), parallelism, past, known, labels)
    return Opened(session, ids, notes)


def ids_file(out: Output, root: Path, to: Connection, named: Path | None) -> Path:
    """Where the ids of a platform are kept."""
    from dpsync.api import ids_path

    if named is None:
        return ids_path(root, to.url)
    if not os.path.lexists(named):
        out.talk(f"note: {visible(str(named))} does not exist yet, so dpsync knows no ids")
    return named


def check_ids_file(place: ConfigurationPaths, to: Connection) -> None:
    """Raise DiagnosticError if the ids file must equal the file in a commit, and differs from it."""
    from dpsync.api import ids_path

    if place.commit is not None:
        path = ids_path(place.root, to.url) if place.ids is None else place.ids
        on_disk(path, place.root.parent, place.commit).read()


def on_disk(path: Path, project: Path, commit: str | None = None) -> IdsOnDisk:
    """Return an ids file for reading and writing. With `commit`, it must equal the file in that commit."""
    from dpsync.api import IdsOnDisk, load_registry

    return IdsOnDisk(path, load_registry().whole, shortest_path(str(path)), project, commit)


def tell_repeated(out: Output, ids: IdsFile) -> None:
    """Warn of lines that the file gives twice."""
    from dpsync.config.ids_file import repeated
    from dpsync.render.diagnostics import render_diagnostics

    if found := repeated(ids):
        out.complain(render_diagnostics(found, {}, color=out.paint(error=True).on).rstrip())


def with_what_is_not_included(
    out: Output, place: ConfigurationPaths, desired: Desired, ref: str | None
) -> Desired:
    """The configuration with a warning for each file that once was a part of it, said on stderr.

    Git is asked only where some file beside the configuration declares something else.
    """
    if not any(True for _ in desired.not_included):
        return desired
    from dpsync.api import load_base, no_longer_included

    base = load_base(
        place.root, ref, overlays=place.overlays, environment=place.environment, profile=place.profile
    )
    found = tuple(no_longer_included(desired, base))
    warned(out, replace(desired, warnings=found))
    return replace(desired, warnings=(*desired.warnings, *found))


def git_base(out: Output, place: ConfigurationPaths, ref: str | None, ids: Path | None = None) -> Base:
    """The git base; what should have been there and is not is said on stderr."""
    from dpsync.api import load_base
    from dpsync.render.diagnostics import render_diagnostics

    base = load_base(
        place.root,
        ref,
        overlays=place.overlays,
        environment=place.environment,
        ids=ids,
        profile=place.profile,
    )
    if base.warning is not None:
        text = render_diagnostics([base.warning], {}, color=out.paint(error=True).on)
        out.complain(text.rstrip())
    return base
