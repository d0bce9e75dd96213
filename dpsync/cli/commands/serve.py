"""Define `dpsync serve`: run the local server that imitates GitBook, in the foreground until interrupted."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import click

from dpsync.cli.help_pages import HelpCommand
from dpsync.cli.options import configuration_options, trust_option
from dpsync.cli.output import make_output
from dpsync.cli.plan_program import isolated_command, plan_variables
from dpsync.cli.worlds import read_world
from dpsync.collector import collector_paused, collector_running
from dpsync.model.diagnostic import Diagnostic, Exit

EXISTING_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


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
@click.option("--host", default="127.0.0.1", show_default=True, help="IP address to listen on.")
@click.option(
    "--allow-host", multiple=True, metavar="NAME",
    help="Additional host name that the server accepts, such as the name of a reverse proxy. Can be "
    "repeated. The server always accepts localhost and loopback addresses. With a --host other than "
    "loopback, the server also accepts IP addresses and names without a dot.",
)  # fmt: skip
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8787,
    show_default=True,
    help="Port to listen on. 0 chooses a free port.",
)
@click.option(
    "--db", default=":memory:", show_default=True, metavar="PATH|URL",
    help="Database that keeps the data: a SQLite file or postgresql://….",
)  # fmt: skip
@click.option(
    "--workers", type=click.IntRange(1, 64), default=1, show_default=True,
    help="Number of server processes. Several processes need PostgreSQL.",
)  # fmt: skip
@click.option("--token", metavar="T", help="Additional token for the first admin of the first organization.")
@click.option(
    "--profile", type=click.Choice(["full", "reference", "published"]),
    show_default="the API version in the data, otherwise full",
    help="API version. reference: the documented operations. full: the documented and more operations. "
    "published: the operations of GitBook's current API.",
)  # fmt: skip
@click.option(
    "--allow-fetch", multiple=True, metavar="HOST",
    help="Host that the server may contact, in addition to this machine. Can be repeated.",
)  # fmt: skip
@click.option(
    "--world", type=EXISTING_FILE, help="File with the data to start with, instead of the test data."
)
@click.option(
    "--from-live", is_flag=True,
    help="Start with a copy of the live objects that your configuration declares, without secrets. Only this "
    "machine can reach the copy.",
)  # fmt: skip
@click.option("--faults", type=EXISTING_FILE, help="File with rules that make requests fail.")
@click.option(
    "--rate-limit",
    metavar="N/s",
    help="Maximum number of requests per second and caller. N/m means per minute.",
)
@click.option(
    "--latency", type=click.FloatRange(0, 3_600_000), default=0, metavar="MS",
    help="Additional time for each request, in milliseconds.",
)  # fmt: skip
@click.option(
    "--ask-before-removal", is_flag=True,
    help="With --profile published: do not remove a member at once, but ask the admins first (status 202).",
)  # fmt: skip
@click.option(
    "--plan", "planned", type=click.Path(exists=True, file_okay=False, path_type=Path), metavar="DIR",
    help="Directory with a configuration. The start page of the server shows the plan.",
)  # fmt: skip
@click.option("--no-control", is_flag=True, help="Turn off the control plane (/_dpsync) and the start page.")
@configuration_options
@trust_option
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
    """Run a local server that imitates GitBook's API.

    The local server starts with two test organizations, acme and globex, in a new database. The command
    prints the URL of the server when the server accepts requests. Use the URL as DPSYNC_URL. Use one of these
    tokens: ada-token and grace-token (admins of acme), hank-token (admin of globex). To stop the server,
    press Ctrl-C.

    Open the URL in a browser to see the objects and the requests, to make requests fail, and to change the
    clock.

    With --from-live, the server starts with a copy of the live objects that your configuration declares.
    dpsync only reads from GitBook. Changes of the copy never reach GitBook. The command prints a new token
    for the copy.
    """
    from dpsync.server.extras import MissingPackageError, companion_packages

    try:
        with collector_paused(), companion_packages():  # it would take a sixth of the start-up
            from dpsync.server.console.plan_runner import PlanProgram
            from dpsync.server.process.run import serve
    except MissingPackageError as error:
        raise click.ClickException(str(error)) from None
    start: Path | dict[str, Any] | None = world
    if from_live:
        if world is not None or db != ":memory:":
            raise click.UsageError("--from-live cannot be combined with --world or --db")
        out = make_output("text", "auto")
        start = read_world(out, files, directory, environment, profile=profile)
    plan = None
    if planned:
        profile_flags = ("--profile", profile) if profile not in (None, "full") else ()
        project = planned.absolute()  # the plan process runs in another directory
        arguments = isolated_command("plan", "-C", str(project), *profile_flags, "--format", "html")
        command_line = shlex.join(("dpsync", "plan", "-C", str(planned), *profile_flags))
        plan = PlanProgram(str(planned), arguments, command_line, partial(plan_variables, project))
    with _command_errors(), collector_running():
        serve(
            host, port, db, token, profile, start, allow_fetch,
            allow_host=allow_host, faults=faults, rate_limit=rate_limit, latency=latency / 1000,
            control=not no_control, workers=workers, asks_before_removal=ask_before_removal, plan=plan,
        )  # fmt: skip


@contextmanager
def _command_errors() -> Iterator[None]:
    """Turn errors of starting the local server into errors of the command.

    Raises ClickException or Exit.
    """
    from dpsync.cli.exit_codes import exit_with_findings
    from dpsync.server.process.listening import ListenError
    from dpsync.server.process.workers import WorkerFailedError
    from dpsync.server.store import StoreError

    try:
        yield
    except WorkerFailedError:
        raise click.ClickException("one of the server processes did not start") from None
    except ListenError as error:
        exit_with_findings(
            make_output("text", "auto"), [Diagnostic("listen", str(error), hint=error.hint)], Exit.FAILED
        )
    except (StoreError, ValueError) as error:
        raise click.ClickException(str(error)) from None
    except OSError as error:
        raise click.ClickException(f"{error.filename or 'serve'}: {error.strerror or error}") from None
