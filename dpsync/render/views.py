"""Documents → views: what of a plan, a drift, a report and findings is told, in which order and how loudly.

Deletes come first, then what keeps a plan from being applied, then the rest.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import singledispatch

from pydantic import BaseModel

from dpsync.model.diagnostic import Exit
from dpsync.model.drift import Drifted
from dpsync.model.journal import Outcome, Report
from dpsync.model.plan import Blocked, Change, Difference, Note, Plan, PlatformTrouble, Refusal
from dpsync.model.words import counted
from dpsync.render import plan_words as words
from dpsync.render.documents import ApplyDocument, DriftDocument, Finding, FindingsDocument, PlanDocument
from dpsync.render.drift_text import SIGNS, WHAT, beside, verdict
from dpsync.render.head_text import render_head
from dpsync.render.paint import Paint
from dpsync.render.plan_words import PlanOrDrift, origin
from dpsync.render.report_text import done, ending, restorable, unkept, unproven, without_unkept
from dpsync.render.view import Block, Blocks, Entry, View, Word
from dpsync.render.visible import visible

_PLAIN = Paint(on=False)


@singledispatch
def view(document: BaseModel) -> View:
    """What is shown of a document of render/documents.py."""
    raise TypeError(f"there is no view of a {type(document).__name__}")


@view.register
def _plan(document: PlanDocument) -> View:
    plan = document.plan
    title = f"{words.summary(plan)}{words.in_trouble(plan)}"
    digest = [] if plan.empty else [f"digest {document.digest[:16]}"]
    foot = (*digest, words.base(plan), words.unwatched(plan), words.effort(plan))
    return View(title, _about(plan), tuple(plan_blocks(plan)), tuple(filter(None, foot)))


def plan_blocks(plan: Plan) -> list[Block]:
    blocks = Blocks()
    goes = [change for change in plan.changes if change.action == "delete"]
    stays = [change for change in plan.changes if change.action != "delete"]
    blocks.add("delete", words.headline(plan), "warning", (_change(plan, one) for one in goes))
    blocks.add("refusal", "This plan may not be applied", "error", _refusals(plan), fails=True)
    blocks.add("change", "Changes: {}", "note", (_change(plan, one) for one in stays))
    return [*blocks.found, *_beside(plan)]


@view.register
def _drift(document: DriftDocument) -> View:
    drift, blocks = document.drift, Blocks()
    found = (_drifted(document, item) for item in drift.found)
    blocks.add("drift", "What is live and not as the files say: {}", "warning", found, fails=True)
    blocks.add("refusal", "An apply would be refused", "error", _refusals(drift))
    unread = (Entry(visible(one), "this token may not read it") for one in drift.unread)
    blocks.add("unread", "Not looked at: {}", "warning", unread)
    ignored = (_drifted(document, item) for item in drift.ignored)
    blocks.add("ignored", "Ignored, as the policy says: {}", "none", ignored)
    foot = (words.base(drift), words.unwatched(drift), f"({counted(drift.requests, 'request')} to read)")
    shown = (*blocks.found, *_beside(drift))
    title = f"{verdict(drift)}{beside(drift)}{words.in_trouble(drift)}"
    return View(title, _about(drift), shown, tuple(filter(None, foot)), name="drift")


@view.register
def _apply(document: ApplyDocument) -> View:
    plan, report = document.plan.plan, document.report
    if report is None:
        shown = _plan(document.plan)
        why = {Exit.REFUSED: "Not applied."}.get(Exit(document.exit), "Nothing to apply.")
        return View(f"{why} {shown.title}", shown.about, shown.blocks, shown.foot, name="apply")
    blocks = Blocks()
    for result, title, level in (
        ("failed", "Failed: {}", "error"),
        ("stale", "Changed by somebody since the plan: {}", "error"),
        ("unknown", "Sent, and nobody knows whether it happened: {}", "error"),
        ("not-tried", "Not tried: {}", "warning"),
        ("requested", "The platform asks its admins first: {}", "note"),
    ):
        found = [_outcome(plan, one) for one in report.outcomes if one.result == result]
        blocks.add(result, title, level, found, fails=level == "error")  # type: ignore[arg-type]
    stopped = [Entry("", visible(text)) for text in report.trouble]
    blocks.add("stopped", "What kept it from going on", "error", stopped, fails=True)
    blocks.add("remaining", "What is left to do: {}", "error", _left(report), fails=True)
    unrecorded = [Entry("", visible(report.unrecorded))] if report.unrecorded else []
    blocks.add("unrecorded", "The ids file", "warning", unrecorded)
    rest = _beside(report.remaining) if report.remaining is not None and report.settled else []
    well = [_outcome(plan, one) for one in report.outcomes if one.result in ("done", "already")]
    blocks.add("done", "Done: {}", "none", well)
    about = (*_about(plan), ending(report))
    foot = [f"plan {report.plan[:16]}", *restorable(report)]
    foot += unproven(report.remaining) if report.remaining is not None else []
    foot += [f"journal: {visible(report.journal)}"] if report.journal else []
    return View(done(report), about, (*blocks.found, *rest), tuple(foot), name="apply")


@view.register
def _findings(document: FindingsDocument) -> View:
    blocks = Blocks()
    for severity in ("error", "warning"):
        found = [_finding(one) for one in document.findings if one.severity == severity]
        blocks.add(severity, f"{severity.capitalize()}s: {{}}", severity, found, fails=severity == "error")
    counts = [counted(len(block.entries), block.name) for block in blocks.found]
    left = sum(document.left_out.values())
    more = [f"{left} more are not shown"] if left else []
    title = f"{', '.join([*counts, *more]) or 'No findings'}."
    return View(title[0].upper() + title[1:], blocks=tuple(blocks.found), left_out=left, name="findings")


# Entries.


def _about(plan: PlanOrDrift) -> tuple[str, ...]:
    return tuple(line for line in render_head(plan, _PLAIN).split("\n") if line)


def _change(plan: Plan, change: Change) -> Entry:
    told = [
        Word(text)
        for text in (words.recognised(plan, change), *words.facts(change), *words.acts(change))
        if text
    ]
    told += [Word(visible(one.what), visible(one.address)) for one in change.effects]
    return Entry(
        address=visible(change.address),
        gist=words.gist(change),
        sign=words.SIGNS[change.action],
        where=origin(plan, change.address),
        words=tuple(told),
        fields=change.differences,
        created=change.action == "create",
    )


def _refusals(plan: PlanOrDrift) -> Iterator[Entry]:
    for item in plan.refusals:
        yield _refusal(plan, item)


def _refusal(plan: PlanOrDrift, item: Refusal) -> Entry:
    told = [Word(words.candidate(one), "could be") for one in item.candidates]
    told.append(Word(visible(item.way_out), "way out"))
    where = origin(plan, item.address)
    return Entry(visible(item.address), visible(item.message), "x", item.code, where, words=tuple(told))


def _beside(plan: PlanOrDrift) -> list[Block]:
    """What a plan and a drift tell beside what they are about."""
    blocks = Blocks()
    blocks.add("blocked", "Blocked: {}", "warning", (_blocked(plan, one) for one in plan.blocked))
    blocks.add("trouble", "Trouble on the platform: {}", "warning", (_trouble(plan, x) for x in plan.trouble))
    for severity in ("warning", "note"):
        found = [_note(plan, one) for one in plan.notes if one.severity == severity]
        blocks.add(severity, f"{severity.capitalize()}s: {{}}", severity, found)
    waiting = (Entry(visible(one.address), visible(one.what), "…") for one in plan.waiting)
    blocks.add("waiting", "The platform is at work: {}", "none", waiting)
    kept = (Entry(visible(one.place), words.unmanaged(one, 10)) for one in plan.kept)
    blocks.add("kept", "Unmanaged, kept: {}", "none", kept)
    return blocks.found


def _blocked(plan: PlanOrDrift, item: Blocked) -> Entry:
    told = (Word(visible(item.todo), "to do"),) if item.todo else ()
    where = origin(plan, item.address)
    return Entry(visible(item.address), f"blocked: {visible(item.reason)}", "!", where=where, words=told)


def _trouble(plan: PlanOrDrift, item: PlatformTrouble) -> Entry:
    text = f"trouble on the platform: {visible(item.what)}"
    return Entry(visible(item.address), text, "x", where=origin(plan, item.address))


def _note(plan: PlanOrDrift, item: Note) -> Entry:
    return Entry(visible(item.address), visible(item.text), where=plan.origins.get(item.address))


def _drifted(document: DriftDocument, item: Drifted) -> Entry:
    told = [
        Word(f'"{visible(one.label)}" ({visible(one.id)})', "renamed on the platform") for one in item.renamed
    ]
    told += [Word(f"file: {visible(item.place)}, live: elsewhere")] if item.place else []
    told += [Word(MOVED[part.moved], part.field) for part in item.fields if MOVED[part.moved]]
    if out := document.ways_out.get(item.address):
        told.append(Word(out.platform, "undo", out.platform.startswith("dpsync ")))
        keep = out.files or out.by_hand or ""
        told.append(Word(keep, "keep", keep.startswith("dpsync ")))
    return Entry(
        address=visible(item.address),
        gist=_what(item),
        sign=SIGNS[item.what][0],
        where=document.drift.origins.get(item.address),
        words=tuple(told),
        fields=tuple(
            Difference(field=part.field, before=part.live, after=part.file, known=part.known)
            for part in item.fields
        ),
        sides=("live", "file"),
    )


def _what(item: Drifted) -> str:
    what = f'{words.noun(item.kind)} "{visible(item.label)}"'
    who = f", {MOVED[item.moved]}" if MOVED[item.moved] else ""
    match item.what:
        case "missing":
            return f"the {what} is not live{who}"
        case "undeclared":
            return f"the {what} is live and not in the files{who}"
    names = [part.field for part in item.fields] + (["place"] if item.place else [])
    return f"{what} differs: {', '.join(names)}{who}"


def _outcome(plan: Plan, one: Outcome) -> Entry:
    text = f"{one.result.replace('-', ' ')}: {visible(one.step)}"
    more = (Word(visible(one.error)),) if one.error else ()
    return Entry(visible(one.address), text, where=origin(plan, one.address), words=more)


def _left(report: Report) -> list[Entry]:
    """What a new plan would still do, and what the platform did not keep."""
    if report.settled or report.as_declared or report.remaining is None:
        return []
    lost = [Entry("", text) for text in unkept(report)]
    rest = without_unkept(report)
    return [*lost, *_refusals(rest), *(_change(rest, change) for change in rest.changes)]


def _finding(one: Finding) -> Entry:
    told = [Word(visible(one.hint))] if one.hint else []
    told += [Word(f"{visible(more.text)} at {words.place(more.at)}") for more in one.related]
    if one.environments:
        told.append(Word(f"with --env {', '.join(visible(name) for name in one.environments)}"))
    return Entry(
        visible(one.address or ""),
        visible(one.message),
        code=visible(one.code),
        where=one.at,
        words=tuple(told),
    )
