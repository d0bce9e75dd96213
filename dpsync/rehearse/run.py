"""Run one rehearsal: load the recorded objects, plan again, apply, prove, and report deviations.

`rehearse` uses the same executor and the same plan as an apply. It sends nothing to the platform, and writes
no journal, ids file or lock.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from threading import Event

from dpsync.apply.saved_plan import Refused
from dpsync.client.client import WriteClient
from dpsync.client.errors import ClientError
from dpsync.client.transport import Request
from dpsync.model.address import Address
from dpsync.model.diagnostic import Diagnostic, DiagnosticError, Exit
from dpsync.model.journal import GOOD, Outcome, Report
from dpsync.model.plan import Deviation, Plan, Rehearsal
from dpsync.model.text import counted
from dpsync.rehearse.faults import Stage, runs
from dpsync.rehearse.findings import (
    Fact,
    PublicHistory,
    estimate,
    facts_of_site,
    facts_of_specifications,
    unproven,
)
from dpsync.rehearse.replica import CannotLoad, Replica
from dpsync.rehearse.world import World

_MOST = 20
"""Deviations of one sort that are told."""
_OF_SITE = re.compile(r"/orgs/[^/]+/sites/([^/]+)(?:/.*)?")
_ANY_SITE = re.compile(
    r"/orgs/[^/]+/(sites|openapi)(?:/.*)?|/spaces/[^/]+(?:/(restore|transfer))?|/.*/publish"
)
_SPECIFICATIONS = ""
"""Under this name of a site the specifications are watched."""


def rehearse(
    stage: Stage,
    *,
    faults: int = 0,
    seed: int = 0,
    report: Callable[[Outcome], None] = lambda _: None,
    stop: Event | None = None,
) -> Rehearsal:
    """Apply the plan on a companion with the recorded objects, and return what happened.

    With `faults`, the rehearsal is repeated that many times with failing requests, drawn from `seed`, unless
    the first rehearsal already failed.

    Raises DiagnosticError for a plan that must not be applied, and NoCompanion if the companion is not
    installed.
    """
    if stage.plan.refusals:
        found = [Diagnostic(one.code, one.message, address=one.address, hint=one.way_out)
                 for one in stage.plan.refusals]  # fmt: skip
        raise DiagnosticError(found, Exit.REFUSED)
    try:
        world = stage.world()
        with Replica(world, stage.session.registry.profile.name, stage.recording) as replica:
            rehearsal = _Run(stage, world, replica, report, stop or Event()).run()
            if not faults or not rehearsal.fit:
                return rehearsal
            disturbed = tuple(runs(stage, world, replica, rehearsal.writes, faults, seed))
            return rehearsal.model_copy(update={"seed": seed, "faults": disturbed})
    except CannotLoad as cannot:
        message = f"dpsync cannot load the responses of GitBook into the local server: {cannot}"
        return _result(stage.plan, deviations=(Deviation(what="loading", message=message),))


class _Run:
    """One rehearsal without faults."""

    def __init__(
        self, stage: Stage, world: World, replica: Replica, report: Callable[[Outcome], None], stop: Event
    ) -> None:
        self.stage, self.plan, self.world, self.replica = stage, stage.plan, world, replica
        self.report, self.stop = report, stop
        self.watch = PublicHistory()
        self.looked = 0

    def run(self) -> Rehearsal:
        with self.stage.client(self.replica) as client:
            try:
                differing = self._loading_deviations(client)
            except (ClientError, DiagnosticError) as error:
                message = f"dpsync cannot make a plan for the copy of your organization: {error}"
                return self._ended(None, (Deviation(what="loading", message=message),))
            if differing is not None:
                return self._ended(None, differing)
            reading = client.requests
            self.watch.begin(self._facts(None))
            self.replica.looks = self._look
            try:
                report = self.stage.session.apply(
                    client, self.stage.planned, secrets=self.stage.placeholders(), report=self.report,
                    stop=self.stop,
                )  # fmt: skip
            except (Refused, ClientError, DiagnosticError) as error:
                message = f"dpsync rehearsed no step: {error}"
                return self._ended(None, (Deviation(what="stopped", message=message),))
            self._look()
            sent = client.requests - 2 * reading
        return self._ended(
            report,
            (*_deviations(self.plan, report), *self._duplicates(report), *self._short_exposures()),
            max(sent, report.writes),
        )

    # --- what was loaded ------------------------------------------------------------------------------

    def _loading_deviations(self, client: WriteClient) -> tuple[Deviation, ...] | None:
        """Return the differences if the copy gives another plan than the platform; None for the same plan."""
        planned = self.stage.planned
        again = self.stage.session.plan(client, planned.options)
        before, now = planned.snapshot.objects, again.snapshot.objects
        names = [f"{kind} {id}" for kind, id in sorted({*before, *now})
                 if before.get((kind, id)) != now.get((kind, id))]  # fmt: skip
        self.differing = tuple(names)
        if again.plan.digest == self.plan.digest:
            return None
        named = names[:_MOST] or ["an unknown object"]
        message = (
            "the copy of your organization has another plan than GitBook, because {} differs in the copy"
        )
        return tuple(Deviation(what="loading", message=message.format(name)) for name in named)

    # --- what is public -------------------------------------------------------------------------------

    def _look(self, write: Request | None = None) -> None:
        """Record what a write has made public, or at the end, without a write, everything."""
        if write is None:
            self.watch.after("the end", self._facts(None))
            return
        self.looked += 1
        if write.method == "PATCH" and write.path.startswith("/spaces/"):
            return  # what is public of a space is told by the places that show it
        if _ANY_SITE.fullmatch(write.path):
            site_match = _OF_SITE.fullmatch(write.path)
            self.watch.after(
                f"{write.method} {write.path}", self._facts({site_match[1]} if site_match else None)
            )

    def _facts(self, sites: set[str] | None) -> dict[str, set[Fact]]:
        born = self.replica.born
        found = {site["id"]: facts_of_site(site, born) for site in self.replica.sites(sites)}
        missing = {site: set[Fact]() for site in sites or self.watch.sites if site not in found}
        specifications = {_SPECIFICATIONS: facts_of_specifications(self.replica.specifications())}
        return {**found, **missing, **specifications}

    def _short_exposures(self) -> Iterator[Deviation]:
        """Yield a deviation for each short exposure, unless the plan already lists one."""
        if any(exposure.moment for exposure in self.plan.exposures):
            return
        for write, (visitor, fact) in self.watch.moments()[:_MOST]:
            message = f"the request {write} exposes {fact} to {visitor} for a short time"
            yield Deviation(what="public", message=message)

    def _duplicates(self, report: Report) -> Iterator[Deviation]:
        """Yield a deviation for each list in which the apply duplicated content."""
        if report.remaining is None:
            return
        before = {kept.place: len(kept.addresses) for kept in self.plan.kept}
        for kept in report.remaining.kept:
            number = len(kept.addresses) - before.get(kept.place, 0)
            if number > 0 and self._holds_content(kept.place):
                message = (
                    f"after the rehearsal, the copy contained {counted(number, 'new object')} without an "
                    f"entry: {', '.join(kept.addresses)}"
                )
                yield Deviation(what="convergence", message=message, address=kept.place)

    def _holds_content(self, place: str) -> bool:
        scope = self.stage.session.readable.scopes.get(Address.parse(place))
        registry = self.stage.session.registry
        return scope is not None and any(registry[name].content for name in scope.kinds)

    # --- the end --------------------------------------------------------------------------------------

    def _ended(
        self, report: Report | None, deviations: tuple[Deviation, ...], requests: int = 0
    ) -> Rehearsal:
        steps = [step for change in self.plan.changes for step in change.steps]
        refused = {one.path for one in self.stage.recording.readings() if one.status == 403}
        rehearsal = _result(self.plan, report, deviations)
        left = tuple(
            unproven(
                self.plan, self.world, refused=refused, guessed=self.replica.guessed,
                fetched=self.replica.fetched, secrets=self.stage.placeholders(),
                differing=self.differing if report is not None else (),
            )
        )  # fmt: skip
        time = estimate(self.stage.recording, steps, requests, self.stage.session.parallelism)
        return rehearsal.model_copy(
            update={"unproven": left, "looked": self.looked, "time": time if report is not None else None}
        )


def _result(plan: Plan, report: Report | None = None, deviations: tuple[Deviation, ...] = ()) -> Rehearsal:
    steps = [step for change in plan.changes for step in change.steps]
    return Rehearsal(
        plan=plan.digest,
        platform=plan.platform,
        profile=plan.profile,
        steps=len(steps),
        done=report.count(*GOOD) if report is not None else 0,
        converged=report is not None and report.converged,
        complete=report is not None and report.complete,
        reads=report.reads if report is not None else 0,
        writes=report.writes if report is not None else 0,
        moves=sum(step.verb == "move" for step in steps),
        deviations=deviations,
    )


def _deviations(plan: Plan, report: Report) -> Iterator[Deviation]:
    """Yield the differences between a report and the plan, but not work that the platform still does."""
    bad = [outcome for outcome in report.outcomes if outcome.result not in GOOD]
    for outcome in bad[:_MOST]:
        if outcome.result != "not-tried":
            yield _of_outcome(outcome)
    waiting = [outcome for outcome in bad if outcome.result == "not-tried"]
    if waiting:
        message = f"{counted(len(waiting), 'step')} not tried: {waiting[0].error}"
        yield Deviation(what="step", message=message, address=waiting[0].address, step=waiting[0].step)
    for sentence in report.trouble:
        yield Deviation(what="stopped", message=sentence)
    if report.remaining is None or _in_two_runs(plan):
        return
    for change in report.remaining.changes[:_MOST]:
        yield Deviation(
            what="convergence",
            message=f"after the rehearsal, a new plan would still {change.action} this object",
            address=change.address,
            origin=plan.origins.get(change.address),
        )


def _of_outcome(outcome: Outcome) -> Deviation:
    return Deviation(
        what="step",
        message=f"{outcome.result}: {outcome.error}",
        address=outcome.address,
        step=outcome.step,
        status=outcome.status,
        origin=outcome.origin,
    )


def _in_two_runs(plan: Plan) -> bool:
    """Return whether the plan needs a second apply, because the platform first decides about a navigation.

    An answer to the question about a navigation does not tell: one apply may suffice, or none is possible.
    """
    return any(not one.known for one in plan.navigation)
