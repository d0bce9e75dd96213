"""Decide whether the token of an environment may be sent to the address that the files name.

Whoever writes the files chooses both, and `plan` sends the token before anybody has reviewed the files. So a
commit decides: in a change under review the target of the change, elsewhere HEAD. What is not committed needs
a person who trusts it. SECURITY.md has the threats, and what the guard costs.
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
from msgspec import Struct
from msgspec.structs import replace

from dpsync import disk
from dpsync.cli.arguments.place import ConfigurationPaths
from dpsync.cli.terminal.output import FLAG_OF_TRUST, Output, interactive, trusted_by_flag
from dpsync.model.diagnostic import Diagnostic, DiagnosticError, Exit
from dpsync.model.urls import COMPANION_TOKENS, is_loopback
from dpsync.render.names import visible

if TYPE_CHECKING:
    from dpsync.config.checked_files import EnvironmentSource
    from dpsync.model.desired import Desired, Environment

_LARGEST: Final = 1 << 16
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
            return path is not None and disk.read(path, _LARGEST, follow=False) == self._content()
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
