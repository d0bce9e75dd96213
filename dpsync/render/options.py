"""What a format may take into account: colour, how much is told, names of files."""

from __future__ import annotations

from collections.abc import Callable, Collection

from msgspec import Struct

from dpsync.model.text import NOWHERE


class FormatOptions(Struct, frozen=True):
    """What a format may take into account."""

    colour: bool = False
    verbose: int = 0
    quiet: bool = False
    """Only what needs a person."""
    summary: bool = False
    """Objects of one kind in one line."""
    complete: Callable[[str], str] = NOWHERE.complete
    """Adds the flags of this run to the commands in a text."""
    below: Callable[[], str] = str
    """Where the project is in its repository, as `a/b/`: names of files are relative to the project."""
    changed: Callable[[], Collection[str]] = frozenset
    """The files that the change on trial touches, by their names in the repository."""
    root: str = "dpsync.yaml"
    """The name of the root file, for what no line of a file says."""
