"""Define `dpsync schema`: print the JSON Schemas of files and outputs."""

from __future__ import annotations

import click

from dpsync.cli.help_pages import HelpCommand
from dpsync.kinds.profiles import FULL, PROFILES


@click.command(
    "schema",
    cls=HelpCommand,
    examples="""
        dpsync schema > dpsync.schema.json
        dpsync schema plan
    """,
)
@click.argument(
    "name",
    type=click.Choice(
        [
            "configuration",
            "plan",
            "apply",
            "rehearse",
            "drift",
            "import",
            "ids",
            "ids-file",
            "saved-plan",
            "journal",
            "findings",
            "config",
            "list",
            "history",
            "doctor",
            "version",
        ]
    ),
    default="configuration",
)
@click.option(
    "--profile", type=click.Choice(list(PROFILES)), default=FULL.name, show_default=True,
    help="For NAME configuration: allow only the objects and fields of this API version.",
)  # fmt: skip
def command(name: str, profile: str) -> None:
    """Print a JSON Schema of the files or of an output.

    NAME is configuration (the default), ids-file, saved-plan, journal (a line of the journal of an apply), or
    findings (errors of any command). For the JSON output of a command, NAME is the command: plan, apply,
    rehearse, drift, import, ids, config, list, history, doctor or version.
    """
    from dpsync.config.ids_file import ids_schema
    from dpsync.config.schema import configuration_schema
    from dpsync.kinds.registry import build_registry
    from dpsync.model.journal import EVENT_ADAPTER
    from dpsync.model.text import json_text
    from dpsync.render.documents import DOCUMENTS

    if name == "configuration":
        schema = configuration_schema(build_registry(profile).with_all_kinds)
    elif name == "ids-file":
        schema = ids_schema()
    elif name == "journal":
        schema = EVENT_ADAPTER.json_schema(mode="serialization")
    else:
        schema = DOCUMENTS[name].model_json_schema(mode="serialization")
    click.echo(json_text(schema, indent=2))
