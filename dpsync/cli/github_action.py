"""Run the GitHub Action: commands, files, signals and exit code.

Files that a step on GitHub writes: outputs and summary, which the runner reads, and its result.

Commands of dpsync that the action runs: in this process, so that a signal reaches them.

A run of the action, from its inputs to its exit code: it is prepared, carried out and told.
"""

from __future__ import annotations

import io
import os
import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager, redirect_stderr, redirect_stdout, suppress
from functools import partial
from pathlib import Path
from tempfile import gettempdir
from typing import TYPE_CHECKING, Final

from pydantic import BaseModel

from dpsync import disk
from dpsync.api import load_registry
from dpsync.cli.configuration import ConfigurationPaths as Project
from dpsync.cli.configuration import applied_before, deletes_are_reviewed, files_must_match
from dpsync.cli.connection import Given
from dpsync.cli.main import run as run_dpsync
from dpsync.cli.output import below, changed_files
from dpsync.cli.signals import Ended, Patience
from dpsync.config.checked_files import VerifiedRepository
from dpsync.config.discovery import IDS_NAME, ROOT_NAMES
from dpsync.config.git import NoRepository, Repository
from dpsync.config.git_program import GitDirectory
from dpsync.github.action import carry_out, stopped
from dpsync.github.api import GitHub
from dpsync.github.ids import Branches, IdsFileUpdate
from dpsync.github.runner import ActionRun, History, Ran, killed, outputs
from dpsync.github.workspace import WorkingCopy
from dpsync.model.desired import AppliedCommit
from dpsync.model.diagnostic import DiagnosticError, Exit
from dpsync.model.urls import address_problem
from dpsync.render.documents import ApplyDocument, FindingsDocument, PlanDocument
from dpsync.render.formats import FormatOptions, render
from dpsync.render.json_reading import parse_document
from dpsync.render.markdown import render_markdown
from dpsync.render.view import View
from dpsync.render.views import view
from dpsync.render.visible import visible

if TYPE_CHECKING:
    from dpsync.github.runner import Inputs, Log
    from dpsync.github.workspace import WorkflowRun


LIMIT: Final = 1_000_000
"""Bytes of a summary: from 1 MiB on the runner throws it away as a whole."""
_END: Final = "\n"
"""Of a summary: what the runner appends begins on a line of its own."""


def stem(inputs: Inputs, place: WorkflowRun) -> Path:
    """How the names of the files with the result begin: other ones for each run and each configuration."""
    folder = Path(os.environ.get("RUNNER_TEMP") or gettempdir())
    return folder / f"dpsync-{place.run}-{place.attempt}-{inputs.command}-{inputs.key[:8]}"


def write_result(beginning: Path, ran: Ran) -> dict[str, str]:
    """Write the result, for programs and for a browser; by the name of the output the files that it has."""
    from dpsync.render.formats import render

    found: dict[str, str] = {}
    if ran.document is None:
        return found
    for output, format_ in (("json-file", "json"), ("report-file", "html")):
        path = beginning.with_name(f"{beginning.name}.{format_}")
        with suppress(OSError):
            disk.put(path, render(ran.document, format_).encode())
            found[output] = str(path)
    return found


def write_outputs(log: Log, values: Mapping[str, str]) -> None:
    """Set outputs of the step: of what is written several times the runner takes the last."""
    from dpsync.github.runner import output_lines

    _append(log, os.environ.get("GITHUB_OUTPUT", ""), output_lines(values))


def write_summary(log: Log, text: str) -> None:
    """Add to the summary of the job."""
    _append(log, os.environ.get("GITHUB_STEP_SUMMARY", ""), text)


def _append(log: Log, name: str, text: str) -> None:
    if not name:
        return
    try:
        disk.append(Path(name), text.encode())
    except OSError as error:
        log.notice(f"dpsync cannot write {name}: {disk.why(error)}", "warning")


def summary(view: View, said: str = "") -> str:
    """The summary of the job, as Markdown: the same as in a comment, in a place that holds more of it.

    `said` stands first. Never longer than the limit.
    """
    head = f"{said}\n\n" if said else ""
    for limit in (LIMIT, LIMIT // 3):  # no UTF-16 unit takes more than three bytes of UTF-8
        text = f"{head}{render_markdown(view, limit - len(f'{head}{_END}'.encode()))}{_END}"
        if len(text.encode()) <= LIMIT:
            return text
    raise AssertionError


_BASE: Final = "GITHUB_BASE_REF"
_SIGNALS: Final = {Exit.INTERRUPTED: signal.SIGINT, Exit.TERMINATED: signal.SIGTERM}


class DpsyncCommands:
    """The commands of one run of the action, one after the other."""

    def __init__(self, log: Log, inputs: Inputs, patience: Patience) -> None:
        self.last: Ran | None = None
        """How the last one ended."""
        self._log = log
        self._given = Given(inputs.url, inputs.token, inputs.branches)
        self._patience = patience
        # The plan of a pull request, and the apply of what merged pull requests have shown.
        self._reviewed = inputs.command == "plan" or inputs.approval != "none"

    def run(self, words: list[str], base: str, commit: str, applied: tuple[AppliedCommit, ...] = ()) -> Ran:
        """Run one, for a change to the branch `base`. Raises Ended where a signal came before it.

        With `commit`, the command reads only files that equal those in that commit. `applied` has the commits
        that were applied last, for labels.
        What came of it is in the outputs at once: nothing that happens while GitHub is told changes that.
        """
        self._patience.go_on()
        if words[0] == "apply":
            write_outputs(self._log, killed(applying=True))
        with (
            for_branch(base),
            files_must_match(commit or None),
            deletes_are_reviewed(self._reviewed),
            applied_before(applied),
        ):
            ran = self.last = self._ran(words)
        write_outputs(self._log, outputs(ran.document, ran.code))
        return ran

    def _ran(self, words: list[str]) -> Ran:
        code, printed = self._printed(words)
        document = _document(printed)
        if code in _SIGNALS:
            self._patience.received.append(_SIGNALS[Exit(code)])  # it was taken by the command
            if isinstance(document, ApplyDocument):
                code = document.exit
        return Ran(code, document)

    def _printed(self, words: list[str]) -> tuple[int, bytes]:
        """The exit code, and what was printed. What else is said goes into the log, as text."""
        held = io.TextIOWrapper(io.BytesIO(), "utf-8", errors="surrogateescape", write_through=True)
        with self._log.text() as stream, redirect_stdout(held), redirect_stderr(stream):
            stream.write(f"$ dpsync {visible(' '.join(words))}\n")
            try:
                with self._patience.droppable():
                    code = run_dpsync(words, self._given)
            except Ended as stopped:  # right before it, or right behind it
                code = stopped.code
        return code, held.buffer.getvalue()


def _document(printed: bytes) -> BaseModel | None:
    if printed.strip():
        with suppress(DiagnosticError):
            return parse_document(Path("output"), printed)
    return None


@contextmanager
def for_branch(name: str) -> Iterator[None]:
    """Say which branch a change is for, for the git base, as the runner does where it knows that."""
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


_TOUCHING: Final = 50
"""Commits whose pull requests are looked for, each by a request. Earlier approvals are not known."""


def run_action(log: Log, inputs: Inputs, place: WorkflowRun, patience: Patience) -> int:
    """Do what the inputs ask for, and tell it on GitHub; the exit code of the step."""
    with ExitStack() as opened:
        client = partial(_client, opened, place)
        commands, files = DpsyncCommands(log, inputs, patience), stem(inputs, place)
        github = client(inputs.github_token)
        run = ActionRun(inputs, place, log, commands.run, github, files.with_name(f"{files.name}.plan.json"))
        run.plan_file.unlink(missing_ok=True)
        run.history = partial(_history, inputs)
        ids = _ids_update(log, inputs, place, client)
        if ids is not None:
            run.after_apply = ids.bring
        ran = _carried_out(run, _working_copy(inputs), commands, patience)
        if ids is not None:
            ids.end()
            run.result.notes = "\n\n".join(filter(None, (run.result.notes, ids.summary)))
            run.result.outputs["ids-url"] = ids.url
        written = write_result(files, ran)
        write_outputs(log, outputs(ran.document, ran.code, {**written, **run.result.outputs}))
        _tell(run, ran)
    return _exit_code(inputs, ran)


def _client(opened: ExitStack, place: WorkflowRun, token: str) -> GitHub | None:
    """A client for a token, if there is one, and an address. It is closed with `opened`."""
    if not token:
        return None
    url = os.environ.get("GITHUB_API_URL") or "https://api.github.com"
    if address_problem(url):
        return None
    graphql = os.environ.get("GITHUB_GRAPHQL_URL", "")
    return opened.enter_context(closing(GitHub(url, token, place.repository, graphql)))


def _carried_out(run: ActionRun, copy: WorkingCopy, commands: DpsyncCommands, patience: Patience) -> Ran:
    """How the run ends, whatever ends it. From then on signals are only noted: what follows is short."""
    try:
        ran = carry_out(run, copy)
        patience.last()
        return ran
    except KeyboardInterrupt as interrupt:
        patience.last()
        code = interrupt.code if isinstance(interrupt, Ended) else Exit.INTERRUPTED
        run.log.notice("The run was interrupted. Comments and issues on GitHub may be incomplete.", "warning")
        return stopped(run, commands.last, code)
    except Exception as mistake:
        if os.environ.get("DPSYNC_DEBUG"):
            raise
        patience.last()
        what = f"dpsync failed with an internal error while writing to GitHub ({type(mistake).__name__})."
        run.log.notice(what, "error")
        return stopped(run, commands.last, Exit.FAILED)


def _working_copy(inputs: Inputs) -> WorkingCopy:
    """The directories that the inputs name; what is found there is one answer, or none where they differ."""
    workspace = Path(os.environ.get("GITHUB_WORKSPACE") or Path.cwd())
    directory = Path(inputs.directory)
    folders = (directory, *((directory / name).parent for name in inputs.config))

    def head() -> str | None:
        found = {place.head() if (place := _place(folder)) is not None else None for folder in folders}
        return found.pop() if len(found) == 1 else None

    def _place(folder: Path) -> GitDirectory | None:
        with suppress(NoRepository):
            place = GitDirectory.around(folder)
            if place.top.is_relative_to(workspace.resolve()):
                return place
        return None

    def link() -> str | None:
        names = [directory / name for name in (*inputs.config, *ROOT_NAMES)]
        return next((found for name in names if (found := _link_on_the_way(name, workspace))), None)

    def merged(commit: str) -> str | None:
        with suppress(NoRepository):
            parents = VerifiedRepository.around(directory).parents(commit)
            return parents[1] if len(parents) == 2 else None
        return None

    return WorkingCopy(link, head, merged)


def _link_on_the_way(name: Path, workspace: Path) -> str | None:
    """The first part of a path that is a link. What leads to the workspace is the runner's own."""
    at = Path.cwd()
    for part in name.parts:
        at = at.parent if part == ".." else at / part
        if at.is_symlink() and not workspace.is_relative_to(at):
            return str(at)
    return None


def _history(inputs: Inputs) -> History:
    """The commits of the working copy on their own line, and those that have touched the configuration."""
    folders = [Path(inputs.directory), *((Path(inputs.directory) / name).parent for name in inputs.config)]
    try:
        repository = Repository.around(folders[0])
        names = {folder.resolve().relative_to(repository.top).as_posix() for folder in folders}
        line = repository.line("HEAD")
        touching = {
            commit for name in names for commit, _ in repository.changes("HEAD", "" if name == "." else name)
        }
    except (NoRepository, ValueError):
        return History()
    return History(tuple(line), tuple([one for one in line if one in touching][:_TOUCHING]))


def _tell(run: ActionRun, ran: Ran) -> None:
    """Show the result in the log, on the lines of the files, and in the summary of the job."""
    document, said = ran.document, run.result.notes
    if document is not None:
        if not isinstance(document, FindingsDocument) or document.edits is not None:
            with run.log.text() as stream:
                stream.write(f"{render(document, 'text')}\n")
        if run.inputs.annotations:
            directory = Path(run.inputs.directory)
            options = FormatOptions(
                below=lambda: _below(run.inputs), changed=lambda: changed_files(directory)
            )
            with for_branch(run.place.base):
                run.log.commands(filter(None, render(document, "github", options).split("\n")))
    if run.inputs.summary and (document is not None or said):
        write_summary(run.log, summary(view(document), said) if document is not None else f"{said}\n")


def _below(inputs: Inputs) -> str:
    """Where the project is in its repository, as `a/b/`."""
    try:
        return below(Project.find(inputs.config, Path(inputs.directory)).root.parent)
    except DiagnosticError:
        return ""


def _exit_code(inputs: Inputs, ran: Ran) -> int:
    """That of the command, except that changes and drift are a failure only where the inputs say so."""
    document = ran.document
    planned = ran.code == Exit.DONE and isinstance(document, PlanDocument) and not document.plan.empty
    if ran.code == Exit.CHANGES or planned:
        return Exit.CHANGES if inputs.fail_on == "changes" else Exit.DONE
    return ran.code


def _ids_update(
    log: Log, inputs: Inputs, place: WorkflowRun, client: Callable[[str], GitHub | None]
) -> IdsFileUpdate | None:
    """The update of the ids file that the inputs ask for, or None. `client` makes one for a token, if any."""
    if inputs.command != "apply" or inputs.ids_file == "none" or (file := _ids_file(inputs)) is None:
        return None
    github = client(inputs.ids_token or inputs.github_token)
    branches = None if github is None else Branches(github, place.repository)
    return IdsFileUpdate(file, inputs.ids_file, branches, place, log, load_registry().whole)


def _ids_file(inputs: Inputs) -> Path | None:
    """The ids file in git: the named one, else that beside the root file. None without a root file."""
    named = None
    words = iter(inputs.arguments)
    for word in words:
        if word == "--ids":
            named = next(words, None)
        elif word.startswith("--ids="):
            named = word.removeprefix("--ids=")
    try:
        place = Project.find(inputs.config, Path(inputs.directory), ids=Path(named) if named else None)
    except DiagnosticError:
        return None
    return place.ids or place.root.parent / IDS_NAME
