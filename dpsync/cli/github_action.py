"""Run the GitHub Action from its inputs to its exit code: dpsync commands, result files and signals.

`run_action` does everything. `DpsyncCommands` runs dpsync commands in this process, so that a signal reaches
them. `write_outputs`, `write_summary` and `write_result` write what the runner and later steps read.
"""

from __future__ import annotations

import io
import os
import signal
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager, redirect_stderr, redirect_stdout, suppress
from functools import partial
from pathlib import Path
from tempfile import gettempdir
from typing import TYPE_CHECKING, Final

from dpsync import disk
from dpsync.api import load_registry
from dpsync.cli.configuration import ConfigurationPaths as Project
from dpsync.cli.configuration import deletes_are_reviewed, files_must_match, use_applied_commits
from dpsync.cli.connection import InjectedCredentials
from dpsync.cli.main import run as run_dpsync
from dpsync.cli.output import changed_files, project_prefix
from dpsync.cli.signals import EndedBySignal, SignalRecorder
from dpsync.config.checked_files import VerifiedRepository
from dpsync.config.discovery import IDS_NAME, ROOT_NAMES
from dpsync.config.git import NoRepositoryError, Repository
from dpsync.config.git_program import GitDirectory
from dpsync.github.action import run_action_command, stopped_result
from dpsync.github.api import GitHub
from dpsync.github.ids_branch import Branches, IdsFileUpdate
from dpsync.github.runner import ActionRun, CommandResult, History, outputs, outputs_if_killed
from dpsync.github.workspace import WorkingCopy
from dpsync.model.desired import AppliedCommit
from dpsync.model.diagnostic import DiagnosticError, Exit
from dpsync.model.urls import url_problem
from dpsync.render.documents import ApplyDocument, FindingsDocument, PlanDocument
from dpsync.render.formats import FormatOptions, render
from dpsync.render.json_reading import parse_document
from dpsync.render.markdown import render_markdown
from dpsync.render.view import View
from dpsync.render.views import make_view
from dpsync.render.visible import visible

if TYPE_CHECKING:
    from dpsync.github.runner import Inputs, Log
    from dpsync.github.workspace import WorkflowRun


MAX_SUMMARY_BYTES: Final = 1_000_000
"""The largest size of a summary in bytes. The runner discards a summary of 1 MiB or more."""
_SUMMARY_END: Final = "\n"
"""The end of a summary, so that what the runner appends begins on a new line."""


def result_path_stem(inputs: Inputs, workflow_run: WorkflowRun) -> Path:
    """Return the common start of the paths of result files, different for each run and configuration."""
    folder = Path(os.environ.get("RUNNER_TEMP") or gettempdir())
    return folder / f"dpsync-{workflow_run.run_id}-{workflow_run.attempt}-{inputs.command}-{inputs.key[:8]}"


def write_result(stem: Path, result: CommandResult) -> dict[str, str]:
    """Write the document of a command as JSON and HTML, as far as possible.

    Return the written files by the name of the output of the step: "json-file" and "report-file".
    """
    from dpsync.render.formats import render

    files: dict[str, str] = {}
    if result.document is None:
        return files
    for output, format_ in (("json-file", "json"), ("report-file", "html")):
        path = stem.with_name(f"{stem.name}.{format_}")
        with suppress(OSError):
            disk.replace_file(path, render(result.document, format_).encode())
            files[output] = str(path)
    return files


def write_outputs(log: Log, values: Mapping[str, str]) -> None:
    """Set outputs of the workflow step. The runner uses the last value of each output."""
    from dpsync.github.runner import output_lines

    _append(log, os.environ.get("GITHUB_OUTPUT", ""), output_lines(values))


def write_summary(log: Log, text: str) -> None:
    """Append a Markdown text to the job summary of the workflow run."""
    _append(log, os.environ.get("GITHUB_STEP_SUMMARY", ""), text)


def _append(log: Log, name: str, text: str) -> None:
    """Append a text to a file of the runner; log a warning if that fails. Do nothing without a name."""
    if not name:
        return
    try:
        disk.append(Path(name), text.encode())
    except OSError as error:
        log.notice(f"dpsync cannot write {name}: {disk.error_reason(error)}", "warning")


def job_summary(view: View, introduction: str = "") -> str:
    """Return the job summary of a view as Markdown that fits the size limit of GitHub.

    `introduction` comes first.
    """
    head = f"{introduction}\n\n" if introduction else ""
    for limit in (
        MAX_SUMMARY_BYTES,
        MAX_SUMMARY_BYTES // 3,
    ):  # no UTF-16 unit takes more than three bytes of UTF-8
        text = f"{head}{render_markdown(view, limit - len(f'{head}{_SUMMARY_END}'.encode()))}{_SUMMARY_END}"
        if len(text.encode()) <= MAX_SUMMARY_BYTES:
            return text
    raise AssertionError


_BASE_VARIABLE: Final = "GITHUB_BASE_REF"
_SIGNALS: Final = {Exit.INTERRUPTED: signal.SIGINT, Exit.TERMINATED: signal.SIGTERM}


class DpsyncCommands:
    """Run dpsync commands in the process of the GitHub Action, and keep the last result."""

    def __init__(self, log: Log, inputs: Inputs, signals: SignalRecorder) -> None:
        """Take the credentials from the inputs of the action.

        `signals` records the signals that end the run.
        """
        self.last_result: CommandResult | None = None
        """The result of the last command."""
        self._log = log
        self._credentials = InjectedCredentials(inputs.url, inputs.token, inputs.branches)
        self._signals = signals
        # The plan of a pull request, and the apply of what merged pull requests have shown.
        self._reviewed = inputs.command == "plan" or inputs.approval != "none"

    def run(
        self, words: list[str], base: str, commit: str, applied: tuple[AppliedCommit, ...] = ()
    ) -> CommandResult:
        """Run a dpsync command in this process, and write its result to the outputs of the step at once.

        Failures that happen later, while dpsync informs GitHub, do not change these outputs.

        Args:
            words: The command line.
            base: The target branch of the change.
            commit: The commit that all files must equal; "" for any files.
            applied: The commits that were applied last, for labels.

        Raises:
            EndedBySignal: A signal came before the command.
        """
        self._signals.raise_if_signaled()
        if words[0] == "apply":
            write_outputs(self._log, outputs_if_killed(applying=True))
        with (
            with_base_branch(base),
            files_must_match(commit or None),
            deletes_are_reviewed(self._reviewed),
            use_applied_commits(applied),
        ):
            result = self.last_result = self._run_in_process(words)
        write_outputs(self._log, outputs(result.document, result.code))
        return result

    def _run_in_process(self, words: list[str]) -> CommandResult:
        """Run a command, and return its exit code and the document that it printed, if it printed one.

        A signal that ended the command is recorded. Of an apply, the document then has the exit code.
        """
        code, printed = self._capture(words)
        document = None
        if printed.strip():
            with suppress(DiagnosticError):
                document = parse_document(Path("output"), printed)
        if code in _SIGNALS:
            self._signals.received.append(_SIGNALS[Exit(code)])  # it was taken by the command
            if isinstance(document, ApplyDocument):
                code = document.exit
        return CommandResult(code, document)

    def _capture(self, words: list[str]) -> tuple[int, bytes]:
        """Run a command, and return its exit code and its stdout. Its stderr goes into the log as text."""
        captured = io.TextIOWrapper(io.BytesIO(), "utf-8", errors="surrogateescape", write_through=True)
        with self._log.text_stream() as stream, redirect_stdout(captured), redirect_stderr(stream):
            stream.write(f"$ dpsync {visible(' '.join(words))}\n")
            try:
                with self._signals.interruptible():
                    code = run_dpsync(words, self._credentials)
            except EndedBySignal as interrupt:  # right before it, or right behind it
                code = interrupt.code
        return code, captured.buffer.getvalue()


@contextmanager
def with_base_branch(name: str) -> Iterator[None]:
    """Set the environment variable with the target branch of a change during the block.

    dpsync finds the commit to compare with by this variable. GitHub sets it only for pull request events.
    An empty name changes nothing.
    """
    if not name:
        yield
        return
    previous = os.environ.get(_BASE_VARIABLE)
    os.environ[_BASE_VARIABLE] = name
    try:
        yield
    finally:
        os.environ.pop(_BASE_VARIABLE)
        if previous is not None:
            os.environ[_BASE_VARIABLE] = previous


_MAX_TOUCHING_COMMITS: Final = 50
"""The number of commits whose pull requests are read, with a request each. Older approvals are unknown."""


def run_action(log: Log, inputs: Inputs, workflow_run: WorkflowRun, signals: SignalRecorder) -> int:
    """Run the dpsync command of the action, report its result on GitHub, and return the exit code."""
    with ExitStack() as stack:

        def open_client(token: str) -> GitHub | None:
            """Return a client for a token; None without a token or a valid address."""
            url = os.environ.get("GITHUB_API_URL") or "https://api.github.com"
            if not token or url_problem(url):
                return None
            graphql = os.environ.get("GITHUB_GRAPHQL_URL", "")
            return stack.enter_context(closing(GitHub(url, token, workflow_run.repository, graphql)))

        commands, files = DpsyncCommands(log, inputs, signals), result_path_stem(inputs, workflow_run)
        github = open_client(inputs.github_token)
        run = ActionRun(
            inputs, workflow_run, log, commands.run, github, files.with_name(f"{files.name}.plan.json")
        )
        run.plan_file.unlink(missing_ok=True)
        run.history = partial(_history, inputs)
        ids: IdsFileUpdate | None = None
        ids_path = _ids_file(inputs) if inputs.command == "apply" and inputs.ids_file != "none" else None
        if ids_path is not None and inputs.ids_file != "none":
            ids_github = open_client(inputs.ids_token or inputs.github_token)
            branches = None if ids_github is None else Branches(ids_github, workflow_run.repository)
            kinds = load_registry().with_all_kinds
            ids = IdsFileUpdate(ids_path, inputs.ids_file, branches, workflow_run, log, kinds)
            run.after_apply = ids.push_and_report
        result = _carry_out_to_end(run, _working_copy(inputs), commands, signals)
        if ids is not None:
            ids.report_unsaved()
            run.result.notes = "\n\n".join(filter(None, (run.result.notes, ids.summary)))
            run.result.outputs["ids-url"] = ids.url
        written_files = write_result(files, result)
        write_outputs(log, outputs(result.document, result.code, {**written_files, **run.result.outputs}))
        _print_result(run, result)
    return _exit_code(inputs, result)


def _carry_out_to_end(
    run: ActionRun, copy: WorkingCopy, commands: DpsyncCommands, signals: SignalRecorder
) -> CommandResult:
    """Run the command of the action, and return its result even if a signal or an internal error ends it.

    Afterwards, signals are only recorded, because the rest of the run is short.
    """
    try:
        result = run_action_command(run, copy)
        signals.begin_last_part()
        return result
    except KeyboardInterrupt as interrupt:
        signals.begin_last_part()
        code = interrupt.code if isinstance(interrupt, EndedBySignal) else Exit.INTERRUPTED
        run.log.notice("The run was interrupted. Comments and issues on GitHub may be incomplete.", "warning")
        return stopped_result(run, commands.last_result, code)
    except Exception as error:
        if os.environ.get("DPSYNC_DEBUG"):
            raise
        signals.begin_last_part()
        message = f"dpsync failed with an internal error while writing to GitHub ({type(error).__name__})."
        run.log.notice(message, "error")
        return stopped_result(run, commands.last_result, Exit.FAILED)


def _working_copy(inputs: Inputs) -> WorkingCopy:
    """Return functions that examine the checkout with the directories in the inputs.

    They return the first symbolic link on the way to a configuration file, the commit that is checked out,
    and the merged commit of a merge.
    """
    workspace = Path(os.environ.get("GITHUB_WORKSPACE") or Path.cwd())
    directory = Path(inputs.directory)
    folders = (directory, *((directory / name).parent for name in inputs.config))

    def git_directory(folder: Path) -> GitDirectory | None:
        """Return the git repository that contains a folder; None if it is outside of the workspace."""
        with suppress(NoRepositoryError):
            found = GitDirectory.containing(folder)
            if found.top.is_relative_to(workspace.resolve()):
                return found
        return None

    def head() -> str | None:
        """Return the commit that is checked out; None if the directories have different ones."""
        git_directories = map(git_directory, folders)
        heads = {git.head() if git is not None else None for git in git_directories}
        return heads.pop() if len(heads) == 1 else None

    def link() -> str | None:
        """Return the first symbolic link in a path to a root file, except links to the workspace."""
        for name in (*inputs.config, *ROOT_NAMES):
            path = Path.cwd()
            for part in (directory / name).parts:
                path = path.parent if part == ".." else path / part
                if path.is_symlink() and not workspace.is_relative_to(path):
                    return str(path)
        return None

    def merged(commit: str) -> str | None:
        """Return the second parent of a merge commit (the merged commit); None for any other commit."""
        with suppress(NoRepositoryError):
            parents = VerifiedRepository.containing(directory).parents(commit)
            return parents[1] if len(parents) == 2 else None
        return None

    return WorkingCopy(link, head, merged)


def _history(inputs: Inputs) -> History:
    """Return the commits of the checkout along first parents, and which of them changed the configuration.

    An empty history without a repository.
    """
    folders = [Path(inputs.directory), *((Path(inputs.directory) / name).parent for name in inputs.config)]
    try:
        repository = Repository.containing(folders[0])
        names = {folder.resolve().relative_to(repository.top).as_posix() for folder in folders}
        first_parents = repository.first_parent_line("HEAD")
        touching_commits = {
            commit for name in names for commit, _ in repository.changes("HEAD", "" if name == "." else name)
        }
    except (NoRepositoryError, ValueError):
        return History()
    return History(
        tuple(first_parents),
        tuple([commit for commit in first_parents if commit in touching_commits][:_MAX_TOUCHING_COMMITS]),
    )


def _print_result(run: ActionRun, result: CommandResult) -> None:
    """Print the result of the command to the log, as annotations, and to the job summary.

    The log already has plain findings, so they are not printed again.
    """
    document, notes, inputs = result.document, run.result.notes, run.inputs
    directory = Path(inputs.directory)
    if document is not None:
        if not isinstance(document, FindingsDocument) or document.edits is not None:
            with run.log.text_stream() as stream:
                stream.write(f"{render(document, 'text')}\n")
        if inputs.annotations:
            options = FormatOptions(
                project_prefix=lambda: _project_prefix(inputs),
                changed_files=lambda: changed_files(directory),
            )
            with with_base_branch(run.workflow_run.base_branch_override):
                run.log.write_commands(filter(None, render(document, "github", options).split("\n")))
    if inputs.summary and document is not None:
        write_summary(run.log, job_summary(make_view(document), notes))
    elif inputs.summary and notes:
        write_summary(run.log, f"{notes}\n")


def _project_prefix(inputs: Inputs) -> str:
    """Return the path of the project in its repository as `a/b/`; "" without a configuration."""
    try:
        return project_prefix(Project.find(inputs.config, Path(inputs.directory)).root.parent)
    except DiagnosticError:
        return ""


def _exit_code(inputs: Inputs, result: CommandResult) -> int:
    """Return the exit code of the step: that of the command.

    Planned changes and drift fail the step only if the input fail-on is "changes".
    """
    document = result.document
    has_planned_changes = (
        result.code == Exit.DONE and isinstance(document, PlanDocument) and not document.plan.empty
    )
    if result.code == Exit.CHANGES or has_planned_changes:
        return Exit.CHANGES if inputs.fail_on == "changes" else Exit.DONE
    return result.code


def _ids_file(inputs: Inputs) -> Path | None:
    """Return the ids file in git: the file of --ids in the arguments, or the one next to the root file.

    None without a root file.
    """
    ids_from_flag = None
    words = iter(inputs.arguments)
    for word in words:
        if word == "--ids":
            ids_from_flag = next(words, None)
        elif word.startswith("--ids="):
            ids_from_flag = word.removeprefix("--ids=")
    try:
        project = Project.find(
            inputs.config, Path(inputs.directory), ids=Path(ids_from_flag) if ids_from_flag else None
        )
    except DiagnosticError:
        return None
    return project.ids or project.root.parent / IDS_NAME
