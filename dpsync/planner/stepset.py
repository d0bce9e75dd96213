"""The steps of a plan while it is made: they still get edges, then they are frozen."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from graphlib import TopologicalSorter
from typing import Any

from dpsync.model.address import Address
from dpsync.model.plan import Gives, Phase, Repeat, Step, Verb
from dpsync.model.values import REF, markers
from dpsync.planner.lineage import at_or_below


@dataclass
class StepDraft:
    """A step that still gets edges. `address` is the change it belongs to."""

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
    beside: Address | None = None
    """The sibling that it is placed next to."""
    needs: set[str] = field(default_factory=set)
    follows: set[str] = field(default_factory=set)

    def refers(self) -> set[Address]:
        """The addresses whose ids must be known before it can be sent."""
        named = markers(self.body, REF) | markers([gives.id for gives in self.gives], REF)
        inside = [part.partition("}")[0] for part in self.path.split("{")[1:]]
        return {Address.parse(text) for text in {*named, *inside}}

    def frozen(self) -> Step:
        return Step(
            id=self.id,
            verb=self.verb,
            phase=self.phase,
            method=self.method,
            path=self.path,
            body=self.body,
            gives=self.gives,
            needs=tuple(sorted(self.needs)),
            follows=tuple(sorted(self.follows - self.needs)),
            repeat=self.repeat,
            answers=self.answers,
            whole=self.whole,
            summary=self.summary,
        )


@dataclass
class StepSet:
    """Every step of a plan, by id and by the address it belongs to."""

    steps: dict[str, StepDraft] = field(default_factory=dict)
    by_address: dict[Address, list[StepDraft]] = field(default_factory=dict)
    makers: dict[Address, str] = field(default_factory=dict)
    """Which step gives an address its id."""
    out_of_place: set[Address] = field(default_factory=set)
    """Siblings that were not selected and would have to be moved: nothing can be placed beside them."""
    _in_order: list[Address] = field(default_factory=list)

    def add(self, draft: StepDraft) -> StepDraft:
        self.steps[draft.id] = draft
        self.by_address.setdefault(draft.address, []).append(draft)
        for gives in draft.gives:
            self.makers[Address.parse(gives.address)] = draft.id
        return draft

    def of(self, address: Address, *words: Verb | Phase) -> list[StepDraft]:
        """The steps of one address, all or some, in the order they were added.

        One that has a phase is asked for by that, any other by its verb.
        """
        steps = self.by_address.get(address, ())
        return [step for step in steps if not words or (step.phase or step.verb) in words]

    def below(self, address: Address) -> Iterator[StepDraft]:
        """The steps of this address and of everything under it."""
        for other in at_or_below(self._sorted(), address):
            yield from self.by_address[other]

    def _sorted(self) -> list[Address]:
        if len(self._in_order) != len(self.by_address):
            self._in_order[:] = sorted(self.by_address)
        return self._in_order


def by_needs(steps: list[StepDraft]) -> list[StepDraft]:
    """The steps in their order, except that what another one needs comes first."""
    by_id = {step.id: step for step in steps}
    sorter: TopologicalSorter[str] = TopologicalSorter()
    for step in steps:
        sorter.add(step.id, *sorted(need for need in step.needs if need in by_id))
    return [by_id[id] for id in sorter.static_order()]
