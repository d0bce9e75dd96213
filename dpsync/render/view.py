"""What every output but JSON shows, laid out once: one list of entries, then the verdict.

A view is made from what a command would print as JSON (`json/documents.py`), so that a saved one can be shown
again. It knows no medium: its texts have passed visible(), and each renderer escapes them for its own. How a
text looks is said by roles: a level, a tone, a sign.

- **entry**: one object, or one finding: its first line, its fields, then sentences
- **word**: a sentence of an entry, and what it is about
- **block**: entries below a common title; the main list has none
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final, Literal, TypeVar, cast

from msgspec import Struct, field
from msgspec.structs import replace

from dpsync.model.address import Address, FieldAddress
from dpsync.model.change import Difference
from dpsync.model.plan import Origin
from dpsync.model.text import NOWHERE, counted
from dpsync.render.effect_words import NavigationLine
from dpsync.render.shown_values import big, brief, inside, show
from dpsync.render.visible import visible

Level = Literal["error", "warning", "note", "none"]
"""error: it keeps a command from its aim. warning: somebody should look. none: nobody is called for it."""
LEVELS: Final[tuple[Level, ...]] = ("error", "warning", "note", "none")
"""The loudest first."""
Tone = Literal["plain", "strong", "faint", "good", "bad", "exposed", "warning"]
"""What a line is for people. faint: background. exposed: something becomes more visible or more powerful."""
OPENS: Final = "opens access"
"""At the end of the line that opens access."""

_COMMAND: Final = re.compile(r"\bdpsync (?:plan|apply|drift|ids|import|validate|doctor)\b.*$")


class Word(Struct, frozen=True):
    """A sentence; `about` is an address, or what sort of sentence it is. `command`: to be typed as it is."""

    text: str
    about: str = ""
    command: bool = False
    detail: int = 0
    """With how many -v a terminal shows it. Nothing else shows what has a number."""
    tone: Tone = "plain"
    choice: bool = False
    """One of several objects that the entry could be. A terminal lists the first few."""
    copied: bool = False
    """A person copies a part of it, so no format shortens it."""
    opens: bool = False
    aligned: bool = False
    """Whether a terminal puts `about` in a column with the names of fields."""

    @property
    def parts(self) -> tuple[str, str]:
        """What is said, and the command that it ends with; either may be empty."""
        if self.command:
            return "", self.text
        found = _COMMAND.search(self.text)
        return (self.text[: found.start()], found.group()) if found else (self.text, "")

    @property
    def sentence(self) -> str:
        """The text with its opening of access, and what it is about in front."""
        text = f"{self.text} ({OPENS})" if self.opens else self.text
        return f"{self.about}: {text}" if self.about else text


class ViewField(Struct, frozen=True):
    """One field with both sides; the platform does not tell the one that is `unread`."""

    name: str
    before: Any = None
    after: Any = None
    unread: Literal["", "before", "after"] = ""
    cause: str = ""
    """Why it differs, or what else is to be said of the field."""
    default: bool = False
    """One side is no file's: it is what the platform has where nobody says anything."""
    where: Origin | None = None
    """Where the field itself is written."""
    stays: bool = False
    """It is written although it is as wanted: both sides are one value."""
    opens: bool = False
    """Whether this change opens access."""

    @property
    def label(self) -> str:
        """What stands behind the name of the field."""
        said = (
            "differs from the default value" if self.default else "",
            self.cause,
            OPENS if self.opens else "",
        )
        return ", ".join(filter(None, said))


class ViewEntry(Struct, frozen=True):
    """One object or finding. `name` is a stable word: rules and test cases are called by it."""

    address: str = ""
    title: str = ""
    """The first line: of an object its short name; empty if the message comes first."""
    kind: str = ""
    """The noun for its kind."""
    label: str = ""
    """Its title, if it is created or deleted."""
    key: str = ""
    """Its key, and what it is in."""
    message: str = ""
    sign: str = ""
    code: str = ""
    name: str = ""
    level: Level = "none"
    fails: bool = False
    """Whether a check that only knows passed and failed has failed by it."""
    topics: tuple[str, ...] = ()
    """What else it is about, by the names that entries have."""
    where: Origin | None = None
    enclosing: Origin | None = None
    """Of what is not written anywhere: where what it is in is written."""
    removed_from: str = ""
    """The file that had the entry."""
    fields: tuple[ViewField, ...] = ()
    words: tuple[Word, ...] = ()
    """What is said below the fields."""
    created: bool = False
    """There is nothing on the first side."""
    sides: tuple[str, str] | None = None
    """The names of both sides, if they are not what is live and what it will be."""
    tree: tuple[NavigationLine, ...] = ()
    """A tree before and after as one."""
    detail: int = 0
    """With how many -v a terminal shows it. Pages fold it."""
    one_line: bool = False
    """It has no body: what it says stands in its first line."""

    @property
    def sentences(self) -> tuple[Word, ...]:
        """Every sentence that is told without a flag."""
        return tuple(word for word in self.words if not word.detail)

    @property
    def summary(self) -> str:
        """The entry in a line, without its sign."""
        return ": ".join(filter(None, (self.title or self.address, self.message)))

    @property
    def group(self) -> str:
        """The place that it is counted with: of `acme/sites/docs/structure/news`, `acme/sites`."""
        return str(Address(FieldAddress.parse(self.address).address.segments[:2]))


class Block(Struct, frozen=True):
    """Entries below a title; the main list has none."""

    title: str
    entries: tuple[ViewEntry, ...]

    @property
    def level(self) -> Level:
        """The loudest level of its entries."""
        return min((entry.level for entry in self.entries), key=LEVELS.index, default="none")


class ViewLine(Struct, frozen=True):
    """A sentence of a verdict, or a line beside the list."""

    text: str
    tone: Tone = "plain"


class ViewLink(Struct, frozen=True):
    """A link to the preview of a site. Its URL needs no escape in any format (`is_preview_link`)."""

    text: str
    url: str


class Glance(Struct, frozen=True):
    """One of the few numbers by which somebody decides: what goes, what opens, what changes for readers.

    A number of 0 is said, too. `topic` is the name of the entries that tell more. `level` is how loudly it is
    told where there is something.
    """

    number: int
    text: str
    topic: str
    level: Level = "note"


class View(Struct, frozen=True):
    """`verdict` is the last line; `hints` stand above it; `facts` are for -v, for pages and for programs."""

    verdict: tuple[ViewLine, ...]
    blocks: tuple[Block, ...] = ()
    hints: tuple[str, ...] = ()
    """Lines before the verdict, each with the command for its topic."""
    facts: tuple[str, ...] = ()
    """Platform, part, digest, base, and how much was read."""
    left_out: int = 0
    """Entries that were counted and are not here."""
    name: str = "plan"
    """Which sort of document it is: plan, drift, apply or findings."""
    glances: tuple[Glance, ...] = ()
    """What a page says first; none where nothing is to be decided."""
    previews: tuple[ViewLink, ...] = ()
    """The previews of the sites that change, for comments and pages."""

    @property
    def title(self) -> str:
        """The verdict in a line."""
        return " ".join(line.text for line in self.verdict)

    @property
    def notices(self) -> tuple[str, ...]:
        """The lines before the verdict, for a medium that does not know the flags of the command."""
        return tuple(map(NOWHERE.complete, self.hints))

    @property
    def details(self) -> tuple[str, ...]:
        """The facts, for a medium that does not know the flags of the command."""
        return tuple(map(NOWHERE.complete, self.facts))

    @property
    def calls(self) -> Iterator[ViewEntry]:
        """What somebody is called for, the errors first, otherwise in their order."""
        for level in LEVELS[:-1]:
            yield from (entry for entry in self if entry.level == level)

    @property
    def entries(self) -> int:
        return sum(len(block.entries) for block in self.blocks)

    def __iter__(self) -> Iterator[ViewEntry]:
        for block in self.blocks:
            yield from block.entries


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
UNREAD = "(GitBook does not return this value)"
WIDE: Final = 92
"""A line of several fields is no longer."""
QUOTED: Final = frozenset({"title", "description"})
"""Fields with text for people: such a value has quotation marks also if it is one word."""


def both(field: ViewField) -> tuple[str, str]:
    """Both sides of a field in full, on as many lines as they have."""
    before, after = _whole(field.before), _whole(field.after)
    return UNREAD if field.unread == "before" else before, UNREAD if field.unread == "after" else after


def _whole(value: object) -> str:
    if isinstance(value, str) and "\n" in value.strip("\n"):
        return "\n".join(clip(visible(line), LONGEST) for line in value.splitlines())
    return show(value, most=LONGEST)


def differences(entry: ViewEntry) -> list[str]:
    """The fields of an entry as lines of a diff: `-` is what was, `+` what will be, or is live now."""
    lines = [clip(line, LONGEST) for line in tree_lines(entry)]
    created, fields = packed(entry)
    lines += [f"+ {line}" for line in created]
    for item in fields:
        label = f" ({item.label})" if item.label else ""
        if item.stays:
            lines.append(f"  {item.name}: {show(item.after, LONGEST)}{label}")
            continue
        if not item.unread and (big(item.before) or big(item.after)):
            named = " (- {}, + {})".format(*entry.sides) if entry.sides else ""
            lines.append(f"@@ {item.name}{named}{label} @@")
            lines += inside(difference(item), None, LONGEST)
            continue
        first, second = (f"{item.name} ({side})" for side in entry.sides) if entry.sides else (item.name,) * 2
        before, after = show(item.before, LONGEST), show(item.after, LONGEST)
        if not entry.created:
            lines.append(f"- {first}: {UNREAD if item.unread == 'before' else before}")
        lines.append(f"+ {second}: {UNREAD if item.unread == 'after' else after}{label}")
    return lines


def packed(entry: ViewEntry) -> tuple[list[str], list[ViewField]]:
    """Return the short fields of a created object in few lines, and all other fields."""
    if not entry.created:
        return [], list(entry.fields)
    lines: list[str] = []
    rest = [item for item in entry.fields if big(item.after) or item.label or item.stays]
    for item in entry.fields:
        if item in rest:
            continue
        text = f"{item.name} {brief(item.after, item.name in QUOTED)}"
        if lines and len(lines[-1]) + len(text) + 2 <= WIDE:
            lines[-1] += f", {text}"
        else:
            lines.append(text)
    return lines, rest


def difference(item: ViewField) -> Difference:
    return Difference(field=item.name, before=item.before, after=item.after)


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
        lines.append(word.sentence if word.copied else clip(word.sentence, LONGEST))
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
        self, name: str, title: str, level: Level, entries: Iterable[ViewEntry], fails: bool = False,
        detail: int = 0,
    ) -> None:  # fmt: skip
        """Add entries that have no name and level of their own."""
        listed = tuple(
            replace(entry, name=name, level=level, fails=fails, detail=detail) for entry in entries
        )
        if listed:
            self.found.append(Block(title.format(len(listed)), listed))
