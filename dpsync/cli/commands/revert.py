"""`dpsync revert`: the plan that takes back what an apply did, shown and carried out like any other."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from dpsync.cli.applying import (
    asked,
    carry_out,
    locked_journal,
    nothing_to_do,
    show_end,
    show_expected,
)
from dpsync.cli.arguments.connection import connection
from dpsync.cli.arguments.memory import opened
from dpsync.cli.arguments.options import (
    layered,
    output_in_every_format,
    planning,
    profiled,
    selecting,
    summarizing,
)
from dpsync.cli.arguments.place import ConfigurationPaths
from dpsync.cli.opening import client_of
from dpsync.cli.terminal.output import as_output
from dpsync.cli.terminal.progress import READING

if TYPE_CHECKING:
    from dpsync.api import AppliedPlan


@click.command("revert")
@click.argument("file", type=click.Path(path_type=Path), metavar="FILE")
@layered
@profiled
@selecting
@planning
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--approved", metavar="DIGEST", help="Only the plan with this digest, without a question.")
@click.option(
    "--journal", "journal_in", metavar="DIR", type=click.Path(file_okay=False, path_type=Path),
    help="Where the journal is kept. [default: .dpsync/journal beside the root file]",
)  # fmt: skip
@click.option("--no-input", is_flag=True, help="Never ask; without --yes that means to refuse.")
@summarizing
@output_in_every_format
def command(
    file: Path, files: tuple[str, ...], directory: Path, environment: str | None, profile: str | None,
    select: tuple[str, ...], exclude: tuple[str, ...], confirm: tuple[str, ...], no_delete: bool,
    base: str | None, ids_in: Path | None, parallelism: int, timeout: float, yes: bool, approved: str | None,
    journal_in: Path | None, no_input: bool, format_: str, color: str, verbose: int, quiet: bool,
    summary: bool,
) -> int:  # fmt: skip
    """Take back what an apply did: show the plan for it, ask, and carry it out.

    FILE is the journal of that apply (.dpsync/journal), or a plan that plan --out has saved. Fields get the
    values of before, what was made is deleted, what was deleted is restored where the platform can do that.
    Left alone is what somebody has changed since. The plan names that, and what cannot come back.

    No file of the configuration is written: the next apply does again what the files say. To keep it, take
    the commit back with git revert. Guards, limits, answers and exit codes are those of apply.
    """
    from dpsync.api import Expected, Options, reverting
    from dpsync.cli.endings import endings
    from dpsync.client.client import WriteClient

    out = as_output(format_, color, verbose, quiet, summary)
    options = Options(confirm, not no_delete, select=select, exclude=exclude)
    with endings(out):
        done = _done(directory / file)
        place = ConfigurationPaths.find(files, directory, environment, ids_in, profile)
        desired = place.load(out)
        to = connection(out, place, desired)
    with endings(out, to):
        session, ids = opened(out, place, desired, to, parallelism, base)
        with client_of(WriteClient, out, to, timeout) as client:
            with out.progress.during(READING):
                revert = reverting(client, session, done, str(file), options)
                planned = revert.plan(client, options)
            expect = Expected(approved=approved)
            show_expected(out, planned.plan, expect)
            code = nothing_to_do(planned.plan)
            if code is None and not yes and approved is None:
                code = asked(out, planned.plan, no_input)
                if code is None:  # time has passed: what runs is the plan of now, and must be what was shown
                    expect = Expected.shown(planned.plan)
                    with out.progress.during(READING):
                        planned = revert.plan(client, options)
            if code is not None:
                show_end(out, planned.plan, None, code)
                return code
            journals = None if journal_in is None else directory / journal_in
            with locked_journal(out, to.url, planned, place, journals) as journal:
                return carry_out(
                    out, revert.session, client, planned, expect, journal, revert.recording(ids), None
                )
    raise AssertionError


def _done(path: Path) -> AppliedPlan:
    """Return what an apply did, from its journal or its saved plan."""
    from dpsync.api import applied
    from dpsync.apply.past import is_journal, parse_journal
    from dpsync.apply.saved import content, parse_saved

    found = content(path)
    if is_journal(found):
        past = parse_journal(path, found)
        return applied(past.plan, past.report)
    return applied(parse_saved(path, found).plan)
