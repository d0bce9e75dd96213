"""Describe in sentences what an apply did, what a rehearsal showed, and what drifted.

All formats use these sentences. `applied_text` and `result_sentence` are the result of an apply;
`rehearsal_summary` and `rehearsal_verdict` are the result of a rehearsal; `drift_verdict` is the result of a
drift check.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Final

from dpsync.model.change import Change, LabeledPart
from dpsync.model.drift import Drift, Drifted, LastEvent
from dpsync.model.journal import Report, Result
from dpsync.model.plan import (
    DeleteCount,
    Deviation,
    Estimate,
    FaultRun,
    Plan,
    Rehearsal,
    Unproven,
    count_deletes,
)
from dpsync.model.text import format_command, format_count, shorten_list
from dpsync.render.names import kind_noun, secret_url_location
from dpsync.render.plan_words import category, cause_label, changes_shown_in_parent, not_reverted_text
from dpsync.render.shown_values import format_value
from dpsync.render.visible import visible

_UNFINISHED_RESULTS: Final[tuple[Result, ...]] = ("requested", "failed", "stale", "unknown", "not-tried")


def restore_hints(report: Report) -> Iterator[str]:
    """Yield the deleted objects that can be restored, each with the way to restore it."""
    for restorable in report.restorable:
        yield (
            f"deleted: {visible(restorable.address)}. To restore the object with its content, "
            f"add an entry with id: {visible(restorable.id)} (possible for "
            f"{restorable.days} days after the delete)"
        )


def applied_text(plan: Plan, report: Report, seconds: float | None = None) -> str:
    """Return how many objects an apply created, changed, moved and deleted, and which steps did not succeed.

    An object that GitBook deleted together with its parent counts as deleted. `seconds` is the duration of
    the apply, if it is known.
    """
    numbers = [f"{number} {word}" for word, number in applied_counts(plan, report).items()]
    steps: list[str] = []
    for result in _UNFINISHED_RESULTS:
        if number := report.count(result):
            steps.append(f"{number if steps else format_count(number, 'step')} {result.replace('-', ' ')}")
    duration = f", in {duration_text(seconds)}" if seconds is not None else ""
    unfinished_steps = f"; {', '.join(steps)}" if steps else ""
    if numbers:
        return f"Applied: {', '.join(numbers)}{duration}{unfinished_steps}."
    if report.count("unknown", "requested"):
        return f"Perhaps nothing was applied: {', '.join(steps)}."
    return f"Nothing was applied: {', '.join(steps)}." if steps else "Nothing was applied."


def applied_changes(plan: Plan, report: Report) -> dict[str, list[Change]]:
    """Return the changes that an apply made, by the words "created", "changed", "moved" and "deleted".

    A word without changes is left out, and so is an object that the platform creates with its parent.
    """
    applied = report.applied_steps
    words = {"create": "created", "update": "changed", "move": "moved", "delete": "deleted"}
    changes_by_word: dict[str, list[Change]] = {word: [] for word in words.values()}
    folded_changes = changes_shown_in_parent(plan)
    for change in plan.changes:
        verbs = {step.verb for step in change.steps if step.id in applied}
        if verbs and change.address not in folded_changes:
            changes_by_word[words["delete" if "delete" in verbs else category(change)]].append(change)
    return {word: changes for word, changes in changes_by_word.items() if changes}


def applied_counts(plan: Plan, report: Report) -> dict[str, int]:
    """Return how many objects an apply created, changed, moved and deleted, without numbers that are 0.

    An object that GitBook deleted together with its parent counts as deleted.
    """
    return {
        word: sum(count_deletes([change]).total if word == "deleted" else 1 for change in changes)
        for word, changes in applied_changes(plan, report).items()
    }


def unverifiable_lines(remaining: Plan) -> list[str]:
    """Return which sent values cannot be verified, because the platform does not return them; [] for none.

    `remaining` is the plan after the apply. The commit compared with still has other values.
    """
    if not remaining.unproven:
        return []
    value_count = format_count(len(remaining.unproven), "value")
    names = ", ".join(visible(name) for name in remaining.unproven)
    repeated = "the value" if len(remaining.unproven) == 1 else "these values"
    return [
        f"GitBook does not return {value_count}, so each apply sends {repeated} again until you commit your "
        f"files: {names}"
    ]


def follow_ups(plan: Plan, report: Report, complete: Callable[[str], str]) -> Iterator[str]:
    """Yield what an apply recorded in the ids file, and what a person can do next.

    `complete` adds the flags of this run to the commands in a text.
    """
    if report.verified and not report.unrecorded and (record_text := recorded_keys_text(plan)):
        yield record_text
    yield from secret_url_hints(plan, report)
    if hint := revert_hint(plan, report):
        yield complete(hint)


def recorded_keys_text(plan: Plan) -> str:
    """Return how many changed keys of entries an apply wrote to the ids file; "" for none."""
    number_of_keys = len(plan.renamed_keys)
    entries_text = (
        "the key of 1 renamed entry"
        if number_of_keys == 1
        else f"the keys of {number_of_keys} renamed entries"
    )
    return f"dpsync updated {entries_text} in the ids file." if number_of_keys else ""


def secret_url_hints(plan: Plan, report: Report) -> Iterator[str]:
    """Yield where to copy the secret URLs of created objects, such as share links: a line for each kind."""
    addresses: dict[str, list[str]] = {}
    for change in applied_changes(plan, report).get("created", []):
        if secret_url_location(change.kind):
            addresses.setdefault(change.kind, []).append(visible(change.address))
    for kind, created_addresses in addresses.items():
        noun = "the URL" if len(created_addresses) == 1 else "the URLs"
        yield (
            f"To copy {noun} of {shorten_list(created_addresses)}, open {secret_url_location(kind)}. "
            f"dpsync does not print {noun}, because a {kind_noun(kind)} contains a secret."
        )


def revert_hint(plan: Plan, report: Report) -> str:
    """Return how to keep the objects that a revert created or restored; "" if there are none."""
    applied = report.applied_steps
    verbs = {step.verb for change in plan.changes for step in change.steps if step.id in applied}
    if plan.reverts is None or not verbs & {"create", "restore"}:
        return ""
    return (
        "To keep the restored objects, undo the change in your files (git log -p shows the commits, and git "
        f"revert undoes a commit), or add the entries again. Then run {format_command('apply')}. The apply "
        "recognizes the restored objects, and changes everything else in GitBook to match your files, such "
        "as the members of a team."
    )


NOTHING_APPLIED: Final = "Nothing was applied."
"""The end of each apply that was refused, declined, or interrupted before its first write."""


def unapplied_text(plan: Plan) -> str:
    """Return the sentence about a plan that was not applied; "" if it has no changes."""
    return NOTHING_APPLIED if plan.changes or plan.refusals else ""


def result_sentence(plan: Plan, report: Report) -> str:
    """Return the last sentence of an apply: whether GitBook now matches the files, according to a new plan.

    It also names what is missing or uncertain, and the next command. After a revert, GitBook need not match
    the files: the sentence says whether everything was reverted.
    """
    if report.interrupted:
        finish_command = (
            format_command("apply")
            if plan.reverts is None
            else format_command("revert", visible(plan.reverts.file))
        )
        return f"Interrupted. To finish the rest: {finish_command}"
    if report.remaining is None:
        return f"Not verified. To see the remaining changes: {format_command('plan')}"
    if report.settled:
        text = "Verified: a new plan has no changes."
        if plan.reverts is not None:
            not_reverted = not_reverted_text(plan.reverts)
            text = (
                f"Incomplete: {not_reverted}"
                if not_reverted
                else "Reverted: dpsync made all changes of the plan."
            )
            text += " Your files are unchanged."
        reasons = []
        if number := report.unsuccessful:
            verb = "was" if number == 1 else "were"
            reasons.append(f"{format_count(number, 'step')} {verb} not successful")
        if report.started:
            objects = format_count(len(report.started), "object")
            reasons.append(f"GitBook reports a problem with {objects} that this apply changed")
        if report.processing:
            objects = format_count(len(report.processing), "object")
            reasons.append(f"GitBook is still processing {objects} that this apply changed")
        if reasons:
            text = f"Incomplete: a new plan has no changes, but {' and '.join(reasons)}, see above."
        if report.remaining.blocked:
            text += f" {len(report.remaining.blocked)} blocked, see above."
        if report.processing:
            text += f" To check later: {format_command('plan')}"
        return text
    if report.as_declared:
        requests = format_count(report.count("unknown"), "request")
        return (
            f"Not certain: a new plan has no changes, but the result of {requests} is still unknown. "
            f"To check later: {format_command('plan')}"
        )
    return "Incomplete: a new plan still has changes."


def unkept_value_lines(report: Report) -> Iterator[str]:
    """Yield the values that an apply sent and GitBook did not keep, each with its live value and its fix."""
    for value in report.unkept:
        comparison = f"sent: {format_value(value.sent)}, live: {format_value(value.live)}"
        path, address = visible(value.path), visible(value.address)
        yield f"GitBook did not keep the value of {path} in {address} ({comparison})"
        yield f"    fix: {visible(value.way_out)}"


def plan_without_unkept(report: Report) -> Plan:
    """Return the plan after an apply without the fields whose sent values GitBook did not keep.

    `unkept_value_lines` reports these fields.
    """
    assert report.remaining is not None
    reported = {(value.address, value.field) for value in report.unkept}
    changes = []
    for change in report.remaining.changes:
        differences = tuple(
            difference
            for difference in change.differences
            if (change.address, difference.field) not in reported
        )
        if differences or change.moved or not change.differences:
            changes.append(change.model_copy(update={"differences": differences}))
    return report.remaining.model_copy(update={"changes": tuple(changes)})


def rehearsal_summary(rehearsal: Rehearsal) -> str:
    """Return how many steps were rehearsed, whether a new plan is empty, and the estimated time."""
    text = f"Rehearsed {rehearsal.done} of {format_count(rehearsal.steps, 'step')}. "
    text += "Verified: a new plan has no changes." if rehearsal.converged else "A new plan still has changes."
    if rehearsal.time is not None:
        text += f" Estimated time: {duration_text(rehearsal.time.seconds)}."
    if number := len(rehearsal.unproven):
        text += (
            f" {format_count(number, 'check')} {'was' if number == 1 else 'were'} not possible "
            "(-v lists them)."
        )
    return text


def rehearsal_verdict(rehearsal: Rehearsal) -> str:
    """Return in a sentence whether the rehearsal of a plan succeeded, so that the plan can be applied.

    A rehearsal applies the plan to a copy of the organization, also with simulated failures of requests.
    """
    if not rehearsal.deviations and not rehearsal.went_as_planned:
        failed, total = (
            sum(not run.good for run in rehearsal.faults),
            format_count(len(rehearsal.faults), "rehearsal"),
        )
        return f"The rehearsal failed: {failed} of {total} with simulated failures did not finish the plan."
    if not rehearsal.went_as_planned:
        number = format_count(len(rehearsal.deviations), "problem")
        return f"The rehearsal failed: {number} (listed above). Do not apply this plan."
    if not rehearsal.complete:
        return "The rehearsal succeeded. A person must do some steps of the plan by hand."
    return "The rehearsal succeeded."


def rehearsal_lines(rehearsal: Rehearsal) -> tuple[str, str]:
    """Return the result of a rehearsal in one line, and in another line what was not checked."""
    unverified_names = ", ".join(unverified.what for unverified in rehearsal.unproven)
    return (
        f"{rehearsal_summary(rehearsal)} {rehearsal_verdict(rehearsal)}",
        f"not checked: {unverified_names or 'nothing'}",
    )


def verified_properties(rehearsal: Rehearsal) -> Iterator[tuple[str, str]]:
    """Yield each property that the rehearsal verified: its topic, and a sentence about it.

    Nothing was verified if the copy of the organization could not be loaded, or if the rehearsal stopped.
    """
    deviating = {deviation.what for deviation in rehearsal.deviations}
    if "loading" in deviating or "stopped" in deviating:
        return
    if "step" not in deviating:
        moves = f", including {format_count(rehearsal.moves, 'move')}" if rehearsal.moves else ""
        yield "order", f"All {format_count(rehearsal.steps, 'step')} succeeded in the planned order{moves}."
    if rehearsal.converged:
        yield "convergence", "After the last step, a new plan had no changes."
    if "public" not in deviating and not any(
        unverified.what == "public" for unverified in rehearsal.unproven
    ):
        yield "public", "No step exposed an object temporarily."
    yield (
        "requests",
        f"The apply sends {rehearsal.writes} write requests and {rehearsal.reads} read requests.",
    )
    if rehearsal.time is not None:
        yield "time", estimate_text(rehearsal.time)


def estimate_text(estimate: Estimate) -> str:
    """Return the estimated duration of an apply, and how it is calculated."""
    latency = f"{estimate.latency * 1000:.0f} ms"
    reading, writing = duration_text(estimate.reading), duration_text(estimate.writing)
    steps = f"{writing} for the steps ({estimate.parallelism} steps in parallel, {latency} per request)"
    return (
        f"The apply takes about {duration_text(estimate.seconds)}: two reads of {reading} each, and {steps}."
    )


def duration_text(seconds: float) -> str:
    """Return a duration in whole seconds; in minutes from 2 minutes on."""
    if seconds < 120:
        return f"{max(1, round(seconds))} s"
    return f"{seconds / 60:.0f} min"


def deviation_text(deviation: Deviation) -> str:
    """Return the message of a deviation, with the status of the response if there is one."""
    status = f" (status {deviation.status})" if deviation.status is not None else ""
    return f"{visible(deviation.message)}{status}"


def unverifiable_text(unverified: Unproven) -> str:
    """Return a property that a rehearsal cannot check, with the objects that it concerns."""
    names = ", ".join(visible(name) for name in unverified.about)
    return f"{visible(unverified.message)}: {names}" if names else visible(unverified.message)


def fault_run_text(run: FaultRun) -> str:
    """Return in one line the simulated failures of a rehearsal, and how it ended."""
    return f"{', '.join(visible(fault) for fault in run.faults)}: {visible(run.end)}"


DRIFT_SIGNS = {"different": "~", "missing": "-", "undeclared": "+"}
_CAUSE_SUBJECTS: dict[str, LabeledPart] = {"missing": "made", "undeclared": "removed", "different": "place"}


def drift_verdict(drift: Drift) -> Iterator[str]:
    """Yield the sentences of the last line: how many objects differ, and how many open access."""
    if drift.drifted:
        yield f"Drift: {format_count(len(drift.found), 'object')}."
        opening_count = sum(
            max(drifted.opens, sum(field.opens for field in drifted.fields)) for drifted in drift.found
        )
        if opening_count:
            yield f"{format_count(opening_count, 'change')} open{'s' if opening_count == 1 else ''} access."
    else:
        yield "No drift in the objects that dpsync could read." if drift.unread else "No drift."
    if drift.blocked:
        yield f"{len(drift.blocked)} blocked."
    if drift.unread:
        yield f"Not checked: {format_count(len(drift.unread), 'object')} that this token cannot read."


def cascade_text(drifted: Drifted) -> str:
    """Return how many objects are removed together with an undeclared object; "" for none."""
    return DeleteCount(1, drifted.along).cascade_text


def last_change_text(event: LastEvent, cause: str, now: datetime | None) -> str:
    """Return who changed an object last and when: "changed outside by Ada, 2 hours ago".

    `cause` is the text of `drift_cause_text`. Without `now`, or if the time is unreadable or in the future,
    the time is as the platform has it.
    """
    time = visible(event.at)
    try:
        parsed = datetime.fromisoformat(event.at.replace("Z", "+00:00"))
    except ValueError:
        parsed = None
    if parsed is not None and now is not None:
        seconds = (now - (parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC))).total_seconds()
        if -60 < seconds < 60:
            time = "just now"
        for size, noun in ((86400, "day"), (3600, "hour"), (60, "minute")):
            if seconds >= size:
                time = f"{format_count(int(seconds // size), noun)} ago"
                break
    return f"{cause or 'last changed'} by {visible(event.actor)}, {time}"


def drift_cause_text(drifted: Drifted) -> str:
    """Return why a whole object differs, or why its position differs; "" if that is unknown."""
    return cause_label(drifted.cause, _CAUSE_SUBJECTS[drifted.what])
