"""The public Python API: load, plan, apply. The command line is a thin layer over this module.

desired = load(Path("dpsync.yaml"))
with ReadClient(url, token) as client:
    plan = Session(desired, load_registry()).plan(client).plan
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING

from dpsync.apply.executor import Executor
from dpsync.apply.expected import Expected
from dpsync.apply.journal import Journal, NoJournal
from dpsync.apply.run import carry_out
from dpsync.client.client import ReadClient, WriteClient
from dpsync.config.base import read_base
from dpsync.config.every import check
from dpsync.config.files import Directory, InFront
from dpsync.config.layers import Layers
from dpsync.config.load import load as load_config
from dpsync.config.load import load_from
from dpsync.config.served import within
from dpsync.kinds.registry import Registry
from dpsync.kinds.registry import load as load_registry
from dpsync.live.evidence import Surroundings
from dpsync.live.reader import read_snapshot
from dpsync.model.address import Address, Pattern
from dpsync.model.base import NOT_ASKED, Base
from dpsync.model.desired import Desired
from dpsync.model.diagnostic import Diagnostic, DiagnosticError, Exit
from dpsync.model.drift import Drift
from dpsync.model.journal import Outcome, Report
from dpsync.model.plan import Plan
from dpsync.model.snapshot import Snapshot
from dpsync.planner import transfer
from dpsync.planner.answers import parse_all
from dpsync.planner.context import Context, Options
from dpsync.planner.drift import find_drift
from dpsync.planner.plan import make_plan
from dpsync.planner.removal import removal
from dpsync.planner.restructuring import recognised, settled, settling
from dpsync.planner.selection import patterns, selection

if TYPE_CHECKING:
    from dpsync.importing.made import Made
    from dpsync.importing.update import Updated

__all__ = [
    "Base", "Expected", "Imported", "Options", "Planned", "Session", "import_", "load", "load_base",
    "load_registry", "update", "validate",
]  # fmt: skip


ANYTHING = Expected()
"""Any plan is as expected."""


def load(
    root: Path,
    env: Mapping[str, str] | None = None,
    registry: Registry | None = None,
    overlays: Sequence[Path] = (),
    environment: str | None = None,
) -> Desired:
    """The checked configuration with what goes over it.

    Raises DiagnosticError (exit 5) with everything that is wrong.
    """
    layers = Layers.of(root, overlays, environment)
    variables = os.environ if env is None else env
    desired, diagnostics = load_config(root, registry or load_registry(), variables, layers)
    if diagnostics.errors:
        raise DiagnosticError(diagnostics, Exit.INVALID, desired.texts)
    return desired


def validate(
    root: Path,
    env: Mapping[str, str] | None = None,
    registry: Registry | None = None,
    overlays: Sequence[Path] = (),
    environment: str | None = None,
) -> Desired:
    """The checked configuration: with the chosen environment, else alone and with each one that there is.

    A finding that is there only with environments says with which. Variables of environments that were not
    chosen need not be set. Raises DiagnosticError (exit 5) with everything that is wrong.
    """
    layers, registry = Layers.of(root, overlays, environment), registry or load_registry()
    desired, found = check(root, registry, os.environ if env is None else env, layers)
    if found.errors:
        raise DiagnosticError(found, Exit.INVALID, desired.texts)
    return replace(desired, warnings=found.warnings)


def load_base(
    root: Path,
    ref: str | None = None,
    env: Mapping[str, str] | None = None,
    registry: Registry | None = None,
    overlays: Sequence[Path] = (),
    environment: str | None = None,
) -> Base:
    """The configuration with what goes over it, as git has it at `ref` or at the default base.

    docs/configuration.md says which base is the default.
    Raises DiagnosticError (exit 5) when a named `ref` cannot be used. A default one that cannot be had is an
    empty base, with the reason in `said`.
    """
    layers = Layers.of(root, overlays, environment)
    return read_base(root, registry or load_registry(), os.environ if env is None else env, ref, layers)


@dataclass(frozen=True)
class Imported:
    """A configuration made from what is live, and what planning it found: nothing, if it is right."""

    made: Made
    plan: Plan | None
    problems: tuple[Diagnostic, ...] = ()

    @property
    def proven(self) -> bool:
        """Whether a plan of the new configuration is empty."""
        return self.plan is not None and self.plan.empty and not self.problems


def import_(
    client: ReadClient, registry: Registry, named: Sequence[str] = (), parallelism: int = 4
) -> Imported:
    """Write down the organizations that are named by id or hostname, else all that the token sees.

    Nothing is written anywhere. With a client that remembers its answers, checking costs no further reads.
    Raises ClientError when reading failed, DiagnosticError for an organization that is not there.
    """
    from dpsync.importing.made import make

    made = make(client, registry, named, parallelism)
    desired, found = made.load(registry)
    if problems := tuple(found.errors):
        return Imported(made, None, problems)
    try:
        return Imported(made, Session(desired, registry, parallelism).plan(client).plan)
    except DiagnosticError as unclear:
        return Imported(made, None, unclear.diagnostics)


@dataclass(frozen=True)
class Planned:
    """A plan, the snapshot that it rests on, and what was asked for."""

    plan: Plan
    snapshot: Snapshot
    options: Options


@dataclass(frozen=True)
class Session:
    """A configuration against a platform. `parallelism` bounds the requests in flight.

    `base` is the configuration of an earlier commit: by it renamed entries are recognised, and what was
    protected stays so. `known` is which id each address had after the last applies: asked only where names
    went round in a ring and nothing else tells whether that was done.
    """

    desired: Desired
    registry: Registry
    parallelism: int = 4
    base: Base = NOT_ASKED
    known: Mapping[Address, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        # Both are taken as far as the server's profile goes: nothing below meets what it cannot read.
        object.__setattr__(self, "desired", within(self.desired, self.registry))
        if self.base.desired is not None:
            before = replace(self.base, desired=within(self.base.desired, self.registry))
            object.__setattr__(self, "base", before)

    def plan(self, client: ReadClient, options: Options | None = None, closely: bool = True) -> Planned:
        """Read, compare, plan; when deletes result, the lists that they rest on are read again.

        `closely`: what goes along with them is read, too. A plan that is to be applied or shown needs that.
        Raises ClientError when reading failed, DiagnosticError when the configuration does not fit what is
        live.
        """
        try:
            return self._plan(client, options or Options(), closely)
        except DiagnosticError as found:
            raise DiagnosticError(found.findings, found.exit_code, self.desired.texts) from None

    def _plan(self, client: ReadClient, options: Options, closely: bool) -> Planned:
        parse_all(options.confirm, self.registry)  # before anything is read
        patterns(self.registry, self.desired, (*options.select, *options.exclude))
        snapshot = read_snapshot(client, self.registry, self.desired, self.parallelism, self.base, self.known)
        context = Context(self.registry, self.desired, snapshot, options, self.base)
        desired, (pins, _) = self.desired, settling(context)
        if pins:
            desired = settled(self.desired, pins)
            snapshot = read_snapshot(client, self.registry, desired, self.parallelism, self.base, self.known)
            snapshot = recognised(snapshot, pins)
            context = Context(self.registry, desired, snapshot, options, self.base)
        part = selection(context)
        if part:
            context = replace(context, chosen=part.wanted)
        snapshot = self._looked_around(client, context, closely)
        return Planned(make_plan(replace(context, snapshot=snapshot, chosen=None)), snapshot, options)

    def _looked_around(self, client: ReadClient, context: Context, closely: bool) -> Snapshot:
        """The snapshot with what deletes take along, and with what shows things that are given away.

        What goes along may itself be named by other things: so it is looked around until nothing is new.
        """
        going, given = removal(context), transfer.looked_at(context)
        if not going.roots and not given:
            return context.snapshot
        around = Surroundings(client, self.registry, context.snapshot, self.parallelism)
        around.check([*going.roots, *given])
        if not closely:
            return around.snapshot
        around.look_at_given(given)
        while around.look(going.everything):
            going = removal(replace(context, snapshot=around.snapshot))
            around.check(going.roots)
        return around.snapshot

    def drift(self, client: ReadClient, options: Options | None = None) -> Drift:
        """What is live instead of what the files say. Raises as `plan` does: a failed check is no answer."""
        options = options or Options()
        planned = self.plan(client, options, closely=False)
        context = Context(self.registry, self.desired, planned.snapshot, options, self.base)
        return find_drift(context, planned.plan)

    def apply(
        self,
        client: WriteClient,
        planned: Planned,
        expect: Expected = ANYTHING,
        *,
        journal: Journal | None = None,
        secrets: Mapping[str, str] | None = None,
        told: Callable[[Outcome], None] = lambda _: None,
        stop: Event | None = None,
    ) -> Report:
        """Carry out a plan that was made just now, and prove the result.

        `expect` is what somebody has agreed to: it must be this plan. `told` hears of each outcome at once;
        setting `stop` lets what is in flight finish and starts nothing more. `secrets` are the environment,
        unless they are given.

        Raises Refused when the plan is not the expected one or the platform has changed since, NotApproved
        for another digest, DiagnosticError when the plan may not be applied or a secret is missing,
        ClientError when the platform could not be read. Nothing was sent then; once something was, there is
        a report.
        """
        if planned.plan.refusals:
            refused = planned.plan.refusals
            found = [Diagnostic(item.code, item.message, address=item.address) for item in refused]
            raise DiagnosticError(found, Exit.REFUSED)
        expect.check(planned.plan)
        executor = Executor(
            client,
            self.registry,
            self.desired,
            planned.snapshot,
            planned.plan,
            journal or NoJournal(),
            os.environ if secrets is None else secrets,
            self.parallelism,
            told,
            stop or Event(),
        )

        def again() -> Plan:
            proof = replace(planned.options, proof=True)
            return replace(self, known={**self.known, **executor.ids}).plan(client, proof).plan

        return carry_out(executor, again)


def update(
    session: Session,
    client: ReadClient,
    root: Path,
    addresses: Sequence[str],
    layers: Layers | None = None,
    env: Mapping[str, str] | None = None,
) -> Updated:
    """The files of a configuration with live values at the addresses that are named; nothing is written.

    An address means all that is below it, too; `#field` means one field; patterns are allowed. With a client
    that remembers its answers, checking the result costs no further reads. Raises ClientError when reading
    failed, ValueError for what is no address, and DiagnosticError (exit 4) when the edited files would say
    anything else than before beside what was asked for.
    """
    from dpsync.importing.sides import Sides
    from dpsync.importing.update import unintended
    from dpsync.importing.update import update as edit

    patterns = [Pattern.parse(address, session.registry.words) for address in addresses]
    planned, files = session.plan(client), Directory(root)
    made = edit(Sides(session.registry, session.desired, planned.snapshot, files), planned.plan, patterns)
    if made.files:
        edited = InFront(files, made.files)
        desired, wrong = load_from(edited, session.registry.whole, os.environ if env is None else env, layers)
        found = list(wrong.errors)
        if not found:
            found = unintended(planned.plan, replace(session, desired=desired).plan(client).plan, made)
        if found:
            raise DiagnosticError(found, Exit.REFUSED, desired.texts)
    return made
