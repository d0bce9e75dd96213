"""Choose the server and the token of a run, and check that the token may be sent to that server.

`find_connection` takes both from one source, in this order: the inputs of the action, the environment of the
root file that --env names, the variables of the shell, the environment that DPSYNC_ENV names. A token of one
source is never sent to an address of another. `EnvironmentTrust` checks the address that a file names,
because `plan` sends the token before anybody reviews the files: the address must be in a commit (for a change
under review, in its target), or a person must trust it. SECURITY.md describes the threats.
"""

from __future__ import annotations

import hashlib
import os
import shlex
from collections.abc import Collection
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click
from click.core import ParameterSource
from msgspec import Struct
from msgspec.structs import replace

from dpsync import disk
from dpsync.cli.configuration import ConfigurationPaths
from dpsync.cli.output import TRUST_FLAG, Output, interactive, trusted_by_flag
from dpsync.cli.usage import WrongUsage
from dpsync.model.diagnostic import Diagnostic, DiagnosticError, Exit
from dpsync.model.urls import COMPANION_TOKENS, GITBOOK_API_URL, is_loopback
from dpsync.render.visible import visible

if TYPE_CHECKING:
    from dpsync.config.checked_files import EnvironmentSource
    from dpsync.model.desired import Desired, Environment


_LARGEST_FILE: Final = 1 << 16
"""The largest size in bytes of a stored answer."""


class EnvironmentTrust(Struct, frozen=True, dict=True):
    """Decide whether a token may be sent to the address of the chosen environment.

    A change under review could name an address of an attacker. So the address comes from the target of the
    change, or a person must trust an address that is not committed. `branches` are the branches whose
    commits the workflow may apply.
    """

    out: Output
    paths: ConfigurationPaths
    desired: Desired
    branches: Collection[str] = ()

    @cached_property
    def _source(self) -> EnvironmentSource:
        """Where the committed environments are: the target of the change, or the commit of the checkout."""
        from dpsync.config.checked_files import environment_source

        return environment_source(self.paths.root, os.environ, self.branches)

    @property
    def _under_review(self) -> bool:
        """Whether the files come from a change that is not merged yet, such as a pull request."""
        from dpsync.config.checked_files import may_be_under_review

        return may_be_under_review(os.environ) and self._source.under_review

    def environment(self) -> Environment:
        """Return the chosen environment with the URL and the token variable that may be used.

        In a change under review, they come from the target branch, because its author must not choose where
        the token is sent. `pending` of the result then describes what the change sets.

        Raises:
            DiagnosticError: Nothing may be sent (exit 4).
        """
        from dpsync.model.refusals import NEW_ENVIRONMENT, NO_SOURCE, WRONG_SOURCE

        environment = self._working_copy_environment
        if not self._under_review:
            return environment
        source, span, name, url = (
            self._source,
            environment.span,
            environment.name,
            environment.url or "any address",
        )
        if not source.problem and trusted_by_flag() is not None:
            self.out.print_problem(
                f"note: {TRUST_FLAG} has no effect here, because dpsync "
                f"uses the URL from {visible(source.name)}"
            )
        target, findings = source.environment(os.environ, name)
        if findings.errors:
            problem = findings.errors[0].message
            refusal = WRONG_SOURCE.diagnostic(
                span=span, name=name, url=url, source=source.name, problem=problem
            )
            raise self._refusal_error(refusal)
        if target is None and _destination(environment) == ("", ""):
            return environment
        if source.problem:
            hint = source.hint or "check out the repository with git"
            raise self._refusal_error(
                NO_SOURCE.diagnostic(span=span, name=name, url=url, problem=source.problem, hint=hint)
            )
        if target is None:
            raise self._refusal_error(
                NEW_ENVIRONMENT.diagnostic(span=span, name=name, url=url, source=source.name)
            )
        if _destination(target) == _destination(environment):
            return environment
        pending = (
            f"this change sets {_describe_environment(environment)}. dpsync still uses "
            f"{_describe_environment(target)} from "
            f"{source.name}. The change takes effect after the merge"
        )
        self.out.print_problem(f'note: {span}: the environment "{visible(name)}": {visible(pending)}')
        return replace(environment, url=target.url, token=target.token, pending=pending)

    def check(self, token: str) -> None:
        """Raise DiagnosticError (exit 4) unless `token` may be sent to the URL of the environment.

        The URL must be in a commit, or the user must have agreed to it: now in the terminal, earlier, or with
        --trust-environment. The public test tokens of the local server may be sent to loopback addresses.
        In a review of a change, `environment` has already checked this.
        """
        from dpsync.model.refusals import UNCOMMITTED

        if self._under_review:  # `environment` has decided
            return
        environment = self._working_copy_environment
        if is_loopback(environment.url or "") and token in COMPANION_TOKENS:
            note_unneeded_trust_flag(self.out, "the token is a public test token of the local server")
            return
        source = self._source
        committed, findings = source.environment(os.environ, environment.name)
        if committed is not None and _destination(committed) == _destination(environment):
            note_unneeded_trust_flag(
                self.out, f"{source.name} contains this environment with the same URL and token variable"
            )
            return
        agreement = _TrustAgreement(disk.find_checkout(self.paths.root.parent), *_destination(environment))
        if trusted_by_flag() == environment.name or agreement.is_remembered():
            return
        if source.problem or committed is None:
            reason = source.problem or f"{source.name} does not contain this environment"
        elif findings.errors:
            reason = f"in {source.name}, {findings.errors[0].message}"
        else:
            reason = f"{source.name} has {_describe_environment(committed)}"
        context = click.get_current_context(silent=True)
        if interactive(bool(context is not None and context.params.get("no_input"))):
            lines = (
                f'{environment.span}: the URL of the environment "{environment.name}" is not committed: '
                f"{reason}.",
                f"dpsync would send the token in {agreement.variable} to {agreement.url}.",
                f"Trust this URL in {agreement.checkout} from now on?",
            )
            is_trusted = click.confirm("\n".join(map(visible, lines)), err=True)
        else:
            is_trusted = False
        if not is_trusted:
            flag = f"{TRUST_FLAG} {shlex.quote(environment.name)}"
            raise self._refusal_error(
                UNCOMMITTED.diagnostic(
                    span=environment.span,
                    name=environment.name,
                    url=environment.url,
                    why=reason,
                    token=environment.token,
                    flag=flag,
                )
            )
        agreement.remember(self.out)

    @property
    def _working_copy_environment(self) -> Environment:
        """The environment as the working copy has it."""
        assert self.desired.environment is not None
        return self.desired.environment

    def _refusal_error(self, finding: Diagnostic) -> DiagnosticError:
        """Return the error that ends a command with a refusal (exit 4)."""
        return DiagnosticError([finding], Exit.REFUSED, self.desired.texts)


def note_unneeded_trust_flag(out: Output, reason: str) -> None:
    """Print a note if --trust-environment was passed but is not needed, because of `reason`."""
    if trusted_by_flag() is not None:
        out.print_message(f"note: {TRUST_FLAG} is not necessary, because {visible(reason)}")


def _destination(environment: Environment) -> tuple[str, str]:
    """Return the address and the token variable of an environment, which decide where a token is sent."""
    return (environment.url or "").rstrip("/"), environment.token or ""


def _describe_environment(environment: Environment) -> str:
    """Return the url and the token variable of an environment as text."""
    url, token = _destination(environment)
    return f"{f'the url {url}' if url else 'no url'} and {f'the token {token}' if token else 'no token'}"


class _TrustAgreement(Struct, frozen=True):
    """The agreement of a person that a token variable may be sent to an address from one checkout.

    It is stored in the state directory of the user and not in the checkout, whose authors could add an
    answer.
    """

    checkout: Path
    url: str
    variable: str

    def is_remembered(self) -> bool:
        """Return whether the person agreed to this checkout, address and variable before."""
        path = self._path()
        try:
            return path is not None and disk.read(path, _LARGEST_FILE, follow=False) == self._content()
        except OSError:
            return False

    def remember(self, out: Output) -> None:
        """Store that the user agreed to send the token to this URL. If storing fails, print a note."""
        path = self._path()
        try:
            if path is None:
                raise disk.UnusablePathError(
                    self.checkout,
                    "dpsync found no directory outside of the checkout for its state (journals and locks)",
                )
            disk.make_directory(path.parent)
            disk.replace_file(path, self._content(), private=True)
        except OSError as error:
            out.print_message(
                f"note: dpsync cannot store your answer and will ask again: {disk.error_reason(error)}"
            )

    def _content(self) -> bytes:
        """Return the content of the file that stores the agreement."""
        from dpsync.model.text import json_text

        content = {"checkout": str(self.checkout), "address": self.url, "variable": self.variable}
        return f"{json_text(content)}\n".encode()

    def _path(self) -> Path | None:
        """Return the file that stores the user's agreement to send the token to this URL.

        None without a state directory, or if that is inside the checkout, where others could write to it.
        """
        from dpsync.apply.journal import NoStateDirectoryError, state_directory

        try:
            directory = disk.resolve_path(state_directory(os.environ) / "trusted")
        except (NoStateDirectoryError, OSError):
            return None
        if directory.is_relative_to(self.checkout):
            return None
        return directory / hashlib.sha256(self._content()).hexdigest()


_LARGEST_TOKEN = 16 * 1024
"""The largest size in bytes of a token file."""
_PIPE_TIMEOUT_SECONDS = 60.0
"""How many seconds a program may take to write the token into a pipe. It may ask for a password first."""


class Connection(Struct, frozen=True):
    """An address without `/v1` and a token, and the settings that they come from."""

    url: str
    token: str
    url_from: str
    token_from: str
    rate: float | None = None
    """The largest number of requests per second in the chosen environment."""
    is_default_url: bool = False
    """Whether no setting has an address, so that it is GitBook's."""
    pending: str = ""
    """The address and token that a change under review sets, which are not used yet, as text for the plan."""

    def __repr__(self) -> str:
        return f"Connection({self.url!r})"


class InjectedCredentials(Struct, frozen=True):
    """The address and token from the inputs of the action.

    The action passes them inside the process, because child processes would inherit environment variables.
    """

    url: str
    token: str
    branches: tuple[str, ...] = ()
    """The branches whose commits may be applied; without any, the default branch."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.url!r})"


def find_connection(
    out: Output, paths: ConfigurationPaths | None = None, desired: Desired | None = None
) -> Connection:
    """Return the server of a command and its token. Every command that connects calls this function.

    The sources in their order: the inputs of the GitHub Action, the environment of --env, the variables of
    the shell, the environment of DPSYNC_ENV. No flag takes a token, because other users of the machine could
    read it.

    Args:
        desired: The configuration in `paths`, if the command uses one.

    Raises:
        click.UsageError: A setting is missing or invalid.
        DiagnosticError: The token may not be sent to the address of the environment (exit 4).
    """
    context = click.get_current_context(silent=True)
    injected = context.find_object(InjectedCredentials) if context is not None else None
    environment = desired.environment if desired is not None else None
    _check_trust_flag(environment)
    if injected is not None and (injected.url or injected.token):
        if not (injected.url and injected.token):
            raise click.UsageError('the input "api-url" or "api-token" is empty. Set both inputs')
        result = _with_checked_url(
            Connection(injected.url.rstrip("/"), injected.token, "api-url", "api-token")
        )
        note_unneeded_trust_flag(out, 'the input "api-url" of the dpsync action sets the URL')
        if environment is not None and environment.url and environment.url.rstrip("/") != result.url:
            out.print_problem(
                'note: the inputs "api-url" and "api-token" replace the url and token of the environment '
                f"{visible(environment.name)}, so dpsync does not use {visible(environment.url)}"
            )
    else:
        trust = None
        if paths is not None and desired is not None and _is_file_connection_allowed(environment):
            branches = injected.branches if injected is not None else ()
            trust = EnvironmentTrust(out, paths, desired, branches)
            environment = trust.environment()
        result = _connection_of_file_or_shell(out, environment)
        if trust is not None and _file_has_connection(environment):
            trust.check(result.token)
        elif environment is None or not environment.pending:
            note_unneeded_trust_flag(out, f"{result.url_from} contains the URL")
    out.mask.add([result.token])
    if result.url.startswith("http://") and not is_loopback(result.url):
        out.print_problem(
            f"warning: {visible(result.url_from)} does not use https, so others can read the token"
        )
    return (
        result if environment is None else replace(result, rate=environment.rate, pending=environment.pending)
    )


def _check_trust_flag(environment: Environment | None) -> None:
    """Raise UsageError if --trust-environment names another environment than the chosen one."""
    trusted_name = trusted_by_flag()
    if trusted_name is not None and (environment is None or environment.name != trusted_name):
        choice_text = (
            f"the chosen environment is {visible(environment.name)}"
            if environment is not None
            else "no environment is chosen"
        )
        raise click.UsageError(
            f"{TRUST_FLAG} names the environment {visible(trusted_name)}, but {choice_text}. "
            f"Pass the same environment to --env and {TRUST_FLAG}"
        )


def _is_file_connection_allowed(environment: Environment | None) -> bool:
    """Return whether the files may name the address and token of a command.

    DPSYNC_URL takes precedence over an environment that DPSYNC_ENV chose, but not over --env.
    """
    return environment is not None and (is_environment_from_flag() or not os.environ.get("DPSYNC_URL"))


def _file_has_connection(environment: Environment | None) -> bool:
    """Return whether the command uses the address and token that the files name for the environment."""
    return (
        environment is not None
        and bool(environment.url or environment.token)
        and _is_file_connection_allowed(environment)
    )


def _connection_of_file_or_shell(out: Output, environment: Environment | None) -> Connection:
    """Return the connection of the chosen environment, or of DPSYNC_URL and DPSYNC_TOKEN.

    The environment needs its own URL and token for that. Print a warning if DPSYNC_URL replaces its URL.
    """
    if environment is None or not (environment.url or environment.token):
        return _with_checked_url(_connection_of_shell(None))
    if _file_has_connection(environment):
        result = _with_checked_url(_connection_of_file(environment))
        _note_unused_variables(
            out, result, "--env" if is_environment_from_flag() else "DPSYNC_ENV", environment
        )
        return result
    result = _with_checked_url(_connection_of_shell(environment))
    if environment.url and environment.url.rstrip("/") != result.url:
        out.print_problem(
            f"warning: dpsync uses the URL in DPSYNC_URL, {visible(result.url)}, "
            "and not the url of the environment "
            f"{visible(environment.name)}, which DPSYNC_ENV chose. To use the "
            "url of the environment, choose the environment with --env"
        )
    return result


def _with_checked_url(connection: Connection) -> Connection:
    """Return the connection if its address is without user, password and /v1; else raise UsageError.

    The transport checks the rest of the address.
    """
    if "@" in connection.url.partition("://")[2].partition("/")[0]:
        raise click.UsageError(f"{connection.url_from} must not contain a user or password")
    expected_url = connection.url.removesuffix("/v1")
    if expected_url != connection.url:
        raise click.UsageError(f"{connection.url_from} must not end with /v1. Write {expected_url}")
    return connection


def is_environment_from_flag() -> bool:
    """Return whether --env, and not DPSYNC_ENV, chose the environment."""
    context = click.get_current_context(silent=True)
    return context is not None and context.get_parameter_source("environment") is ParameterSource.COMMANDLINE


def _connection_of_file(environment: Environment) -> Connection:
    """Return the connection of an environment in the files.

    Raises UsageError if a part is missing: dpsync never completes it with the variables of the shell,
    because the token could then be sent to another server.
    """
    name = f'the environment "{visible(environment.name)}"'
    if not environment.url:
        raise WrongUsage(
            f"{name} has a token but no url. Add url: https://…",
            "dpsync never sends the token of an environment to another URL, such as DPSYNC_URL.",
        )
    if not environment.token:
        raise WrongUsage(
            f"{name} has a url but no token. Add token: {{ env: NAME }} with the name of the token variable.",
            "dpsync never sends another token, such as DPSYNC_TOKEN, to the url of an environment.",
        )
    token = os.environ.get(environment.token)
    if not token:
        raise click.UsageError(
            f"The environment variable {visible(environment.token)} is not set. Set the variable to the "
            f"token of {name}."
        )
    return Connection(environment.url.rstrip("/"), token, f"the url of {name}", visible(environment.token))


def shell_address() -> str:
    """Return the address in DPSYNC_URL, or the address of GitBook if the variable is not set."""
    return os.environ.get("DPSYNC_URL", "").rstrip("/") or GITBOOK_API_URL


def _connection_of_shell(environment: Environment | None) -> Connection:
    """Return the connection of DPSYNC_URL and DPSYNC_TOKEN. Raises UsageError if no token is set.

    `environment` is the chosen environment, if any, for the message.
    """
    url, is_default_url = shell_address(), not os.environ.get("DPSYNC_URL", "").rstrip("/")
    url_from = "the default address" if is_default_url else "DPSYNC_URL"
    if token := os.environ.get("DPSYNC_TOKEN"):
        return Connection(url, token, url_from, "DPSYNC_TOKEN", is_default_url=is_default_url)
    if file := os.environ.get("DPSYNC_TOKEN_FILE"):
        return Connection(
            url, _read_token_file(Path(file)), url_from, "DPSYNC_TOKEN_FILE", is_default_url=is_default_url
        )
    lines = [
        f"dpsync needs an access token for {visible(url)}, but neither "
        "DPSYNC_TOKEN nor DPSYNC_TOKEN_FILE is set.",
        "Create a token in GitBook, in the settings of your user. To try dpsync without an account, run "
        "`dpsync serve`, which prints a URL for DPSYNC_URL and a token.",
    ]
    if environment is not None:
        address = "the default address" if is_default_url else "DPSYNC_URL"
        lines.append(
            f"dpsync never sends the token of the environment {visible(environment.name)} to {address}."
        )
    raise WrongUsage(*lines)


def check_server_is_explicit(connection: Connection, no_input: bool) -> None:
    """Raise WrongUsage if a command would write to the default address and nobody can be asked.

    A job with a missing setting must not change GitBook by mistake.
    """
    if connection.is_default_url and not interactive(no_input):
        raise WrongUsage(
            "DPSYNC_URL is not set. Without a terminal, dpsync applies nothing to the default URL. "
            f"To apply to GitBook, set DPSYNC_URL={GITBOOK_API_URL}.",
            "You can also choose an environment of dpsync.yaml with --env, or set the input "
            '"api-url" of the GitHub Action.',
        )


def _read_token_file(path: Path) -> str:
    """Return the token in the file that DPSYNC_TOKEN_FILE names.

    The file can also be a pipe, into which a program writes the token: DPSYNC_TOKEN_FILE=<(…).
    """
    from dpsync import disk

    name = f"DPSYNC_TOKEN_FILE: {visible(str(path))}"
    try:
        content = disk.read_stream(path, _LARGEST_TOKEN, _PIPE_TIMEOUT_SECONDS)
        token = content.decode().strip()
    except OSError as error:
        hint = "DPSYNC_TOKEN_FILE must name a file that contains only the access token."
        raise WrongUsage(f"{name} cannot be read: {disk.error_reason(error)}", hint) from None
    except UnicodeDecodeError:
        raise click.UsageError(f"{name} cannot be read: it is not UTF-8 text") from None
    if len(content) > _LARGEST_TOKEN:
        raise click.UsageError(f"{name} cannot be read: the file is larger than {_LARGEST_TOKEN >> 10} KiB")
    if not token:
        raise click.UsageError(f"{name} is empty")
    return token


def _note_unused_variables(
    out: Output, connection: Connection, chosen_by: str, environment: Environment
) -> None:
    """Print a note about variables of the shell that are set but not used.

    Args:
        connection: The connection that is used.
        chosen_by: What chose the environment: "--env" or "DPSYNC_ENV".
    """
    unused = [
        name
        for name, value in (
            ("DPSYNC_URL", connection.url),
            ("DPSYNC_TOKEN", connection.token),
            ("DPSYNC_TOKEN_FILE", ""),
        )
        if os.environ.get(name, "").rstrip("/") not in ("", value)
    ]
    if unused:
        out.print_message(
            f"note: dpsync does not use {' and '.join(unused)}, because {chosen_by} chose the environment "
            f"{visible(environment.name)}, which has its own url and token"
        )
