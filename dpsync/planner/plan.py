"""Make a plan from the declared and the live state: this module shows all stages on one page.

`make_plan` takes `Sides` (files and live objects under one set of addresses) and makes decisions (what
happens to each object), steps (requests) and edges (their order), each from the values before, and returns a
`Plan`. Guards, notes and changes read the decisions. `with_all_differences` adds the differences that no
request of the plan ends, because they are blocked or refused: drift reports them, and `import --update` takes
them over.
"""

from __future__ import annotations

from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter

from msgspec import Struct
from msgspec.structs import replace

from dpsync.model.address import Address
from dpsync.model.change import Blocked, Change, Difference, Note
from dpsync.model.deferred import LazyMapping
from dpsync.model.desired import Desired
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
from dpsync.planner.navigation import changed_trees, navigation_changes
from dpsync.planner.notes import environment_key, environment_notes, find_notes, pattern_key
from dpsync.planner.publications import redirect_warnings, site_previews
from dpsync.planner.rebound_ids import find_candidates, proposal_notes
from dpsync.planner.requests import hidden_site_notes, write_steps
from dpsync.planner.selection import dependencies, find_selection
from dpsync.planner.sibling_order import sibling_moves
from dpsync.planner.sides import Options, Sides
from dpsync.planner.stepset import Edges, PlannedSteps
from dpsync.planner.unique_values import order_unique_values
from dpsync.planner.urls import url_impacts


def with_all_differences(sides: Sides, plan: Plan) -> Plan:
    """Add to a plan the differences between files and live objects that no request of the plan removes.

    Drift and `import --update` need them. An entry without a change in the plan gets one without steps.
    """
    differences_by_address = dict(_unwritten_differences(sides, plan))
    changes = [
        change.model_copy(
            update={"differences": (*change.differences, *differences_by_address.pop(change.address, ()))}
        )
        if change.address in differences_by_address
        else change
        for change in plan.changes
    ]
    for text, differences in differences_by_address.items():
        # These entries have no change in the plan: add a change without steps.
        address = Address.parse(text)
        entry, live = sides.entries[address], sides.live(address)
        changes.append(
            Change(
                address=text,
                kind=entry.kind,
                action="update",
                label=sides.names.label(entry),
                id=live.id if live else None,
                differences=differences,
            )
        )
    return plan.model_copy(update={"changes": tuple(changes)})


def _unwritten_differences(sides: Sides, plan: Plan) -> Iterator[tuple[str, tuple[Difference, ...]]]:
    """Yield, by address, the differences of selected live entries that no change of the plan contains.

    Differences of ignored fields and of fields that the platform never returns are left out.
    """
    planned = {
        (change.address, difference.field) for change in plan.changes for difference in change.differences
    }
    selection = find_selection(sides) if plan.part else None
    labels = Labels(sides)
    for address, entry in sides.entries.items():
        live, name = sides.live(address), str(address)
        is_selected = selection is None or address in selection.addresses
        if live is None or live.deleted or not is_selected or sides.policy.is_ignored(address):
            continue
        differences = tuple(
            change.difference(sides.values, entry, labels.field_label(entry, change))
            for change in (*changed_fields(sides, entry, live), *changed_defaults(sides, entry, live))
            if change.field.response_path is not None and (name, change.field.name) not in planned
        )
        if differences:
            yield name, differences


def unmanaged_objects_kept(sides: Sides, plan: Plan) -> list[LiveObject]:
    """Return the live objects without an entry that this and later plans leave as they are.

    The list is empty while the plan still has changes. Objects outside the selection are left out, and
    objects that a plan without blocks or without `--no-delete` would delete.
    """
    policy, blocked = sides.policy, {block.address for block in plan.blocked}
    if not (plan.can_apply and plan.empty) or policy.current.deletable_ids is not None:
        return []
    selection = find_selection(sides)
    objects: list[LiveObject] = []
    for list_address, identities in sides.snapshot.scopes.items():
        is_pruned = list_address in sides.desired.scopes and sides.desired.is_pruned(list_address)
        is_pending = is_pruned and not sides.options.delete
        for identity in identities if not is_pending else ():
            live, address = sides.snapshot.objects.get(identity), sides.names.address(identity)
            is_candidate = identity not in sides.names.declared and (
                selection is None or address in selection.addresses
            )
            if live is not None and not live.deleted and is_candidate and str(address) not in blocked:
                objects.append(live)
    return objects


class CircularPlanError(Exception):
    """Steps that wait for each other in a cycle, which is a fault in the declaration of a kind."""


def make_plan(sides: Sides) -> Plan:
    """Return the plan of everything, or of the selected part and what that part needs.

    `sides` are the files and the live objects. The plan is deterministic: equal input gives the same bytes.
    """
    parts = _decide_and_order(sides)
    selection = find_selection(sides)
    if selection is None:
        return parts.plan()
    addresses, prerequisites = selection.addresses, dict[Address, Address]()
    while True:
        # The selected part may need objects outside: add them and decide again, until nothing is missing.
        missing = dependencies(parts.decisions.sides, parts.steps, selection, addresses)
        if not missing and parts.decisions.sides.selected_addresses == addresses:
            return _with_selection(parts.plan(), sides.options, prerequisites)
        prerequisites |= missing
        addresses |= missing.keys()
        parts = _decide_and_order(replace(sides, selected_addresses=addresses))


def _with_selection(plan: Plan, options: Options, dependencies: dict[Address, Address]) -> Plan:
    """Return a plan with what the user selected (`--select`, `--exclude`) and what that needs in addition.

    `dependencies` has the needed addresses, each with an address that needs it. Those about which the plan
    says nothing are left out.
    """
    listed_addresses = {change.address for change in plan.changes} | {block.address for block in plan.blocked}
    prerequisites = (
        Prerequisite(address=str(address), needed_by=str(dependent))
        for address, dependent in sorted(dependencies.items())
        if str(address) in listed_addresses
    )
    part = Part(select=options.select, exclude=options.exclude, also=tuple(prerequisites))
    return plan.model_copy(update={"part": part})


def _decide_and_order(sides: Sides) -> _PlanParts:
    """Return the decisions, the steps that carry them out, and the order of the steps.

    Each value is made from the ones before: decisions, steps, edges of unique values and rules, sibling
    moves.

    Raises:
        CircularPlanError: Steps wait for each other.
    """
    decisions = decide(sides)
    written_steps = write_steps(decisions)
    unique_values = order_unique_values(decisions, written_steps)
    steps = written_steps.with_steps(unique_values.releasing)
    edges = [*unique_values.edges, *order_edges(decisions, steps)]
    order = sibling_moves(decisions, steps, Edges(edges))
    planned = PlannedSteps(steps.with_steps(order.moves), Edges([*edges, *order.edges]), order.out_of_place)
    _check_cycles(planned)
    return _PlanParts(decisions, planned, unique_values.refusals, order.order_unsupported)


def _check_cycles(planned: PlannedSteps) -> None:
    """Raise CircularPlanError if steps wait for each other in a cycle: no order could satisfy all edges."""
    sorter: TopologicalSorter[str] = TopologicalSorter()
    for step_id in planned.drafts.steps:
        sorter.add(step_id, *sorted(planned.edges.needs(step_id) | planned.edges.follows(step_id)))
    try:
        sorter.prepare()
    except CycleError as error:
        raise CircularPlanError(" → ".join(error.args[1])) from None


class _PlanParts(Struct, frozen=True):
    """What to do with each object (decisions), the requests for it (steps) and their order (edges)."""

    decisions: Decisions
    steps: PlannedSteps
    unique_value_refusals: tuple[Refusal, ...]
    """Refusals of values that another object has."""
    order_unsupported: tuple[Blocked, ...]

    def plan(self) -> Plan:
        """Return the plan: the changes, what the user must confirm, why the plan is refused, and notes."""
        decisions, sides = self.decisions, self.decisions.sides
        changes = build_changes(decisions, self.steps)
        navigations = tuple(changed_trees(decisions, changes))
        exposures = (
            *find_exposures(decisions, changes, navigations),
            *brief_exposures(decisions, self.steps),
        )
        candidates = find_candidates(sides)
        limits = effective_limits(sides.desired.policy, sides.base, sides.names)
        open_deletes = undecided_deletes(decisions)
        deletes = [change for change in changes if change.action == "delete"]
        exceeded = exceeded_limits(decisions, open_deletes, limits, deletes)
        identity_answers = identity_questions(decisions, candidates, open_deletes, bool(exceeded))
        identity_refusals = [*identity_answers.refusals, *exchanged_name_refusals(sides)]
        delete_answers = delete_questions(
            decisions, open_deletes, limits, deletes, exceeded, identity_answers.questioned_deletes
        )
        problems = [
            *self.unique_value_refusals,
            *find_refusals(decisions, limits, exposures, identity_refusals),
            *([delete_answers.refusal] if delete_answers.refusal is not None else []),
            *identity_refusals,
        ]
        refusals = sides.answers.unanswered_refusals(problems)
        answers = (
            decisions.requested_answers
            | delete_answers.requested_answers
            | identity_answers.requested_answers
            | requested_answers(problems)
        )
        notes = [
            *decisions.notes,
            *hidden_site_notes(decisions),
            *find_notes(sides, decisions.deletions, decisions.restructuring.all_trees),
            *git_sync_notes(sides, decisions.deletions.all_deleted),
            *proposal_notes(decisions, candidates),
            *transfer_notes(sides.names, decisions.transfers),
            *redirect_notes(decisions, changes),
            *redirect_warnings(decisions, navigations),
            *(
                Note(address=answer.flag, text=UNNEEDED_MESSAGE)
                for answer in sides.answers.unneeded_answers(answers)
            ),
            *environment_notes(sides.desired),
            *([delete_answers.note] if delete_answers.note is not None else []),
        ]
        blocked = [
            *decisions.blocking.reported(),
            *self.order_unsupported,
            *blocked_deletions(sides.names, decisions.deletions),
            *git_sync_blocks(sides),
        ]
        roots = sorted(
            address for address, entry in sides.entries.items() if entry.kind == sides.registry.root.name
        )
        organizations = [
            Organization(address=str(address), id=id)
            for address in roots
            if (id := sides.snapshot.live_id(address)) is not None
        ]
        return Plan(
            platform=sides.snapshot.platform,
            organizations=tuple(organizations),
            environment=sides.desired.environment.name if sides.desired.environment else None,
            environments=sides.desired.environments,
            profile=sides.registry.profile.name,
            confirmed=tuple(map(str, sides.answers.needed_answers(answers))),
            deleting=sides.options.delete,
            delete_decision=delete_answers.decision,
            changes=tuple(changes),
            exposures=exposures,
            navigation=tuple(navigation_changes(decisions, navigations)),
            urls=url_impacts(decisions, navigations),
            previews=site_previews(sides, changes),
            blocked=tuple(sorted(blocked, key=lambda reported: reported.address)),
            refusals=tuple(
                sorted(refusals, key=lambda refusal: (refusal.address, refusal.code, refusal.message))
            ),
            waiting=tuple(sorted(decisions.waiting, key=lambda reported: reported.address)),
            trouble=tuple(sorted(decisions.trouble, key=lambda reported: reported.address)),
            accepted=tuple(sorted(decisions.accepted, key=lambda reported: reported.address)),
            kept=decisions.deletions.kept_objects,
            notes=tuple(
                sorted(notes, key=lambda note: (note.severity != "warning", note.address, note.text))
            ),
            unproven=tuple(sorted(decisions.unverifiable)),
            base=sides.base.commit,
            base_from=sides.base.name,
            bindings={
                str(address): match.id
                for address, match in sides.snapshot.matches.items()
                if address in sides.desired.entries
            },
            unwatched=coverage(sides).count_unwatched(),
            requests=sides.snapshot.requests,
            pages=page_paths(sides, changes),
            origins=LazyMapping(lambda: _origins(sides.desired, sides.snapshot), Origin.of),
        )


def _origins(desired: Desired, snapshot: Snapshot) -> Iterator[tuple[str, Span]]:
    """Yield the source position of everything that a plan may name, by its name in the plan.

    Names are an address (`acme/teams/emea`), a field (`acme/teams/emea#title`), or the key of a policy
    pattern. If a name occurs twice, the last position counts.
    """
    yield from ((str(address), part.span) for address, part in desired.unsupported.items())
    yield from ((str(list_address), part.span) for list_address, part in snapshot.prune_unsafe.items())
    for address, entry in desired.entries.items():
        text = str(address)
        yield text, entry.span
        for name in entry.spans:
            yield f"{text}#{name}", entry.value_span(name)
    environment = desired.environment
    if environment is not None and environment.span is not None and environment.pending:
        yield environment_key(environment.name), environment.span
    policy = desired.policy
    names = ("prune", "protect", "removed", "ignore", "forget", "accept")
    lists = {name: getattr(policy, name) for name in names}
    lists["watch"] = (*policy.watch, *policy.watch_fields, *policy.watch_values)
    for name, patterns in lists.items():
        for pattern in patterns:
            if (span := pattern.span) is not None:
                yield pattern_key(name, pattern), span
