"""Choose the server and the token of a run, and check that the token may be sent there.

Decide whether the token of an environment may be sent to the address that the files name.

Whoever writes the files chooses both, and `plan` sends the token before anybody has reviewed the files. So a
commit decides: in a change under review the target of the change, elsewhere HEAD. What is not committed needs
a person who trusts it. SECURITY.md has the threats, and what the guard costs.

Decide which platform a command talks to, and with which token. Both always come from one source.

The sources, in this order: the inputs of the action, the environment of the root file that --env names, the
variables of the shell, and the environment that DPSYNC_ENV names. dpsync never sends the token of one source
to the address of another. The default address, GitBook's, belongs to the variables of the shell.
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
from dpsync.cli.output import FLAG_OF_TRUST, Output, interactive, trusted_by_flag
from dpsync.cli.usage import WrongUsage
from dpsync.model.diagnostic import Diagnostic, DiagnosticError, Exit
from dpsync.model.urls import COMPANION_TOKENS, GITBOOK, is_loopback
from dpsync.render.visible import visible

if TYPE_CHECKING:
    from dpsync.config.checked_files import EnvironmentSource
    from dpsync.model.desired import Desired, Environment


_LARGEST_FILE: Final = 1 << 16
"""Bytes of a remembered answer."""


class Trust(Struct, frozen=True, dict=True):
    """The chosen environment of a configuration, and whether its address may have the token.

    `branches` are those whose commits the workflow allows to be applied.
    """

    out: Output
    place: ConfigurationPaths
    desired: Desired
    branches: Collection[str] = ()

    @cached_property
    def _source(self) -> EnvironmentSource:
        from dpsync.config.checked_files import environment_source

        return environment_source(self.place.root, os.environ, self.branches)

    @property
    def _under_review(self) -> bool:
        from dpsync.config.checked_files import may_be_under_review

        return may_be_under_review(os.environ) and self._source.under_review

    def environment(self) -> Environment:
        """Return the chosen environment with the address and the token variable that may be used.

        In a change under review they are those of its target; `pending` then says what the change makes of
        them. Raises DiagnosticError (exit 4) if nothing may be sent.
        """
        from dpsync.model.refusals import NEW_ENVIRONMENT, NO_SOURCE, WRONG_SOURCE

        here = self._here
        if not self._under_review:
            return here
        source, span, name, url = self._source, here.span, here.name, here.url or "any address"
        if not source.problem and trusted_by_flag() is not None:
            self.out.complain(
                f"note: {FLAG_OF_TRUST} has no effect here, because dpsync "
                f"uses the URL from {visible(source.name)}"
            )
        target, wrong = source.environment(os.environ, name)
        if wrong.errors:
            problem = wrong.errors[0].message
            found = WRONG_SOURCE.finding(span=span, name=name, url=url, source=source.name, problem=problem)
            raise self._refused(found)
        if target is None and _destination(here) == ("", ""):
            return here
        if source.problem:
            hint = source.hint or "check out the repository with git"
            raise self._refused(
                NO_SOURCE.finding(span=span, name=name, url=url, problem=source.problem, hint=hint)
            )
        if target is None:
            raise self._refused(NEW_ENVIRONMENT.finding(span=span, name=name, url=url, source=source.name))
        if _destination(target) == _destination(here):
            return here
        pending = (
            f"this change sets {_in_words(here)}. dpsync still uses {_in_words(target)} from {source.name}. "
            "The change takes effect after the merge"
        )
        self.out.complain(f'note: {span}: the environment "{visible(name)}": {visible(pending)}')
        return replace(here, url=target.url, token=target.token, pending=pending)

    def check(self, token: str) -> None:
        """Raise DiagnosticError (exit 4) unless `token` may be sent to the address of the environment.

        Outside of a review that needs a commit, a person or --trust-environment. The companion's documented
        tokens need nothing on this machine.
        """
        from dpsync.model.refusals import UNCOMMITTED

        if self._under_review:  # `environment` has decided
            return
        here = self._here
        if is_loopback(here.url or "") and token in COMPANION_TOKENS:
            tell_unneeded(self.out, "the token is a public test token of the local server")
            return
        source = self._source
        committed, wrong = source.environment(os.environ, here.name)
        if committed is not None and _destination(committed) == _destination(here):
            tell_unneeded(
                self.out, f"{source.name} contains this environment with the same URL and token variable"
            )
            return
        answer = _Answer(disk.checkout(self.place.root.parent), *_destination(here))
        if trusted_by_flag() == here.name or answer.is_remembered():
            return
        if source.problem or committed is None:
            why = source.problem or f"{source.name} does not contain this environment"
        elif wrong.errors:
            why = f"in {source.name}, {wrong.errors[0].message}"
        else:
            why = f"{source.name} has {_in_words(committed)}"
        if not _is_agreed(here, why, answer):
            flag = f"{FLAG_OF_TRUST} {shlex.quote(here.name)}"
            raise self._refused(
                UNCOMMITTED.finding(
                    span=here.span, name=here.name, url=here.url, why=why, token=here.token, flag=flag
                )
            )
        answer.remember(self.out)

    @property
    def _here(self) -> Environment:
        """The environment as the working copy has it."""
        assert self.desired.environment is not None
        return self.desired.environment

    def _refused(self, finding: Diagnostic) -> DiagnosticError:
        return DiagnosticError([finding], Exit.REFUSED, self.desired.texts)


def tell_unneeded(out: Output, why: str) -> None:
    """Say that --trust-environment was given for nothing."""
    if trusted_by_flag() is not None:
        out.talk(f"note: {FLAG_OF_TRUST} is not necessary, because {visible(why)}")


def _is_agreed(here: Environment, why: str, answer: _Answer) -> bool:
    """Ask whether the address may have the token. Without a terminal nobody agrees."""
    context = click.get_current_context(silent=True)
    if not interactive(bool(context is not None and context.params.get("no_input"))):
        return False
    lines = (
        f'{here.span}: the URL of the environment "{here.name}" is not committed: {why}.',
        f"dpsync would send the token in {answer.variable} to {answer.url}.",
        f"Trust this URL in {answer.checkout} from now on?",
    )
    return click.confirm("\n".join(map(visible, lines)), err=True)


def _destination(environment: Environment) -> tuple[str, str]:
    """Return the address and the name of the token variable, each "" if the environment has none."""
    return (environment.url or "").rstrip("/"), environment.token or ""


def _in_words(environment: Environment) -> str:
    url, token = _destination(environment)
    return f"{f'the url {url}' if url else 'no url'} and {f'the token {token}' if token else 'no token'}"


class _Answer(Struct, frozen=True):
    """That a person trusts an address with a variable in one checkout.

    It is kept in the user's state directory and never in the checkout, whose authors could bring an answer
    along.
    """

    checkout: Path
    url: str
    variable: str

    def is_remembered(self) -> bool:
        """Return whether the person has trusted exactly this before."""
        path = self._path()
        try:
            return path is not None and disk.read(path, _LARGEST_FILE, follow=False) == self._content()
        except OSError:
            return False

    def remember(self, out: Output) -> None:
        """Keep the answer; if that is not possible, dpsync says so and asks again next time."""
        path = self._path()
        try:
            if path is None:
                raise disk.Unfit(self.checkout, "dpsync has no state directory outside of the checkout")
            disk.make_directory(path.parent)
            disk.put(path, self._content(), private=True)
        except OSError as error:
            out.talk(f"note: dpsync cannot store your answer and will ask again: {disk.why(error)}")

    def _content(self) -> bytes:
        from dpsync.model.text import json_text

        kept = {"checkout": str(self.checkout), "address": self.url, "variable": self.variable}
        return f"{json_text(kept)}\n".encode()

    def _path(self) -> Path | None:
        """Return the file of the answer; None if no directory outside of the checkout can hold it."""
        from dpsync.apply.journal import NoState, state_directory

        try:
            directory = disk.resolved(state_directory(os.environ) / "trusted")
        except (NoState, OSError):
            return None
        if directory.is_relative_to(self.checkout):
            return None
        return directory / hashlib.sha256(self._content()).hexdigest()


_LARGEST_TOKEN = 16 * 1024
"""Bytes of a file that may hold a token."""
_PATIENCE = 60.0
"""Seconds for a program that writes the token into a pipe: it may ask for a password first."""


class Connection(Struct, frozen=True):
    """An address without `/v1`, a token, and what somebody would have to change to change them."""

    url: str
    token: str
    url_from: str
    token_from: str
    rate: float | None = None
    """Requests for each second at most, as the chosen environment says."""
    by_default: bool = False
    """Whether nobody has given the address, so that it is GitBook's."""
    pending: str = ""
    """What a change under review makes of address and token, if they are not used yet: told in the plan."""

    def __repr__(self) -> str:
        return f"Connection({self.url!r})"


class Given(Struct, frozen=True):
    """What the inputs of the action say about address and token.

    The action passes them inside the process: child processes would inherit variables of the environment.
    """

    url: str
    token: str
    branches: tuple[str, ...] = ()
    """The branches whose commits may be applied; without any, the default branch."""

    def __repr__(self) -> str:
        return f"Given({self.url!r})"


def connection(
    out: Output, place: ConfigurationPaths | None = None, desired: Desired | None = None
) -> Connection:
    """Return the platform of a command, and the token for it. Every command that connects asks here.

    `desired` is the configuration in `place`, if the command works on one. Raises UsageError for what is
    missing, and DiagnosticError (exit 4) for an environment that may not have a token.
    No flag takes a token, since others could read it.
    """
    given, chosen = _given(), desired.environment if desired is not None else None
    _check_flag(chosen)
    if given.url or given.token:
        found = _checked(_of_inputs(given))
        tell_unneeded(out, 'the input "api-url" contains the URL')
        if chosen is not None and chosen.url and chosen.url.rstrip("/") != found.url:
            out.complain(
                'note: the inputs "api-url" and "api-token" replace the url and token of the environment '
                f"{visible(chosen.name)}, so dpsync does not use {visible(chosen.url)}"
            )
    else:
        trust = None
        if place is not None and desired is not None and _asks_file(chosen):
            trust = Trust(out, place, desired, given.branches)
            chosen = trust.environment()
        found = _of_file_or_shell(out, chosen)
        if trust is not None and _is_of_file(chosen):
            trust.check(found.token)
        elif chosen is None or not chosen.pending:
            tell_unneeded(out, f"{found.url_from} contains the URL")
    out.mask.add([found.token])
    if found.url.startswith("http://") and not is_loopback(found.url):
        out.complain(f"warning: {visible(found.url_from)} does not use https, so others can read the token")
    return found if chosen is None else replace(found, rate=chosen.rate, pending=chosen.pending)


def _asks_file(chosen: Environment | None) -> bool:
    """Return whether the file may name address and token: DPSYNC_URL goes before what DPSYNC_ENV chose."""
    return chosen is not None and (chosen_by_flag() or not os.environ.get("DPSYNC_URL"))


def _is_of_file(chosen: Environment | None) -> bool:
    """Return whether the file names address and token."""
    return chosen is not None and bool(chosen.url or chosen.token) and _asks_file(chosen)


def _check_flag(chosen: Environment | None) -> None:
    """Raise UsageError if --trust-environment names another environment than the chosen one."""
    named = trusted_by_flag()
    if named is not None and (chosen is None or chosen.name != named):
        other = (
            f"the chosen environment is {visible(chosen.name)}"
            if chosen is not None
            else "no environment is chosen"
        )
        raise click.UsageError(
            f"{FLAG_OF_TRUST} names the environment {visible(named)}, but {other}. "
            f"Pass the same environment to --env and {FLAG_OF_TRUST}"
        )


def _of_file_or_shell(out: Output, chosen: Environment | None) -> Connection:
    """Return the connection of the chosen environment, or that of the shell's variables."""
    if chosen is None or not (chosen.url or chosen.token):
        return _checked(_of_shell(None))
    if _is_of_file(chosen):
        found = _checked(_of_file(chosen))
        _say_unused(out, found, "--env" if chosen_by_flag() else "DPSYNC_ENV", chosen)
        return found
    found = _checked(_of_shell(chosen))
    if chosen.url and chosen.url.rstrip("/") != found.url:
        out.complain(
            f"warning: dpsync uses the URL in DPSYNC_URL, {visible(found.url)}, "
            "and not the url of the environment "
            f"{visible(chosen.name)}, which DPSYNC_ENV chose. To use the "
            "url of the environment, choose the environment with --env"
        )
    return found


def _checked(found: Connection) -> Connection:
    """The same, when it is an address that may be shown: the transport looks at the rest of it."""
    if "@" in found.url.partition("://")[2].partition("/")[0]:
        raise click.UsageError(f"{found.url_from} must not contain a user or password")
    bare = found.url.removesuffix("/v1")
    if bare != found.url:
        raise click.UsageError(f"{found.url_from} must not end with /v1. Write {bare}")
    return found


def chosen_by_flag() -> bool:
    """Whether the environment was chosen by --env, and not by DPSYNC_ENV."""
    context = click.get_current_context(silent=True)
    return context is not None and context.get_parameter_source("environment") is ParameterSource.COMMANDLINE


def _of_file(chosen: Environment) -> Connection:
    name = f'the environment "{visible(chosen.name)}"'
    if not chosen.url:
        raise WrongUsage(
            f"{name} has a token but no url. Add url: https://…",
            "dpsync never sends the token of an environment to another URL, such as DPSYNC_URL.",
        )
    if not chosen.token:
        raise WrongUsage(
            f"{name} has a url but no token. Add token: {{ env: NAME }} with the name of the token variable.",
            "dpsync never sends another token, such as DPSYNC_TOKEN, to the url of an environment.",
        )
    token = os.environ.get(chosen.token)
    if not token:
        raise click.UsageError(
            f"The environment variable {visible(chosen.token)} is not set. Set the variable to the token of "
            f"{name}."
        )
    return Connection(chosen.url.rstrip("/"), token, f"the url of {name}", visible(chosen.token))


def _given() -> Given:
    context = click.get_current_context(silent=True)
    return (context.find_object(Given) if context is not None else None) or Given("", "")


def _of_inputs(given: Given) -> Connection:
    if not (given.url and given.token):
        raise click.UsageError('the input "api-url" or "api-token" is empty. Set both inputs')
    return Connection(given.url.rstrip("/"), given.token, "api-url", "api-token")


def shell_address() -> str:
    """Return the address in DPSYNC_URL, without /v1; if it is not set, GitBook's."""
    return os.environ.get("DPSYNC_URL", "").rstrip("/") or GITBOOK


def _of_shell(chosen: Environment | None) -> Connection:
    url, by_default = shell_address(), not os.environ.get("DPSYNC_URL", "").rstrip("/")
    url_from = "the default address" if by_default else "DPSYNC_URL"
    if token := os.environ.get("DPSYNC_TOKEN"):
        return Connection(url, token, url_from, "DPSYNC_TOKEN", by_default=by_default)
    if file := os.environ.get("DPSYNC_TOKEN_FILE"):
        return Connection(url, _in_file(Path(file)), url_from, "DPSYNC_TOKEN_FILE", by_default=by_default)
    lines = [
        f"dpsync needs an access token for {visible(url)}, but neither "
        "DPSYNC_TOKEN nor DPSYNC_TOKEN_FILE is set.",
        "Create a token in GitBook, in the settings of your user. To try dpsync without an account, run "
        "`dpsync serve`, which prints a URL for DPSYNC_URL and a token.",
    ]
    if chosen is not None:
        address = "the default address" if by_default else "DPSYNC_URL"
        lines.append(f"dpsync never sends the token of the environment {visible(chosen.name)} to {address}.")
    raise WrongUsage(*lines)


def check_explicit(to: Connection, no_input: bool) -> None:
    """Raise WrongUsage if nobody can be asked about a write to an address that nobody has given."""
    if to.by_default and not interactive(no_input):
        raise WrongUsage(
            "DPSYNC_URL is not set. Without a terminal, dpsync applies nothing to the default URL. "
            f"To apply to GitBook, set DPSYNC_URL={GITBOOK}.",
            'You can also choose an environment with --env, or set the input "api-url" of the GitHub Action.',
        )


def _in_file(path: Path) -> str:
    """The token that a file holds, or that a program writes into a pipe: DPSYNC_TOKEN_FILE=<(…)."""
    from dpsync import disk

    name = f"DPSYNC_TOKEN_FILE: {visible(str(path))}"
    try:
        content = disk.read_stream(path, _LARGEST_TOKEN, _PATIENCE)
        token = content.decode().strip()
    except OSError as error:
        what = "DPSYNC_TOKEN_FILE must name a file that contains only the access token."
        raise WrongUsage(f"{name} cannot be read: {disk.why(error)}", what) from None
    except UnicodeDecodeError:
        raise click.UsageError(f"{name} cannot be read: it is not UTF-8 text") from None
    if len(content) > _LARGEST_TOKEN:
        raise click.UsageError(f"{name} cannot be read: the file is larger than {_LARGEST_TOKEN >> 10} KiB")
    if not token:
        raise click.UsageError(f"{name} is empty")
    return token


def _say_unused(out: Output, found: Connection, chosen_by: str, chosen: Environment) -> None:
    """That variables of the shell are set and mean nothing here is worth a line."""
    unused = [
        name
        for name, value in (
            ("DPSYNC_URL", found.url),
            ("DPSYNC_TOKEN", found.token),
            ("DPSYNC_TOKEN_FILE", ""),
        )
        if os.environ.get(name, "").rstrip("/") not in ("", value)
    ]
    if unused:
        out.talk(
            f"note: dpsync does not use {' and '.join(unused)}, because {chosen_by} chose the environment "
            f"{visible(chosen.name)}, which has its own url and token"
        )
