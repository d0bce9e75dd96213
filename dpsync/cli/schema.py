"""`dpsync schema`: the JSON Schemas of what is read and printed."""

from __future__ import annotations

import click


@click.command("schema")
@click.argument(
    "name",
    type=click.Choice(["configuration", "plan", "apply", "drift", "import", "saved-plan", "findings"]),
    default="configuration",
)
def command(name: str) -> None:
    """Print a JSON Schema, for editors and other tools.

    NAME is configuration (the default), or the JSON output of plan, of apply, of drift, of import, a
    plan that was saved, or the findings of any command.
    """
    from dpsync.config.schema import configuration_schema
    from dpsync.kinds.registry import load
    from dpsync.model.json_text import json_text
    from dpsync.render.documents import DOCUMENTS

    if name == "configuration":
        schema = configuration_schema(load())
    else:
        schema = DOCUMENTS[name].model_json_schema(mode="serialization")
    click.echo(json_text(schema, indent=2))
