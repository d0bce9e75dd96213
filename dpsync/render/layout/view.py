"""What every output but JSON shows, laid out once: blocks of entries, the most dangerous first.

A view is made from what a command would print as JSON (`json/documents.py`), so that a saved one can be shown
again. It knows no medium: its texts have passed visible(), and each renderer escapes them for its own. How a
text looks is said by roles: a level, a tone, a sign.

- **block**: entries of one sort, as deletes or findings; **level**: how loudly it is told
- **entry**: one thing at one address: its gist in a line, and its body: fields and words
- **word**: a sentence of a body, and what it is about
- **outline**: everything that changes or differs, in one line each; only a terminal has it
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final, Literal, TypeVar, cast

from msgspec import Struct, field
from msgspec.structs import replace

from dpsync.model.entries.address import Address, FieldAddress
from dpsync.model.plans.change import Difference
from dpsync.model.plans.plan import Origin
from dpsync.model.texts.words import counted
from dpsync.render.words.navigation import NavigationLine
from dpsync.render.words.values import big, inside, show
from dpsync.render.words.visible import visible

Level = Literal["error", "warning", "note", "none"]
"""error: it keeps a command from its aim. warning: somebody should look. none: nobody is called for it."""
LEVELS: Final[tuple[Level, ...]] = ("error", "warning", "note", "none")
"""The loudest first."""
Tone = Literal["plain", "strong", "faint", "good", "bad", "exposed"]
"""What a line is for people. faint: background. exposed: something becomes more visible or more powerful."""


_COMMAND: Final = re.compile(r"\bdpsync (?:plan|apply|drift|ids|import|validate)\b.*$")


class Word(Struct, frozen=True):
    """A sentence; `about` is an address, or what sort of sentence it is. `command`: to be typed as it is."""

    text: str
    about: str = ""
    command: bool = False
    cause: str = ""
    """Why it is so, where that is not said of the whole entry."""
    detail: int = 0
    """With how many -v it is told. Only a terminal has these flags: nothing else tells what has a number."""
    faint: bool = False
    choice: bool = False
    """One of several things that the entry could be. A terminal tells the first few."""
    copied: bool = False
    """A person copies a part of it, so no format shortens it."""

    @property
    def parts(self) -> tuple[str, str]:
        """What is said, and the command that it ends with; either may be empty."""
        if self.command:
            return "", self.text
        found = _COMMAND.search(self.text)
        return (self.text[: found.start()], found.group()) if found else (self.text, "")


class ViewField(Struct, frozen=True):
    """One field with both sides; `known` is false where the first one cannot be read."""

    name: str
    before: Any = None
    after: Any = None
    known: bool = True
    cause: str = ""
    """Why it differs, or what else is to be said of the field."""
    default: bool = False
    """The second side is no file's: it is what the platform has where nobody says anything."""
    where: Origin | None = None
    """Where the field itself is written."""
    stays: bool = False
    """It is written although it is as wanted: both sides are one value."""

    @property
    def label(self) -> str:
        """What stands behind the name of the field."""
        return ", ".join(filter(None, ("the platform's default" if self.default else "", self.cause)))


class OutlineLine(Struct, frozen=True):
    """One thing in one line, among all that changes or differs."""

    sign: str
    address: str
    gist: str
    cause: str = ""
    expected: bool = False
    """All of it is what this change does: then a tree of all changes does not say why."""
    level: Level = "note"


class ViewEntry(Struct, frozen=True):
    """One thing that is told. `fields` have both sides, which are called `sides`."""

    address: str
    gist: str = ""
    sign: str = ""
    code: str = ""
    where: Origin | None = None
    enclosing: Origin | None = None
    """Of what is not written anywhere: where what it is in is written."""
    words: tuple[Word, ...] = ()
    """What is said below the fields."""
    fields: tuple[ViewField, ...] = ()
    created: bool = False
    """There is nothing on the first side."""
    sides: tuple[str, str] | None = None
    """None: what is live, and what it will be."""
    tree: tuple[NavigationLine, ...] = ()
    """A tree before and after as one."""
    again: bool = False
    """It is told in a block before, and here only as one of several: nobody is called for it twice."""
    lead: tuple[Word, ...] = ()
    """What is said above the fields."""
    cause: str = ""
    """Why all of it is so."""
    owner: str = ""
    """The thing whose field the address names, where it names one."""
    summed_up: bool = False
    """Whether the gist only sums up what fields and words say."""
    short: str = ""
    """For a terminal: the gist where the rest of it is said by the block."""
    full: str = ""
    """For a terminal with -v: the gist with everything that is counted in it."""
    outline: OutlineLine | None = None
    """For a terminal that shows one line for each address: the gist for that."""

    @property
    def sentences(self) -> tuple[Word, ...]:
        """Every sentence that is told without a flag."""
        return tuple(word for word in (*self.lead, *self.words) if not word.detail)

    @property
    def summary(self) -> str:
        """The gist, and why."""
        return f"{self.gist} ({self.cause})".strip() if self.cause else self.gist

    @property
    def group(self) -> str:
        """The place that it is counted with: of `acme/sites/docs/structure/news`, `acme/sites`."""
        return str(Address(FieldAddress.parse(self.address).address.segments[:2]))


class Block(Struct, frozen=True):
    """Entries of one sort. `name` is a stable word: rules and test cases are called by it."""

    name: str
    title: str
    level: Level
    entries: tuple[ViewEntry, ...]
    fails: bool = False
    """Whether a check that only knows passed and failed has failed by it."""
    headline: str = ""
    """What stands above it on a terminal; blocks that follow each other with the same one are one there."""
    tone: Tone = "strong"
    """Of the headline; of a block whose entries are one line each, of these."""
    shape: Literal["paragraphs", "list", "lines", "trees"] = "list"
    """paragraphs: every entry by itself. lines: an entry is one line. trees: an entry is a tree."""
    prefix: str = ""
    """What each line begins with."""
    signed: bool = True
    """Whether the sign of an entry stands before its address on a terminal, too."""
    placed: bool = True
    """Whether a terminal says where each entry is written."""
    folded: str | None = None
    """What a terminal says instead of the entries, unless -v asks for them; perhaps nothing."""
    outlined: bool = False
    """Whether the outline has each of its entries."""
    asked: bool = False
    """Whether somebody has asked for it: then -q does not leave it out."""


class ViewLine(Struct, frozen=True):
    """A line of the head or the foot of a view, or a sentence of its verdict. `full`: with -v."""

    text: str
    tone: Tone = "plain"
    full: str = ""


class Glance(Struct, frozen=True):
    """One of the few numbers by which somebody decides: what goes, what opens, what changes for readers.

    A number of 0 is said, too. `block` is the name of the block that tells more. `level` is how loudly it is
    told where there is something.
    """

    number: int
    text: str
    block: str
    level: Level = "note"


class View(Struct, frozen=True):
    """`verdict` says it in a line; `about` is which platform and part; `foot` is what identifies it."""

    verdict: tuple[ViewLine, ...]
    about: tuple[ViewLine, ...] = ()
    blocks: tuple[Block, ...] = ()
    foot: tuple[ViewLine, ...] = ()
    left_out: int = 0
    """Entries that were counted and are not here."""
    name: str = "plan"
    """Which sort of document it is: plan, drift, apply or findings."""
    addition: str = ""
    """What is said behind the verdict, and behind what it has cost."""
    effort: str = ""
    """How many requests it took, and would take."""
    counts: tuple[str, ...] = ()
    """The numbers of the verdict for each part of it, where there are several."""
    outline: tuple[OutlineLine, ...] = ()
    as_tree: bool = False
    """Whether the outline stands above the blocks, as a tree."""
    glances: tuple[Glance, ...] = ()
    """What a page says first; none where nothing is to be decided."""

    @property
    def title(self) -> str:
        """The verdict in a line."""
        return " ".join(filter(None, (*(line.text for line in self.verdict), self.addition)))

    @property
    def head(self) -> tuple[str, ...]:
        return tuple(line.text for line in self.about)

    @property
    def footer(self) -> tuple[str, ...]:
        return tuple(filter(None, (*(line.text for line in self.foot), self.effort)))

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


T = TypeVar("T")


def visible_texts(part: T) -> T:
    """Return a view, or a part of one, with every text made visible.

    A saved document may be forged, so that any text is hostile, also one that dpsync writes itself. Values of
    fields and names of files stay as they are: each medium shows them in a way of its own.
    """
    made: Any = part
    match part:
        case str():
            made = visible(part)
        case tuple():
            made = tuple(map(visible_texts, part))
        case ViewField():
            made = replace(part, name=visible(part.name), cause=visible(part.cause))
        case Struct():
            changed = {name: visible_texts(getattr(part, name)) for name in part.__struct_fields__}
            made = replace(part, **changed)
    return cast(T, made)


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
    lines = [clip(line, LONGEST) for line in tree_lines(entry)]
    for item in entry.fields:
        label = f" ({item.label})" if item.label else ""
        if item.stays:
            lines.append(f"  {item.name}: {show(item.after, LONGEST)}{label}")
            continue
        if item.known and (big(item.before) or big(item.after)):
            named = " (- {}, + {})".format(*entry.sides) if entry.sides else ""
            lines.append(f"@@ {item.name}{named}{label} @@")
            lines += inside(Difference(field=item.name, before=item.before, after=item.after), None, LONGEST)
            continue
        first, second = (f"{item.name} ({side})" for side in entry.sides) if entry.sides else (item.name,) * 2
        if not entry.created:
            lines.append(f"- {first}: {show(item.before, LONGEST) if item.known else UNREAD}")
        lines.append(f"+ {second}: {show(item.after, LONGEST)}{label}")
    return lines


def tree_lines(entry: ViewEntry) -> tuple[str, ...]:
    """The tree of an entry as lines that begin with their sign, as those of a diff."""
    return tuple(f"{line.sign} {'  ' * line.depth}{visible(line.text)}" for line in entry.tree)


def clip(text: str, most: int = 300) -> str:
    """A text for one line: no name and no message is longer than this."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def body(entry: ViewEntry, most: int | None = None) -> list[str]:
    """The differences and words of an entry as plain lines."""
    lines = [clip(line, LONGEST) for line in differences(entry)]
    for word in entry.sentences:
        text = f"{word.about}: {word.text}" if word.about else word.text
        lines.append(text if word.copied else clip(text, LONGEST))
    return lines if most is None else cut(lines, most)


def cut(lines: list[str], most: int) -> list[str]:
    """The first lines, and how many more there are."""
    if len(lines) <= most:
        return lines
    return [*lines[: most - 1], f"… {counted(len(lines) - most + 1, 'more line')}"]


class Blocks(Struct):
    """Collects the blocks of a view; one without entries is none."""

    found: list[Block] = field(default_factory=list)

    def add(
        self, name: str, title: str, level: Level, entries: Iterator[ViewEntry] | list[ViewEntry], **more: Any
    ) -> None:
        if listed := tuple(entries):
            self.found.append(Block(name, title.format(len(listed)), level, listed, **more))
