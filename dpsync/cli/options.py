"""Flags and environment that commands share: one meaning each, everywhere."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click

from dpsync import disk
from dpsync.cli.progress import Progress, on_stderr
from dpsync.render.formats import FORMATS
from dpsync.render.paint import Paint, When, wants_colour
from dpsync.render.visible import visible, visible_lines

if TYPE_CHECKING:
    from pydantic import BaseModel

    from dpsync.model.desired import Desired
    from dpsync.model.mask import Mask

F = TypeVar("F", bound=Callable[..., Any])


@dataclass
class Output:
    """Where and how a command speaks: stdout is the result, stderr is talk."""

    format: str
    color: When
    verbose: int
    quiet: bool
    mask: Mask
    """What is never shown: the token, and the secrets of this run."""
    summary: bool = False
    project: Path | None = None
    """The directory that the names of files are relative to, once it is known."""
    progress: Progress = field(default_factory=Progress)

    @property
    def text(self) -> bool:
        """Whether the result is for somebody at a terminal; else it is one document."""
        return self.format == "text"

    @property
    def json(self) -> bool:
        return self.format == "json"

    def paint(self, error: bool = False) -> Paint:
        return Paint(wants_colour(self.color, sys.stderr if error else sys.stdout, os.environ))

    def document(self, model: BaseModel) -> None:
        """The result as JSON."""
        from dpsync.model.json_text import json_text

        text = json_text(self.mask.model(model), indent=2)
        with self.progress.aside():
            click.echo(text, color=True)

    def show(self, document: BaseModel) -> None:
        """The result in the format that was asked for."""
        from dpsync.render.formats import How, render

        how = How(self.paint(), self.verbose, self.quiet, self.summary, lambda: below(self.project or Path()))
        text = render(self.mask.model(document), self.format, how)
        if self.text:
            self.result(text)
            return
        if not text:  # an empty line would be one, too
            return
        with self.progress.aside():
            click.echo(text, color=True)

    def result(self, text: str) -> None:
        """The result as text."""
        with self.progress.aside():
            click.echo(visible_lines(self.mask(text), self.paint().on), color=True)

    def talk(self, text: str, level: int = 0) -> None:
        """Say something beside the result; `level` 1 only with -v."""
        if not self.quiet and self.verbose >= level:
            self.complain(text)

    def complain(self, text: str) -> None:
        """Say what went wrong, or may have; not even --quiet keeps it back."""
        with self.progress.aside():
            click.echo(visible_lines(self.mask(text), self.paint(error=True).on), err=True, color=True)


def layered(command: F) -> F:
    """-f, -C and --env: which configuration, and what goes over it."""
    return _layered(command, exists=True)


def layered_or_new(command: F) -> F:
    """The same, where the directory of -C need not be there yet."""
    return _layered(command, exists=False)


def _layered(command: F, exists: bool) -> F:
    command = click.option(
        "--env", "environment", metavar="NAME", envvar="DPSYNC_ENV",
        help="The environment of the root file. [default: its top-level values; env: DPSYNC_ENV]",
    )(command)  # fmt: skip
    command = click.option(
        "-C", "--directory", type=click.Path(exists=exists, file_okay=False, path_type=Path), default=Path(),
        help="Work as if started in this directory." + ("" if exists else " A new one is made."),
        show_default="the present one",
    )(command)  # fmt: skip
    return click.option(
        "-f", "--file", "files", multiple=True, metavar="FILE",
        help="The root file; given again, an overlay that goes over it. "
        "[default: dpsync.yaml, from here up to the git root; env: DPSYNC_FILE]",
    )(command)  # fmt: skip


def profiled(command: F) -> F:
    """--profile: which operations the platform has."""
    return click.option(
        "--profile", metavar="NAME", envvar="DPSYNC_PROFILE", default="full", callback=_profile,
        help="Which operations the platform has: full, or reference for the documented ones alone; "
        "what those cannot do is blocked. [default: full; env: DPSYNC_PROFILE]",
    )(command)  # fmt: skip


def _profile(context: click.Context, parameter: click.Parameter, value: str) -> str:
    from dpsync.kinds.profiles import PROFILES

    if value not in PROFILES:
        from dpsync.model.suggest import did_you_mean

        nearest = did_you_mean(value, PROFILES)
        known = f'did you mean "{nearest}"?' if nearest else f"one of {', '.join(PROFILES)}"
        raise click.BadParameter(f"there is no profile {value!r}: {known}")
    return value


def selecting(command: F) -> F:
    """--select and --exclude: which part of it."""
    command = click.option(
        "--exclude", multiple=True, metavar="PATTERN",
        help="Leave out what is at these addresses, and everything in it. May be repeated.",
    )(command)  # fmt: skip
    return click.option(
        "--select", multiple=True, metavar="PATTERN",
        help="Only what is at these addresses, everything in it, and what that needs. May be repeated.",
    )(command)  # fmt: skip


def output(command: F) -> F:
    """--format, --color, -q, -v."""
    return _output(command, ("text", "json"))


def output_in_every_format(command: F) -> F:
    """The same for what has more than text and JSON."""
    each = "; ".join(f"{name}: {one.help}" for name, one in FORMATS.items())
    return _output(command, tuple(FORMATS), f" {each}.")


def _output(command: F, formats: Collection[str], each: str = "") -> F:
    command = click.option("-v", "--verbose", count=True, help="Say more; twice for every request.")(command)
    command = click.option(
        "-q", "--quiet", is_flag=True,
        help="Only the result, of a plan what needs a person, and what went wrong.",
    )(command)  # fmt: skip
    command = click.option(
        "--color", type=click.Choice(["auto", "always", "never"]), default="auto", show_default=True,
        help="Colour the output.",
    )(command)  # fmt: skip
    return click.option(
        "--format", "format_", type=click.Choice(list(formats)), default="text", show_default=True,
        help=f"How the result is printed.{each}",
    )(command)  # fmt: skip


def summarizing(command: F) -> F:
    """--summary: how much is said of each address."""
    return click.option("--summary", is_flag=True, help="One line for each address.")(command)


def ids_option(command: F) -> F:
    """--ids: where it is recorded which live object each entry is."""
    return click.option(
        "--ids", "ids_in", metavar="FILE", type=click.Path(path_type=Path),
        help="The ids file. [default: dpsync.ids.yaml beside the root file; of a platform on this machine "
        ".dpsync/ids.yaml]",
    )(command)  # fmt: skip


def reading(command: F) -> F:
    """What everything shares that reads the platform."""
    command = click.option(
        "--timeout", type=click.FloatRange(min=0.1), default=30.0, show_default=True, metavar="SECONDS",
        help="How long one request may take, its whole answer included.",
    )(command)  # fmt: skip
    command = click.option(
        "--parallelism", type=click.IntRange(1, 64), default=4, show_default=True, metavar="N",
        help="How many requests may be in flight.",
    )(command)  # fmt: skip
    command = ids_option(command)
    return click.option(
        "--base", metavar="REF",
        help="The commit that tells a rename from a new thing. [default: HEAD; in CI what was before it]",
    )(command)  # fmt: skip


def _answers(context: click.Context, parameter: click.Parameter, texts: tuple[str, ...]) -> tuple[str, ...]:
    """What is no answer to any question is a mistake of the command line."""
    if texts:
        from dpsync.kinds.registry import load
        from dpsync.planner.answers import parse

        registry = load()
        for text in texts:
            try:
                parse(text, registry)
            except ValueError as wrong:
                raise click.BadParameter(str(wrong)) from None
    return texts


def planning(command: F) -> F:
    """What plan and apply share."""
    command = reading(command)
    command = click.option("--no-delete", is_flag=True, help="Keep everything, whatever prune says.")(command)
    return click.option(
        "--confirm", multiple=True, metavar="TEXT", callback=_answers,
        help="Answer a refusal once, with the words that it names: "
        '--confirm "delete 12", --confirm "restructure acme/sites/docs".',
    )(command)  # fmt: skip


@dataclass(frozen=True)
class Place:
    """Which configuration is meant, and what goes over it."""

    root: Path
    overlays: tuple[Path, ...] = ()
    environment: str | None = None
    ids: Path | None = None
    """The ids file that was named."""

    @property
    def journals(self) -> Path:
        """Where applies of this checkout keep their journals."""
        return self.root.parent / disk.OWN / "journal"

    @staticmethod
    def find(
        files: tuple[str, ...], directory: Path, environment: str | None = None, ids: Path | None = None
    ) -> Place:
        """What the flags mean, `ids` below the directory. Raises DiagnosticError for no root file, or two."""
        from dpsync.config.discovery import find_root

        named = os.environ.get("DPSYNC_FILE")
        root, *overlays = files or ((named,) if named else (None,))
        found = directory / root if root is not None else find_root(directory)
        overlaid = tuple(directory / str(name) for name in overlays)
        return Place(found, overlaid, environment, None if ids is None else directory / ids)

    def load(self, out: Output) -> Desired:
        """The configuration. Raises DiagnosticError."""
        from dpsync.api import load

        self._tell(out)
        return warned(out, load(self.root, overlays=self.overlays, environment=self.environment))

    def validated(self, out: Output) -> Desired:
        """The same; where no environment was chosen, every one is checked. Raises DiagnosticError."""
        from dpsync.api import validate

        self._tell(out)
        return warned(out, validate(self.root, overlays=self.overlays, environment=self.environment))

    def _tell(self, out: Output) -> None:
        out.project = self.root.parent
        for path in (self.root, *self.overlays):
            out.talk(f"Reading {visible(str(path))}", level=1)


def below(project: Path) -> str:
    """Where a project is in its repository, as `a/b/`."""
    from dpsync.config.git import NoRepository, Repository

    project = project.resolve()
    with suppress(NoRepository, ValueError):
        inside = project.relative_to(Repository.around(project).top).as_posix()
        return "" if inside == "." else f"{inside}/"
    return ""


def warned(out: Output, desired: Desired) -> Desired:
    """The configuration, after its warnings were said on stderr."""
    from dpsync.render.diagnostics import render_diagnostics

    if desired.warnings:
        text = render_diagnostics(desired.warnings, desired.texts, color=out.paint(error=True).on)
        out.complain(text.rstrip())
    return desired


def shortest_path(path: str) -> str:
    """A path as somebody would type it here: what is below the working directory without it."""
    try:
        return str(Path(path).relative_to(Path.cwd()))
    except (ValueError, FileNotFoundError):
        return path


def interactive(no_input: bool) -> bool:
    """Whether somebody can be asked."""
    from dpsync.config.default_base import in_ci

    return not no_input and not in_ci(os.environ) and sys.stdin.isatty() and sys.stderr.isatty()


def as_output(format_: str, color: str, verbose: int, quiet: bool, summary: bool = False) -> Output:
    from dpsync.model.mask import Mask

    progress = on_stderr(quiet, verbose)
    return Output(format_, cast(When, color), verbose, quiet, Mask(), summary, progress=progress)
