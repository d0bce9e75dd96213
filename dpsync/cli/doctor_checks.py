"""Run all checks of `dpsync doctor` in order. A failed check does not end the others.

`DoctorRun` runs the checks. `check_workflow` checks the GitHub workflow as far as possible without writing.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click
from msgspec.structs import replace

from dpsync.cli import doctor_platform, doctor_settings
from dpsync.cli.configuration import ConfigurationPaths
from dpsync.cli.doctor_platform import PlatformExamination
from dpsync.cli.output import Output
from dpsync.cli.progress import READING
from dpsync.client.errors import ClientError, InvalidClientValueError
from dpsync.kinds.profiles import FULL, PROFILES
from dpsync.kinds.registry import build_registry as load_registry
from dpsync.model.diagnostic import Diagnostic, DiagnosticError, Exit
from dpsync.render.documents import Check, DoctorDocument
from dpsync.render.visible import visible

if TYPE_CHECKING:
    from dpsync.model.desired import Desired


_GITHUB_PERMISSIONS = (
    ("contents", "/contents", "dpsync apply commits the ids file"),
    ("pull-requests", "/pulls", "dpsync plan and dpsync apply write comments into the pull request"),
    ("issues", "/issues", "dpsync drift opens an issue"),
)
"""The permission, a list that needs it, and what dpsync writes with it."""


def check_workflow(env: Mapping[str, str]) -> Iterator[Check]:
    """Yield the checks of a job in a GitHub workflow: the event, and the permissions of GITHUB_TOKEN.

    The permissions are tested by reading. Outside of a workflow, there is no check.
    """
    if not env.get("GITHUB_ACTIONS"):
        return
    from dpsync.config.git_base import read_github_event
    from dpsync.github.workspace import find_workflow_run

    try:
        workflow_run = find_workflow_run(env, read_github_event(env))
    except ValueError as error:
        yield Check(
            topic="workflow",
            level="problem",
            said=str(error),
            mend="run dpsync doctor in a job of a GitHub workflow",
        )
        return
    yield Check(
        topic="workflow",
        level="ok",
        said=f"{workflow_run.repository}, {workflow_run.event}",
        source="GITHUB_ACTIONS",
    )
    if workflow_run.is_from_fork:
        mend = 'review the change, then write the comment "/dpsync plan" (see docs/github-action.md)'
        message = (
            "the change comes from a fork, so this job has no secrets and cannot write to the repository"
        )
        yield Check(topic="workflow", level="note", said=message, mend=mend)
    token = env.get("GITHUB_TOKEN", "")
    if not token:
        mend = 'add "env: { GITHUB_TOKEN: ${{ github.token }} }" to this step of the workflow'
        message = "dpsync cannot check the permissions of the job, because GITHUB_TOKEN is not set"
        yield Check(topic="permissions", level="note", said=message, mend=mend)
        return
    url = env.get("GITHUB_API_URL", "https://api.github.com")
    yield from _check_permissions(url, token, workflow_run.repository)


def _check_permissions(url: str, token: str, repository: str) -> Iterator[Check]:
    """Yield a check for each permission that the job needs, tested by a request that reads.

    Whether the job may also write cannot be tested without writing, so a check says which permission is
    needed.
    """
    from dpsync.github.api import GitHub
    from dpsync.github.transport import GitHubError

    github = GitHub(url, token, repository)
    try:
        for name, path, use in _GITHUB_PERMISSIONS:
            try:
                github.request("GET", path, query={"per_page": "1"})
            except GitHubError as error:
                mend = f'add "permissions: {{ {name}: write }}" to the job, because {use}'
                message = f'the job cannot read "{name}" (status: {error.status or "no response"})'
                yield Check(topic="permissions", level="problem", said=message, mend=mend)
                continue
            message = (
                f'the job can read "{name}". The job also needs the permission "{name}: write", which dpsync '
                f"cannot check, because {use}"
            )
            yield Check(topic="permissions", level="ok", said=message, source="GITHUB_TOKEN")
    finally:
        github.close()


class DoctorRun:
    """Run the checks of `dpsync doctor`, and collect their results.

    With `contacting`, the run also compares the responses of the platform with what dpsync expects.
    """

    def __init__(self, out: Output, timeout: float, contacting: bool = False) -> None:
        self._out = out
        self._timeout = timeout
        self._checks: list[Check] = [doctor_settings.check_program()]
        self._invalid = False
        self._contacting = contacting
        self._report: bytes | None = None

    def document(
        self, path_options: tuple[tuple[str, ...], Path, str | None, Path | None, str | None]
    ) -> DoctorDocument:
        """Run all checks, and return the JSON document with their results and the exit code.

        `path_options` has the files, directory, environment, ids file and profile from the flags.
        """
        paths: ConfigurationPaths | None = None
        desired: Desired | None = None
        try:
            paths = ConfigurationPaths.find(*path_options)
        except DiagnosticError as error:
            self._add_findings(error)
        if paths is not None:
            self._checks += doctor_settings.check_files(paths)
            try:
                desired = paths.load_without_warnings()
            except DiagnosticError as error:
                # The API version of the server may be another one, for which the files have no error.
                desired = next(filter(None, map(paths.load_for_profile, PROFILES)), None)
                if desired is None:
                    self._add_findings(error)
        position = len(self._checks)
        platform, paths, desired = self._examine_platform(paths, path_options[2], desired)
        self._checks[position:position] = doctor_settings.check_configuration(desired) if desired else ()
        if paths is not None:
            self._checks += list(self._records_and_objects(paths, desired, platform))
        else:
            self._checks.append(doctor_platform.unexamined_objects_check("dpsync found no configuration"))
        self._out.mask.add([os.environ.get("GITHUB_TOKEN", "")])
        self._checks += check_workflow(os.environ)
        has_problem = any(check.level == "problem" for check in self._checks)
        code = Exit.INVALID if self._invalid else Exit.FAILED if has_problem else Exit.DONE
        access = tuple(platform.access) if platform else ()
        return DoctorDocument(exit=code, checks=tuple(self._checks), access=access)

    def _records_and_objects(
        self,
        paths: ConfigurationPaths,
        desired: Desired | None,
        platform: PlatformExamination | None,
    ) -> Iterator[Check]:
        """Yield the checks of the git base, the ids file and the declared objects.

        The git base is the commit that the files are compared with. The objects can be checked only if the
        files, the git base, the ids file and the platform are readable.
        """
        from dpsync.api import Session, ids_path

        connection, name = (platform.connection, platform.client.platform) if platform else (None, None)
        path = paths.ids or ids_path(paths.root, connection.url if connection else "")
        base_check, base = doctor_settings.check_git_base(paths, path)
        ids_check, ids = doctor_settings.check_ids_file(paths, path, connection, name)
        yield from (base_check, ids_check)
        required_topics = ("platform", load_registry().root.noun)
        if desired is None:
            yield doctor_platform.unexamined_objects_check("the configuration is invalid")
        elif connection is None or any(
            check.level == "problem" and check.topic in required_topics for check in self._checks
        ):
            yield doctor_platform.unexamined_objects_check("dpsync could not read GitBook")
        elif base is None or ids is None:
            yield doctor_platform.unexamined_objects_check(
                f"the {'commit to compare with' if base is None else 'ids file'} is invalid"
            )
        else:
            session = Session(desired, load_registry(desired.profile), base=base, ids=ids)
            yield from doctor_platform.check_objects(self._out, session, connection, self._timeout)

    def _add_findings(self, error: DiagnosticError) -> None:
        """Add a check for each of the first findings of an invalid configuration."""
        self._invalid = True
        self._checks += doctor_settings.invalid_configuration_checks(error)

    def _examine_platform(
        self, paths: ConfigurationPaths | None, environment: str | None, desired: Desired | None
    ) -> tuple[PlatformExamination | None, ConfigurationPaths | None, Desired | None]:
        """Check the platform, and choose the API version by which the files are read.

        Return the platform (None if there is no connection), and the paths and the configuration for its API
        version.
        """
        platform = self._connected(paths, environment, desired)
        server_profile = platform.served_profile() if platform is not None else None
        known_profile = server_profile if server_profile in PROFILES else None
        original_paths = paths
        if paths is not None:
            paths, desired = self._read_again(paths, desired, known_profile)
        used_profile = desired.profile if desired else (paths and paths.profile) or known_profile or FULL.name
        if platform is not None:
            self._checks += platform.check_settings()
            self._checks.append(
                doctor_settings.check_profile(original_paths, desired, used_profile, server_profile)
            )
            with self._out.progress.show_during(READING):
                self._checks += platform.check_responses(desired, load_registry(used_profile))
                has_failed = any(
                    check.topic == "platform" and check.level == "problem" for check in self._checks
                )
                if self._contacting and not has_failed:
                    self._checks += self._compare_responses(platform, desired, used_profile, server_profile)
            platform.close()
        return platform, paths, desired

    def _compare_responses(
        self,
        platform: PlatformExamination,
        desired: Desired | None,
        used_profile: str,
        server_profile: str | None,
    ) -> Iterator[Check]:
        """Compare the responses of the platform with what dpsync expects. Yield the differences as checks.

        The report of the comparison is kept for `write_report`.
        """
        from dpsync.cli.doctor_platform import contact_checks, contact_report
        from dpsync.cli.failures import client_diagnostic
        from dpsync.live.contract_check import check_contract

        registry = load_registry(used_profile)
        roots = [entry for entry in (desired.entries.values() if desired else ()) if entry.parent is None]
        organization_name = (
            (roots[0].pin or roots[0].fields.get(str(registry.root.natural_keys[0]))) if roots else None
        )
        requests_before = platform.client.requests
        try:
            comparison = check_contract(
                platform.client, registry, str(organization_name) if organization_name is not None else None
            )
        except ClientError as error:
            diagnostic = client_diagnostic(error, platform.connection)
            yield Check(topic="contact", level="problem", said=diagnostic.message, mend=diagnostic.hint)
            return
        self._report = contact_report(comparison, used_profile, server_profile)
        yield from contact_checks(comparison, used_profile, platform.client.requests - requests_before)

    def write_report(self, path: Path) -> None:
        """Write the report of `_compare_responses` to a file, or print a note if there is none.

        Raises DiagnosticError (exit 1) if the file cannot be written.
        """
        from dpsync import disk

        if self._report is None:
            self._out.print_problem(
                "note: dpsync wrote no report, because dpsync could not check the responses of GitBook"
            )
            return
        try:
            disk.replace_file(path, self._report)
        except OSError as error:
            message = f"{path} cannot be written: {disk.error_reason(error)}"
            raise DiagnosticError([Diagnostic("unwritable", message)], Exit.FAILED) from None
        self._out.print_message(
            f"dpsync wrote the report to {visible(str(path))}. The report contains no values of "
            "your organization. Read the report before you publish it."
        )

    def _read_again(
        self, paths: ConfigurationPaths, desired: Desired | None, server_profile: str | None
    ) -> tuple[ConfigurationPaths, Desired | None]:
        """Return the paths and the configuration, read again for the API version of the server.

        The configuration is None if it has errors in that version.
        """
        if desired is None or paths.with_profile_of(desired) is paths:
            return paths, desired
        try:
            reloaded = (
                replace(paths, profile=server_profile) if server_profile else paths
            ).load_without_warnings()
        except DiagnosticError as error:
            self._add_findings(error)
            return paths, None
        return paths.with_profile_of(reloaded), reloaded

    def _connected(
        self, paths: ConfigurationPaths | None, environment: str | None, desired: Desired | None
    ) -> PlatformExamination | None:
        """Connect to the platform; return None, with a check, if that is not possible.

        If the files that define the environment cannot be read, nothing is sent: the environment may have
        another address.
        """
        if environment is not None and desired is None:
            message = "dpsync sent no request, because the files that define the environment are invalid"
            self._checks.append(Check(topic="platform", level="note", said=message))
            return None
        from dpsync.cli.connection import find_connection

        try:
            connection = find_connection(self._out, paths, desired)
        except DiagnosticError as error:
            finding = error.findings[0]
            location = f"{finding.span}: " if finding.span else ""
            message = f"{location}{finding.message}"
            self._checks.append(Check(topic="platform", level="problem", said=message, mend=finding.hint))
            return None
        except click.UsageError as error:
            message, *hints = error.message.splitlines()
            mend = " ".join(hints) or None
            self._checks.append(Check(topic="platform", level="problem", said=message, mend=mend))
            return None
        try:
            return PlatformExamination(connection, self._timeout)
        except InvalidClientValueError as error:
            from dpsync.cli.failures import malformed_message

            message = malformed_message(error, connection)
            self._checks.append(
                Check(topic="platform", level="problem", said=message, source=connection.url_from)
            )
            return None
