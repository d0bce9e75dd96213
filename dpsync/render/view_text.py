"""Render plans, drift and reports as text for a terminal: the list of entries first, the verdict last.

`Writer` prints a view, and knows nothing of plans: texts, tones and signs come from the view. Color only
repeats what signs and words say. `render_plan`, `render_rehearsal` and `render_report` print a plan, the
result of a rehearsal, and the result of an apply.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from click import unstyle
from msgspec import Struct

from dpsync.model.journal import APPLIED, GOOD, Outcome, Report
from dpsync.model.plan import DIGITS, Plan, Rehearsal
from dpsync.model.text import NOWHERE, counted, some
from dpsync.render.paint import Paint
from dpsync.render.plan_layout import blocked_entry, deviations, plan_view, side_blocks
from dpsync.render.plan_words import SHOWN, place
from dpsync.render.report_words import (
    done,
    ending,
    follow_ups,
    restorable,
    two_lines,
    unkept,
    unproven_lines,
    without_unkept,
)
from dpsync.render.shown_values import big, brief, inside, is_word, show
from dpsync.render.view import (
    OPENS,
    QUOTED,
    UNREAD,
    Block,
    Tone,
    View,
    ViewEntry,
    ViewField,
    ViewLine,
    Word,
    clip,
    difference,
    packed,
    tree_lines,
    visible_texts,
)
from dpsync.render.visible import visible

COLUMNS: Final = 80
"""The width of a line that fits on any terminal."""
COLUMN: Final = 53
"""The column where file names and "opens access" begin, unless the line is longer."""
_MANY: Final = 100
"""From this number of created objects, an object with short fields takes one line."""
_SIGNS: Final = {
    "+": "green", "~": "yellow", "-": "red", "x": "red", "!": "magenta", "?": "magenta", ">": "cyan",
}  # fmt: skip
_TONES: Final[dict[Tone, str]] = {
    "plain": "", "strong": "bold", "faint": "dim", "good": "green bold", "bad": "red bold",
    "exposed": "magenta", "warning": "yellow",
}  # fmt: skip


class Writer(Struct, frozen=True):
    """Print a view with the options of a run: color, -v, -q and --summary."""

    paint: Paint
    verbose: int = 0
    quiet: bool = False
    """Whether to print only entries that need attention."""
    summary: bool = False
    """Whether to print one line for all objects with the same kind and action."""
    complete: Callable[[str], str] = NOWHERE.complete
    """Add the flags of this run to the commands in a text."""

    def view(self, view: View) -> str:
        """Return the whole view as text, without a trailing line break."""
        view = visible_texts(view)
        last = [self.complete(text) for text in view.hints]
        last.append(" ".join(self._with_tone(line.text, line.tone) for line in view.verdict))
        facts = [self._with_tone(self.complete(text), "faint") for text in view.facts] if self.verbose else []
        parts = [*self._blocks(view.blocks), "\n".join(facts), "\n".join(last)]
        return "\n\n".join(part for part in parts if part)

    def blocks(self, blocks: Iterable[Block]) -> Iterator[str]:
        """Yield each block as a paragraph."""
        return self._blocks(visible_texts(tuple(blocks)))

    def _blocks(self, blocks: Iterable[Block]) -> Iterator[str]:
        for block in blocks:
            listed = [entry for entry in block.entries if self._is_shown(entry)]
            if not listed:
                continue
            colon = "" if ": " in block.title else ":"
            lines = [self._with_tone(f"{block.title}{colon}", "strong")] if block.title else []
            if self.summary and not block.title:
                lines += self._summary_lines(listed)
            else:
                compact = sum(entry.created for entry in listed) >= _MANY and not self.verbose
                for entry in listed:
                    lines += self._entry(entry, compact)
            yield "\n".join(lines)

    def _is_shown(self, entry: ViewEntry) -> bool:
        """Return whether an entry is printed with these options."""
        return entry.detail <= self.verbose and not (self.quiet and entry.level in ("note", "none"))

    # The entries.

    def _entry(self, entry: ViewEntry, compact: bool) -> Iterator[str]:
        """Yield the first line of an entry, then its fields and sentences, indented."""
        if entry.one_line:
            yield self._line(entry)
            return
        title, lines = self._title(entry), []
        if entry.message:
            code = f" ({entry.code})" if entry.code else ""
            text = f"    {entry.message}{code}"
            lines.append(self._with_tone(text, "bad") if entry.level == "error" else text)
        width = max((len(name) for name in self._names(entry)), default=0)
        packed_lines, rest = packed(entry)
        created = [f"    {line}" for line in packed_lines]
        alone = not rest and len(created) == 1 and all(word.detail for word in entry.words)
        if compact and alone:
            title, created = f"{title}: {created[0].strip()}", []
        lines += created
        for item in rest:
            lines += self._field(entry, item, 0 if entry.created else width)
        lines += self._words(entry.words, 0 if entry.created else width)
        lines += [
            self.paint(clip(f"    {text}", COLUMNS), _SIGNS.get(text[0], "dim")) for text in tree_lines(entry)
        ]
        yield self._beside(title, self._faint(self._entry_location(entry)))
        yield from lines

    def _title(self, entry: ViewEntry) -> str:
        """Return the sign and the name of an entry; with -v, its whole address."""
        name = entry.title or entry.address
        if self.verbose and entry.kind:
            name = " ".join(filter(None, (entry.kind, entry.address, entry.label and f'"{entry.label}"')))
        return self.paint(" ".join(filter(None, (entry.sign, name))), _SIGNS.get(entry.sign, ""))

    @staticmethod
    def _entry_location(entry: ViewEntry) -> str:
        return f"removed from {entry.removed_from}" if entry.removed_from else place(entry.where)

    def _line(self, entry: ViewEntry) -> str:
        """Return an entry without a body as a line."""
        where = f"  {place(entry.where)}" if entry.where else ""
        text = " ".join(filter(None, (entry.sign, f"{entry.summary}{where}")))
        style = {"warning": "yellow", "error": "red"}.get(entry.level, "")
        return self.paint(text, style)

    @staticmethod
    def _names(entry: ViewEntry) -> Iterator[str]:
        """Yield the texts in the first column of an entry."""
        yield from (item.name for item in entry.fields if not (big(item.before) or big(item.after)))
        yield from (word.about for word in entry.words if word.aligned)

    def _field(self, entry: ViewEntry, item: ViewField, width: int) -> Iterator[str]:
        """Yield a field in one line, or in several lines of a diff."""
        name, quoted = f"    {item.name.ljust(width)}", item.name in QUOTED
        label_text = self._label(entry, item)
        label = f"  {self._faint(f'({label_text})')}" if label_text else ""
        inner_lines: list[str] = []
        gap = " " if entry.created else "  "
        if item.stays:
            line = f"{name}{gap}{show(item.after)}"
        elif entry.created and not big(item.after):
            line = f"{name}{gap}{brief(item.after, quoted)}"
        else:
            before, after = self._sides(item)
            line = f"{name}{gap}{self.paint(before, 'red')} → {self.paint(after, 'green')}"
            long = len(unstyle(line + label)) > COLUMNS and not (entry.created or is_word(item.before))
            if not item.unread and (long or big(item.before) or big(item.after)):
                line = f"    {item.name}:"
                inner_lines = [self._color_diff_line(text) for text in inside(difference(item))]
        if label and len(unstyle(line + label)) > COLUMNS:
            inner_lines.insert(0, label.strip())
            label = ""
        line = f"{line}{label}{self._field_location(entry, item)}"
        yield self._beside(line, self.paint(OPENS, "magenta")) if item.opens else line
        yield from (f"      {text}" for text in inner_lines)

    @staticmethod
    def _sides(item: ViewField) -> tuple[str, str]:
        """Return both values. Of two texts, both have quotation marks or none has."""
        texts = [value for value in (item.before, item.after) if isinstance(value, str)]
        quoted = item.name in QUOTED or not (len(texts) < 2 or all(map(is_word, texts)))
        before = UNREAD if item.unread == "before" else brief(item.before, quoted)
        return before, UNREAD if item.unread == "after" else brief(item.after, quoted)

    @staticmethod
    def _label(entry: ViewEntry, item: ViewField) -> str:
        """Return why a field differs, as a label."""
        return ", ".join(filter(None, ("differs from the default value" if item.default else "", item.cause)))

    def _field_location(self, entry: ViewEntry, item: ViewField) -> str:
        """Return where a field is written: with -v, or if its file is not the file of the entry."""
        other_file = item.where and entry.where and item.where.file != entry.where.file
        return f"  {self._faint(place(item.where))}" if item.where and (self.verbose or other_file) else ""

    def _words(self, sentences: Iterable[Word], width: int) -> Iterator[str]:
        """Yield the sentences of an entry. Without -v, only the first candidates are listed."""
        sentences = [word for word in sentences if word.detail <= self.verbose]
        choices = [word for word in sentences if word.choice]
        listed = choices if self.verbose else choices[:SHOWN]
        for word in sentences:
            if word in choices:
                if word in listed:
                    yield f"      - {word.text}"
                elif word is choices[len(listed)]:
                    yield f"      - and {len(choices) - len(listed)} more (-v lists them)"
                continue
            if not word.about:
                line = f"    {'  ' if word.command else ''}{self._with_tone(word.text, word.tone)}"
            elif word.aligned:
                line = f"    {word.about.ljust(width)}  {self._with_tone(word.text, word.tone)}"
            else:
                line = f"    {self._with_tone(f'{word.about}: {word.text}', word.tone)}"
            yield self._beside(line, self.paint(OPENS, "magenta")) if word.opens else line

    # The summary.

    def _summary_lines(self, entries: Iterable[ViewEntry]) -> Iterator[str]:
        """Yield one line for all objects with the same sign and kind.

        An entry with a code has a line of its own.
        """
        groups: dict[tuple[str, str], list[ViewEntry]] = defaultdict(list)
        for entry in entries:
            groups[entry.sign, entry.kind if entry.code == "" and entry.kind else entry.address].append(entry)
        for (sign, kind), group in groups.items():
            if len(group) == 1:
                entry = group[0]
                more = f": {entry.message} ({entry.code})" if entry.message and entry.code else ""
                line = self._beside(f"{self._title(entry)}{more}", self._faint(self._entry_location(entry)))
            else:
                names = some([entry.key for entry in group])
                line = f"{self.paint(f'{sign} {counted(len(group), kind)}', _SIGNS.get(sign, ''))}: {names}"
            if opening := sum("exposure" in entry.topics for entry in group):
                opens = OPENS if len(group) == 1 else f"{opening} open{'s' if opening == 1 else ''} access"
                line = f"{line}  {self.paint(opens, 'magenta')}"
            yield line

    # Lines.

    def _beside(self, text: str, right: str) -> str:
        """Return a line with a text in the right column."""
        if not right:
            return text
        return f"{text}{' ' * max(2, COLUMN - len(unstyle(text)))}{right}"

    def _color_diff_line(self, text: str) -> str:
        return self.paint(text, {"+": "green", "-": "red"}.get(text[:1], ""))

    def _faint(self, text: str) -> str:
        return self.paint(text, "dim")

    def _with_tone(self, text: str, tone: Tone) -> str:
        return self.paint(text, _TONES[tone])


def render_plan(
    plan: Plan, paint: Paint, verbose: int = 0, *, quiet: bool = False, summary: bool = False,
    complete: Callable[[str], str] = NOWHERE.complete,
) -> str:  # fmt: skip
    """Return a plan as text, without a trailing line break.

    Args:
        quiet: Whether to print only entries that need attention.
        summary: Whether to print one line for all objects with the same kind and action.
        complete: Add the flags of this run to the commands in a text.
    """
    return Writer(paint, verbose, quiet, summary, complete).view(plan_view(plan))


def render_rehearsal(plan: Plan, rehearsal: Rehearsal, paint: Paint) -> str:
    """Return the deviations of a rehearsal, and its result in two lines."""
    lines = tuple(map(ViewLine, two_lines(rehearsal)))
    return Writer(paint).view(View(lines, tuple(deviations(plan, rehearsal))))


_STYLE = {
    "failed": "red",
    "stale": "red",
    "unknown": "red bold",
    "not-tried": "yellow",
    "requested": "yellow",
}


UNTRIED = 10
"""The largest number of untried steps that are listed. More steps are counted."""


def render_outcome(outcome: Outcome, paint: Paint) -> str:
    """Return the result of a step in a line, and below it where the entry is written, if that helps."""
    text = f"{outcome.result:>9}  {visible(outcome.step)}"
    if outcome.error:
        text += f": {visible(outcome.error)}"
    if outcome.origin and outcome.result != "not-tried":
        text += f"\n{'at':>9}  {place(outcome.origin)}"
        text += f" ({visible(outcome.field)})" if outcome.field else ""
    return paint(text, _STYLE[outcome.result]) if outcome.result in _STYLE else text


def render_step(outcome: Outcome, number: int, steps: int, paint: Paint) -> str:
    """Return the line of one step while an apply runs. The report tells the reason of a step that failed."""
    text = f"[{number}/{steps}] {visible(outcome.step)}"
    if outcome.result not in APPLIED:
        text += f": {outcome.result.replace('-', ' ')}"
    return paint(text, _STYLE[outcome.result]) if outcome.result in _STYLE else text


def render_report(
    plan: Plan, report: Report, paint: Paint, verbose: int = 0, *, summary: bool = False,
    seconds: float | None = None, complete: Callable[[str], str] = NOWHERE.complete, line: str = "",
) -> str:  # fmt: skip
    """Return the report of an apply as text, with the result in its last line.

    `plan` is the plan that was carried out: the report does not repeat its blocked objects and problems. What
    went well is counted, or listed with -v. With `summary`, what is left has one line for each address.
    `seconds`: how long the apply took. `complete` adds the flags of this run to commands. `line`: a line
    before the result.
    """
    lines = list(_outcomes(report, paint, verbose))
    lines += [paint(visible(text), "red") for text in report.trouble]
    lines += _remaining_lines(plan, report, paint, summary)
    lines += follow_ups(plan, report, complete)
    if report.unrecorded:
        lines.append(paint(visible(report.unrecorded), "red"))
    if verbose:
        lines += restorable(report)
        lines.append(paint(f"plan {visible(report.plan[:DIGITS])}", "dim"))
        lines += [paint(f"journal: {visible(report.journal)}", "dim")] if report.journal else []
    lines += [line] if line else []
    lines.append(
        paint(f"{done(plan, report, seconds)} {complete(ending(plan, report))}", _style(plan, report))
    )
    return "\n".join(lines)


def _outcomes(report: Report, paint: Paint, verbose: int) -> Iterator[str]:
    untried = 0
    for outcome in report.outcomes:
        untried += outcome.result == "not-tried"
        if verbose or (outcome.result not in GOOD and (outcome.result != "not-tried" or untried <= UNTRIED)):
            yield render_outcome(outcome, paint)
    if untried > UNTRIED and not verbose:
        yield paint(
            f"{'':>9}  and {untried - UNTRIED} more steps that were not tried (-v lists them)", "yellow"
        )


def _remaining_lines(plan: Plan, report: Report, paint: Paint, summary: bool) -> Iterator[str]:
    """Yield what an apply did not finish, except what its plan already reported."""
    remaining = report.remaining
    if remaining is None or report.interrupted:
        return
    if report.settled:
        waiting = remaining.waiting if report.processing else ()
        new = remaining.model_copy(update={"trouble": report.started, "waiting": waiting})
        left = [block for block in side_blocks(new) if block.entries[0].name in ("trouble", "waiting")]
        found = [item for item in remaining.blocked if item not in plan.blocked]
        left.append(Block("", tuple(blocked_entry(remaining, item) for item in found)))
        yield from Writer(paint, 1).blocks(left)
        yield from unproven_lines(remaining)
    elif not report.as_declared:
        started = remaining.model_copy(update={"trouble": report.started})
        caused = [block for block in side_blocks(started) if block.entries[0].name == "trouble"]
        yield from Writer(paint, 1).blocks(caused)
        yield from unkept(report)
        told = {outcome.address for outcome in report.outcomes if outcome.result not in APPLIED}
        rest = without_unkept(report)
        changes = tuple(change for change in rest.changes if change.address not in told)
        if changes or rest.refusals:
            yield render_plan(rest.model_copy(update={"changes": changes}), paint, summary=summary)


def _style(plan: Plan, report: Report) -> str:
    """Return the color of the result: red only if something is wrong."""
    if report.interrupted:
        return "yellow"
    if report.converged:
        return "yellow bold" if plan.reverts is not None and plan.reverts.left else "green bold"
    is_processing = report.settled and not (report.unsuccessful or report.started)
    return "yellow bold" if is_processing else "red bold"
