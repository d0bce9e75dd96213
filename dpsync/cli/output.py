"""Print results on stdout, and messages on stderr, without secrets.

`Output` knows the format, the color and the secrets of a run. On a terminal with OSC 8 links, `file:line`
becomes a link; never in a pipe, and never in CI. A link is made from visible text, and only to an existing
file of the project, so a text from the platform cannot link to anything else. `request_tracer` prints
requests for -vv.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TextIO, TypeVar, cast

import click
from click.core import ParameterSource
from msgspec import Struct, field

from dpsync.cli.progress import Progress, progress_on_stderr
from dpsync.model.diagnostic import Exit
from dpsync.model.text import NO_FLAGS, ProjectFlags
from dpsync.render.paint import ColorMode, Paint, wants_color, wrap_text
from dpsync.render.visible import visible, visible_lines

if TYPE_CHECKING:
    from pydantic import BaseModel

    from dpsync.model.mask import Mask


_FILE_LOCATION: Final = re.compile(
    r"""(?<![^\s(])(?P<file>[^\s:"'`()\x1b]+):(?P<line>[0-9]{1,7})(:[0-9]{1,7})?(?![^\s),;.])"""
)
_ANSI_STYLE: Final = re.compile(r"(\x1b\[[0-9;]*m)")
_LINK_PROGRAMS: Final = frozenset(
    {"iTerm.app", "WezTerm", "vscode", "ghostty", "Hyper", "Tabby", "rio", "zed"}
)
_LINK_TERMS: Final = ("xterm-kitty", "xterm-ghostty", "alacritty", "foot", "wezterm", "contour")
_LINK_VARIABLES: Final = ("WT_SESSION", "KONSOLE_VERSION", "DOMTERM", "KITTY_WINDOW_ID")
_MIN_VTE_VERSION: Final = 5000
"""The first version of VTE (GNOME's terminal and many others) with safe links, as in VTE_VERSION."""


def wants_links(stream: TextIO, env: Mapping[str, str]) -> bool:
    """Return whether to write `file:line` as a link to a stream: to terminals that are known to show links.

    The environment variable FORCE_HYPERLINK decides for other terminals.
    """
    if not stream.isatty() or env.get("CI") or env.get("NO_COLOR") or env.get("TERM") == "dumb":
        return False
    if setting := env.get("FORCE_HYPERLINK"):
        return setting != "0"
    term = env.get("TERM", "")
    if term.startswith(("screen", "tmux", "linux")):
        return False
    vte = env.get("VTE_VERSION", "")
    return (
        env.get("TERM_PROGRAM") in _LINK_PROGRAMS
        or term.startswith(_LINK_TERMS)
        or any(env.get(name) for name in _LINK_VARIABLES)
        or (vte.isdecimal() and int(vte) >= _MIN_VTE_VERSION)
    )


def with_links(text: str, folder: Path) -> str:
    """Return a text in which each `file:line` of a file in a folder is a terminal link to that line."""

    def link(match: re.Match[str]) -> str:
        url = _file_url(folder, match["file"])
        return f"\x1b]8;;{url}#{match['line']}\x1b\\{match[0]}\x1b]8;;\x1b\\" if url else match[0]

    parts = _ANSI_STYLE.split(text)  # texts and styles in turn
    parts[::2] = [_FILE_LOCATION.sub(link, part) for part in parts[::2]]
    return "".join(parts)


@lru_cache(1024)
def _file_url(folder: Path, name: str) -> str:
    """Return the file URL of a name in a folder; "" if the folder has no such file."""
    if Path(name).is_absolute() or ".." in Path(name).parts:
        return ""
    try:
        file = (folder / name).resolve()
        is_file = file.is_file()
    except (OSError, ValueError):
        return ""
    if not is_file:
        return ""
    import platform  # the host is said so that a session on another machine opens no file of this one

    return file.as_uri().replace("file://", f"file://{platform.node()}", 1)


M = TypeVar("M", bound="BaseModel")


class OutputNotWrittenError(click.ClickException):
    """The result cannot be written to stdout."""

    exit_code = int(Exit.FAILED)

    def __init__(self, cause: OSError | str) -> None:
        """Take the message, or the error that occurred when the result was written."""
        message = (
            cause if isinstance(cause, str) else f"dpsync cannot write the result: {cause.strerror or cause}"
        )
        super().__init__(message)


def redirect_stdout_to_null() -> None:
    """Redirect stdout to the null device.

    Otherwise Python reports an error when it closes a stdout that nobody reads any more.
    """
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


class Output(Struct):
    """Where and how a command prints: results on stdout, messages on stderr."""

    format: str
    color: ColorMode
    verbose: int
    quiet: bool
    mask: Mask
    """The mask for texts that are never shown: the token, and the secrets of this run."""
    summary: bool = False
    project: Path | None = None
    """The directory that file names are relative to, as soon as it is known."""
    invocation: ProjectFlags = NO_FLAGS
    """The flags of this run, which are added to printed commands."""
    root: str = "dpsync.yaml"
    """The name of the root file, as soon as it is known."""
    progress: Progress = field(default_factory=Progress)
    is_stdout_closed: bool = False
    """Whether the reader of stdout has closed it. The command still ends with its own exit code."""
    may_have_written: bool = False
    """Whether an apply may have written something."""

    @property
    def is_text(self) -> bool:
        """Whether the result is text for a terminal, and not a document."""
        return self.format == "text"

    @property
    def is_json(self) -> bool:
        """Whether the result is a JSON document."""
        return self.format == "json"

    def paint(self, error: bool = False) -> Paint:
        """Return the color settings for stdout, or for stderr if `error`."""
        return Paint(wants_color(self.color, sys.stderr if error else sys.stdout, os.environ))

    def print_json(self, model: BaseModel) -> None:
        """Print a document as JSON."""
        from dpsync.model.text import json_text

        self._write(json_text(self.printable(model), indent=2))

    def printable(self, document: M) -> M:
        """Return a document for printing: without secrets, and with complete commands."""
        from dpsync.render.command_documents import with_completed_commands

        return with_completed_commands(self.mask.mask_model(document), self.invocation)

    def print_document(self, document: BaseModel) -> None:
        """Print a document in the chosen format."""
        from dpsync.render.formats import FormatOptions, render

        project = self.project or Path()
        options = FormatOptions(
            color=self.paint().is_on,
            verbose=self.verbose,
            quiet=self.quiet,
            summary=self.summary,
            complete_commands=self.invocation.add_flags_to_commands,
            project_prefix=lambda: project_prefix(project),
            changed_files=lambda: changed_files(project),
            root=self.root,
        )
        text = render(self.printable(document), self.format, options)
        if self.is_text:
            self.print_prose(text)
            return
        if text:  # an empty line would be one, too
            self._write(text)

    def print_result(self, text: str) -> None:
        """Print a text whose lines are not broken, because they may be copied or parsed."""
        self._print_to_stdout(text, prose=False)

    def print_prose(self, text: str) -> None:
        """Print a text for people, with long lines broken on a terminal."""
        self._print_to_stdout(text, prose=True)

    def _print_to_stdout(self, text: str, prose: bool) -> None:
        """Print a text with masked secrets and visible control characters."""
        self._write(self._for_screen(visible_lines(self.mask(text), self.paint().is_on), sys.stdout, prose))

    def _for_screen(self, text: str, stream: TextIO, prose: bool) -> str:
        """Return a text for a stream. On a terminal, prose is wrapped, and locations in files are links."""
        if prose and (width := screen_width(stream)):
            text = wrap_text(text, width)
        if self.color == "never" or not wants_links(stream, os.environ):
            return text
        return with_links(text, self.project or Path())

    def _write(self, text: str) -> None:
        """Write a text to stdout.

        If nobody reads stdout any more, remember this and go on; raise OutputNotWrittenError for other
        errors.
        """
        try:
            with self.progress.paused():
                click.echo(text, color=True)
        except BrokenPipeError:
            redirect_stdout_to_null()
            self.is_stdout_closed = True
        except OSError as error:
            redirect_stdout_to_null()
            raise OutputNotWrittenError(error) from None

    def print_message(self, text: str) -> None:
        """Print a message on stderr, except with --quiet."""
        if not self.quiet:
            self.print_problem(text)

    def print_detail(self, text: str, level: int) -> None:
        """Print a message on stderr if -v is given at least `level` times."""
        if self.verbose >= level:
            self.print_message(text)

    def print_problem(self, text: str) -> None:
        """Print a message about a problem on stderr, even with --quiet."""
        with suppress(OSError), self.progress.paused():
            text = self.invocation.add_flags_to_commands(text)
            printable_text = visible_lines(self.mask(text), self.paint(error=True).is_on)
            click.echo(self._for_screen(printable_text, sys.stderr, prose=True), err=True, color=True)

    def ask(self, question: str) -> str:
        """Print a question on the terminal, and return the answer, without spaces around it."""
        with self.progress.paused():
            printable_text = visible_lines(self.mask(question), self.paint(error=True).is_on)
            printable_text = self._for_screen(printable_text, sys.stderr, prose=True)
            try:
                answer = click.prompt(
                    printable_text, default="", show_default=False, prompt_suffix=" ", err=True
                )
            except click.Abort:
                click.echo(err=True)  # what follows begins a line of its own
                raise
            return str(answer).strip()


def screen_width(stream: TextIO) -> int:
    """Return the number of columns of a terminal; 0 if the stream is no terminal or the number is unknown."""
    try:
        return os.get_terminal_size(stream.fileno()).columns if stream.isatty() else 0
    except (OSError, ValueError):
        return 0


def make_output(
    format_: str, color: str, verbose: int = 0, quiet: bool = False, summary: bool = False
) -> Output:
    """Return the output of a command with the values of its flags --format, --color, -v, -q and --summary."""
    from dpsync.model.mask import Mask

    progress, flags = progress_on_stderr(quiet, verbose), invocation()
    return Output(
        format_, cast(ColorMode, color), verbose, quiet, Mask(), summary, invocation=flags, progress=progress
    )


def interactive(no_input: bool) -> bool:
    """Return whether a person can be asked: in a terminal, outside of CI, and without --no-input."""
    from dpsync.config.git_base import in_ci

    return not no_input and not in_ci(os.environ) and sys.stdin.isatty() and sys.stderr.isatty()


def project_prefix(project: Path) -> str:
    """Return the path of a project in its repository as `a/b/`; "" at the top or without a repository."""
    from dpsync.config.git import NoRepositoryError, Repository

    project = project.resolve()
    with suppress(NoRepositoryError, ValueError):
        relative_path = project.relative_to(Repository.containing(project).top).as_posix()
        return "" if relative_path == "." else f"{relative_path}/"
    return ""


def changed_files(project: Path) -> frozenset[str]:
    """Return the files that a change touches: those that differ between the git base and HEAD.

    The git base is the commit before the change. Names are relative to the top of the repository. The result
    is empty outside of a repository or without a base.
    """
    from dpsync.config.git import NoRepositoryError, Repository
    from dpsync.config.git_base import default_base

    with suppress(NoRepositoryError):
        repository = Repository.containing(project)
        base = default_base(repository, os.environ).commit
        return repository.changed_files(base) if base else frozenset()
    return frozenset()


TRUST_FLAG: Final = "--trust-environment"
_TRUST_KEY: Final = "dpsync.trusted"
"""The key of its value in the context of a command: no command takes it as a parameter."""


def store_trust_flag(context: click.Context, parameter: click.Parameter, value: str | None) -> None:
    """Store the value of --trust-environment in the context of the command, for `trusted_by_flag`."""
    del parameter
    context.meta[_TRUST_KEY] = value


def trusted_by_flag() -> str | None:
    """Return the environment that --trust-environment names; None without the flag."""
    context = click.get_current_context(silent=True)
    return context.meta.get(_TRUST_KEY) if context is not None else None


def invocation() -> ProjectFlags:
    """Return the flags of this command line that printed commands must repeat, such as -C and --env.

    Values from environment variables are left out, because they apply to later commands, too.
    """
    context = click.get_current_context(silent=True)
    if context is None:
        return ProjectFlags()

    def typed(name: str) -> Any:
        is_typed = context.get_parameter_source(name) is ParameterSource.COMMANDLINE
        return context.params.get(name) if is_typed else None

    def text(name: str) -> str | None:
        value = typed(name)
        return None if value is None else str(value)

    directory = text("directory")
    return ProjectFlags(
        directory=None if directory == "." else directory,
        files=tuple(typed("files") or ()),
        environment=text("environment"),
        profile=text("profile"),
        ids=text("ids_in"),
        base=text("base"),
        trusted=trusted_by_flag(),
    )


def request_tracer(out: Output) -> Callable[[str, str, int | None, float], None]:
    """Return a function that prints each request with -vv: method, path, status and time."""

    def trace(method: str, path: str, status: int | None, seconds: float) -> None:
        out.print_detail(f"{method} {visible(path)} → {status or 'no answer'} ({seconds * 1000:.0f} ms)", 2)

    return trace
