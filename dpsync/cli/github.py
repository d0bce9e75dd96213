"""`dpsync github`: what action.yml runs. It runs another command in this process, and tells GitHub of it."""

from __future__ import annotations

import io
import os
import signal
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from pathlib import Path
from tempfile import gettempdir
from typing import TYPE_CHECKING, Any, Final

import click

from dpsync.cli.signals import Ended, Patience, handled
from dpsync.model.diagnostic import Exit

if TYPE_CHECKING:
    from dpsync.github.action import Action, Ran
    from dpsync.github.commands import Log
    from dpsync.github.inputs import Inputs
    from dpsync.github.place import Place


_BASE: Final = "GITHUB_BASE_REF"
_STOPPED: Final = {Exit.INTERRUPTED: signal.SIGINT, Exit.TERMINATED: signal.SIGTERM}


@click.command("github")
def command() -> int:
    """Run a command in a workflow on GitHub, and tell it there.

    This is what action.yml runs; its inputs are in DPSYNC_ACTION_INPUTS, as one JSON object. It plans,
    applies, checks for drift or validates, and writes the comment, the issue, the summary of the job, the
    annotations and the outputs. The exit code is that of the command that was run; drift and changes fail
    the job only when the input fail-on is changes.
    """
    from dpsync.github.commands import Log

    log, patience = Log(sys.stdout), Patience()
    with handled(patience.handle):
        try:
            with patience.droppable():
                given = _given(log)
            return Exit.USAGE if given is None else _carry_out(log, *given, patience)
        except Ended as stopped:
            patience.last()
            if not patience.begun:
                from dpsync.github.outputs import outputs

                _write_outputs(log, outputs(None, stopped.code))
            return stopped.code


def _given(log: Log) -> tuple[Inputs, Place] | None:
    """What the workflow asks for, and where; None after saying what is wrong with it."""
    from dpsync.github.inputs import WrongInput, read_inputs
    from dpsync.github.outputs import killed, outputs
    from dpsync.github.place import find_place

    # If nothing else is written any more, this holds.
    _write_outputs(log, killed())
    # What is started from here on inherits no token.
    given = os.environ.pop("DPSYNC_ACTION_INPUTS", "")
    try:
        inputs = read_inputs(given)
        place = find_place(os.environ, _event())
    except (WrongInput, ValueError) as wrong:
        log.notice(str(wrong), "error")
        _write_outputs(log, outputs(None, Exit.USAGE))
        return None
    log.mask(inputs.token)
    log.mask(inputs.github_token)
    log.mask(inputs.ids_token)
    return inputs, place


def _carry_out(log: Log, inputs: Inputs, place: Place, patience: Patience) -> int:
    from dpsync.cli.ids_update import ids_update
    from dpsync.github.action import Action, Ran
    from dpsync.github.api import GitHub
    from dpsync.github.outputs import killed, outputs

    def client(token: str) -> GitHub | None:
        url = os.environ.get("GITHUB_API_URL") or "https://api.github.com"
        graphql = os.environ.get("GITHUB_GRAPHQL_URL", "")
        if not token:
            return None
        clients.append(GitHub(url, token, place.repository, graphql))
        return clients[-1]

    clients: list[GitHub] = []
    folder = Path(os.environ.get("RUNNER_TEMP") or gettempdir())
    name = f"dpsync-{place.run}-{place.attempt}-{inputs.command}"
    github = client(inputs.github_token)
    last = [Ran(Exit.INTERRUPTED)]

    def run(words: list[str]) -> Ran:
        """What it came to is written at once: whatever happens while GitHub is told changes nothing of it."""
        patience.go_on()
        if words[0] == "apply":
            _write_outputs(log, killed(applying=True))
        with _for_branch(action.place.base):
            last[:] = [_run(log, inputs, words, patience)]
        _write_outputs(log, outputs(last[0].document, last[0].code))
        return last[0]

    action = Action(inputs, place, log, run, github, folder, *_head(inputs))
    plan_file = action.plan_file = folder / f"{name}-{action.key[:8]}.plan.json"
    plan_file.unlink(missing_ok=True)
    ids = ids_update(log, inputs, place, client)
    if ids is not None:
        action.after_apply = ids.bring
    try:
        ran = action.carry_out()
    except KeyboardInterrupt as stopped:
        patience.last()
        code = stopped.code if isinstance(stopped, Ended) else Exit.INTERRUPTED
        ran = action.came_to(last[0], code)
        log.notice("Interrupted: GitHub was not told all of it.", "warning")
    except Exception as mistake:
        if os.environ.get("DPSYNC_DEBUG"):
            raise
        ran = action.came_to(last[0], Exit.FAILED)
        log.notice(
            f"dpsync made a mistake of its own while it told GitHub ({type(mistake).__name__}).", "error"
        )
    patience.last()
    if ids is not None:
        ids.end()
        action.said = "\n\n".join(filter(None, (action.said, ids.said)))
        action.more["ids-url"] = ids.url
    files = _write_files(folder / f"{name}-{action.key[:8]}", ran)
    _write_outputs(log, outputs(ran.document, ran.code, {**files, **action.more}))
    _tell(log, action, ran)
    for opened in clients:
        opened.close()
    if ran.code == Exit.CHANGES or (ran.code == Exit.DONE and _has_changes(ran)):
        return Exit.CHANGES if inputs.fail_on == "changes" else Exit.DONE
    return ran.code


def _run(log: Log, inputs: Inputs, words: list[str], patience: Patience) -> Ran:
    """Run a command of dpsync. What it says goes into the log as text, of which the runner takes nothing."""
    from dpsync.cli.connection import Given
    from dpsync.cli.main import run
    from dpsync.github.action import Ran
    from dpsync.model.diagnostic import DiagnosticError
    from dpsync.render.documents import ApplyDocument
    from dpsync.render.json_output import parse_document
    from dpsync.render.visible import visible

    given = Given(inputs.url, inputs.token) if inputs.url or inputs.token else None
    held = io.TextIOWrapper(io.BytesIO(), "utf-8", errors="surrogateescape", write_through=True)
    with log.text() as stream, redirect_stdout(held), redirect_stderr(stream):
        stream.write(f"$ dpsync {visible(' '.join(words))}\n")
        try:
            with patience.droppable():
                code = run(words, given)
        except Ended as stopped:  # right before it, or right behind it
            code = stopped.code
    printed = held.buffer.getvalue()
    document = None
    if printed.strip():
        with suppress(DiagnosticError):
            document = parse_document(Path("output"), printed)
    if code in _STOPPED:
        patience.received.append(_STOPPED[Exit(code)])  # it was taken by the command
        if isinstance(document, ApplyDocument):
            code = document.exit
    return Ran(code, document)


def _event() -> Any:
    """The event that has started the workflow; None where there is none to read."""
    from dpsync.config.default_base import event_of

    return event_of(os.environ)


@contextmanager
def _for_branch(name: str) -> Iterator[None]:
    """Say which branch the change is for, for the git base, as the runner does where it knows that."""
    if not name:
        yield
        return
    before = os.environ.get(_BASE)
    os.environ[_BASE] = name
    try:
        yield
    finally:
        os.environ.pop(_BASE)
        if before is not None:
            os.environ[_BASE] = before


def _head(inputs: Inputs) -> tuple[str | None, str | None]:
    """The commit of the working copy, and what that merges; None where it is none or there are several."""
    from dpsync.config.git import NoRepository, Repository

    directory = Path(inputs.directory)
    found = set()
    for place in (directory, *((directory / name).parent for name in inputs.config)):
        try:
            repository = Repository.around(place)
        except NoRepository:
            return None, None
        head = repository.commit("HEAD")
        parents = repository.parents(head) if head is not None else []
        found.add((head, parents[1] if len(parents) == 2 else None))
    return found.pop() if len(found) == 1 else (None, None)


def _below(inputs: Inputs) -> str:
    """Where the project is in its repository, as `a/b/`."""
    from dpsync.cli.output import below
    from dpsync.cli.place import Place
    from dpsync.model.diagnostic import DiagnosticError

    try:
        return below(Place.find(inputs.config, Path(inputs.directory)).root.parent)
    except DiagnosticError:
        return ""


def _has_changes(ran: Ran) -> bool:
    from dpsync.render.documents import PlanDocument

    return isinstance(ran.document, PlanDocument) and not ran.document.plan.empty


def _write_files(stem: Path, ran: Ran) -> dict[str, str]:
    """The result for programs and for a browser; the names of the files that could be written."""
    from dpsync import disk
    from dpsync.render.formats import render

    found: dict[str, str] = {}
    if ran.document is None:
        return found
    for output, format_ in (("json-file", "json"), ("report-file", "html")):
        path = stem.with_name(f"{stem.name}.{format_}")
        with suppress(OSError):
            disk.put(path, render(ran.document, format_).encode())
            found[output] = str(path)
    return found


def _write_outputs(log: Log, values: Mapping[str, str]) -> None:
    from dpsync.github.outputs import output_lines

    _append(log, os.environ.get("GITHUB_OUTPUT", ""), output_lines(values))


def _append(log: Log, name: str, text: str) -> None:
    from dpsync import disk

    if not name:
        return
    try:
        disk.append(Path(name), text.encode())
    except OSError as error:
        log.notice(f"{name} cannot be written: {disk.why(error)}", "warning")


def _tell(log: Log, action: Action, ran: Ran) -> None:
    """The plan in the log, on the lines of the files, and in the summary of the job."""
    from dpsync.cli.output import changed_files
    from dpsync.github.summary import summary
    from dpsync.render.documents import FindingsDocument
    from dpsync.render.formats import How, render
    from dpsync.render.views import view

    summary_file = os.environ.get("GITHUB_STEP_SUMMARY", "") if action.inputs.summary else ""
    if ran.document is None:
        if action.said:
            _append(log, summary_file, f"{action.said}\n")
        return
    if not isinstance(ran.document, FindingsDocument) or ran.document.edits is not None:
        with log.text() as stream:
            stream.write(f"{render(ran.document, 'text')}\n")
    if action.inputs.annotations:
        directory = Path(action.inputs.directory)
        how = How(below=lambda: _below(action.inputs), changed=lambda: changed_files(directory))
        with _for_branch(action.place.base):
            log.commands(filter(None, render(ran.document, "github", how).split("\n")))
    _append(log, summary_file, summary(view(ran.document), action.said))
