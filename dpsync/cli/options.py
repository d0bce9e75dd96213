"""Flags and environment that commands share: one meaning each, everywhere."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar, cast
from urllib.parse import urlsplit

import click

from dpsync.model.diagnostic import Exit
from dpsync.render.paint import Paint, When, wants_colour

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True)
class Output:
    """Where and how a command speaks: stdout is the result, stderr is talk."""

    format: str
    color: When
    verbose: int
    quiet: bool

    @property
    def json(self) -> bool:
        return self.format == "json"

    def paint(self, error: bool = False) -> Paint:
        return Paint(wants_colour(self.color, sys.stderr if error else sys.stdout, os.environ))

    def result(self, text: str) -> None:
        click.echo(text, color=True)

    def talk(self, text: str, level: int = 0) -> None:
        """Say something beside the result; `level` 1 only with -v."""
        if not self.quiet and self.verbose >= level:
            click.echo(text, err=True, color=True)


class NotSupportedYet(click.ClickException):
    """A flag that is known, but whose effect does not exist yet: never accepted in silence."""

    exit_code = Exit.INVALID

    def __init__(self, what: str) -> None:
        super().__init__(f"{what} is not supported yet; nothing would come of it")


def _file(context: click.Context, parameter: click.Parameter, value: tuple[str, ...]) -> str | None:
    if len(value) > 1:
        raise NotSupportedYet("giving --file several times (overlays)")
    return value[0] if value else None


def _later(context: click.Context, parameter: click.Parameter, value: str | None) -> None:
    if value is not None:
        raise NotSupportedYet(parameter.opts[-1])


def later(command: F) -> F:
    """Flags still to come: hidden from --help, refused by name."""
    for names in (("--env",), ("--select",), ("--exclude",), ("--base",), ("-o", "--out"), ("--approved",)):
        command = click.option(*names, hidden=True, expose_value=False, callback=_later)(command)
    return command


def configuration(command: F) -> F:
    """-f and -C: which configuration."""
    command = later(command)
    command = click.option(
        "-C", "--directory", type=click.Path(exists=True, file_okay=False, path_type=Path), default=Path(),
        help="Work as if started in this directory.", show_default="the present one",
    )(command)  # fmt: skip
    return click.option(
        "-f", "--file", "file", multiple=True, callback=_file, metavar="FILE",
        help="The root file. [default: dpsync.yaml, from here up to the git root; env: DPSYNC_FILE]",
    )(command)  # fmt: skip


def output(command: F) -> F:
    """--format, --color, -q, -v."""
    command = click.option("-v", "--verbose", count=True, help="Say more; twice for every request.")(command)
    command = click.option("-q", "--quiet", is_flag=True, help="Only the result and what went wrong.")(
        command
    )
    command = click.option(
        "--color", type=click.Choice(["auto", "always", "never"]), default="auto", show_default=True,
        help="Colour the output.",
    )(command)  # fmt: skip
    return click.option(
        "--format", "format_", type=click.Choice(["text", "json"]), default="text", show_default=True,
        help="How the result is printed.",
    )(command)  # fmt: skip


def planning(command: F) -> F:
    """What plan and apply share."""
    command = click.option(
        "--timeout", type=click.FloatRange(min=0.1), default=30.0, show_default=True, metavar="SECONDS",
        help="How long one request may take, its whole answer included.",
    )(command)  # fmt: skip
    command = click.option(
        "--parallelism", type=click.IntRange(1, 64), default=4, show_default=True, metavar="N",
        help="How many requests may be in flight.",
    )(command)  # fmt: skip
    command = click.option("--no-delete", is_flag=True, help="Keep everything, whatever prune says.")(command)
    return click.option(
        "--confirm", multiple=True, metavar="TEXT",
        help='Answer a limit once, naming the number: --confirm "delete 12".',
    )(command)  # fmt: skip


@dataclass(frozen=True)
class Place:
    """Which configuration is meant."""

    root: Path

    @staticmethod
    def find(file: str | None, directory: Path) -> Place:
        """Raises DiagnosticError when there is none, or two."""
        from dpsync.config.discovery import find_root

        named = file or os.environ.get("DPSYNC_FILE")
        return Place((directory / named) if named else find_root(directory))


def platform() -> tuple[str, str]:
    """URL and token from the environment; no flag takes a token, since others could read it."""
    url, token = os.environ.get("DPSYNC_URL"), os.environ.get("DPSYNC_TOKEN")
    file = os.environ.get("DPSYNC_TOKEN_FILE")
    if not url:
        raise click.UsageError(
            "DPSYNC_URL is not set: the address of the platform, without /v1.\n"
            "To try things out, run `dpsync serve` and set it to what that prints."
        )
    if not token and file:
        try:
            token = Path(file).read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise click.UsageError(f"DPSYNC_TOKEN_FILE cannot be read: {error}") from None
    if not token:
        raise click.UsageError("DPSYNC_TOKEN is not set (nor DPSYNC_TOKEN_FILE): the access token.")
    url = url.rstrip("/")
    if url.endswith("/v1"):
        raise click.UsageError(f"DPSYNC_URL is the address without /v1: {url.removesuffix('/v1')}")
    if url.startswith("http://") and not _loopback(url):
        click.echo("warning: DPSYNC_URL is not https: the token can be read on the way", err=True)
    return url, token


def _loopback(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    return host in ("localhost", "::1") or host.startswith("127.")


def interactive(no_input: bool) -> bool:
    """Whether somebody can be asked."""
    return not no_input and not os.environ.get("CI") and sys.stdin.isatty() and sys.stderr.isatty()


def as_output(format_: str, color: str, verbose: int, quiet: bool) -> Output:
    return Output(format_, cast(When, color), verbose, quiet)
