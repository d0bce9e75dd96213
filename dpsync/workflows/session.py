"""Plan, apply and check drift: a `Session` is one configuration for the API version of one platform.

A platform is GitBook or a local server. `OtherConfigurations` tells which environments use the same line of a
file. `CandidatePages` adds the number of pages to the candidates of questions.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from threading import Event
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from dpsync.apply.saved_plan import Expected
from dpsync.client.client import ReadClient, WriteClient
from dpsync.collector import collector_paused
from dpsync.config.discovery import Files
from dpsync.config.entry_keywords import without_unsupported_entries
from dpsync.config.layers import Layers
from dpsync.config.load import load_from
from dpsync.kinds.registry import Registry
from dpsync.live.delete_evidence import count_candidate_pages, with_page_counts
from dpsync.live.reading_state import find_renamed_keys
from dpsync.model.address import Address
from dpsync.model.desired import NO_BASE, NO_LABELS, Base, Desired, LabelCommits
from dpsync.model.diagnostic import Diagnostic, DiagnosticError, Exit, Findings
from dpsync.model.drift import Drift
from dpsync.model.ids import NO_IDS, IdsFile
from dpsync.model.journal import Outcome, Report
from dpsync.model.nodes import Span
from dpsync.model.plan import Plan
from dpsync.model.question import Candidate, Refusal
from dpsync.model.snapshot import Snapshot
from dpsync.planner.coverage import coverage
from dpsync.planner.drift import find_drift
from dpsync.planner.plan import make_plan, unmanaged_objects_kept, with_all_differences
from dpsync.planner.selection import find_selection
from dpsync.planner.sides import Options, Sides
from dpsync.workflows.sides_reader import SidesReader

if TYPE_CHECKING:
    from dpsync.apply.ids_recorder import IdsRecorder, IdsStore
    from dpsync.apply.journal import Journal
    from dpsync.importing.update import WrittenField


TOP_LEVEL_NAME: str = "the top-level values"
"""The name of the configuration without an environment, in messages."""


class OtherConfigurations(Struct, frozen=True):
    """The configurations that other environments or fewer overlays make from the same files.

    `by_name` has a name for messages. An edit of a shared line would change these configurations, too.
    """

    by_name: Mapping[str, Desired]

    @staticmethod
    def of(
        desired: Desired, files: Files, registry: Registry, env: Mapping[str, str], layers: Layers
    ) -> OtherConfigurations:
        """Load the configuration with each other environment, without one, and without the last overlay.

        Each is another configuration that an edit of a shared line would change.
        """
        layers_by_name: dict[str, Layers] = {}
        for name in (None, *desired.environments):
            if name != layers.environment:
                layers_by_name[TOP_LEVEL_NAME if name is None else name] = replace(layers, environment=name)
        if layers.overlays:
            *lower, last = layers.overlays
            layers_by_name[f"what is without {last}"] = replace(layers, overlays=tuple(lower))
        return OtherConfigurations(
            {name: load_from(files, registry, env, other)[0] for name, other in layers_by_name.items()}
        )

    def names_using_field(self, address: Address, field: str, span: Span) -> tuple[str, ...]:
        """Return the names of other configurations that take a field's value from a line of a file."""
        return tuple(
            name
            for name, other in self.by_name.items()
            if address in other.entries and other.entries[address].field_span(field) == span
        )

    def names_using_lines(self, desired: Desired, lines: Iterable[WrittenField]) -> tuple[str, ...]:
        """Return the names of other configurations that use one of these lines.

        The lines have their positions before the edit.
        """
        names = {
            name
            for line in lines
            if line.field is not None and line.address in desired.entries
            for name in self.names_using_field(line.address, line.field, line.span)
        }
        return tuple(name for name in self.by_name if name in names)

    def names_reading_file(self, name: str) -> tuple[str, ...]:
        """Return the names of other configurations that read a file, and so would get its new entries."""
        return tuple(configuration for configuration, other in self.by_name.items() if name in other.texts)


Candidates = tuple[Candidate, ...]
_AddPageCounts = Callable[[str | None, Candidates], Candidates]


class CandidatePages:
    """Reads how many pages the candidates of questions have, to help a person to choose.

    `desired` has the kind of each entry.
    """

    def __init__(self, client: ReadClient, registry: Registry, parallelism: int, desired: Desired) -> None:
        self._client = client
        self._registry = registry
        self._parallelism = parallelism
        self._desired = desired
        self._kinds: dict[str | None, str] | None = None

    def plan(self, plan: Plan) -> Plan:
        """Return the plan with the number of pages in the candidates of its refusals."""
        if not any(refusal.candidates for refusal in plan.refusals):
            return plan
        add_pages = self._page_counts((refusal.address, refusal.candidates) for refusal in plan.refusals)
        refusals = [
            refusal.model_copy(update={"candidates": add_pages(refusal.address, refusal.candidates)})
            for refusal in plan.refusals
        ]
        return plan.model_copy(update={"refusals": tuple(refusals), "requests": self._client.requests})

    def findings(self, findings: Findings) -> Findings:
        """Return findings with the number of pages in their candidates."""
        if not any(finding.candidates for finding in findings):
            return findings
        add_pages = self._page_counts((finding.address, finding.candidates) for finding in findings)
        with_counts = Findings(
            replace(finding, candidates=add_pages(finding.address, finding.candidates))
            for finding in findings
        )
        with_counts.omitted_counts.update(findings.omitted_counts)
        return with_counts

    def _page_counts(self, questions: Iterable[tuple[str | None, Candidates]]) -> _AddPageCounts:
        """Read the numbers of pages, and return a function that adds them to the candidates of an entry.

        Args:
            questions: The address of an entry, and the candidates for its object.
        """
        pairs = [
            (kind, candidate)
            for address, candidates in questions
            if (kind := self._kind(address)) is not None
            for candidate in candidates
        ]
        page_counts = count_candidate_pages(self._client, self._registry, self._parallelism, pairs)

        def add_pages(address: str | None, candidates: Candidates) -> Candidates:
            kind = self._kind(address)
            return candidates if kind is None else with_page_counts(kind, candidates, page_counts)

        return add_pages

    def _kind(self, address: str | None) -> str | None:
        """Return the kind of the entry at an address; None if the question is about something else."""
        if self._kinds is None:
            self._kinds = {
                str(entry_address): entry.kind for entry_address, entry in self._desired.entries.items()
            }
        return self._kinds.get(address)


ANY_PLAN = Expected()
"""Accepts any plan."""


class Planned(Struct, frozen=True):
    """A plan with the two sides that it compares: the files and the live objects."""

    plan: Plan
    sides: Sides

    @property
    def snapshot(self) -> Snapshot:
        """Return the live objects of the plan, matched with the entries."""
        return self.sides.snapshot

    @property
    def options(self) -> Options:
        """Return the options with which the plan was made."""
        return self.sides.options


class Session(Struct, frozen=True, dict=True):
    """A configuration and the API version of a platform. At most `parallelism` requests are in flight.

    `base` is the configuration of an earlier commit: renamed entries are recognized by it, and its
    protections still hold.

    Raises DiagnosticError (exit 64) if the configuration was checked for another API version than that of the
    registry. Otherwise, dpsync would send values that are wrong on the platform.
    """

    desired: Desired
    registry: Registry
    parallelism: int = 4
    base: Base = NO_BASE
    ids: IdsFile = NO_IDS
    """Which live object each entry is, as the ids file in the working tree has it."""
    labels: LabelCommits = NO_LABELS
    """The commits that labels compare with. These commits do not change the plan itself."""

    def __post_init__(self) -> None:
        checked, planned = self.desired.profile, self.registry.profile.name
        if checked != planned:
            message = (
                f"the configuration was loaded for the API version {checked}, "
                f"but the registry is for the API version {planned}"
            )
            hint = (
                f'pass load_registry("{checked}") as the registry, '
                f'or load the configuration with load(…, profile="{planned}")'
            )
            raise DiagnosticError([Diagnostic("DP146", message, hint=hint)], Exit.USAGE)

    @cached_property
    def readable(self) -> Desired:
        """Return the configuration without entries that the API version does not support.

        These entries are in its `unsupported` instead.
        """
        return without_unsupported_entries(self.desired, self.registry)

    @cached_property
    def readable_base(self) -> Base:
        """Return the git base without entries that the API version does not support."""
        base_desired = self.base.desired
        return (
            self.base
            if base_desired is None
            else replace(self.base, desired=without_unsupported_entries(base_desired, self.registry))
        )

    @cached_property
    def readable_labels(self) -> LabelCommits:
        """Return the commits for labels without entries that the API version does not support."""
        return self.labels.map_configurations(
            lambda desired: without_unsupported_entries(desired, self.registry)
        )

    def read(self, client: ReadClient, options: Options | None = None) -> Sides:
        """Read the live objects, and return them with the configuration. Raises as `plan` does."""
        return self.reading(client).sides(self.readable, options or Options())

    def reading(self, client: ReadClient) -> SidesReader:
        """Return the reader of the platform for this configuration, with the git base and the ids file."""
        return SidesReader(
            client, self.registry, self.parallelism, self.readable_base, self.ids, self.readable_labels
        )

    def plan(self, client: ReadClient, options: Options | None = None) -> Planned:
        """Read the live objects, compare them with the configuration, and return the plan.

        If the plan deletes objects, dpsync reads their lists once more, and also the objects that would be
        deleted or changed with them. Raises ClientError if reading failed, and DiagnosticError if the
        configuration does not fit the live objects.
        """
        plan_options = options or Options()
        candidate_pages = CandidatePages(client, self.registry, self.parallelism, self.readable)
        try:
            with collector_paused():  # nearly all that is made in here is there until the plan is
                sides = self.read(client, plan_options)
                plan = make_plan(sides)
            return Planned(
                plan if plan_options.proof else self._with_renamed_keys(candidate_pages.plan(plan), sides),
                sides,
            )
        except DiagnosticError as error:
            findings = candidate_pages.findings(error.findings)
            raise DiagnosticError(findings, error.exit_code, self.readable.texts) from None

    def _with_renamed_keys(self, plan: Plan, sides: Sides) -> Plan:
        """Return the plan with the entries whose key was renamed, but that need no request.

        An apply only writes their new key to the ids file.
        """
        selection = find_selection(sides)
        listed = {change.address for change in (*plan.changes, *plan.blocked)}
        renamed = {
            str(address): str(old_address)
            for address, old_address in find_renamed_keys(
                self.registry, self.readable, sides.snapshot
            ).items()
            if str(address) not in listed and (selection is None or address in selection.addresses)
        }
        return plan.model_copy(update={"renamed_keys": renamed}) if renamed else plan

    def drift(
        self,
        client: ReadClient,
        options: Options | None = None,
        everything: bool = False,
        unwatched: bool = False,
    ) -> Drift:
        """Return the differences between the files and the live objects. Raises as `plan` does.

        With `everything`, objects without an entry in watched lists count as drift. With `unwatched`, the
        drift also lists all objects and fields without an entry, each with the line that would watch it.
        """
        watching = replace(self, desired=replace(self.desired, reads_watched=True))
        planned = watching.plan(client, options)
        sides = planned.sides
        drift = find_drift(sides, planned.plan, everything)
        if drift.drifted:
            from dpsync.workflows.labels import with_last_events

            drift = with_last_events(client, sides, drift)
        if unwatched:
            from dpsync.importing.inventory import Naming
            from dpsync.importing.left_out import watch_lines

            naming = Naming(self.registry, sides.desired, sides.snapshot)
            unwatched_lines = tuple(watch_lines(naming, coverage(sides).unwatched_by_entry()))
            drift = drift.model_copy(update={"unwatched_lines": unwatched_lines})
        return drift

    @staticmethod
    def differences(planned: Planned) -> Plan:
        """Return the plan with all differences, also those that no request can remove."""
        return with_all_differences(planned.sides, planned.plan)

    def apply(
        self,
        client: WriteClient,
        planned: Planned,
        expect: Expected = ANY_PLAN,
        *,
        journal: Journal | None = None,
        secrets: Mapping[str, str] | None = None,
        report: Callable[[Outcome], None] = lambda _: None,
        stop: Event | None = None,
        ids: IdsStore | None = None,
    ) -> Report:
        """Carry out a plan that was just made, and prove the result with another plan.

        Args:
            expect: the plan that a person approved; `planned` must equal this plan.
            report: called with each outcome.
            stop: when set, requests in flight finish, and no further request starts.
            secrets: the variables for secrets; the environment by default.
            ids: the store that records the object of each entry.

        Raises:
            StaleStateError: the plan is not the expected one, or the platform has changed since.
            NotApprovedError: the plan has another digest than the approved one.
            DiagnosticError: the plan must not be applied, or a secret is missing.
            ClientError: the platform could not be read.

        No exception is raised after the first write: from then on, the report has the errors.
        """
        from dpsync.apply.executor import Executor
        from dpsync.apply.journal import NullJournal
        from dpsync.apply.run import apply_plan

        if planned.plan.refusals:
            raise DiagnosticError(map(_refusal_finding, planned.plan.refusals), Exit.REFUSED)
        expect.check(planned.plan)
        recorder = self._recorder(client, planned, ids)
        executor = Executor(
            client,
            self.registry,
            self.readable,
            planned.snapshot,
            planned.plan,
            journal or NullJournal(),
            os.environ if secrets is None else secrets,
            self.parallelism,
            report,
            stop or Event(),
            recorder,
        )

        def plan_again() -> Plan:
            """Plan again with the ids that the apply recorded, and record the matches of this plan, too."""
            proof = replace(planned.options, proof=True)
            proven = replace(self, ids=recorder.current_ids).plan(client, proof)
            recorder.record_matches(proven.snapshot, proven.plan)
            recorder.mark_kept(unmanaged_objects_kept(proven.sides, proven.plan))
            return proven.plan

        return apply_plan(executor, plan_again)

    def record(self, client: ReadClient, planned: Planned, ids: IdsStore) -> str | None:
        """Record the object of each entry in the ids file when there is nothing to apply.

        Return the reason if the ids file could not be written, otherwise None.
        """
        recorder = self._recorder(client, planned, ids)
        recorder.mark_kept(unmanaged_objects_kept(planned.sides, planned.plan))
        recorder.close()
        return recorder.trouble

    def _recorder(self, client: ReadClient, planned: Planned, ids: IdsStore | None) -> IdsRecorder:
        """Return the recorder of ids for an apply of the plan, with the matches of its snapshot recorded."""
        from dpsync.apply.ids_recorder import IdsRecorder, NullIdsStore

        selected: frozenset[Address] | None = None
        if (part := find_selection(planned.sides)) is not None:
            added = planned.plan.part.also if planned.plan.part is not None else ()
            selected = part.addresses | {item.location for item in added}
        store = ids or NullIdsStore()
        recorder = IdsRecorder(store, client.platform, self.ids, self.registry, self.readable, selected)
        recorder.record_matches(planned.snapshot, planned.plan)
        return recorder


def _refusal_finding(refusal: Refusal) -> Diagnostic:
    """Return a refusal of a plan as a finding, to report why an apply of the plan was not started."""
    return Diagnostic(
        refusal.code,
        refusal.message,
        address=refusal.address,
        hint=refusal.way_out,
        candidates=refusal.candidates,
        answers=refusal.answers,
    )
