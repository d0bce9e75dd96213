"""`dpsync serve`: the companion, in the foreground until it is interrupted."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import click

from dpsync.cli.arguments.options import layered, trusting
from dpsync.cli.plan_program import isolated_command, plan_variables
from dpsync.cli.terminal.help import HelpCommand
from dpsync.cli.terminal.output import as_output
from dpsync.cli.worlds import read_world
from dpsync.collector import collector_paused, collector_running
from dpsync.model.findings.diagnostic import Diagnostic, Exit

FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command(
    "serve",
    cls=HelpCommand,
    examples="""
        dpsync serve
        dpsync serve --port 0 --db companion.sqlite
        dpsync serve --from-live
    """,
    groups={
        "Address": ("--host", "--port", "--allow-host", "--allow-fetch"),
        "Content": ("--world", "--from-live", "--db", "--token", "--profile"),
        "Behavior": ("--faults", "--rate-limit", "--latency", "--ask-before-removal", "--workers"),
        "Page": ("--plan", "--no-control"),
    },
)
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option(
    "--allow-host", multiple=True, metavar="NAME",
    help="A further host name that the companion accepts, such as the name of a reverse proxy. May be "
    "repeated. The companion always accepts localhost and loopback addresses. With a --host other than "
    "loopback, it also accepts IP addresses and names without a dot.",
)  # fmt: skip
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8787,
    show_default=True,
    help="The port to listen on; 0 means a free one.",
)
@click.option(
    "--db", default=":memory:", show_default=True, metavar="PATH|URL",
    help="Where the state is kept: a SQLite file, or postgresql://….",
)  # fmt: skip
@click.option(
    "--workers", type=click.IntRange(1, 64), default=1, show_default=True,
    help="How many processes; several need PostgreSQL.",
)  # fmt: skip
@click.option("--token", metavar="T", help="One more token for the first admin of acme.")
@click.option(
    "--profile", type=click.Choice(["full", "reference", "published"]),
    show_default="that of the world, or full",
    help="Which operations there are: reference leaves the additions out, published has those of today.",
)  # fmt: skip
@click.option(
    "--allow-fetch", multiple=True, metavar="HOST",
    help="A host that the companion may contact, beside this machine. May be repeated.",
)  # fmt: skip
@click.option("--world", type=FILE, help="A file with the state to start from, in place of the built-in one.")
@click.option(
    "--from-live", is_flag=True,
    help="Start from what is live: a copy of what the configuration declares, without secrets. It is served "
    "to this machine alone.",
)  # fmt: skip
@click.option("--faults", type=FILE, help="A file with rules: which request fails, and how.")
@click.option(
    "--rate-limit",
    metavar="N/s",
    help="Refuse more requests of one caller than N each second; also N/m, each minute.",
)
@click.option(
    "--latency", type=click.FloatRange(0, 3_600_000), default=0, metavar="MS",
    help="Let each request take this much longer.",
)  # fmt: skip
@click.option(
    "--ask-before-removal", is_flag=True,
    help="With published: the removal of a member is only requested (202).",
)  # fmt: skip
@click.option(
    "--plan", "planned", type=click.Path(exists=True, file_okay=False, path_type=Path), metavar="DIR",
    help="A directory with a configuration: the companion's page shows its plan.",
)  # fmt: skip
@click.option("--no-control", is_flag=True, help="Serve no control plane (/_dpsync), and no page at /.")
@layered
@trusting
def command(
    host: str,
    allow_host: tuple[str, ...],
    port: int,
    db: str,
    workers: int,
    token: str | None,
    profile: str | None,
    allow_fetch: tuple[str, ...],
    world: Path | None,
    from_live: bool,
    faults: Path | None,
    rate_limit: str | None,
    latency: float,
    ask_before_removal: bool,
    planned: Path | None,
    no_control: bool,
    files: tuple[str, ...],
    directory: Path,
    environment: str | None,
) -> None:
    """Run GitBook's API on this machine.

    The companion starts with two organizations, acme and globex, in a new database. When it accepts requests,
    it prints its address: that is the value for DPSYNC_URL. Its tokens are ada-token and grace-token (admins
    of acme) and hank-token (globex). Press Ctrl-C to stop it.

    Open the address in a browser: the page shows the objects, the requests, and switches for faults and the
    clock.

    With --from-live, the companion starts from a copy of what is live: what the configuration declares.
    dpsync reads the platform once, and changes to the copy never reach the platform. The companion prints a
    new token for the copy.
    """
    from dpsync.server.extras import MissingPackage, companion_packages

    try:
        with collector_paused(), companion_packages():  # it would take a sixth of the start-up
            from dpsync.server.console.plan import PlanProgram
            from dpsync.server.process.run import serve
    except MissingPackage as missing:
        raise click.ClickException(str(missing)) from None
    start: Path | dict[str, Any] | None = world
    if from_live:
        if world is not None or db != ":memory:":
            raise click.UsageError("--from-live starts from what is live: without --world and --db")
        speaker = as_output("text", "auto")
        start = read_world(speaker, files, directory, environment, profile=profile)
    plan = None
    if planned:
        named = ("--profile", profile) if profile not in (None, "full") else ()
        place = planned.absolute()  # the plan process runs in another directory
        arguments = isolated_command("plan", "-C", str(place), *named, "--format", "html")
        words = shlex.join(("dpsync", "plan", "-C", str(planned), *named))
        plan = PlanProgram(str(planned), arguments, words, partial(plan_variables, place))
    with _command_errors(), collector_running():
        serve(
            host, port, db, token, profile, start, allow_fetch,
            allow_host=allow_host, faults=faults, rate_limit=rate_limit, latency=latency / 1000,
            control=not no_control, workers=workers, asks_before_removal=ask_before_removal, plan=plan,
        )  # fmt: skip


@contextmanager
def _command_errors() -> Iterator[None]:
    """What keeps the companion from serving, as an error of the command. Raises ClickException or Exit."""
    from dpsync.cli.endings import finish
    from dpsync.server.process.listening import CannotListen
    from dpsync.server.process.workers import WorkerFailed
    from dpsync.server.store import StoreError

    try:
        yield
    except WorkerFailed:
        raise click.ClickException("a worker did not start") from None
    except CannotListen as cannot:
        finish(as_output("text", "auto"), [Diagnostic("listen", str(cannot), hint=cannot.hint)], Exit.FAILED)
    except (StoreError, ValueError) as error:
        raise click.ClickException(str(error)) from None
    except OSError as error:
        raise click.ClickException(f"{error.filename or 'serve'}: {error.strerror or error}") from None
