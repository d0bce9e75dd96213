"""A view → lines for a terminal: what matters most stands last, where the eye ends up.

Nothing here knows what a plan is: what is said, how loudly and by which sign stands in the view. Colour only
repeats what signs and words say.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Final

from click import unstyle
from msgspec import Struct

from dpsync.model.plans.change import Difference
from dpsync.render.layout.view import (
    UNREAD,
    Block,
    OutlineLine,
    Tone,
    View,
    ViewEntry,
    ViewField,
    Word,
    clip,
    tree_lines,
    visible_texts,
)
from dpsync.render.terminal.paint import Paint
from dpsync.render.words.natural_order import natural_key
from dpsync.render.words.plan import SHOWN, place
from dpsync.render.words.values import big, inside, show

SCREEN: Final = 24
"""Lines that a person sees at once. What is longer says its verdict first, too."""
COLUMNS: Final = 80
"""A line that is no longer is whole on any terminal."""
_LAST: Final = ("navigation", "url", "broken-url", "exposure", "delete", "refusal", "unwatched")
"""Blocks that stand below all others, in this order: a page has the most dangerous ones first."""
_FIRST: Final = (
    "change", "drift", "ignored", "warning", "note", "detail", "permanent", "accepted", "kept", "blocked",
    "waiting",
)  # fmt: skip
_SIGNS: Final = {
    "+": "green", "~": "yellow", "-": "red", "x": "red", "!": "magenta", "^": "magenta", "?": "magenta",
    ">": "cyan",
}  # fmt: skip
_TONES: Final[dict[Tone, str]] = {
    "plain": "", "strong": "bold", "faint": "dim", "good": "green bold", "bad": "red bold",
    "exposed": "magenta bold",
}  # fmt: skip


class Writer(Struct, frozen=True):
    """How much is told, and whether in colour: -v, -q and --summary."""

    paint: Paint
    verbose: int = 0
    quiet: bool = False
    """Only what needs a person."""
    summary: bool = False
    """One line for each address."""

    def view(self, view: View) -> str:
        """The whole view, without a trailing line break."""
        view = visible_texts(view)
        said = " ".join(self._toned(line.text, line.tone) for line in view.verdict)
        behind = " ".join(filter(None, (said, self._faint(view.effort), view.addition)))
        last = [behind, *(f"  {text}" for text in view.counts)]
        foot = ((self.verbose and line.full) or line.text for line in view.foot)
        last += [self._toned(text, line.tone) for text, line in zip(foot, view.foot, strict=True)]
        head = [self._toned(line.text, line.tone) for line in view.about]
        parts = ["\n".join(head), *self._outline(view), *self._blocks(view.blocks), "\n".join(last)]
        text = "\n\n".join(part for part in parts if part)
        if text.count("\n") < SCREEN:
            return text
        return "\n".join([" ".join(filter(None, (said, view.addition))), text])

    def blocks(self, blocks: Iterable[Block]) -> Iterator[str]:
        """The paragraphs of blocks, in the order of a terminal."""
        return self._blocks(visible_texts(tuple(blocks)))

    def _blocks(self, blocks: Iterable[Block]) -> Iterator[str]:
        listed = [block for block in sorted(blocks, key=_rank) if self._listed(block)]
        for _, same in groupby(listed, key=_paragraph):
            yield from self._paragraphs(list(same))

    def _listed(self, block: Block) -> bool:
        if self.summary and (block.outlined or block.shape == "trees"):
            return False
        return block.asked or not self.quiet or block.level in ("error", "warning")

    # The outline.

    def _outline(self, view: View) -> Iterator[str]:
        """Every address in one line, or as a tree."""
        lines = [line for line in view.outline if not self.quiet or line.level != "note"]
        if self.summary:
            yield "\n".join(self._line(line, line.address, "", line.cause) for line in lines)
        elif view.as_tree and not self.quiet:
            yield "\n".join(self._branch([(line.address.split("/"), line) for line in lines], 0))

    def _branch(self, lines: list[tuple[list[str], OutlineLine]], depth: int) -> Iterator[str]:
        """The lines of what has the same segments up to `depth`."""
        groups: dict[str, list[tuple[list[str], OutlineLine]]] = {}
        for path, line in lines:
            groups.setdefault(path[depth], []).append((path, line))
        for name in _siblings(groups):
            own = [line for path, line in groups[name] if len(path) == depth + 1]
            for line in own:
                yield self._line(line, name, "  " * depth, "" if line.expected else line.cause)
            if not own:
                yield f"  {'  ' * depth}{name}"
            below = [(path, line) for path, line in groups[name] if len(path) > depth + 1]
            yield from self._branch(below, depth + 1)

    def _line(self, line: OutlineLine, name: str, indent: str, cause: str) -> str:
        head = self.paint(f"{line.sign} {name}", _SIGNS[line.sign])
        words = "  ".join(filter(None, (line.gist, f"({cause})" if cause else "")))
        return f"{indent}{head}  {self._faint(words)}".rstrip()

    # The blocks.

    def _paragraphs(self, blocks: list[Block]) -> Iterator[str]:
        """The paragraphs of blocks that stand below the same headline."""
        first = blocks[0]
        lines = [self._toned(first.headline, first.tone)] if first.headline else []
        if first.shape == "paragraphs":
            yield from lines
            for block in blocks:
                own = (entry for entry in block.entries if not entry.again)
                yield from ("\n".join(self._entry(block, entry)) for entry in own)
                again = (entry for entry in block.entries if entry.again)
                yield "\n".join(self._brief(block, entry) for entry in again)
            return
        if first.shape == "trees":
            yield from ("\n".join(self._tree(block, entry)) for block in blocks for entry in block.entries)
            return
        for block in blocks:
            lines += self._lines(block)
        yield "\n".join(lines)

    def _lines(self, block: Block) -> Iterator[str]:
        """The lines of a block that is one paragraph."""
        if block.folded is not None and not self.verbose:
            if block.folded:
                yield self._toned(block.folded, block.tone)
            return
        indent, above = "  " if block.headline else "", ""
        for entry in block.entries:
            if block.shape == "lines":
                yield self._one_line(block, entry)
            elif self.summary and not block.asked:
                yield f"{indent}{self._brief(block, entry)}"
            else:
                first, *more = self._entry(block, entry)
                if first != above:
                    yield f"{indent}{first}"
                # Of what was asked for several entries may be about one address.
                above, inner = (first, "") if block.asked else ("", indent)
                yield from (f"{inner}{line}" for line in more)

    def _one_line(self, block: Block, entry: ViewEntry) -> str:
        gist = (entry.full if self.verbose else entry.short) or entry.gist
        sign = f"{entry.sign} " if entry.sign else ""
        where = f"  {place(entry.where)}" if entry.where else ""
        text = f"{sign}{block.prefix}{entry.address}: {gist}{where}"
        return self.paint(text, "yellow" if block.level == "warning" else _TONES[block.tone])

    def _tree(self, block: Block, entry: ViewEntry) -> Iterator[str]:
        yield self._toned(f"{block.name.upper()} of {entry.address}", block.tone)
        if entry.gist:
            yield f"  {entry.gist}"
        for text in tree_lines(entry):
            yield self.paint(clip(f"  {text}", COLUMNS), _SIGNS.get(text[0], "dim"))

    # The entries.

    def _brief(self, block: Block, entry: ViewEntry) -> str:
        """An entry in one line."""
        if entry.outline is not None and self.summary:
            return self._line(entry.outline, entry.outline.address, "", entry.outline.cause)
        code = f" ({entry.code})" if entry.code else ""
        if not entry.again:
            return f"{self._address(block, entry)}  {entry.gist}{code}{self._because(entry.cause)}"
        head = self.paint(f"{entry.sign} {entry.address}  {entry.gist}", _SIGNS[entry.sign])
        return f"{head}{self._because(entry.cause)}"

    def _entry(self, block: Block, entry: ViewEntry) -> Iterator[str]:
        """An entry with all that is said of it, each line below the first one indented."""
        where = f"  {self._faint(place(entry.where))}" if entry.where and block.placed else ""
        behind = self._because(entry.cause) if entry.summed_up else ""
        yield f"{self._address(block, entry)}{where}{behind}"
        if not entry.summed_up:
            code = f" ({entry.code})" if entry.code else ""
            yield f"    {entry.short or entry.gist}{code}{self._because(entry.cause)}"
        yield from self._words(entry.lead)
        width = max((len(item.name) for item in entry.fields), default=0)
        for item in entry.fields:
            yield from self._field(entry, item, width)
        yield from self._words(entry.words)

    def _address(self, block: Block, entry: ViewEntry) -> str:
        sign = f"{entry.sign} " if block.signed and entry.sign else ""
        short = f"  {entry.short}" if entry.short and entry.summed_up else ""
        return self.paint(f"{sign}{entry.owner or entry.address}{short}", _SIGNS.get(entry.sign, ""))

    def _words(self, words: Sequence[Word]) -> Iterator[str]:
        choices = [word for word in words if word.choice]
        listed = choices if self.verbose else choices[:SHOWN]
        yield from (f"    - {word.text}" for word in listed)
        if more := len(choices) - len(listed):
            yield f"    - and {more} more (-v lists them)"
        for word in words:
            if word.detail <= self.verbose and not word.choice:
                text = f"{word.about}: {word.text}" if word.about else word.text
                yield from self._with_cause(f"    {self._faint(text) if word.faint else text}", word.cause, 6)

    def _field(self, entry: ViewEntry, item: ViewField, width: int) -> Iterator[str]:
        """A field in one line, or in several by what differs inside of it."""
        name, indent = f"    {item.name.ljust(width)}", f"    {' ' * width}"
        second = "default" if item.default else entry.sides[1] if entry.sides else ""
        before = show(item.before) if item.known else UNREAD
        inner_lines: list[str] = []
        if item.stays:
            line = f"{name}  {show(item.after)}"
        elif entry.sides is None:
            if big(item.before) or big(item.after):
                line = f"{name}  {'' if entry.created else 'changes:'}".rstrip()
                inner_lines = list(inside(_difference(item)))
            elif entry.created:
                line = f"{name}  {show(item.after)}"
            else:
                line = f"{name}  {before} {self._faint('→')} {show(item.after)}"
        elif item.known and item.before is not None and (big(item.before) or big(item.after)):
            line = f"{name}  {entry.sides[0]} → {second}:"
            inner_lines = list(inside(_difference(item)))
        else:
            line = f"{name}  {entry.sides[0]}: {before}, {second}: {show(item.after)}"
        *first, last = self._with_cause(line, item.cause, width + 6)
        yield from first
        yield f"{last}{self._own_place(entry, item)}"
        yield from (f"{indent}  {one}" for one in inner_lines)

    def _own_place(self, entry: ViewEntry, item: ViewField) -> str:
        """Where a field was written: with -v, and wherever that is another file than its entry's."""
        other_file = item.where and entry.where and item.where.file != entry.where.file
        return f"  {self._faint(place(item.where))}" if item.where and (self.verbose or other_file) else ""

    def _with_cause(self, line: str, cause: str, indent: int) -> list[str]:
        """A line with why it is so behind it, or below it where a terminal would be too narrow."""
        if not cause:
            return [line]
        if len(unstyle(line)) + len(f"  ({cause})") <= COLUMNS:
            return [f"{line}{self._because(cause)}"]
        return [line, f"{' ' * indent}{self._faint(f'({cause})')}"]

    def _because(self, cause: str) -> str:
        return f"  {self._faint(f'({cause})')}" if cause else ""

    def _faint(self, text: str) -> str:
        return self.paint(text, "dim")

    def _toned(self, text: str, tone: Tone) -> str:
        return self.paint(text, _TONES[tone])


def _rank(block: Block) -> int:
    """Where a block stands on a terminal. One that is not named stands in the middle."""
    if block.name in _LAST:
        return 1 + _LAST.index(block.name)
    return max(_FIRST.index(block.name), 1) - len(_FIRST) if block.name in _FIRST else 0


def _paragraph(block: Block) -> str:
    """Blocks that follow each other with the same text are one paragraph."""
    return block.headline or ("notes" if block.prefix else block.name)


def _siblings(groups: dict[str, list[tuple[list[str], OutlineLine]]]) -> list[str]:
    """As the plan lists them. What goes has no order any more: it stands by its name, or last."""
    stay = [name for name, inside in groups.items() if any(line.sign != "-" for _, line in inside)]
    go = sorted(groups.keys() - stay, key=natural_key)
    is_sorted = stay == sorted(stay, key=natural_key)
    return sorted(groups, key=natural_key) if is_sorted else [*stay, *go]


def _difference(item: ViewField) -> Difference:
    return Difference(field=item.name, before=item.before, after=item.after)
