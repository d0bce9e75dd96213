"""Define `dpsync doctor`: check settings, connection and token. It only reads."""

from __future__ import annotations

from pathlib import Path

import click

from dpsync.cli.help_pages import HelpCommand
from dpsync.cli.options import (
    color_option,
    configuration_options,
    ids_option,
    profile_option,
    timeout_option,
    trust_option,
)
from dpsync.cli.output import make_output


@click.command(
    "doctor",
    cls=HelpCommand,
    examples="""
        dpsync doctor
        dpsync doctor --env staging
        dpsync doctor --contact --report contact.json
    """,
    groups={
        "Contact": ("--contact", "--report"),
    },
)
@configuration_options
@profile_option
@ids_option
@timeout_option
@trust_option
@click.option(
    "--contact", "contacting", is_flag=True,
    help="Also check whether GitBook's responses have the structure that dpsync expects, with one GET "
    "request for each object type.",
)  # fmt: skip
@click.option(
    "--report", "report_in", metavar="FILE", type=click.Path(dir_okay=False, path_type=Path),
    help="With --contact: write an anonymous report to FILE, which you can attach to an issue. The report "
    "contains field names, types and status codes, but no values.",
)  # fmt: skip
@click.option(
    "--format", "format_", type=click.Choice(["text", "json"]), default="text", show_default=True,
    help="The format of the result.",
)  # fmt: skip
@color_option
def command(
    files: tuple[str, ...], directory: Path, environment: str | None, profile: str | None,
    ids_in: Path | None, timeout: float, contacting: bool, report_in: Path | None, format_: str, color: str,
) -> int:  # fmt: skip
    """Check the settings, the connection and the token.

    dpsync prints each setting and its source, the owner of the token, and the object types that the token
    can read and write. dpsync checks the clock, the rate limit, the commit that dpsync compares with (git
    base), the ids file, and in a GitHub workflow the permissions. dpsync lists the objects for which GitBook
    itself reports a problem. dpsync prints a remedy for each problem, and never prints the token. Exit code 0
    means no problem, exit code 5 means an invalid configuration, and exit code 1 means another problem.

    With --contact, dpsync also checks whether GitBook's responses have the structure that dpsync expects,
    with 20 to 30 requests. dpsync lists the differences, and estimates the number of requests of a first
    plan.
    """
    from dpsync.cli.doctor_checks import DoctorRun
    from dpsync.cli.exit_codes import exit_on_errors

    if report_in is not None and not contacting:
        raise click.UsageError("--report can only be used with --contact")
    out = make_output(format_, color)
    with exit_on_errors(out):
        examination = DoctorRun(out, timeout, contacting)
        document = examination.document((files, directory, environment, ids_in, profile))
        if report_in is not None:
            examination.write_report(directory / report_in)
        if out.is_json:
            out.print_json(document)
        else:
            from dpsync.render.command_texts import render_doctor

            out.print_prose(render_doctor(out.printable(document), out.paint()))
        return document.exit
    raise AssertionError
