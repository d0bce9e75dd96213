"""`dpsync plan`: what apply would do. It holds a client that cannot write."""

from __future__ import annotations

from pathlib import Path

import click

from dpsync.cli.options import Place, as_output, configuration, output, planning, platform
from dpsync.model.diagnostic import Exit


@click.command("plan")
@configuration
@planning
@click.option("--detailed-exitcode", is_flag=True, help="Exit with 2 when there are changes.")
@output
def command(
    file: str | None, directory: Path, confirm: tuple[str, ...], no_delete: bool, parallelism: int,
    timeout: float, detailed_exitcode: bool, format_: str, color: str, verbose: int, quiet: bool,
) -> int:  # fmt: skip
    """Show what apply would do; writes nothing.

    Compares the configuration with what is live at DPSYNC_URL. A plan that may not be applied is shown and
    ends with exit code 4.
    """
    from dpsync.api import Options, Session, load, load_registry
    from dpsync.cli.edge import endings
    from dpsync.cli.trace import tracer
    from dpsync.client.client import ReadClient
    from dpsync.render.documents import plan_document
    from dpsync.render.plan_text import render_plan

    out = as_output(format_, color, verbose, quiet)
    url, token = platform()
    with endings(out, url):
        place = Place.find(file, directory)
        out.talk(f"Reading {place.root}", level=1)
        session = Session(load(place.root), load_registry(), parallelism)
        with ReadClient(url, token, timeout=timeout, trace=tracer(out)) as client:
            plan = session.plan(client, Options(confirm, not no_delete)).plan
        if out.json:
            out.result(plan_document(plan).model_dump_json(indent=2))
        else:
            out.result(render_plan(plan, out.paint(), verbose))
        if not plan.can_apply:
            return Exit.REFUSED
        return Exit.CHANGES if detailed_exitcode and not plan.empty else Exit.DONE
    raise AssertionError
