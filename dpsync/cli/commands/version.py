"""Define `dpsync version`: print the version for people or for programs."""

from __future__ import annotations

import click

from dpsync import __version__
from dpsync.cli.help_pages import HelpCommand
from dpsync.cli.output import make_output


@click.command(
    "version",
    cls=HelpCommand,
    examples="""
        dpsync version
        dpsync version --json
    """,
    groups={
        "Output": ("--json",),
    },
)
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="Print JSON that also contains the version of Python and the supported API versions (dpsync "
    "schema version).",
)
def command(as_json: bool) -> None:
    """Print the version of dpsync."""
    out = make_output("json" if as_json else "text", "never")
    if not as_json:
        out.print_result(f"dpsync {__version__}")
        return
    import platform

    from dpsync.kinds.profiles import PROFILES
    from dpsync.render.documents import VersionDocument

    out.print_json(
        VersionDocument(
            version=__version__,
            python=platform.python_version(),
            system=platform.system(),
            profiles=tuple(PROFILES),
        )
    )
