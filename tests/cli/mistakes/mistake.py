"""One mistake: the files and the command of somebody who makes it, and what they do after the message."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

Texts = Mapping[str, str | bytes]
"""The text of each file, by its path in the project."""
Edits = Mapping[str, tuple[str, str] | str | None]
"""By file: one text and what replaces it, the whole new text, or None: the file is removed."""
SERVER: Final = "(server)"
"""Stands for the address of the companion in texts, commands and variables."""
SERVER_OVER_TLS: Final = "(server over TLS)"
"""The same with https, which the companion does not speak."""


@dataclass(frozen=True)
class Mistake:
    """What somebody wrote and typed, and how they mend it."""

    name: str
    """The mistake in a few words; the name of its golden message."""
    files: Texts
    """The project when the mistake is made."""
    mend: Edits = field(default_factory=dict)
    """What the message asks for, done."""
    command: str = "validate"
    then: str = ""
    """The command after the mend; empty: the same one."""
    env: Mapping[str, str | None] = field(default_factory=dict)
    """Variables that are set, or with None not set, when the mistake is made."""
    mended_env: Mapping[str, str | None] = field(default_factory=dict)
    """The same after the mend."""
    earlier: tuple[tuple[Texts, str], ...] = ()
    """What was done before: files that were written, and the command that was run in them (or `commit`)."""
    locked: bool = False
    """Somebody else applies to the same organization meanwhile."""
    code: int = 5
    """The exit code of the mistake."""


def write(folder: Path, texts: Texts, url: str) -> None:
    """Write files, with the address of the companion where a text names it."""
    for name, text in texts.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.replace(SERVER, url).encode())


def edit(folder: Path, edits: Edits, url: str) -> None:
    """Do the mends."""
    for name, change in edits.items():
        path = folder / name
        match change:
            case None:
                path.unlink()
            case str():
                write(folder, {name: change}, url)
            case old, new:
                text = path.read_bytes().decode()
                assert text.count(old) == 1, f"{old!r} is {text.count(old)} times in {name}"
                path.write_bytes(text.replace(old, new.replace(SERVER, url)).encode())
