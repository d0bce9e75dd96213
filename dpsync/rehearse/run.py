"""Run one rehearsal: load the recorded objects, plan again, apply, plan again, and report deviations.

`rehearse` uses the same executor and the same plan as an apply. It sends nothing to the platform, and writes
no journal, ids file or lock.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from threading import Event

from dpsync.apply.saved_plan import StaleStateError
from dpsync.client.client import WriteClient
from dpsync.client.errors import ClientError
from dpsync.client.transport import Request
from dpsync.model.address import Address
from dpsync.model.diagnostic import Diagnostic, DiagnosticError, Exit
from dpsync.model.journal import SUCCESSFUL, Outcome, Report
from dpsync.model.plan import Deviation, Plan, Rehearsal
from dpsync.model.text import format_count
from dpsync.rehearse.faults import RehearsalSetup, run_with_faults
from dpsync.rehearse.findings import (
    PublicFact,
    PublicHistory,
    estimate_time,
    facts_of_site,
    facts_of_specifications,
    unverifiable,
)
from dpsync.rehearse.replica import Replica, WorldLoadError
from dpsync.rehearse.world import World

_MAX_DEVIATIONS = 20
"""Deviations of one sort that are told."""
_SITE_PATH = re.compile(r"/orgs/[^/]+/sites/([^/]+)(?:/.*)?")
_PATH_FOR_ALL_SITES = re.compile(
    r"/orgs/[^/]+/(sites|openapi)(?:/.*)?|/spaces/[^/]+(?:/(restore|transfer))?|/.*/publish"
)
_SPECIFICATIONS_KEY = ""
"""Under this name of a site the specifications are watched."""


def rehearse(
    setup: RehearsalSetup,
    *,
    faults: int = 0,
    seed: int = 0,
    report: Callable[[Outcome], None] = lambda _: None,
    stop: Event | None = None,
) -> Rehearsal:
    """Apply a plan on a local server that imitates GitBook, with the recorded objects; return the result.

    With `faults`, the rehearsal is repeated that many times with failing requests, drawn from `seed`, unless
    the first rehearsal already failed. Raises DiagnosticError for a plan with refusals, and NoCompanionError
    if the local server (the companion) is not installed.
    """
    if setup.plan.refusals:
        findings = [Diagnostic(refusal.code, refusal.message, address=refusal.address, hint=refusal.way_out)
                 for refusal in setup.plan.refusals]  # fmt: skip
        raise DiagnosticError(findings, Exit.REFUSED)
    try:
        world = setup.world()
        with Replica(world, setup.session.registry.profile.name, setup.recording) as replica:
            rehearsal = _Run(setup, world, replica, report, stop or Event()).run()
            if not faults or not rehearsal.went_as_planned:
                return rehearsal
            fault_runs = tuple(run_with_faults(setup, world, replica, rehearsal.writes, faults, seed))
            return rehearsal.model_copy(update={"seed": seed, "faults": fault_runs})
    except WorldLoadError as error:
        message = f"dpsync cannot load the responses of GitBook into the local server: {error}"
        return _result(setup.plan, deviations=(Deviation(what="loading", message=message),))


class _Run:
    """One rehearsal without faults, on one replica."""

    def __init__(
        self,
        setup: RehearsalSetup,
        world: World,
        replica: Replica,
        report: Callable[[Outcome], None],
        stop: Event,
    ) -> None:
        self.setup, self.plan, self.world, self.replica = setup, setup.plan, world, replica
        self.report, self.stop = report, stop
        self.public_history = PublicHistory()
        self.look_count = 0

    def run(self) -> Rehearsal:
        """Plan and apply on the replica (the local copy), and return the rehearsal with all deviations.

        Nothing is applied if the plan for the replica differs from the plan for GitBook. After each write,
        the objects that are public are recorded, to find short exposures.
        """
        with self.setup.client(self.replica) as client:
            try:
                differing = self._loading_deviations(client)
            except (ClientError, DiagnosticError) as error:
                message = f"dpsync cannot make a plan for the copy of your organization: {error}"
                return self._make_rehearsal(None, (Deviation(what="loading", message=message),))
            if differing is not None:
                return self._make_rehearsal(None, differing)
            reads_per_plan = client.requests
            self.public_history.set_start(self._read_facts(None))
            self.replica.after_write = self._record_public_facts
            try:
                report = self.setup.session.apply(
                    client, self.setup.planned, secrets=self.setup.placeholder_secrets(), report=self.report,
                    stop=self.stop,
                )  # fmt: skip
            except (StaleStateError, ClientError, DiagnosticError) as error:
                message = f"dpsync rehearsed no step: {error}"
                return self._make_rehearsal(None, (Deviation(what="stopped", message=message),))
            self._record_public_facts()
            sent = client.requests - 2 * reads_per_plan  # the apply plans before and after its steps
        return self._make_rehearsal(
            report,
            (*_deviations(self.plan, report), *self._duplicates(report), *self._short_exposures()),
            max(sent, report.writes),
        )

    # --- what was loaded ------------------------------------------------------------------------------

    def _loading_deviations(self, client: WriteClient) -> tuple[Deviation, ...] | None:
        """Plan on the replica (the local copy), and compare with the plan that was made for GitBook.

        Return None if both plans are equal, else a deviation for each object that differs in the copy.
        """
        planned = self.setup.planned
        again = self.setup.session.plan(client, planned.options)
        original, copied = planned.snapshot.objects, again.snapshot.objects
        names = [f"{kind} {id}" for kind, id in sorted({*original, *copied})
                 if original.get((kind, id)) != copied.get((kind, id))]  # fmt: skip
        self.differing = tuple(names)
        if again.plan.digest == self.plan.digest:
            return None
        listed_names = names[:_MAX_DEVIATIONS] or ["an unknown object"]
        message = (
            "the copy of your organization has another plan than GitBook, because {} differs in the copy"
        )
        return tuple(Deviation(what="loading", message=message.format(name)) for name in listed_names)

    # --- what is public -------------------------------------------------------------------------------

    def _record_public_facts(self, write: Request | None = None) -> None:
        """Record which content visitors see after a write; without a write, at the end of the apply.

        To save time, only the sites that the write may affect are read, as its URL path tells.
        """
        if write is None:
            self.public_history.record_write("the end", self._read_facts(None))
            return
        self.look_count += 1
        if write.method == "PATCH" and write.path.startswith("/spaces/"):
            return  # the sites that show a space make it public, not the fields of the space
        if _PATH_FOR_ALL_SITES.fullmatch(write.path):
            site_match = _SITE_PATH.fullmatch(write.path)
            self.public_history.record_write(
                f"{write.method} {write.path}", self._read_facts({site_match[1]} if site_match else None)
            )

    def _read_facts(self, sites: set[str] | None) -> dict[str, set[PublicFact]]:
        """Return which content visitors see of these sites, by site id; `sites=None` means all sites.

        A deleted site has the empty set. All public OpenAPI specifications are under the key "".
        """
        initial_ids = self.replica.initial_ids
        facts = {site["id"]: facts_of_site(site, initial_ids) for site in self.replica.sites(sites)}
        absent = {site: set[PublicFact]() for site in sites or self.public_history.sites if site not in facts}
        specifications = {_SPECIFICATIONS_KEY: facts_of_specifications(self.replica.specifications())}
        return {**facts, **absent, **specifications}

    def _short_exposures(self) -> Iterator[Deviation]:
        """Yield a deviation for content that is public only during the apply, and the write that exposes it.

        Yield nothing if the plan already lists short exposures.
        """
        if any(exposure.moment for exposure in self.plan.exposures):
            return
        for write, (visitor, fact) in self.public_history.short_exposures()[:_MAX_DEVIATIONS]:
            message = f"the request {write} exposes {fact} to {visitor} for a short time"
            yield Deviation(what="public", message=message)

    def _duplicates(self, report: Report) -> Iterator[Deviation]:
        """Yield a deviation for each list in which the apply left new objects with content but no entry.

        Such objects are probably duplicates. `kept` are the objects without an entry that a plan keeps: more
        of them after the apply than before means that the apply created some.
        """
        if report.remaining is None:
            return
        before = {kept_objects.place: len(kept_objects.addresses) for kept_objects in self.plan.kept}
        for kept_objects in report.remaining.kept:
            number = len(kept_objects.addresses) - before.get(kept_objects.place, 0)
            if number <= 0:
                continue
            scope = self.setup.session.readable.scopes.get(Address.parse(kept_objects.place))
            registry = self.setup.session.registry
            if scope is not None and any(registry[name].has_content for name in scope.kinds):
                message = (
                    f"after the rehearsal, the copy contained {format_count(number, 'new object')} "
                    "without an "
                    f"entry: {', '.join(kept_objects.addresses)}"
                )
                yield Deviation(what="convergence", message=message, address=kept_objects.place)

    # --- the end --------------------------------------------------------------------------------------

    def _make_rehearsal(
        self, report: Report | None, deviations: tuple[Deviation, ...], requests: int = 0
    ) -> Rehearsal:
        """Return the result, with the things that no rehearsal can verify and the estimated time of an apply.

        `report` is None if no step was applied. `requests` is the number of requests that carried out steps.
        """
        steps = [step for change in self.plan.changes for step in change.steps]
        refused = {answer.path for answer in self.setup.recording.joined_answers() if answer.status == 403}
        rehearsal = _result(self.plan, report, deviations)
        unverified = tuple(
            unverifiable(
                self.plan, self.world, refused=refused, guessed=self.replica.guessed_lists,
                fetched=self.replica.fetched_urls, secrets=self.setup.placeholder_secrets(),
                differing=self.differing if report is not None else (),
            )
        )  # fmt: skip
        time = estimate_time(self.setup.recording, steps, requests, self.setup.session.parallelism)
        return rehearsal.model_copy(
            update={
                "unproven": unverified,
                "looked": self.look_count,
                "time": time if report is not None else None,
            }
        )


def _result(plan: Plan, report: Report | None = None, deviations: tuple[Deviation, ...] = ()) -> Rehearsal:
    """Return the result of a rehearsal with the numbers of the apply's report; None: nothing was applied."""
    steps = [step for change in plan.changes for step in change.steps]
    return Rehearsal(
        plan=plan.digest,
        platform=plan.platform,
        profile=plan.profile,
        steps=len(steps),
        done=report.count(*SUCCESSFUL) if report is not None else 0,
        converged=report is not None and report.converged,
        complete=report is not None and report.complete,
        reads=report.reads if report is not None else 0,
        writes=report.writes if report is not None else 0,
        moves=sum(step.verb == "move" for step in steps),
        deviations=deviations,
    )


def _deviations(plan: Plan, report: Report) -> Iterator[Deviation]:
    """Yield the ways in which an apply did not go as planned: failed steps, a stop, remaining changes.

    Steps that were not tried are one deviation together. Each sort is limited to `_MAX_DEVIATIONS`.
    """
    unsuccessful = [outcome for outcome in report.outcomes if outcome.result not in SUCCESSFUL]
    for outcome in unsuccessful[:_MAX_DEVIATIONS]:
        if outcome.result != "not-tried":
            yield Deviation(
                what="step",
                message=f"{outcome.result}: {outcome.error}",
                address=outcome.address,
                step=outcome.step,
                status=outcome.status,
                origin=outcome.origin,
            )
    waiting = [outcome for outcome in unsuccessful if outcome.result == "not-tried"]
    if waiting:
        message = f"{format_count(len(waiting), 'step')} not tried: {waiting[0].error}"
        yield Deviation(what="step", message=message, address=waiting[0].address, step=waiting[0].step)
    for sentence in report.trouble:
        yield Deviation(what="stopped", message=sentence)
    # If the platform first decides about a navigation, the plan needs a second apply. An answer to the
    # question about it does not tell: one apply may suffice, or none is possible.
    needs_second_apply = any(not navigation.known for navigation in plan.navigation)
    if report.remaining is None or needs_second_apply:
        return
    for change in report.remaining.changes[:_MAX_DEVIATIONS]:
        yield Deviation(
            what="convergence",
            message=f"after the rehearsal, a new plan would still {change.action} this object",
            address=change.address,
            origin=plan.origins.get(change.address),
        )
