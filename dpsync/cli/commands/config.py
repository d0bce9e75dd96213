"""Define `dpsync config`: print the configuration after includes, overlays and variables. No requests.

Overlays are files with other values for an environment.
"""

from __future__ import annotations

import os
from pathlib import Path

import click

from dpsync.cli.configuration import ConfigurationPaths
from dpsync.cli.help_pages import HelpCommand
from dpsync.cli.options import color_option, configuration_options, profile_option
from dpsync.cli.output import make_output
from dpsync.model.diagnostic import Exit


@click.command(
    "config",
    cls=HelpCommand,
    examples="""
        dpsync config
        dpsync config --env staging
    """,
)
@configuration_options
@profile_option
@click.option(
    "--format", "format_", type=click.Choice(["yaml", "json"]), default="yaml", show_default=True,
    help="yaml adds a comment after each value with the file and line that set the value. "
    "json is for programs; dpsync schema config prints the schema.",
)  # fmt: skip
@color_option
def command(
    files: tuple[str, ...], directory: Path, environment: str | None, profile: str | None, format_: str,
    color: str,
) -> int:  # fmt: skip
    """Print the configuration with the file and line of each value.

    dpsync prints the configuration that dpsync uses after it has read all includes, overlays, variables and
    the chosen environment. A comment after each value names the file and line of the value, and the variable
    if there is one. In place of a secret, dpsync prints the name of the variable. Paths in { file: … } are
    relative to the file in the comment. Exit code 5 means that the configuration is invalid.
    """
    from dpsync.api import compose
    from dpsync.cli.exit_codes import exit_on_errors

    out = make_output("text" if format_ == "yaml" else format_, color)
    with exit_on_errors(out):
        paths = ConfigurationPaths.find(files, directory, environment, None, profile)
        paths.load(out)
        composed = compose(paths.root, overlays=paths.overlays, environment=paths.environment)

        from dpsync.render.command_documents import config_document

        document = config_document(composed, os.environ)
        if out.is_json:
            out.print_json(document)
        else:
            from dpsync.render.config_text import render_config

            out.print_result(render_config(document, out.paint()))
        return Exit.DONE
    raise AssertionError
