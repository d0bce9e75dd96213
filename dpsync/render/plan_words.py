"""Describe plans in sentences for all formats: changes, verdict, locations, platform.

The functions read plans and drifts only. Every foreign text passes `visible()`; each format escapes the
sentences again. Colors and layout are in other modules.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final, Literal

from dpsync.model.address import FieldAddress
from dpsync.model.change import Action, Cause, Change, Difference, Exposure, Kept, LabeledPart, cause_text
from dpsync.model.drift import Drift
from dpsync.model.plan import Origin, Plan, Reverted
from dpsync.model.snapshot import MatchedBy
from dpsync.model.text import format_command, format_count, join_with_and, short_commit, shorten_list
from dpsync.render.names import delete_effect, delete_noun, kind_noun
from dpsync.render.url_words import is_broken
from dpsync.render.visible import visible

SIGNS: Final[dict[Action, str]] = {"create": "+", "update": "~", "delete": "-"}
MAX_CANDIDATES: Final = 5
"""The number of candidates of a question that are listed."""
_MAX_MISSING_LISTS: Final = 20
"""The largest number of lists to name that a person must add to the files."""
PlanOrDrift = Plan | Drift
"""Both have origins, notes, blockers and refusals."""


def is_restored(change: Change) -> bool:
    """Return whether a change restores a deleted object."""
    return any(step.verb == "restore" for step in change.steps)


def frees_unique_value(change: Change) -> bool:
    """Return whether a step changes a unique value first, so that another object can have the value."""
    return any(step.phase == "free" for step in change.steps)


WHOLE_CHANGE_SUBJECTS: Final[dict[Action, LabeledPart]] = {
    "create": "made",
    "delete": "removed",
    "update": "place",
}
"""The subject in the label of a cause that applies to a whole change."""


def cause_label(cause: Cause | None, subject: LabeledPart = "field") -> str:
    """Return the label of a cause in words, such as "edited here"; "" without a cause."""
    return cause_text(cause, subject) if cause is not None else ""


def kept_value_reason(difference: Difference) -> str:
    """Return why a field is written although its value does not change; "" for other fields.

    `inherited` of the difference names the object from which the object could inherit the value.
    """
    if difference.inherited is None:
        return ""
    return (
        "dpsync also writes this unchanged value, because this object can inherit the value from "
        f"{visible(difference.inherited)}, which changes"
    )


def match_text(plan: Plan, change: Change) -> str:
    """Return how the object of a change was matched with its entry, such as "pinned to team-3".

    "" if the plan has nothing to say: for a new object, and for a match by the first natural key.
    """
    if not (change.matched and change.id):
        return ""
    match change.matched:
        case MatchedBy.PIN:
            reason = "pinned"
        case MatchedBy.BASE | MatchedBy.EARLIER_COMMIT:
            commit = plan.base_from or "git"
            if change.matched == MatchedBy.EARLIER_COMMIT:
                commit = f"commit {short_commit(change.matched_detail)}"
            reason = f"found by the name that the entry had in {visible(commit)}"
            return f"renamed: object {visible(change.id)}, {reason}"
        case MatchedBy.PREVIOUSLY:
            reason = "renamed: matched by previously"
        case MatchedBy.OTHER_IDS_LINE:
            reason = f"matched by the line of {visible(change.matched_detail)} in the ids file"
        case MatchedBy.TEMPORARY_NAME:
            reason = "matched by its temporary name"
        case MatchedBy.SAME_CONTENTS:
            reason = "matched by its contents"
        case MatchedBy.SIMILARITY:
            reason = "matched by a similar title or position"
        case _:
            reason = f"matched by {visible(change.matched_detail or change.matched)}"
    return f"{reason} to {visible(change.id)}"


def change_remarks(change: Change) -> Iterator[str]:
    """Yield what a user must know about a change apart from its fields."""
    if is_restored(change):
        yield "restored after a delete. References to the object are not restored"
    if change.action == "delete" and frees_unique_value(change):
        yield "before the delete, dpsync replaces a unique value, so that another object can have the value"


def is_said_by_field_line(exposure: Exposure) -> bool:
    """Return whether the line of a field already says everything about an exposure.

    Then no sentence repeats it.
    """
    text = exposure.words
    return text.startswith(("new, with ", "a new ")) or (
        text.startswith((f"{exposure.field} ", f"{exposure.field}:")) and " may open " not in text
    )


def move_text(change: Change) -> str:
    """Return the new position among the siblings as a sentence."""
    return f"moved {visible(change.moved or '')}"


def confirmed_actions(change: Change) -> Iterator[str]:
    """Yield the actions that a user requested with --confirm, such as sending an invitation again."""
    yield from (f"{visible(step.summary)}, as asked" for step in change.steps if step.verb == "act")


def refusals_figure_text(number: int) -> str:
    """Return the text of the key figure for refusals; the number goes before it."""
    return f"{_noun_for(number, 'reason')} why dpsync refuses the plan"


EXPOSURES_FIGURE_TEXT: Final = "to open access"
"""The text of the key figure for changes that let somebody see or do more."""


def changes_figure_text(number: int) -> str:
    """Return the text of the key figure for creates, updates and moves; the number goes before it."""
    return f"{_noun_for(number, 'object')} to create, change or move"


def _noun_for(number: int, noun: str) -> str:
    """Return a noun as singular or plural for a number."""
    return format_count(number, noun).removeprefix(f"{number} ")


def unmanaged_text(kept: Kept) -> str:
    """Return the number and the names of the objects in a list that have no entry."""
    names = ", ".join(visible(name.removeprefix(f"{kept.place}/")) for name in kept.addresses)
    return f"{len(kept.addresses)} unmanaged, kept: {names}"


def count_changes(plan: Plan) -> dict[str, int]:
    """Return the number of changes by action. A change that also moves its object counts as an update.

    Cascades of a delete do not count; `Plan.deletes` has the number of all deleted objects.
    """
    return count_by_category(plan.changes)


def count_by_category(changes: Iterable[Change]) -> dict[str, int]:
    """Return the number of changes by category: create, update, move, delete. Numbers may be 0."""
    counts = {"create": 0, "update": 0, "move": 0, "delete": 0}
    for change in changes:
        counts[category(change)] += 1
    return counts


def category(change: Change) -> Action | Literal["move"]:
    """Return the action of a change, or "move" if the change only moves its object."""
    is_moved = change.action == "update" and not change.differences and change.moved
    return "move" if is_moved else change.action


def changes_shown_in_parent(plan: Plan) -> dict[str, Change]:
    """Return the created objects that are shown in the entry of their parent, by address.

    The platform creates such an object with its parent, and the object is the only child with one field to
    show.
    """
    created = {change.address: change for change in plan.changes if change.action == "create"}
    remarked = {remark.address for remark in (*plan.exposures, *plan.blocked, *plan.notes)}
    remarked |= {refusal.address for refusal in plan.refusals}
    candidates: dict[str, Change] = {}
    parents: Counter[str] = Counter()
    for address, change in created.items():
        parent = address.rpartition("/")[0]
        parents[parent] += 1
        has_no_create = all(step.verb != "create" for step in change.steps)
        differences = [difference for difference in change.differences if difference.field != "path"]
        if parent in created and has_no_create and len(differences) == 1 and address not in remarked:
            candidates[address] = change
    return {
        address: change for address, change in candidates.items() if parents[address.rpartition("/")[0]] == 1
    }


def plan_verdict(plan: Plan) -> Iterator[str]:
    """Yield the sentences of the verdict: the changes by action, and what a person should check.

    These are blocked objects, opened access and public URLs that stop working.
    """
    if plan.empty and plan.can_apply:
        yield f"No changes{_part_text(plan)}."
        if plan.reverts is not None:
            yield not_reverted_text(plan.reverts) or "Nothing of this apply is left to revert."
        elif not plan.blocked and plan.part is None:
            names = [visible(organization.address) for organization in plan.organizations]
            verb = "matches" if len(names) < 2 else "match"
            yield f"{join_with_and(names) if names else 'GitBook'} {verb} your files."
    elif not plan.empty:
        verbs = {"create": "to create", "update": "to change", "move": "to move"}
        shown_in_parents = changes_shown_in_parent(plan)
        counts = count_by_category(
            change for change in plan.changes if change.address not in shown_in_parents
        )
        parts = [f"{counts[key]} {verb}" for key, verb in verbs.items() if counts[key]]
        parts += [f"{plan.deletes} to delete{_deleted_kinds(plan)}"] if counts["delete"] else []
        yield f"Plan{_part_text(plan)}: {', '.join(parts)}."
    if plan.blocked:
        yield f"{len(plan.blocked)} blocked."
    if number := len({exposure.address for exposure in plan.exposures}):
        ways_text = f" in {len(plan.exposures)} ways" if len(plan.exposures) > number else ""
        yield f"{format_count(number, 'change')} open{'s' if number == 1 else ''} access{ways_text}."
    if number := sum(map(is_broken, plan.urls)):
        yield f"{format_count(number, 'public URL')} stop{'s' if number == 1 else ''} working."


def not_reverted_text(revert: Reverted) -> str:
    """Return which objects and fields a revert does not restore; "" if it restores everything."""
    not_reverted = [visible(address) for address in revert.left]
    return f"dpsync does not revert {shorten_list(not_reverted)}, see above." if not_reverted else ""


def _part_text(plan: Plan) -> str:
    """Return the selection of a plan: " for ADDRESS" or " for the selected part"; "" for a whole plan."""
    part = plan.part
    if part is None:
        return ""
    if len(part.select) == 1 and not part.exclude:
        return f" for {visible(part.select[0])}"
    return " for the selected part"


def _deleted_kinds(plan: Plan) -> str:
    """Return the deleted objects by kind in brackets, such as " (2 spaces, 1 site)"; "" for one object."""
    kinds: Counter[str] = Counter()
    for change in plan.changes:
        if change.action == "delete":
            kinds[delete_noun(change.kind)] += 1
            kinds += Counter(delete_noun(effect.kind) for effect in change.effects if effect.counts)
    if kinds.total() < 2:
        return ""
    return f" ({', '.join(format_count(number, noun) for noun, number in kinds.items())})"


def delete_effects(change: Change) -> str:
    """Return the consequences of a delete: for people, for objects inside, and for references.

    An example: "also removes 2 pages; site "Docs" loses its default space".
    """
    kinds = Counter(delete_noun(effect.kind) for effect in change.effects if effect.counts)
    consequence = delete_effect(change.kind)
    parts = [consequence] if consequence else []
    if kinds:
        parts.append(
            f"also removes {join_with_and([format_count(number, noun) for noun, number in kinds.items()])}"
        )
    lost_references = [effect for effect in change.effects if "#" in effect.address and effect.kind]
    for effect in lost_references[:MAX_CANDIDATES]:
        field = visible(effect.address.partition("#")[2])
        field_words = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", field).lower()  # defaultTeam: default team
        parts.append(f'{kind_noun(effect.kind)} "{visible(effect.label)}" loses its {field_words}')
    omitted_count = len(lost_references) - MAX_CANDIDATES
    if omitted_count > 0:
        parts.append(f"{omitted_count} more objects lose a reference")
    return "; ".join(parts)


def refusal_text(plan: Plan) -> str:
    """Return that a plan cannot be applied, and the number of reasons; "" if it can be applied."""
    if plan.can_apply:
        return ""
    return f"This plan cannot be applied, for {format_count(len(plan.refusals), 'reason')}."


def request_counts_text(plan: Plan) -> str:
    """Return how many requests the plan took, and how many the apply will send."""
    reads_text = f"{format_count(plan.requests, 'request')} to read"
    if plan.empty:
        return reads_text
    steps = [step for change in plan.changes for step in change.steps]
    writes = sum(step.method != "GET" for step in steps)
    # Some steps only read: they wait for the platform, or look for what another step has made.
    steps_text = f" in {format_count(len(steps), 'step')}" if len(steps) != writes else ""
    return f"{reads_text}, {writes} to write{steps_text}"


def missing_access_lists_text(plan: Plan) -> str:
    """Return which lists the files lack, so that a plan cannot tell who gains access; "" if none is missing.

    `Exposure.missing` has the lists in words, such as "the permissions of all sites".
    """
    missing_lists = sorted({visible(name) for exposure in plan.exposures for name in exposure.missing})
    permissions_prefix = "the permissions of "
    permission_lists = [
        name.removeprefix(permissions_prefix) for name in missing_lists if name.startswith(permissions_prefix)
    ]
    whole_site_lists = [name for name in permission_lists if name.startswith("all ")]
    other_lists = [name for name in missing_lists if not name.startswith(permissions_prefix)]
    texts = [shorten_list(other_lists, _MAX_MISSING_LISTS)] if other_lists else []
    if permission_lists:
        empty_hint = (
            "if empty: permissions: { members: {}, teams: {} }. Empty lists need policy: watch: access"
        )
        names = shorten_list(whole_site_lists or permission_lists, _MAX_MISSING_LISTS)
        texts.append(f"{permissions_prefix}{names} ({empty_hint})")
    return f"To see who gains access, add to your files: {', '.join(texts)}" if texts else ""


def platform_problems_text(plan: PlanOrDrift) -> str:
    """Return how many objects have a problem on the platform, and the command that lists them."""
    number = len({trouble.address for trouble in plan.trouble})
    verb = "has" if number == 1 else "have"
    count_text = f"{format_count(number, 'object')} {verb} a problem on GitBook's side"
    return f"{count_text}: {format_command('doctor')}" if number else ""


def renamed_keys_text(plan: Plan) -> str:
    """Return which entries have another key than in the ids file, and how to record the key; "" for none."""
    changes = [f"{visible(old)} → {visible(new)}" for new, old in plan.renamed_keys.items()]
    number = "1 entry has another key" if len(changes) == 1 else f"{len(changes)} entries have other keys"
    return (
        f"{number} than in the ids file: {shorten_list(changes)}. To update the ids file: "
        f"{format_command('apply')}"
        if changes
        else ""
    )


def base_text(plan: PlanOrDrift) -> str:
    """Return the commit with which dpsync compares the files, or why there is none."""
    if plan.base:
        return f"base: {visible(plan.base_from)} ({short_commit(plan.base)})"
    if not plan.base_from:
        return ""
    return f"base: none ({visible(plan.base_from)})"


def coverage_text(plan: PlanOrDrift) -> str:
    """Return how many lists and fields dpsync does not compare, because the files do not have them."""
    unwatched = plan.unwatched
    counts = [format_count(unwatched.places, "list")] if unwatched.places else []
    counts += [format_count(unwatched.fields, "field")] if unwatched.fields else []
    counts_text = " and ".join(counts)
    return (
        f"not compared: {counts_text} that are not in your files. To list them: "
        f"{format_command('drift', '--unwatched')}"
        if counts
        else ""
    )


def find_origin(plan: PlanOrDrift, address: str) -> Origin | None:
    """Return where an address or a field is written in the files; None if its entry is not in the files.

    For a field that is not written, this is the location of its entry.
    """
    return plan.origins.get(address) or plan.origins.get(str(FieldAddress.parse(address).address))


def edit_location(plan: PlanOrDrift, address: str, fields: Iterable[str]) -> Origin | None:
    """Return where to edit these fields of an object.

    This is the first field if all fields are in one file that is not the file of the entry; else the entry.
    """
    entry_origin = find_origin(plan, address)
    field_origins = [plan.origins.get(f"{address}#{field}") for field in fields]
    first = field_origins[0] if field_origins else None
    if entry_origin is None or first is None or first.file == entry_origin.file:
        return entry_origin
    return (
        first
        if all(origin is not None and origin.file == first.file for origin in field_origins)
        else entry_origin
    )


def enclosing_origin(plan: PlanOrDrift, address: str) -> Origin | None:
    """Return where the nearest declared object is written that contains an address."""
    origins = (
        plan.origins.get(str(ancestor))
        for ancestor in FieldAddress.parse(address).address.self_and_ancestors()
    )
    return next(filter(None, origins), None)


def location_text(origin: Origin | None) -> str:
    """Return an origin as FILE:LINE; "" for None."""
    return f"{visible(origin.file)}:{origin.line}" if origin else ""


DEFAULT_PROFILE = "full"
"""The default profile, which is not shown."""


def target_lines(plan: PlanOrDrift) -> list[str]:
    """Return lines about the target of a plan, so that nobody applies to another target by mistake.

    These are the platform with its organizations, and the environment, API version and selection if they are
    not the defaults.
    """
    lines = []
    if plan.platform:
        names = [
            visible(organization.address)
            if organization.id == organization.address
            else f"{visible(organization.address)} (id {visible(organization.id)})"
            for organization in plan.organizations
        ]
        noun = "organizations" if len(names) > 1 else "organization"
        lines.append(f"platform: {visible(plan.platform)}, {noun}: {', '.join(names) or 'none'}")
    if plan.environment:
        lines.append(f"environment: {visible(plan.environment)}")
    elif plan.environments:
        choices = ", ".join(visible(name) for name in plan.environments)
        lines.append(f"environment: none (to choose an environment, add --env with one of: {choices})")
    if plan.profile != DEFAULT_PROFILE:
        lines.append(f"API version (profile): {visible(plan.profile)}")
    if plan.part is not None:
        for label, patterns in (("only", plan.part.select), ("without", plan.part.exclude)):
            if patterns:
                lines.append(f"{label}: {', '.join(visible(text) for text in patterns)}")
    return lines


def part_lines(plan: PlanOrDrift) -> Iterator[str]:
    """Yield the objects that are planned although nobody selected them, with the objects that need them."""
    if plan.part is not None:
        for added in plan.part.also:
            yield f"also planned: {visible(added.address)}, because {visible(added.needed_by)} needs it"
