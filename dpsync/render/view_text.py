"""Render plans, drift and reports as text for a terminal: the list of entries first, the verdict last.

`TextWriter` prints a view, and knows nothing of plans: texts, tones and signs come from the view. Color only
repeats what signs and words say. `render_plan`, `render_rehearsal` and `render_report` print a plan, the
result of a rehearsal, and the result of an apply.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from click import unstyle
from msgspec import Struct

from dpsync.model.journal import APPLIED, SUCCESSFUL, Outcome, Report
from dpsync.model.plan import APPROVED_DIGEST_DIGITS, Plan, Rehearsal
from dpsync.model.text import NO_FLAGS, format_count, shorten_list
from dpsync.render.paint import Paint
from dpsync.render.plan_layout import blocked_entry, deviation_blocks, plan_view, side_blocks
from dpsync.render.plan_words import MAX_CANDIDATES, location_text
from dpsync.render.report_words import (
    applied_text,
    follow_ups,
    plan_without_unkept,
    rehearsal_lines,
    restore_hints,
    result_sentence,
    unkept_value_lines,
    unverifiable_lines,
)
from dpsync.render.shown_values import diff_lines, format_brief, format_value, is_long, is_word
from dpsync.render.view import (
    OPENS_ACCESS,
    QUOTED_FIELDS,
    UNREADABLE_TEXT,
    Block,
    Sentence,
    Tone,
    View,
    ViewEntry,
    ViewField,
    ViewLine,
    as_plan_difference,
    clip_text,
    pack_fields,
    tree_lines,
    visible_texts,
)
from dpsync.render.visible import visible

MAX_COLUMNS: Final = 80
"""The width of a line that fits on any terminal."""
RIGHT_COLUMN: Final = 53
"""The column where file names and "opens access" begin, unless the line is longer."""
_COMPACT_FROM_CREATES: Final = 100
"""From this number of created objects, an object with short fields takes one line."""
_SIGN_STYLES: Final = {
    "+": "green", "~": "yellow", "-": "red", "x": "red", "!": "magenta", "?": "magenta", ">": "cyan",
}  # fmt: skip
_TONE_STYLES: Final[dict[Tone, str]] = {
    "plain": "", "strong": "bold", "faint": "dim", "good": "green bold", "bad": "red bold",
    "exposed": "magenta", "warning": "yellow",
}  # fmt: skip


class TextWriter(Struct, frozen=True):
    """Print a view with the options of a run: color, -v, -q and --summary."""

    paint: Paint
    verbose: int = 0
    quiet: bool = False
    """Whether to print only entries that need attention."""
    summary: bool = False
    """Whether to print one line for all objects with the same kind and action."""
    complete_commands: Callable[[str], str] = NO_FLAGS.add_flags_to_commands
    """Add the flags of this run to the commands in a text."""

    def view(self, view: View) -> str:
        """Return the whole view as text, without a trailing line break."""
        view = visible_texts(view)
        closing_lines = [self.complete_commands(text) for text in view.hints]
        closing_lines.append(" ".join(self._with_tone(line.text, line.tone) for line in view.verdict))
        facts = (
            [self._with_tone(self.complete_commands(text), "faint") for text in view.facts]
            if self.verbose
            else []
        )
        parts = [*self._block_lines(view.blocks), "\n".join(facts), "\n".join(closing_lines)]
        return "\n\n".join(part for part in parts if part)

    def block_paragraphs(self, blocks: Iterable[Block]) -> Iterator[str]:
        """Yield each block as a paragraph."""
        return self._block_lines(visible_texts(tuple(blocks)))

    def _block_lines(self, blocks: Iterable[Block]) -> Iterator[str]:
        """Yield each block as a text of several lines; leave out entries that -q or a missing -v hides."""
        for block in blocks:
            listed = [
                entry
                for entry in block.entries
                if entry.verbosity <= self.verbose and not (self.quiet and entry.level in ("note", "none"))
            ]
            if not listed:
                continue
            colon = "" if ": " in block.title else ":"
            lines = [self._with_tone(f"{block.title}{colon}", "strong")] if block.title else []
            if self.summary and not block.title:
                lines += self._summary_lines(listed)
            else:
                compact = sum(entry.created for entry in listed) >= _COMPACT_FROM_CREATES and not self.verbose
                for entry in listed:
                    lines += self._entry_lines(entry, compact)
            yield "\n".join(lines)

    # The entries.

    def _entry_lines(self, entry: ViewEntry, compact: bool) -> Iterator[str]:
        """Yield the first line of an entry, then its fields and sentences, indented.

        If `compact`, a created object with a few short fields takes one line.
        """
        if entry.one_line:
            location = f"  {location_text(entry.origin)}" if entry.origin else ""
            text = " ".join(filter(None, (entry.sign, f"{entry.summary}{location}")))
            yield self.paint(text, {"warning": "yellow", "error": "red"}.get(entry.level, ""))
            return
        title, lines = self._title(entry), []
        if entry.message:
            code = f" ({entry.code})" if entry.code else ""
            text = f"    {entry.message}{code}"
            lines.append(self._with_tone(text, "bad") if entry.level == "error" else text)
        first_column = [
            *(field.name for field in entry.fields if not (is_long(field.before) or is_long(field.after))),
            *(sentence.subject for sentence in entry.all_sentences if sentence.aligned),
        ]
        width = 0 if entry.created else max(map(len, first_column), default=0)
        packed_lines, other_fields = pack_fields(entry)
        created = [f"    {line}" for line in packed_lines]
        is_one_line = (
            not other_fields
            and len(created) == 1
            and all(sentence.verbosity for sentence in entry.all_sentences)
        )
        if compact and is_one_line:
            title, created = f"{title}: {created[0].strip()}", []
        lines += created
        for field in other_fields:
            lines += self._field_lines(entry, field, width)
        lines += self._sentence_lines(entry.all_sentences, width)
        lines += [
            self.paint(clip_text(f"    {text}", MAX_COLUMNS), _SIGN_STYLES.get(text[0], "dim"))
            for text in tree_lines(entry)
        ]
        yield self._with_right_column(title, self._faint(self._entry_location(entry)))
        yield from lines

    def _title(self, entry: ViewEntry) -> str:
        """Return the sign and the name of an entry in color; with -v, the name is the whole address."""
        name = entry.title or entry.address
        if self.verbose and entry.kind:
            name = " ".join(filter(None, (entry.kind, entry.address, entry.label and f'"{entry.label}"')))
        return self.paint(" ".join(filter(None, (entry.sign, name))), _SIGN_STYLES.get(entry.sign, ""))

    @staticmethod
    def _entry_location(entry: ViewEntry) -> str:
        """Return where an entry is written, as FILE:LINE, or from which file it was removed."""
        return f"removed from {entry.removed_from}" if entry.removed_from else location_text(entry.origin)

    def _field_lines(self, entry: ViewEntry, field: ViewField, width: int) -> Iterator[str]:
        """Yield a field in one line, or in several lines of a diff if its values are long.

        `width` is the width of the first column, which has the names of fields.
        """
        name, gap = f"    {field.name.ljust(width)}", " " if entry.created else "  "
        default_text = "differs from the default value" if field.is_platform_default else ""
        label_text = ", ".join(filter(None, (default_text, field.cause)))
        label = f"  {self._faint(f'({label_text})')}" if label_text else ""
        diff: list[str] = []
        quoted = field.name in QUOTED_FIELDS
        if field.unchanged:
            line = f"{name}{gap}{format_value(field.after)}"
        elif entry.created and not is_long(field.after):
            line = f"{name}{gap}{format_brief(field.after, quoted)}"
        else:
            # Of two texts, both have quotation marks or none has.
            texts = [value for value in (field.before, field.after) if isinstance(value, str)]
            quoted = quoted or not (len(texts) < 2 or all(map(is_word, texts)))
            before = UNREADABLE_TEXT if field.unread == "before" else format_brief(field.before, quoted)
            after = UNREADABLE_TEXT if field.unread == "after" else format_brief(field.after, quoted)
            line = f"{name}{gap}{self.paint(before, 'red')} → {self.paint(after, 'green')}"
            long = len(unstyle(line + label)) > MAX_COLUMNS and not (entry.created or is_word(field.before))
            if not field.unread and (long or is_long(field.before) or is_long(field.after)):
                line = f"    {field.name}:"
                for text in diff_lines(as_plan_difference(field)):
                    diff.append(self.paint(text, {"+": "green", "-": "red"}.get(text[:1], "")))
        if label and len(unstyle(line + label)) > MAX_COLUMNS:
            diff.insert(0, label.strip())
            label = ""
        line += label
        is_in_other_file = field.origin and entry.origin and field.origin.file != entry.origin.file
        if field.origin and (self.verbose or is_in_other_file):
            line += f"  {self._faint(location_text(field.origin))}"
        if field.opens_access:
            line = self._with_right_column(line, self.paint(OPENS_ACCESS, "magenta"))
        yield line
        yield from (f"      {text}" for text in diff)

    def _sentence_lines(self, sentences: Iterable[Sentence], width: int) -> Iterator[str]:
        """Yield the sentences of an entry. Without -v, only the first candidates are listed.

        `width` is the width of the first column, in which aligned sentences have their subject.
        """
        sentences = [sentence for sentence in sentences if sentence.verbosity <= self.verbose]
        candidates = [sentence for sentence in sentences if sentence.is_candidate]
        listed = candidates if self.verbose else candidates[:MAX_CANDIDATES]
        for sentence in sentences:
            if sentence in candidates:
                if sentence in listed:
                    yield f"      - {sentence.text}"
                elif sentence is candidates[len(listed)]:
                    yield f"      - and {len(candidates) - len(listed)} more (-v lists them)"
                continue
            text = self._with_tone(sentence.text, sentence.tone)
            if not sentence.subject:
                line = f"    {'  ' if sentence.is_command else ''}{text}"
            elif sentence.aligned:
                line = f"    {sentence.subject.ljust(width)}  {text}"
            else:
                line = f"    {self._with_tone(f'{sentence.subject}: {sentence.text}', sentence.tone)}"
            yield (
                self._with_right_column(line, self.paint(OPENS_ACCESS, "magenta"))
                if sentence.opens_access
                else line
            )

    # The summary.

    def _summary_lines(self, entries: Iterable[ViewEntry]) -> Iterator[str]:
        """Yield one line for all objects with the same sign and kind, for --summary.

        An entry with an error code has a line of its own.
        """
        groups: dict[tuple[str, str], list[ViewEntry]] = defaultdict(list)
        for entry in entries:
            groups[entry.sign, entry.kind if entry.code == "" and entry.kind else entry.address].append(entry)
        for (sign, kind), group in groups.items():
            if len(group) == 1:
                entry = group[0]
                message = f": {entry.message} ({entry.code})" if entry.message and entry.code else ""
                line = self._with_right_column(
                    f"{self._title(entry)}{message}", self._faint(self._entry_location(entry))
                )
            else:
                names = shorten_list([entry.key for entry in group])
                style = _SIGN_STYLES.get(sign, "")
                line = f"{self.paint(f'{sign} {format_count(len(group), kind)}', style)}: {names}"
            if opening := sum("exposure" in entry.topics for entry in group):
                exposure_text = (
                    OPENS_ACCESS if len(group) == 1 else f"{opening} open{'s' if opening == 1 else ''} access"
                )
                line = f"{line}  {self.paint(exposure_text, 'magenta')}"
            yield line

    # Lines.

    def _with_right_column(self, text: str, right: str) -> str:
        """Return a line with a second text in the right column, or behind the line if that is long."""
        if not right:
            return text
        return f"{text}{' ' * max(2, RIGHT_COLUMN - len(unstyle(text)))}{right}"

    def _faint(self, text: str) -> str:
        """Return a text in the style of less important texts."""
        return self.paint(text, "dim")

    def _with_tone(self, text: str, tone: Tone) -> str:
        """Return a text in the style of a tone."""
        return self.paint(text, _TONE_STYLES[tone])


def render_plan(
    plan: Plan, paint: Paint, verbose: int = 0, *, quiet: bool = False, summary: bool = False,
    complete: Callable[[str], str] = NO_FLAGS.add_flags_to_commands,
) -> str:  # fmt: skip
    """Return a plan as text, without a trailing line break.

    Args:
        quiet: Whether to print only entries that need attention.
        summary: Whether to print one line for all objects with the same kind and action.
        complete: Add the flags of this run to the commands in a text.
    """
    return TextWriter(paint, verbose, quiet, summary, complete).view(plan_view(plan))


def render_rehearsal(plan: Plan, rehearsal: Rehearsal, paint: Paint) -> str:
    """Return the problems that a rehearsal found, and its result in two lines."""
    lines = tuple(map(ViewLine, rehearsal_lines(rehearsal)))
    return TextWriter(paint).view(View(lines, tuple(deviation_blocks(plan, rehearsal))))


_RESULT_STYLES = {
    "failed": "red",
    "stale": "red",
    "unknown": "red bold",
    "not-tried": "yellow",
    "requested": "yellow",
}


MAX_UNTRIED_STEPS = 10
"""The largest number of untried steps that are listed. More steps are counted."""


def render_outcome(outcome: Outcome, paint: Paint) -> str:
    """Return a line with the result of a step, and a line with the file and line of the entry, if known."""
    text = f"{outcome.result:>9}  {visible(outcome.step)}"
    if outcome.error:
        text += f": {visible(outcome.error)}"
    if outcome.origin and outcome.result != "not-tried":
        text += f"\n{'at':>9}  {location_text(outcome.origin)}"
        text += f" ({visible(outcome.field)})" if outcome.field else ""
    return paint(text, _RESULT_STYLES[outcome.result]) if outcome.result in _RESULT_STYLES else text


def render_step(outcome: Outcome, number: int, steps: int, paint: Paint) -> str:
    """Return the line that is shown when a step ends during an apply. The report has the error."""
    text = f"[{number}/{steps}] {visible(outcome.step)}"
    if outcome.result not in APPLIED:
        text += f": {outcome.result.replace('-', ' ')}"
    return paint(text, _RESULT_STYLES[outcome.result]) if outcome.result in _RESULT_STYLES else text


def render_report(
    plan: Plan,
    report: Report,
    paint: Paint,
    verbose: int = 0,
    *,
    summary: bool = False,
    seconds: float | None = None,
    complete: Callable[[str], str] = NO_FLAGS.add_flags_to_commands,
    line: str = "",
) -> str:
    """Return the report of an apply as text, with the result in its last line.

    Successful steps are counted, or listed with `verbose`. The report does not repeat blocked objects and
    problems that the plan already showed.

    Args:
        plan: The plan that was applied.
        summary: Whether remaining changes have one line for each kind and action.
        seconds: How long the apply took.
        complete: Add the flags of this run to the commands in a text.
        line: A line before the result.
    """
    lines = []
    untried = 0
    for outcome in report.outcomes:
        untried += outcome.result == "not-tried"
        is_listed_failure = outcome.result not in SUCCESSFUL and (
            outcome.result != "not-tried" or untried <= MAX_UNTRIED_STEPS
        )
        if verbose or is_listed_failure:
            lines.append(render_outcome(outcome, paint))
    if untried > MAX_UNTRIED_STEPS and not verbose:
        more = f"{untried - MAX_UNTRIED_STEPS} more steps that were not tried (-v lists them)"
        lines.append(paint(f"{'':>9}  and {more}", "yellow"))
    lines += [paint(visible(text), "red") for text in report.trouble]
    lines += _remaining_lines(plan, report, paint, summary)
    lines += follow_ups(plan, report, complete)
    if report.unrecorded:
        lines.append(paint(visible(report.unrecorded), "red"))
    if verbose:
        lines += restore_hints(report)
        lines.append(paint(f"plan {visible(report.plan[:APPROVED_DIGEST_DIGITS])}", "dim"))
        lines += [paint(f"journal: {visible(report.journal)}", "dim")] if report.journal else []
    lines += [line] if line else []
    is_processing = report.settled and not (report.unsuccessful or report.started)
    if report.interrupted:
        style = "yellow"
    elif report.converged:
        is_incomplete = plan.reverts is not None and plan.reverts.left
        style = "yellow bold" if is_incomplete else "green bold"
    else:
        style = "yellow bold" if is_processing else "red bold"
    result = f"{applied_text(plan, report, seconds)} {complete(result_sentence(plan, report))}"
    lines.append(paint(result, style))
    return "\n".join(lines)


def _remaining_lines(plan: Plan, report: Report, paint: Paint, summary: bool) -> Iterator[str]:
    """Yield the texts about what an apply did not finish, except what its plan already showed.

    If GitBook now matches the files, these are problems that GitBook reports, unfinished work and new
    blockers. Otherwise they are also the values that GitBook did not keep, and the remaining changes.
    """
    remaining = report.remaining
    if remaining is None or report.interrupted:
        return
    if report.settled:
        waiting = remaining.waiting if report.processing else ()
        problems = remaining.model_copy(update={"trouble": report.started, "waiting": waiting})
        blocks = [block for block in side_blocks(problems) if block.entries[0].name in ("trouble", "waiting")]
        new_blocked = [blocked for blocked in remaining.blocked if blocked not in plan.blocked]
        blocks.append(Block("", tuple(blocked_entry(remaining, blocked) for blocked in new_blocked)))
        yield from TextWriter(paint, 1).block_paragraphs(blocks)
        yield from unverifiable_lines(remaining)
    elif not report.as_declared:
        started = remaining.model_copy(update={"trouble": report.started})
        caused = [block for block in side_blocks(started) if block.entries[0].name == "trouble"]
        yield from TextWriter(paint, 1).block_paragraphs(caused)
        yield from unkept_value_lines(report)
        reported_addresses = {outcome.address for outcome in report.outcomes if outcome.result not in APPLIED}
        remaining_plan = plan_without_unkept(report)
        changes = tuple(
            change for change in remaining_plan.changes if change.address not in reported_addresses
        )
        if changes or remaining_plan.refusals:
            yield render_plan(remaining_plan.model_copy(update={"changes": changes}), paint, summary=summary)
