"""Decide whether the token of an environment may be sent to the address that the files name.

Whoever writes the files chooses both, and `plan` sends the token before anybody has reviewed the files. So
the target of a change decides, and not the change. SECURITY.md has the threats.
"""

from __future__ import annotations

import os
from collections.abc import Collection
from typing import TYPE_CHECKING

from msgspec.structs import replace

from dpsync.cli.arguments.place import ConfigurationPaths
from dpsync.cli.terminal.output import Output
from dpsync.model.findings.diagnostic import DiagnosticError
from dpsync.model.findings.refusals import NEW_ENVIRONMENT, NO_SOURCE, WRONG_SOURCE, RefusalWords
from dpsync.render.words.visible import visible

if TYPE_CHECKING:
    from dpsync.model.entries.desired import Desired, Environment


def trusted_environment(
    out: Output, place: ConfigurationPaths, desired: Desired, branches: Collection[str]
) -> Environment:
    """Return the chosen environment with the address and the token variable that may be used.

    In a change under review they are those of its target; `pending` then says what the change makes of them.
    `branches` are those whose commits the workflow allows to be applied.
    Raises DiagnosticError (exit 4) if nothing may be sent.
    """
    from dpsync.config.git_base.environment_source import is_under_review

    assert desired.environment is not None
    if is_under_review(os.environ):
        return _of_target(out, place, desired, desired.environment, branches)
    return desired.environment


def _of_target(
    out: Output, place: ConfigurationPaths, desired: Desired, here: Environment, branches: Collection[str]
) -> Environment:
    from dpsync.config.git_base.environment_source import environment_source

    def refused(words: RefusalWords, **more: str) -> DiagnosticError:
        found = words.finding(span=here.span, name=here.name, url=here.url or "any address", **more)
        return DiagnosticError([found], words.exit, desired.texts)

    source = environment_source(place.root, os.environ, branches)
    if source.problem:
        if here.url or here.token:
            hint = source.hint or "check out the repository with git"
            raise refused(NO_SOURCE, problem=source.problem, hint=hint)
        return here
    target, found = source.environment(os.environ, here.name)
    if found.errors:
        raise refused(WRONG_SOURCE, source=source.name, problem=found.errors[0].message)
    if target is None:
        if here.url or here.token:
            raise refused(NEW_ENVIRONMENT, source=source.name)
        return here
    if _destination(target) == _destination(here):
        return here
    pending = (
        f"it has {_destination(here)} here, and {_destination(target)} in {source.name}: the change takes "
        "effect once it is merged"
    )
    out.complain(f'note: {here.span}: the environment "{visible(here.name)}": {visible(pending)}')
    return replace(here, url=target.url, token=target.token, pending=pending)


def _destination(environment: Environment) -> str:
    """Return address and token variable in words."""
    url = f"the url {environment.url.rstrip('/')}" if environment.url else "no url"
    return f"{url} and {f'the token {environment.token}' if environment.token else 'no token'}"
