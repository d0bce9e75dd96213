"""What every output but text and JSON shows, laid out once: blocks of entries, the most dangerous first.

A view is made from what a command would print as JSON (`json/documents.py`), so that a saved one can be shown
again. It knows no medium: its texts have passed visible(), and each renderer escapes them for its own.

- **block**: entries of one sort, as deletes or findings; **level**: how loudly it is told
- **entry**: one thing at one address: its gist in a line, and its body: fields and words
- **word**: a sentence of a body, and what it is about
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from dpsync.model.entries.address import Address, FieldAddress
from dpsync.model.plans.change import Difference
from dpsync.model.plans.plan import Origin
from dpsync.model.texts.words import counted
from dpsync.render.words.values import big, inside, show
from dpsync.render.words.visible import visible

Level = Literal["error", "warning", "note", "none"]
"""error: it keeps a command from its aim. warning: somebody should look. none: nobody is called for it."""
LEVELS: Final[tuple[Level, ...]] = ("error", "warning", "note", "none")
"""The loudest first."""


_COMMAND: Final = re.compile(r"\bdpsync (?:plan|apply|drift|ids|import|validate)\b.*$")


@dataclass(frozen=True)
class Word:
    """A sentence; `about` is an address, or what sort of sentence it is. `command`: to be typed as it is."""

    text: str
    about: str = ""
    command: bool = False

    @property
    def parts(self) -> tuple[str, str]:
        """What is said, and the command that it ends with; either may be empty."""
        if self.command:
            return "", self.text
        found = _COMMAND.search(self.text)
        return (self.text[: found.start()], found[0]) if found else (self.text, "")


@dataclass(frozen=True)
class ViewField:
    """One field with both sides; `known` is false where the first one cannot be read. `label` says why."""

    name: str
    before: Any = None
    after: Any = None
    known: bool = True
    label: str = ""


@dataclass(frozen=True)
class ViewEntry:
    """One thing that is told. `fields` have both sides, which are called `sides`."""

    address: str
    gist: str = ""
    sign: str = ""
    code: str = ""
    where: Origin | None = None
    enclosing: Origin | None = None
    """Of what is not written anywhere: where what it is in is written."""
    words: tuple[Word, ...] = ()
    fields: tuple[ViewField, ...] = ()
    created: bool = False
    """There is nothing on the first side."""
    sides: tuple[str, str] = ("live", "wanted")
    tree: tuple[str, ...] = ()
    """A tree before and after as one: lines that begin with their sign, as those of a diff."""
    again: bool = False
    """It is told in a block before, and here only as one of several: nobody is called for it twice."""

    @property
    def group(self) -> str:
        """The place that it is counted with: of `acme/sites/docs/structure/news`, `acme/sites`."""
        return str(Address(FieldAddress.parse(self.address).address.segments[:2]))


@dataclass(frozen=True)
class Block:
    """Entries of one sort. `name` is a stable word: rules and test cases are called by it."""

    name: str
    title: str
    level: Level
    entries: tuple[ViewEntry, ...]
    fails: bool = False
    """Whether a check that only knows passed and failed has failed by it."""


@dataclass(frozen=True)
class View:
    """`title` says it in a line; `about` is which platform and part; `foot` is what identifies it."""

    title: str
    about: tuple[str, ...] = ()
    blocks: tuple[Block, ...] = ()
    foot: tuple[str, ...] = ()
    left_out: int = 0
    """Entries that were counted and are not here."""
    name: str = "plan"
    """Which sort of document it is: plan, drift, apply or findings."""

    @property
    def calls(self) -> Iterator[tuple[Block, ViewEntry]]:
        """What somebody is called for, the errors first, otherwise in the order of the blocks."""
        for level in LEVELS[:-1]:
            yield from ((block, entry) for block, entry in self if block.level == level and not entry.again)

    @property
    def entries(self) -> int:
        return sum(len(block.entries) for block in self.blocks)

    def __iter__(self) -> Iterator[tuple[Block, ViewEntry]]:
        """Every entry once."""
        for block in self.blocks:
            yield from ((block, entry) for entry in block.entries if not entry.again)


LONGEST = 1000
"""Characters of a line of a value that are shown."""
UNREAD = "(the platform does not say)"


def both(field: ViewField) -> tuple[str, str]:
    """Both sides of a field in full, on as many lines as they have."""
    return _whole(field.before) if field.known else UNREAD, _whole(field.after)


def _whole(value: object) -> str:
    if isinstance(value, str) and "\n" in value.strip("\n"):
        return "\n".join(clip(visible(line), LONGEST) for line in value.splitlines())
    return show(value, most=LONGEST)


def differences(entry: ViewEntry) -> list[str]:
    """The fields of an entry as lines of a diff: `-` is what is live, `+` what is wanted."""
    lines = [clip(line, LONGEST) for line in entry.tree]
    one, other = entry.sides
    named = entry.sides != ("live", "wanted")
    for item in entry.fields:
        label = f" ({item.label})" if item.label else ""
        if item.known and (big(item.before) or big(item.after)):
            lines.append(f"@@ {item.name}{f' (- {one}, + {other})' if named else ''}{label} @@")
            lines += inside(Difference(field=item.name, before=item.before, after=item.after), None, LONGEST)
            continue
        first, second = (f"{item.name} ({one})", f"{item.name} ({other})") if named else (item.name,) * 2
        if not entry.created:
            lines.append(f"- {first}: {show(item.before, LONGEST) if item.known else UNREAD}")
        lines.append(f"+ {second}: {show(item.after, LONGEST)}{label}")
    return lines


def clip(text: str, most: int = 300) -> str:
    """A text for one line: no name and no message is longer than this."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def body(entry: ViewEntry, most: int | None = None) -> list[str]:
    """The differences and words of an entry as plain lines."""
    words = [f"{word.about}: {word.text}" if word.about else word.text for word in entry.words]
    lines = [clip(line, LONGEST) for line in (*differences(entry), *words)]
    return lines if most is None else cut(lines, most)


def cut(lines: list[str], most: int) -> list[str]:
    """The first lines, and how many more there are."""
    if len(lines) <= most:
        return lines
    return [*lines[: most - 1], f"… {counted(len(lines) - most + 1, 'more line')}"]


@dataclass
class Blocks:
    """Collects the blocks of a view; one without entries is none."""

    found: list[Block] = field(default_factory=list)

    def add(
        self,
        name: str,
        title: str,
        level: Level,
        entries: Iterator[ViewEntry] | list[ViewEntry],
        fails: bool = False,
    ) -> None:
        if listed := tuple(entries):
            self.found.append(Block(name, title.format(len(listed)), level, listed, fails))
