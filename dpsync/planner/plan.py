"""Make a plan from the declared and the live state.

`make_plan` takes `Sides` (configuration and snapshot) and returns a `Plan`. Four values are made, each from
the ones before: both sides, decisions, steps, edges. Guards, notes and changes read the decisions.

`with_all_differences` adds the differences that no request of the plan ends, because they are blocked or
refused. Drift reports them, and `import --update` takes them over.
"""

from __future__ import annotations

from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter

from msgspec import Struct
from msgspec.structs import replace

from dpsync.model.address import Address
from dpsync.model.change import Blocked, Change, Difference, Note
from dpsync.model.deferred import LazyMapping
from dpsync.model.desired import Desired, Entry
from dpsync.model.nodes import Span
from dpsync.model.plan import Organization, Origin, Part, Plan, Prerequisite
from dpsync.model.question import Refusal
from dpsync.model.snapshot import LiveObject, Snapshot
from dpsync.planner.answers import UNNEEDED_MESSAGE, requested_answers
from dpsync.planner.changes import build_changes, git_sync_blocks, git_sync_notes, page_paths
from dpsync.planner.compare import changed_fields
from dpsync.planner.coverage import changed_defaults, coverage
from dpsync.planner.decide import Decisions, decide, transfer_notes
from dpsync.planner.delete_questions import (
    delete_questions,
    effective_limits,
    exceeded_limits,
    undecided_deletes,
)
from dpsync.planner.deletions import blocked_deletions
from dpsync.planner.edges import order_edges
from dpsync.planner.exposures import brief_exposures, find_exposures, redirect_notes
from dpsync.planner.guards import find_refusals
from dpsync.planner.identity_questions import exchanged_name_refusals, identity_questions
from dpsync.planner.labels import Labels
from dpsync.planner.outcome import changed_trees, navigation_changes
from dpsync.planner.publications import redirect_warnings, site_previews
from dpsync.planner.rebound_ids import find_candidates, proposal_notes
from dpsync.planner.remarks import environment_key, environment_notes, find_notes, pattern_key
from dpsync.planner.requests import hidden_site_notes, write_steps
from dpsync.planner.selection import dependencies, find_selection
from dpsync.planner.sibling_order import sibling_moves
from dpsync.planner.sides import Options, Sides
from dpsync.planner.stepset import Edges, PlannedSteps
from dpsync.planner.unique_values import order_unique_values
from dpsync.planner.urls import url_impacts


def with_all_differences(sides: Sides, plan: Plan) -> Plan:
    """Return the plan with all differences of each live entry, also those that no request ends."""
    left = dict(_unwritten_differences(sides, plan))
    changes = [
        change.model_copy(update={"differences": (*change.differences, *left.pop(change.address, ()))})
        if change.address in left
        else change
        for change in plan.changes
    ]
    changes += [
        _change_without_steps(sides, Address.parse(name), differences) for name, differences in left.items()
    ]
    return plan.model_copy(update={"changes": tuple(changes)})


def _unwritten_differences(sides: Sides, plan: Plan) -> Iterator[tuple[str, tuple[Difference, ...]]]:
    planned = {(change.address, item.field) for change in plan.changes for item in change.differences}
    part = find_selection(sides) if plan.part else None
    labels = Labels(sides)
    for address, resource in sides.entries.items():
        live, name = sides.live(address), str(address)
        selected = part is None or address in part.addresses
        if live is None or live.deleted or not selected or sides.policy.is_ignored(address):
            continue
        differences = tuple(
            item.difference(
                sides.values,
                resource,
                labels.field_label(resource, item),
            )
            for item in (*changed_fields(sides, resource, live), *changed_defaults(sides, resource, live))
            if item.field.response_path is not None and (name, item.field.name) not in planned
        )
        if differences:
            yield name, differences


def unmanaged_objects_kept(sides: Sides, plan: Plan) -> list[LiveObject]:
    """Return the live objects without an entry that stay as they are, once nothing of the plan is left.

    Not among them: an object outside the selection, or that a plan without blocks or `--no-delete` deletes.
    """
    policy, blocked = sides.policy, {item.address for item in plan.blocked}
    if not (plan.can_apply and plan.empty) or policy.current.deletable_ids is not None:
        return []
    part = find_selection(sides)
    found: list[LiveObject] = []
    for scope, identities in sides.snapshot.scopes.items():
        pruned = scope in sides.desired.scopes and sides.desired.is_pruned(scope)
        pending = pruned and not sides.options.delete
        for identity in identities if not pending else ():
            live, address = sides.snapshot.objects.get(identity), sides.names.address(identity)
            unlisted = identity not in sides.names.declared and (part is None or address in part.addresses)
            if live is not None and not live.deleted and unlisted and str(address) not in blocked:
                found.append(live)
    return found


def _change_without_steps(sides: Sides, address: Address, differences: tuple[Difference, ...]) -> Change:
    """Return a change without steps for an entry that has no change in the plan."""
    resource: Entry = sides.entries[address]
    live = sides.live(address)
    return Change(
        address=str(address),
        kind=resource.kind,
        action="update",
        label=sides.names.label(resource),
        id=live.id if live else None,
        differences=differences,
    )


class CircularPlanError(Exception):
    """Steps that wait for each other in a circle, which is a fault in the declaration of a kind."""


def _by_address(note: Note) -> tuple[bool, str, str]:
    return note.severity != "warning", note.address, note.text


def make_plan(sides: Sides) -> Plan:
    """Return the plan of everything, or of the selected part and what that part needs.

    The plan is deterministic: the same sides give the same bytes.
    """
    made = _decide_and_order(sides)
    selected = find_selection(sides)
    if selected is None:
        return made.plan()
    chosen, also = selected.addresses, dict[Address, Address]()
    while True:
        more = dependencies(made.decisions.sides, made.steps, selected, chosen)
        if not more and made.decisions.sides.selected_addresses == chosen:
            return _with_selection(made.plan(), sides.options, also)
        also |= more
        chosen |= more.keys()
        made = _decide_and_order(replace(sides, selected_addresses=chosen))


def _with_selection(plan: Plan, options: Options, dependencies: dict[Address, Address]) -> Plan:
    named = {change.address for change in plan.changes} | {item.address for item in plan.blocked}
    came = (
        Prerequisite(address=str(address), needed_by=str(by))
        for address, by in sorted(dependencies.items())
        if str(address) in named
    )
    part = Part(select=options.select, exclude=options.exclude, also=tuple(came))
    return plan.model_copy(update={"part": part})


def _decide_and_order(sides: Sides) -> _PlanParts:
    decisions = decide(sides)
    written = write_steps(decisions)
    unique = order_unique_values(decisions, written)
    steps = written.with_steps(unique.releasing)
    found = [*unique.edges, *order_edges(decisions, steps)]
    ordered = sibling_moves(decisions, steps, Edges(found))
    planned = PlannedSteps(
        steps.with_steps(ordered.moves), Edges([*found, *ordered.edges]), ordered.out_of_place
    )
    _check_cycles(planned)
    return _PlanParts(decisions, planned, unique.refusals, ordered.order_unsupported)


def _check_cycles(planned: PlannedSteps) -> None:
    sorter: TopologicalSorter[str] = TopologicalSorter()
    for id in planned.drafts.steps:
        sorter.add(id, *sorted(planned.edges.needs(id) | planned.edges.follows(id)))
    try:
        sorter.prepare()
    except CycleError as circle:
        raise CircularPlanError(" → ".join(circle.args[1])) from None


class _PlanParts(Struct, frozen=True):
    """Decisions with their steps and edges, from which a plan is built."""

    decisions: Decisions
    steps: PlannedSteps
    unique_value_refusals: tuple[Refusal, ...]
    """Refusals of values that another object has."""
    order_unsupported: tuple[Blocked, ...]

    def plan(self) -> Plan:
        """Collect changes, questions, refusals and notes, and return the plan."""
        decided, sides = self.decisions, self.decisions.sides
        found = build_changes(decided, self.steps)
        navigations = tuple(changed_trees(decided, found))
        exposed = (*find_exposures(decided, found, navigations), *brief_exposures(decided, self.steps))
        similar = find_candidates(sides)
        bounds = effective_limits(sides.desired.policy, sides.base, sides.names)
        undecided = undecided_deletes(decided)
        deletes = [change for change in found if change.action == "delete"]
        too_many = exceeded_limits(decided, undecided, bounds, deletes)
        identity = identity_questions(decided, similar, undecided, bool(too_many))
        who_is_who = [*identity.refusals, *exchanged_name_refusals(sides)]
        about_deletes = delete_questions(
            decided, undecided, bounds, deletes, too_many, identity.questioned_deletes
        )
        found_wrong = [
            *self.unique_value_refusals,
            *find_refusals(decided, bounds, exposed, who_is_who),
            *([about_deletes.refusal] if about_deletes.refusal is not None else []),
            *who_is_who,
        ]
        refused = sides.answers.unanswered_refusals(found_wrong)
        asked = (
            decided.requested_answers
            | about_deletes.requested_answers
            | identity.requested_answers
            | requested_answers(found_wrong)
        )
        notes = [
            *decided.notes,
            *hidden_site_notes(decided),
            *find_notes(sides, decided.deletions, decided.restructuring.all_trees),
            *git_sync_notes(sides, decided.deletions.all_deleted),
            *proposal_notes(decided, similar),
            *transfer_notes(sides.names, decided.transfers),
            *redirect_notes(decided, found),
            *redirect_warnings(decided, navigations),
            *(
                Note(address=answer.flag, text=UNNEEDED_MESSAGE)
                for answer in sides.answers.unneeded_answers(asked)
            ),
            *environment_notes(sides.desired),
            *([about_deletes.note] if about_deletes.note is not None else []),
        ]
        blocked = [
            *decided.blocking.reported(),
            *self.order_unsupported,
            *blocked_deletions(sides.names, decided.deletions),
            *git_sync_blocks(sides),
        ]
        return Plan(
            platform=sides.snapshot.platform,
            organizations=tuple(self._organizations()),
            environment=sides.desired.environment.name if sides.desired.environment else None,
            environments=sides.desired.environments,
            profile=sides.registry.profile.name,
            confirmed=tuple(map(str, sides.answers.needed_answers(asked))),
            deleting=sides.options.delete,
            delete_decision=about_deletes.decision,
            changes=tuple(found),
            exposures=exposed,
            navigation=tuple(navigation_changes(decided, navigations)),
            urls=url_impacts(decided, navigations),
            previews=site_previews(sides, found),
            blocked=tuple(sorted(blocked, key=lambda item: item.address)),
            refusals=tuple(sorted(refused, key=lambda item: (item.address, item.code, item.message))),
            waiting=tuple(sorted(decided.waiting, key=lambda item: item.address)),
            trouble=tuple(sorted(decided.trouble, key=lambda item: item.address)),
            accepted=tuple(sorted(decided.accepted, key=lambda item: item.address)),
            kept=decided.deletions.kept_objects,
            notes=tuple(sorted(notes, key=_by_address)),
            unproven=tuple(sorted(decided.unverifiable)),
            base=sides.base.commit,
            base_from=sides.base.name,
            bindings={
                str(address): match.id
                for address, match in sides.snapshot.matches.items()
                if address in sides.desired.entries
            },
            unwatched=coverage(sides).count_unwatched(),
            requests=sides.snapshot.requests,
            pages=page_paths(sides, found),
            origins=LazyMapping(lambda: _origins(sides.desired, sides.snapshot), Origin.of),
        )

    def _organizations(self) -> Iterator[Organization]:
        sides = self.decisions.sides
        root = sides.registry.root.name
        for address in sorted(at for at, entry in sides.entries.items() if entry.kind == root):
            id = sides.snapshot.live_id(address)
            if id is not None:
                yield Organization(address=str(address), id=id)


def _origins(desired: Desired, snapshot: Snapshot) -> Iterator[tuple[str, Span]]:
    """Yield the source position of everything that a plan may name; for equal names, the last one counts."""
    yield from ((str(address), item.span) for address, item in desired.unsupported.items())
    yield from ((str(place), item.span) for place, item in snapshot.prune_unsafe.items())
    for address, resource in desired.entries.items():
        text = str(address)
        yield text, resource.span
        for name in resource.spans:
            yield f"{text}#{name}", resource.value_span(name)
    environment = desired.environment
    if environment is not None and environment.span is not None and environment.pending:
        yield environment_key(environment.name), environment.span
    policy = desired.policy
    names = ("prune", "protect", "removed", "ignore", "forget", "accept")
    lists = {name: getattr(policy, name) for name in names}
    lists["watch"] = (*policy.watch, *policy.watch_fields, *policy.watch_values)
    for name, patterns in lists.items():
        for pattern in patterns:
            if (at := pattern.span) is not None:
                yield pattern_key(name, pattern), at
