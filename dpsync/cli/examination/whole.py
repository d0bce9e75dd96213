"""Everything that `dpsync doctor` looks at, in order, as one document. One wrong thing ends nothing else."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dpsync.cli.arguments.place import ConfigurationPaths
from dpsync.cli.examination import objects, settings
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
            self._checks += list(self._records_and_objects(place, base, desired, platform))
        else:
            self._checks.append(objects.unexamined("there is no configuration"))
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

    def _records_and_objects(
        self,
        place: ConfigurationPaths,
        ref: str | None,
        desired: Desired | None,
        platform: PlatformExamination | None,
    ) -> Iterator[Check]:
        """Yield the checks of the git base, the ids file and the declared objects, which need both."""
        from dpsync.api import Session, ids_path

        to, name = (platform.to, platform.client.platform) if platform else (None, None)
        path = place.ids or ids_path(place.root, to.url if to else "")
        base_check, base = settings.git_base(place, ref, path)
        ids_check, ids = settings.ids_file(place, path, to, name)
        yield from (base_check, ids_check)
        needed = ("platform", load_registry().root.noun)
        if desired is None:
            yield objects.unexamined("the configuration is not valid")
        elif to is None or any(one.level == "problem" and one.topic in needed for one in self._checks):
            yield objects.unexamined("the platform could not be read")
        elif base is None or ids is None:
            yield objects.unexamined(f"the {'git base' if base is None else 'ids file'} cannot be used")
        else:
            session = Session(desired, load_registry(desired.profile), base=base, ids=ids)
            yield from objects.objects(self._out, session, to, self._timeout)

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
