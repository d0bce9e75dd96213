"""Store the steps of a plan (one request each), and the edges between steps that wait for each other.

Steps are written first (`requests`). Rules (`edges`, `unique_values`, `sibling_order`) then read decisions
(what happens to each object) and steps and return edges; no rule changes a step.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property
from graphlib import TopologicalSorter
from typing import Any, NamedTuple

from msgspec import Struct, field

from dpsync.model.address import Address
from dpsync.model.change import Gives, Phase, Repeat, Step, Verb
from dpsync.model.values import REF_MARKER, marker_names
from dpsync.planner.names import at_or_below


class Edge(NamedTuple):
    """The id of a step, and the id of the step that it waits for."""

    step: str
    waits_for: str
    may_have_failed: bool = False
    """Whether the other step may also fail; else it must succeed."""


class StepDraft(Struct, frozen=True):
    """A request of the plan before its order is known. `address` is the address of its change."""

    address: Address
    id: str
    verb: Verb
    phase: Phase | None
    method: str
    path: str
    repeat: Repeat
    body: Any = None
    gives: tuple[Gives, ...] = ()
    """The objects whose ids are known after this step."""
    answers: str | None = None
    whole: bool = False
    """Whether the request replaces the whole object, so that fields that it lacks are lost."""
    summary: str = ""
    fields: tuple[str, ...] = ()
    sibling: Address | None = None
    """The sibling next to which a move places the object."""

    def referenced_addresses(self) -> set[Address]:
        """Return the addresses of the objects whose ids the request needs, in its body and its path.

        These ids are unknown until the objects are created.
        """
        body_addresses = marker_names(self.body, REF_MARKER) | marker_names(
            [gives.id for gives in self.gives], REF_MARKER
        )
        path_addresses = [part.partition("}")[0] for part in self.path.split("{")[1:]]
        return {Address.parse(text) for text in {*body_addresses, *path_addresses}}

    def waits_for(self, *others: StepDraft) -> Iterator[Edge]:
        """Return the edges by which this step waits for other steps; a step never waits for itself."""
        return (Edge(self.id, other.id) for other in others if other.id != self.id)

    def with_edges(self, edges: Edges) -> Step:
        """Return this draft as a step of the plan, with the ids of the steps for which it waits.

        Those in `needs` must have succeeded, those in `follows` only have ended.
        """
        needs, follows = edges.needs(self.id), edges.follows(self.id)
        return Step(
            id=self.id,
            verb=self.verb,
            phase=self.phase,
            method=self.method,
            path=self.path,
            body=self.body,
            gives=self.gives,
            needs=tuple(sorted(needs)),
            follows=tuple(sorted(follows - needs)),
            repeat=self.repeat,
            answers=self.answers,
            whole=self.whole,
            summary=self.summary,
        )


class Edges:
    """All edges of a plan, by the step that waits."""

    def __init__(self, edges: Iterable[Edge]) -> None:
        needs: defaultdict[str, set[str]] = defaultdict(set)
        follows: defaultdict[str, set[str]] = defaultdict(set)
        for edge in edges:
            (follows if edge.may_have_failed else needs)[edge.step].add(edge.waits_for)
        self._needs: Mapping[str, AbstractSet[str]] = needs
        self._follows: Mapping[str, AbstractSet[str]] = follows

    def needs(self, step_id: str) -> AbstractSet[str]:
        """Return the ids of the steps that must succeed before a step."""
        return self._needs.get(step_id, frozenset())

    def follows(self, step_id: str) -> AbstractSet[str]:
        """Return the ids of the steps that must end before a step, whether or not they succeed."""
        return self._follows.get(step_id, frozenset())


class StepSet(Struct, frozen=True, dict=True):
    """The steps of a plan, by id and by the address of their change."""

    steps: Mapping[str, StepDraft] = field(default_factory=dict)
    by_address: Mapping[Address, Sequence[StepDraft]] = field(default_factory=dict)
    creating_steps: Mapping[Address, str] = field(default_factory=dict)
    """The id of the step that returns the id of each object to create."""

    def with_steps(
        self, drafts: Iterable[StepDraft], creating_steps: Mapping[Address, str] | None = None
    ) -> StepSet:
        """Return a new set with more steps.

        `creating_steps` has the ids of new steps that make an object usable without returning its id (a
        restore or a transfer), by address of the object.
        """
        steps, all_creating_steps = dict(self.steps), dict(self.creating_steps)
        by_address = {address: list(drafts) for address, drafts in self.by_address.items()}
        for draft in drafts:
            steps[draft.id] = draft
            by_address.setdefault(draft.address, []).append(draft)
            all_creating_steps |= {gives.location: draft.id for gives in draft.gives}
        return StepSet(steps, by_address, {**all_creating_steps, **(creating_steps or {})})

    def creating_step(self, address: Address) -> StepDraft | None:
        """Return the step that creates, restores or transfers the object at an address, if there is one."""
        return self.steps.get(self.creating_steps.get(address, ""))

    def steps_of(self, address: Address, *verbs_and_phases: Verb | Phase) -> list[StepDraft]:
        """Return the steps of an address in the order of addition: all, or those with a given verb or phase.

        Steps that write one field have a phase, such as "place" (the field that says where the object is),
        and are found only by it; other steps are found by their verb, such as "create".
        """
        steps = self.by_address.get(address, ())
        return [
            step for step in steps if not verbs_and_phases or (step.phase or step.verb) in verbs_and_phases
        ]

    def steps_below(self, address: Address) -> Iterator[StepDraft]:
        """Yield the steps of an address and of all addresses inside it."""
        for other in at_or_below(self._sorted_addresses, address):
            yield from self.by_address[other]

    @cached_property
    def _sorted_addresses(self) -> list[Address]:
        """The addresses of all changes, sorted for `steps_below`."""
        return sorted(self.by_address)


class PlannedSteps(Struct, frozen=True):
    """The steps of a plan with all edges."""

    drafts: StepSet
    edges: Edges
    out_of_place: frozenset[Address] = frozenset()
    """Siblings that must move but were not selected, so that no other sibling can be placed next to them."""

    def steps_of(self, address: Address) -> tuple[Step, ...]:
        """Return the finished steps of an address, with the ids of the steps for which they wait."""
        return tuple(step.with_edges(self.edges) for step in self.drafts.steps_of(address))


def in_dependency_order(steps: list[StepDraft], edges: Edges) -> list[StepDraft]:
    """Return the steps so that each follows the steps that it needs, otherwise in their given order."""
    by_id = {step.id: step for step in steps}
    sorter: TopologicalSorter[str] = TopologicalSorter()
    for step in steps:
        sorter.add(step.id, *sorted(need for need in edges.needs(step.id) if need in by_id))
    return [by_id[id] for id in sorter.static_order()]
