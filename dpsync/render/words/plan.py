"""The words in which every output tells a plan: one vocabulary, whatever the medium.

Reads plans and drift and nothing else. Every foreign text passes visible(); each output escapes what it is
given for its own medium, these words included. Nothing here knows a colour or a layout.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from dpsync.model.entries.address import FieldAddress
from dpsync.model.entries.match import MatchedBy
from dpsync.model.plans.cause import Cause, What, cause_text
from dpsync.model.plans.change import Action, Change, Difference
from dpsync.model.plans.delete_count import count_deletes
from dpsync.model.plans.drift import Drift
from dpsync.model.plans.grouping import parts
from dpsync.model.plans.plan import Origin, Plan
from dpsync.model.plans.remark import Kept
from dpsync.model.texts.words import counted, short_commit
from dpsync.render.words.visible import visible

SIGNS = {"create": "+", "update": "~", "delete": "-"}
SHOWN: Final = 5
"""Candidates of a question that are listed."""
PlanOrDrift = Plan | Drift
"""What says the same things beside its changes."""


def gist(change: Change) -> str:
    """What becomes of it, in a line without its address."""
    label = f'"{visible(change.label)}"'
    if change.action == "create":
        inside = change.inside.rpartition("/")[2] if change.inside else None
        return f"new {noun(change.kind)} {label}" + (f" in {visible(inside)}" if inside else "")
    if change.action == "delete":
        more = count_deletes([change]).more
        return f"DELETE {noun(change.kind)} {label}" + (f", {more}" if more else "")
    words = ["brought back"] if restored(change) else []
    words += [difference.field for difference in change.differences]
    if change.moved:
        words.append(f"moved {visible(change.moved)}")
    words += [visible(step.summary) for step in change.steps if step.verb == "act"]
    return ", ".join(words) or ("steps aside" if freed(change) else "")


def noun(kind: str) -> str:
    return kind.replace("_", " ")


def restored(change: Change) -> bool:
    return any(step.verb == "restore" for step in change.steps)


def freed(change: Change) -> bool:
    return any(step.phase == "free" for step in change.steps)


WHOLE: Final[dict[Action, What]] = {"create": "made", "delete": "removed", "update": "place"}
"""What the cause of a whole change is told of."""


def why(plan: PlanOrDrift, cause: Cause | None, what: What = "field") -> str:
    """Why something differs. Where there is no base, that is said once, beside it, and here nothing."""
    if cause is None or (plan.base is None and cause == "origin unknown"):
        return ""
    return cause_text(cause, what)


def kept(item: Difference) -> str:
    """Why a field is written that is as wanted; nothing where it is not."""
    if item.inherited is None:
        return ""
    return f"kept as its own: it may be that of {visible(item.inherited)}, which changes"


def why_at_all(plan: Plan, change: Change) -> str:
    """The same of a whole change: every word that holds for a part of it."""
    texts = [why(plan, item.cause) for item in change.differences if change.action == "update"]
    texts.append(why(plan, change.cause, WHOLE[change.action]))
    return ", ".join(filter(None, dict.fromkeys(texts)))


def recognised(plan: Plan, change: Change) -> str:
    """How its object was found, where that was not by the first natural key."""
    if not (change.matched and change.id):
        return ""
    match change.matched:
        case MatchedBy.PIN:
            how = "pinned"
        case MatchedBy.BASE:
            how = f"renamed: matched by its name in {visible(plan.base_from or 'the git base')}"
        case MatchedBy.PREVIOUSLY:
            how = "renamed: matched by previously"
        case MatchedBy.OTHER_LINE:
            how = f"matched by the line of {visible(change.matched_detail)}"
        case MatchedBy.TEMPORARY_NAME:
            how = "matched by its temporary name"
        case MatchedBy.CONTENTS:
            how = "matched by what is in it"
        case MatchedBy.LOOKS:
            how = "matched by its looks"
        case _:
            how = f"matched by {visible(change.matched_detail or change.matched)}"
    return f"{how} to {visible(change.id)}"


def facts(change: Change) -> Iterator[str]:
    """What is to be said of a change beside its fields."""
    if restored(change):
        yield "was deleted and is brought back; its places in other things are not"
    if change.action == "delete" and freed(change):
        yield "first gives up a value that another one takes"


def move_text(change: Change) -> str:
    """Where it goes among its siblings."""
    return f"moved {visible(change.moved or '')}"


def acts(change: Change) -> Iterator[str]:
    """What somebody asked for."""
    yield from (f"{visible(step.summary)}, as asked" for step in change.steps if step.verb == "act")


def headline(plan: Plan) -> str:
    """Above the deletes."""
    return f"DELETES: {count_deletes(plan.changes).things('will be gone')}"


def exposed_headline(plan: Plan) -> str:
    """Above what becomes more visible or more powerful."""
    number = len(plan.exposures)
    return f"Access: {counted(number, 'change')} {'opens' if number == 1 else 'open'} something up"


def refusals_glance(number: int) -> str:
    """Behind the number of refusals, where a plan is looked at for a moment."""
    return f"{_noun(number, 'reason')} not to apply it"


def deletes_glance(number: int) -> str:
    """Behind the number of things that are deleted."""
    return f"{_noun(number, 'thing')} to delete"


EXPOSURES_GLANCE: Final = "to open access"
"""Behind the number of changes that make something more visible or more powerful."""


def changes_glance(number: int) -> str:
    """Behind the number of things that are made, changed or moved."""
    return f"{_noun(number, 'thing')} to make, change or move"


def _noun(number: int, noun: str) -> str:
    return counted(number, noun).removeprefix(f"{number} ")


def unmanaged(kept: Kept, most: int | None = None) -> str:
    """What stays in a place although nobody declares it; `most` of the names."""
    names = kept.addresses if most is None or len(kept.addresses) <= most else kept.addresses[:most]
    short = ", ".join(visible(name.removeprefix(f"{kept.place}/")) for name in names)
    more = f" and {len(kept.addresses) - len(names)} more" if len(names) < len(kept.addresses) else ""
    return f"{len(kept.addresses)} unmanaged, kept: {short}{more}"


def counts(plan: Plan) -> dict[str, int]:
    """Changes by what they do, one per address. One that is both updated and moved counts as an update.

    Of what goes along with a delete nothing is in it: `deletes` says how many things that takes away.
    """
    return counted_changes(plan.changes)


def counted_changes(changes: Iterable[Change]) -> dict[str, int]:
    found = {"create": 0, "update": 0, "move": 0, "delete": 0}
    for change in changes:
        only_moved = change.action == "update" and not change.differences and change.moved
        found["move" if only_moved else change.action] += 1
    return found


def summary(plan: Plan) -> str:
    """What would be done, counted."""
    if plan.empty:
        return "No changes." + (f" {len(plan.blocked)} blocked." if plan.blocked else "")
    found = counts(plan)
    words = [
        f"{found['create']} to create",
        f"{found['update']} to change",
        *([f"{found['move']} to move"] if found["move"] else []),
        count_deletes(plan.changes).phrase("TO DELETE") if found["delete"] else "0 to delete",
        *([f"{len(plan.exposures)} TO OPEN ACCESS"] if plan.exposures else []),
        *([f"{len(plan.blocked)} blocked"] if plan.blocked else []),
    ]
    return f"Plan: {', '.join(words)}."


def divided(plan: Plan) -> list[str]:
    """The same for what this change does and for what was there already; nothing where that is all one."""
    found = parts(plan)
    if len(found) < 2 and not any(part.group == "there already" for part in found):
        return []
    words = {"create": "to create", "update": "to change", "move": "to move"}
    texts = []
    for part in found:
        numbers = counted_changes(part.items)
        said = [f"{numbers[do]} {words[do]}" for do in words if numbers[do]]
        said += [count_deletes(part.items).phrase("to delete")] if numbers["delete"] else []
        texts.append(f"{part.title}: {', '.join(said)}")
    return texts


def same_edits(plan: PlanOrDrift, most: int | None = 3) -> str:
    """What was edited here and is live already; `most` of the fields."""
    found = plan.same_edit_twice
    if not found:
        return ""
    names = ", ".join(map(visible, found[:most]))
    more = f" and {len(found) - most} more" if most is not None and len(found) > most else ""
    return f"same edit twice: {counted(len(found), 'field')} live already as edited here: {names}{more}"


def refused(plan: Plan) -> str:
    """Behind the summary of a plan that may not be applied. Of one without changes also why: nothing else
    tells what it would have done.
    """
    if plan.can_apply:
        return ""
    said = f"REFUSED, for {counted(len(plan.refusals), 'reason')}"
    if not plan.empty or not plan.refusals:
        return f"{said}."
    first = plan.refusals[0]
    more = f", and {len(plan.refusals) - 1} more" if len(plan.refusals) > 1 else ""
    return f"{said}: {visible(first.address)}: {visible(first.message)} ({first.code}){more}."


def effort(plan: Plan) -> str:
    """How many requests it took, and would take."""
    asked = f"{counted(plan.requests, 'request')} to read"
    if plan.empty:
        return f"({asked})"
    steps = [step for change in plan.changes for step in change.steps]
    writes = sum(step.method != "GET" for step in steps)
    # Some steps only read: they wait for the platform, or look for what another step has made.
    more = f" in {counted(len(steps), 'step')}" if len(steps) != writes else ""
    return f"({asked}, {writes} to write{more})"


def in_trouble(plan: PlanOrDrift) -> str:
    """How much is in trouble on the platform."""
    return f"{len(plan.trouble)} in trouble on the platform." if plan.trouble else ""


def base(plan: PlanOrDrift) -> str:
    """Which commit served as the git base, or why there is none."""
    if plan.base:
        return f"base: {visible(plan.base_from)} ({short_commit(plan.base)})"
    if not plan.base_from:
        return ""
    differs = plan.changes if isinstance(plan, Plan) else plan.found
    return f"base: none ({visible(plan.base_from)})" + (": origin unknown" if differs else "")


def coverage(plan: PlanOrDrift) -> str:
    """How much the files leave out: no plan and no drift compares it. A place counts as a list."""
    found = plan.unwatched
    words = [counted(found.places, "list")] if found.places else []
    words += [counted(found.fields, "field")] if found.fields else []
    said = " and ".join(words)
    return f"not compared: {said} that your files leave out (drift --unwatched lists them)" if words else ""


def origin(plan: PlanOrDrift, address: str) -> Origin | None:
    """Where an address or a field is written; of a field that is not, where its entry is."""
    return plan.origins.get(address) or plan.origins.get(str(FieldAddress.parse(address).address))


def edit_location(plan: PlanOrDrift, address: str, fields: Iterable[str]) -> Origin | None:
    """Return where to edit these fields: the first field if all are in one other file, else the entry."""
    whole = origin(plan, address)
    found = [plan.origins.get(f"{address}#{field}") for field in fields]
    first = found[0] if found else None
    if whole is None or first is None or first.file == whole.file:
        return whole
    return first if all(one is not None and one.file == first.file for one in found) else whole


def enclosing_origin(plan: PlanOrDrift, address: str) -> Origin | None:
    """Where the nearest thing is written that an address is in."""
    origins = (plan.origins.get(str(one)) for one in FieldAddress.parse(address).address.upward())
    return next(filter(None, origins), None)


def place(origin: Origin | None) -> str:
    return f"{visible(origin.file)}:{origin.line}:{origin.column}" if origin else ""
