"""What a plan asks, with what is at stake: how many pages each candidate holds."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from msgspec.structs import replace

from dpsync.client.client import ReadClient
from dpsync.kinds.registry import Registry
from dpsync.live.delete_evidence import held, with_pages
from dpsync.model.desired import Desired
from dpsync.model.diagnostic import Candidate, Findings
from dpsync.model.plan import Plan

Candidates = tuple[Candidate, ...]
_Put = Callable[[str | None, Candidates], Candidates]


class Asking:
    """Reads what the candidates of questions hold. `desired` tells of which kind the entries are."""

    def __init__(self, client: ReadClient, registry: Registry, parallelism: int, desired: Desired) -> None:
        self._client = client
        self._registry = registry
        self._parallelism = parallelism
        self._desired = desired
        self._kinds: dict[str | None, str] | None = None

    def plan(self, plan: Plan) -> Plan:
        """The plan with the pages in the candidates of its refusals."""
        if not any(item.candidates for item in plan.refusals):
            return plan
        put = self._held((item.address, item.candidates) for item in plan.refusals)
        refusals = [
            item.model_copy(update={"candidates": put(item.address, item.candidates)})
            for item in plan.refusals
        ]
        return plan.model_copy(update={"refusals": tuple(refusals), "requests": self._client.requests})

    def findings(self, findings: Findings) -> Findings:
        """The same for findings that end a command."""
        if not any(item.candidates for item in findings):
            return findings
        put = self._held((item.address, item.candidates) for item in findings)
        found = Findings(replace(item, candidates=put(item.address, item.candidates)) for item in findings)
        found.left_out.update(findings.left_out)
        return found

    def _held(self, asked: Iterable[tuple[str | None, Candidates]]) -> _Put:
        pairs = [
            (kind, one)
            for address, candidates in asked
            if (kind := self._kind(address)) is not None
            for one in candidates
        ]
        numbers = held(self._client, self._registry, self._parallelism, pairs)

        def put(address: str | None, candidates: Candidates) -> Candidates:
            kind = self._kind(address)
            return candidates if kind is None else with_pages(kind, candidates, numbers)

        return put

    def _kind(self, address: str | None) -> str | None:
        """The kind of an entry; what a refusal is about need not be one."""
        if self._kinds is None:
            self._kinds = {str(one): entry.kind for one, entry in self._desired.resources.items()}
        return self._kinds.get(address)
