"""Define the view of a document: what every format except JSON shows, as a list of entries and a verdict.

A view is made from the JSON document that a command would print (`documents.py`), so that a saved document
can be shown again. A view knows no format: its texts have passed `visible()` (no control characters), and
each format escapes them. Levels, tones and signs say how important a text is. An entry (`ViewEntry`) is an
object or a finding, with a first line, fields and sentences. A block groups entries below a common title; the
main list has no title.
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
from dpsync.model.text import NO_FLAGS, format_count
from dpsync.render.navigation_merge import NavigationLine
from dpsync.render.shown_values import diff_lines, format_brief, format_value, is_long
from dpsync.render.visible import visible

Level = Literal["error", "warning", "note", "none"]
"""error: fails the command. warning: a person should look. note: information. none: needs no attention."""
LEVELS: Final[tuple[Level, ...]] = ("error", "warning", "note", "none")
"""The most important level first."""
Tone = Literal["plain", "strong", "faint", "good", "bad", "exposed", "warning"]
"""The importance of a line. faint: background. exposed: somebody can see or do more than before."""
OPENS_ACCESS: Final = "opens access"
"""The mark at the end of a line about a change that opens access."""

_COMMAND: Final = re.compile(r"\bdpsync (?:plan|apply|drift|ids|import|validate|doctor)\b.*$")


class Sentence(Struct, frozen=True):
    """A sentence of an entry.

    `subject` is the subject of the sentence: an address, or a topic such as "refused". `is_command`: whether
    the text is a command to type.
    """

    text: str
    subject: str = ""
    is_command: bool = False
    verbosity: int = 0
    """How many -v show the sentence on a terminal. Other formats show only sentences with 0."""
    tone: Tone = "plain"
    is_candidate: bool = False
    """Whether the sentence is one of several candidates. A terminal lists the first few."""
    is_copied: bool = False
    """Whether a person copies a part of the sentence, so that no format shortens the sentence."""
    opens_access: bool = False
    aligned: bool = False
    """Whether a terminal puts `subject` in the column with the names of fields."""

    @property
    def text_and_command(self) -> tuple[str, str]:
        """The text before the command, and the command at the end; each may be empty."""
        if self.is_command:
            return "", self.text
        match = _COMMAND.search(self.text)
        return (self.text[: match.start()], match.group()) if match else (self.text, "")

    @property
    def full_text(self) -> str:
        """The whole sentence: subject, text, and the mark of opened access."""
        text = f"{self.text} ({OPENS_ACCESS})" if self.opens_access else self.text
        return f"{self.subject}: {text}" if self.subject else text


class ViewField(Struct, frozen=True):
    """A field with its values before and after. `unread` names the one that the platform does not return."""

    name: str
    before: Any = None
    after: Any = None
    unread: Literal["", "before", "after"] = ""
    cause: str = ""
    """Why the field differs, or another remark."""
    is_platform_default: bool = False
    """Whether one side is the default of the platform, and not written in a file."""
    origin: Origin | None = None
    """Where the field is written."""
    unchanged: bool = False
    """Whether the field is written although both sides have the same value."""
    opens_access: bool = False
    """Whether this change opens access."""

    @property
    def label(self) -> str:
        """The text behind the name of the field: why it differs, and whether it opens access."""
        parts = (
            "differs from the default value" if self.is_platform_default else "",
            self.cause,
            OPENS_ACCESS if self.opens_access else "",
        )
        return ", ".join(filter(None, parts))


class ViewEntry(Struct, frozen=True):
    """An object or a finding. `name` is a stable word, by which rules and test cases are named."""

    address: str = ""
    title: str = ""
    """The short name of an object, at the beginning of the first line; "" if the message comes first."""
    kind: str = ""
    """The noun for the kind of the object."""
    label: str = ""
    """The title of an object that is created or deleted."""
    key: str = ""
    """The key of the object, and its parent."""
    message: str = ""
    sign: str = ""
    code: str = ""
    name: str = ""
    level: Level = "none"
    fails: bool = False
    """Whether the entry fails a check that can only pass or fail."""
    topics: tuple[str, ...] = ()
    """All topics of the entry, as names of entries."""
    origin: Origin | None = None
    parent_origin: Origin | None = None
    """Where the nearest parent is written, for an object that is not in the files."""
    removed_from: str = ""
    """The file from which the entry was removed."""
    fields: tuple[ViewField, ...] = ()
    all_sentences: tuple[Sentence, ...] = ()
    """The sentences below the fields."""
    created: bool = False
    """Whether the object is created, so that fields have no value before."""
    side_names: tuple[str, str] | None = None
    """The names of both sides, if not "live" and "new"."""
    tree: tuple[NavigationLine, ...] = ()
    """A navigation before and after as one tree."""
    verbosity: int = 0
    """How many -v show the entry on a terminal. Pages fold an entry with a number above 0."""
    one_line: bool = False
    """Whether the entry has only its first line."""

    @property
    def sentences(self) -> tuple[Sentence, ...]:
        """The sentences that are shown without -v."""
        return tuple(sentence for sentence in self.all_sentences if not sentence.verbosity)

    @property
    def summary(self) -> str:
        """The entry in a line, without its sign."""
        return ": ".join(filter(None, (self.title or self.address, self.message)))

    @property
    def group(self) -> str:
        """The address by which the entry is counted: `acme/sites` for `acme/sites/docs/structure/news`."""
        return str(Address(FieldAddress.parse(self.address).address.segments[:2]))


class Block(Struct, frozen=True):
    """Entries below a title; the main list has the title ""."""

    title: str
    entries: tuple[ViewEntry, ...]

    @property
    def level(self) -> Level:
        """The highest level of the entries."""
        return min((entry.level for entry in self.entries), key=LEVELS.index, default="none")


class ViewLine(Struct, frozen=True):
    """A sentence of a verdict, or a line beside the list."""

    text: str
    tone: Tone = "plain"


class ViewLink(Struct, frozen=True):
    """A link to the preview of a site.

    Its URL is safe without an escape in any format (`is_preview_link`).
    """

    text: str
    url: str


class KeyFigure(Struct, frozen=True):
    """A key figure for the decision about a plan: deletes, opened access, changes for readers.

    A number of 0 is shown, too. `topic` is the name of the entries with details. `level` applies if the
    number is not 0.
    """

    number: int
    text: str
    topic: str
    level: Level = "note"


class View(Struct, frozen=True):
    """What a document shows. Order: blocks, hints, verdict. `facts` are for -v, pages and programs."""

    verdict: tuple[ViewLine, ...]
    blocks: tuple[Block, ...] = ()
    hints: tuple[str, ...] = ()
    """Lines before the verdict, each with the command for its topic."""
    facts: tuple[str, ...] = ()
    """Platform, part, digest, commit compared with, and number of requests."""
    left_out: int = 0
    """The number of further entries that the view does not contain."""
    name: str = "plan"
    """The type of the document: plan, drift, apply, rehearse or findings."""
    key_figures: tuple[KeyFigure, ...] = ()
    """The key figures at the top of a page; none if there is nothing to decide."""
    previews: tuple[ViewLink, ...] = ()
    """The previews of the sites that change, for comments and pages."""

    @property
    def title(self) -> str:
        """The verdict in a line."""
        return " ".join(line.text for line in self.verdict)

    @property
    def complete_hints(self) -> tuple[str, ...]:
        """The hints with complete commands, for a format that does not know the flags of the run."""
        return tuple(map(NO_FLAGS.add_flags_to_commands, self.hints))

    @property
    def complete_facts(self) -> tuple[str, ...]:
        """The facts with complete commands, for a format that does not know the flags of the run."""
        return tuple(map(NO_FLAGS.add_flags_to_commands, self.facts))

    @property
    def needs_attention(self) -> Iterator[ViewEntry]:
        """The entries that need attention, by level, errors first."""
        for level in LEVELS[:-1]:
            yield from (entry for entry in self if entry.level == level)

    @property
    def entry_count(self) -> int:
        """The number of entries in all blocks."""
        return sum(len(block.entries) for block in self.blocks)

    def __iter__(self) -> Iterator[ViewEntry]:
        """Yield the entries of all blocks."""
        for block in self.blocks:
            yield from block.entries


T = TypeVar("T")


def visible_texts(part: T) -> T:
    """Return a view, or a part of a view, with visible control characters in every text.

    A saved document may be forged, so any text may be hostile, even one that dpsync writes itself. Values of
    fields and file names stay unchanged: each format shows them in its own way.
    """
    visible_part: Any = part
    match part:
        case str():
            visible_part = visible(part)
        case tuple():
            visible_part = tuple(map(visible_texts, part))
        case ViewField():
            visible_part = replace(part, name=visible(part.name), cause=visible(part.cause))
        case Struct():
            changed = {name: visible_texts(getattr(part, name)) for name in part.__struct_fields__}
            visible_part = replace(part, **changed)
    return cast(T, visible_part)


MAX_LINE_CHARS = 1000
"""The number of characters that are shown of a line of a value."""
UNREADABLE_TEXT = "(GitBook does not return this value)"
MAX_PACKED_LINE_CHARS: Final = 92
"""The largest length of a line with several fields."""
QUOTED_FIELDS: Final = frozenset({"title", "description"})
"""Fields with text for people, whose values have quotation marks even if they are one word."""


def full_values(field: ViewField) -> tuple[str, str]:
    """Return both values of a field in full, with line breaks, or a note for an unreadable value."""
    before, after = _full_text(field.before), _full_text(field.after)
    return (
        UNREADABLE_TEXT if field.unread == "before" else before,
        UNREADABLE_TEXT if field.unread == "after" else after,
    )


def _full_text(value: object) -> str:
    """Return a value as text: a text with line breaks as its lines, any other value on one line."""
    if isinstance(value, str) and "\n" in value.strip("\n"):
        return "\n".join(clip_text(visible(line), MAX_LINE_CHARS) for line in value.splitlines())
    return format_value(value, max_chars=MAX_LINE_CHARS)


def entry_diff_lines(entry: ViewEntry) -> list[str]:
    """Return the fields and the navigation tree of an entry as lines of a diff.

    `-` is the value before, `+` the value after; in a drift, `-` is the file and `+` is live.
    """
    lines = [clip_text(line, MAX_LINE_CHARS) for line in tree_lines(entry)]
    created, fields = pack_fields(entry)
    lines += [f"+ {line}" for line in created]
    for view_field in fields:
        label = f" ({view_field.label})" if view_field.label else ""
        if view_field.unchanged:
            lines.append(f"  {view_field.name}: {format_value(view_field.after, MAX_LINE_CHARS)}{label}")
            continue
        if not view_field.unread and (is_long(view_field.before) or is_long(view_field.after)):
            side_label = " (- {}, + {})".format(*entry.side_names) if entry.side_names else ""
            lines.append(f"@@ {view_field.name}{side_label}{label} @@")
            lines += diff_lines(as_plan_difference(view_field), None, MAX_LINE_CHARS)
            continue
        first, second = (
            (f"{view_field.name} ({side})" for side in entry.side_names)
            if entry.side_names
            else (view_field.name,) * 2
        )
        before, after = (
            format_value(view_field.before, MAX_LINE_CHARS),
            format_value(view_field.after, MAX_LINE_CHARS),
        )
        if not entry.created:
            lines.append(f"- {first}: {UNREADABLE_TEXT if view_field.unread == 'before' else before}")
        lines.append(f"+ {second}: {UNREADABLE_TEXT if view_field.unread == 'after' else after}{label}")
    return lines


def pack_fields(entry: ViewEntry) -> tuple[list[str], list[ViewField]]:
    """Return the short fields of a created object, several on a line, and the other fields.

    An example of a line: `title "Docs", visibility public`. Of an entry that is not created, all fields are
    other fields.
    """
    if not entry.created:
        return [], list(entry.fields)
    lines: list[str] = []
    other_fields = [
        view_field
        for view_field in entry.fields
        if is_long(view_field.after) or view_field.label or view_field.unchanged
    ]
    for view_field in entry.fields:
        if view_field in other_fields:
            continue
        text = f"{view_field.name} {format_brief(view_field.after, view_field.name in QUOTED_FIELDS)}"
        if lines and len(lines[-1]) + len(text) + 2 <= MAX_PACKED_LINE_CHARS:
            lines[-1] += f", {text}"
        else:
            lines.append(text)
    return lines, other_fields


def as_plan_difference(field: ViewField) -> Difference:
    """Return a field of a view as a difference of a plan."""
    return Difference(field=field.name, before=field.before, after=field.after)


def tree_lines(entry: ViewEntry) -> tuple[str, ...]:
    """Return the navigation tree of an entry as lines that begin with a sign, like the lines of a diff."""
    return tuple(f"{line.sign} {'  ' * line.depth}{visible(line.text)}" for line in entry.tree)


def clip_text(text: str, max_chars: int = 300) -> str:
    """Return a text cut to at most `max_chars` characters, with `…` at a cut end."""
    return text if len(text) <= max_chars else f"{text[: max_chars - 1]}…"


def body_lines(entry: ViewEntry, max_lines: int | None = None) -> list[str]:
    """Return the fields and sentences of an entry as plain lines, with at most `max_lines` lines."""
    lines = [clip_text(line, MAX_LINE_CHARS) for line in entry_diff_lines(entry)]
    for sentence in entry.sentences:
        lines.append(
            sentence.full_text if sentence.is_copied else clip_text(sentence.full_text, MAX_LINE_CHARS)
        )
    return lines if max_lines is None else limit_lines(lines, max_lines)


def limit_lines(lines: list[str], max_lines: int) -> list[str]:
    """Return at most `max_lines` lines; if some are cut, the last line says how many."""
    if len(lines) <= max_lines:
        return lines
    return [*lines[: max_lines - 1], f"… {format_count(len(lines) - max_lines + 1, 'more line')}"]


class Blocks(Struct):
    """A list of blocks that leaves out blocks without entries."""

    blocks: list[Block] = field(default_factory=list)

    def add(
        self, name: str, title: str, level: Level, entries: Iterable[ViewEntry], fails: bool = False,
        detail: int = 0,
    ) -> None:  # fmt: skip
        """Add a block of entries, all with the same name and level.

        `{}` in the title becomes their number.
        """
        listed = tuple(
            replace(entry, name=name, level=level, fails=fails, verbosity=detail) for entry in entries
        )
        if listed:
            self.blocks.append(Block(title.format(len(listed)), listed))
