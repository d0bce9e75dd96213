"""The steps of a plan, and the edges between them: what a step waits for.

Steps are written first. Rules (`edges`, `unique`, `lanes`) then read decisions and steps and return edges;
no rule changes a step.
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
from dpsync.model.values import REF, markers
from dpsync.planner.history import at_or_below


class Edge(NamedTuple):
    """A step that waits for another one, both by their ids."""

    step: str
    on: str
    only_ended: bool = False
    """Whether it is enough that the other one ended; else it must have succeeded."""


class StepDraft(Struct, frozen=True):
    """A step without its edges. `address` is the change it belongs to."""

    address: Address
    id: str
    verb: Verb
    phase: Phase | None
    method: str
    path: str
    repeat: Repeat
    body: Any = None
    gives: tuple[Gives, ...] = ()
    answers: str | None = None
    whole: bool = False
    summary: str = ""
    fields: tuple[str, ...] = ()
    sibling: Address | None = None
    """The sibling that it is placed next to."""

    def refers(self) -> set[Address]:
        """The addresses whose ids must be known before it can be sent."""
        named = markers(self.body, REF) | markers([gives.id for gives in self.gives], REF)
        inside = [part.partition("}")[0] for part in self.path.split("{")[1:]]
        return {Address.parse(text) for text in {*named, *inside}}

    def waits_for(self, *others: StepDraft) -> Iterator[Edge]:
        """The edges to other steps; a step never waits for itself."""
        return (Edge(self.id, other.id) for other in others if other.id != self.id)

    def with_edges(self, edges: Edges) -> Step:
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
            (follows if edge.only_ended else needs)[edge.step].add(edge.on)
        self._needs: Mapping[str, AbstractSet[str]] = needs
        self._follows: Mapping[str, AbstractSet[str]] = follows

    def needs(self, id: str) -> AbstractSet[str]:
        """The steps that must have succeeded before."""
        return self._needs.get(id, frozenset())

    def follows(self, id: str) -> AbstractSet[str]:
        """The steps that must have ended before, whatever came of them."""
        return self._follows.get(id, frozenset())


class StepSet(Struct, frozen=True, dict=True):
    """Every step of a plan, by id and by the address it belongs to."""

    steps: Mapping[str, StepDraft] = field(default_factory=dict)
    by_address: Mapping[Address, Sequence[StepDraft]] = field(default_factory=dict)
    makers: Mapping[Address, str] = field(default_factory=dict)
    """Which step gives an address its id."""

    def plus(self, drafts: Iterable[StepDraft], makers: Mapping[Address, str] | None = None) -> StepSet:
        """These steps and more, as another set.

        `makers`: by address, the new steps that give it its id and do not say so in `gives`.
        """
        steps, known = dict(self.steps), dict(self.makers)
        by_address = {address: list(drafts) for address, drafts in self.by_address.items()}
        for draft in drafts:
            steps[draft.id] = draft
            by_address.setdefault(draft.address, []).append(draft)
            known |= {gives.location: draft.id for gives in draft.gives}
        return StepSet(steps, by_address, {**known, **(makers or {})})

    def maker(self, address: Address) -> StepDraft | None:
        """The step that gives an address its id."""
        return self.steps.get(self.makers.get(address, ""))

    def of(self, address: Address, *words: Verb | Phase) -> list[StepDraft]:
        """The steps of one address, all or some, in the order they were added.

        One that has a phase is asked for by that, any other by its verb.
        """
        steps = self.by_address.get(address, ())
        return [step for step in steps if not words or (step.phase or step.verb) in words]

    def below(self, address: Address) -> Iterator[StepDraft]:
        """The steps of this address and of everything under it."""
        for other in at_or_below(self._in_order, address):
            yield from self.by_address[other]

    @cached_property
    def _in_order(self) -> list[Address]:
        return sorted(self.by_address)


class PlannedSteps(Struct, frozen=True):
    """Every step of a plan with every edge."""

    drafts: StepSet
    edges: Edges
    out_of_place: frozenset[Address] = frozenset()
    """Siblings that were not selected and would have to be moved: nothing can be placed beside them."""

    def of(self, address: Address) -> tuple[Step, ...]:
        """The finished steps of one address."""
        return tuple(step.with_edges(self.edges) for step in self.drafts.of(address))


def by_needs(steps: list[StepDraft], edges: Edges) -> list[StepDraft]:
    """The steps in their order, except that what another one needs comes first."""
    by_id = {step.id: step for step in steps}
    sorter: TopologicalSorter[str] = TopologicalSorter()
    for step in steps:
        sorter.add(step.id, *sorted(need for need in edges.needs(step.id) if need in by_id))
    return [by_id[id] for id in sorter.static_order()]
