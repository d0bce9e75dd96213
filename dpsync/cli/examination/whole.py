"""Everything that `dpsync doctor` looks at, in order, as one document. One wrong thing ends nothing else."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dpsync.cli.arguments.place import ConfigurationPaths
from dpsync.cli.examination import settings
from dpsync.cli.examination.platform import PlatformExamination
from dpsync.cli.examination.workflow import workflow
from dpsync.cli.terminal.output import Output
from dpsync.cli.terminal.progress import READING
from dpsync.client.errors import Malformed
from dpsync.kinds.registry import load as load_registry
from dpsync.model.findings.diagnostic import DiagnosticError, Exit
from dpsync.render.json.documents import Check, DoctorDocument

if TYPE_CHECKING:
    from dpsync.cli.arguments.connection import Connection
    from dpsync.model.entries.desired import Desired


class Examination:
    """One run of the command: what was found so far."""

    def __init__(self, out: Output, timeout: float) -> None:
        self._out = out
        self._timeout = timeout
        self._checks: list[Check] = [settings.program()]
        self._invalid = False

    def document(
        self, named: tuple[tuple[str, ...], Path, str | None, Path | None, str | None], base: str | None
    ) -> DoctorDocument:
        """What was found. `named` are files, directory, environment, ids file and profile, as flags say."""
        place = self._place(named)
        desired = self._desired(place) if place else None
        platform = self._platform(place, named[2], desired)
        if place is not None:
            self._checks.append(settings.git_base(place, base, place.ids))
            to, name = (platform.to, platform.client.platform) if platform else (None, None)
            self._checks.append(settings.ids_file(place, to, name))
        self._out.mask.add([os.environ.get("GITHUB_TOKEN", "")])
        self._checks += workflow(os.environ)
        wrong = any(one.level == "problem" for one in self._checks)
        code = Exit.INVALID if self._invalid else Exit.FAILED if wrong else Exit.DONE
        access = tuple(platform.access) if platform else ()
        return DoctorDocument(exit=code, checks=tuple(self._checks), access=access)

    def _place(
        self, named: tuple[tuple[str, ...], Path, str | None, Path | None, str | None]
    ) -> ConfigurationPaths | None:
        try:
            place = ConfigurationPaths.find(*named)
        except DiagnosticError as error:
            self._wrong(error)
            return None
        self._checks += settings.files(place)
        return place

    def _desired(self, place: ConfigurationPaths) -> Desired | None:
        from dpsync.api import load

        try:
            desired = load(
                place.root, overlays=place.overlays, environment=place.environment, profile=place.profile
            )
        except DiagnosticError as error:
            self._wrong(error)
            return None
        self._checks += settings.configuration(desired)
        return desired

    def _wrong(self, error: DiagnosticError) -> None:
        self._invalid = True
        self._checks += settings.invalid(error)

    def _platform(
        self, place: ConfigurationPaths | None, environment: str | None, desired: Desired | None
    ) -> PlatformExamination | None:
        """The platform, after everything that can be asked was asked; None where it is not known which one.

        An environment that cannot be read may have an address of its own: nothing is sent elsewhere instead.
        """
        if environment is not None and desired is None:
            said = "nothing was asked: the environment is in files that are not valid"
            self._checks.append(Check(topic="platform", level="note", said=said))
            return None
        to = self._connection(place, desired)
        if to is None:
            return None
        try:
            platform = PlatformExamination(to, self._timeout)
        except Malformed as error:
            said = f"{error.part} cannot be used: {error.problem}"
            self._checks.append(Check(topic="platform", level="problem", said=said, source=to.url_from))
            return None
        with self._out.progress.during(READING):
            self._checks += platform.settings()
            self._checks += platform.answers(desired, load_registry(desired.profile if desired else "full"))
        platform.close()
        return platform

    def _connection(self, place: ConfigurationPaths | None, desired: Desired | None) -> Connection | None:
        from dpsync.cli.arguments.connection import connection

        try:
            return connection(self._out, place, desired)
        except DiagnosticError as refused:
            found = refused.findings[0]
            at = f"{found.span}: " if found.span else ""
            self._checks.append(
                Check(topic="platform", level="problem", said=f"{at}{found.message}", mend=found.hint)
            )
            return None
        except click.UsageError as missing:
            said, *mend = missing.message.splitlines()
            self._checks.append(
                Check(topic="platform", level="problem", said=said, mend=" ".join(mend) or None)
            )
            return None
