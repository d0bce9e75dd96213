"""A configuration made from what is live, as files in memory: read back before anything is written."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping, Sequence
from operator import attrgetter
from pathlib import Path

from msgspec import Struct, field

from dpsync.client.client import ReadClient
from dpsync.config.discovery import IDS_NAME, Included, fits
from dpsync.config.load import load_from
from dpsync.importing.creation.entries import LeftOut, ToSet, describe
from dpsync.importing.creation.inventory import read_inventory
from dpsync.importing.creation.keys import lines_of, name_everything
from dpsync.importing.creation.layout import ROOT, included, lay_out
from dpsync.importing.creation.left_out import add_comments, left_out
from dpsync.importing.creation.watching import watched_patterns
from dpsync.kinds.registry import Registry
from dpsync.model import nodes
from dpsync.model.desired import Desired
from dpsync.model.diagnostic import Diagnostic, Findings
from dpsync.model.ids import IdsFile, Lines


class Made(Struct, frozen=True):
    """The files of a configuration, what is not in them, and the variables that they name."""

    files: Mapping[str, bytes]
    left_out: tuple[LeftOut, ...] = ()
    to_set: tuple[ToSet, ...] = ()
    ids: Mapping[str, Lines] = field(default_factory=dict)
    """By organization (its id): which object each entry is."""

    def stray(self, directory: Path) -> tuple[str, ...]:
        """Files that are there, are none of these, and would be included."""
        found = (path for pattern in included(self.files) for path in directory.glob(pattern))
        names = {path.relative_to(directory).as_posix() for path in found}
        return tuple(sorted(names - self.files.keys() - {IDS_NAME}))

    def load(self, registry: Registry) -> tuple[Desired, Findings]:
        """The configuration as dpsync reads it, and what it finds wrong with it."""
        return load_from(InMemory(self.files), registry, {})


def make(
    client: ReadClient,
    registry: Registry,
    named: Sequence[str],
    parallelism: int,
    full: bool,
    ids: IdsFile,
) -> Made:
    """Read organizations and write them down; what has a line in `ids` keeps its key.

    Raises ClientError, and DiagnosticError for unknown names.
    """
    whole = read_inventory(client, registry, named, parallelism, full)
    everything = tuple(whole.objects)
    nameless = name_everything(registry, whole, ids.sections.get(client.platform))
    entries = describe(registry, whole, full)
    add_comments(whole, nameless, entries)
    watch = watched_patterns(registry, whole, everything, full)
    return Made(
        lay_out(registry, whole, entries, full, watch),
        tuple(left_out(whole, nameless, entries)),
        tuple(entries.to_set),
        lines_of(whole),
    )


class InMemory:
    """The files of a project that is not on the disk (yet)."""

    root = ROOT

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self._files = files

    def included(self, include: nodes.Node, at: str = "") -> tuple[list[Included], list[Diagnostic]]:
        patterns = (
            [item for item in include if isinstance(item, nodes.Scalar)]
            if isinstance(include, nodes.Sequence)
            else []
        )
        found = [
            Included(name, Path(name), item.span)
            for item in patterns
            for name in self._files
            if name != self.root and (fits(name, str(item.value)) if "*" in item.text else name == item.text)
        ]
        return sorted({item.name: item for item in found}.values(), key=attrgetter("name")), []

    def real(self, name: str) -> str | None:
        plain = posixpath.normpath(name)
        return None if plain.startswith(("..", "/")) else plain

    def read(self, name: str, limit: int) -> bytes:
        if name not in self._files:
            raise FileNotFoundError(2, "the file is not in the project")
        return self._files[name][: limit + 1]
