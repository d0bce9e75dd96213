"""Define `dpsync graph`: draw the declared organization, or the changes of a saved plan. No requests."""

from __future__ import annotations

from pathlib import Path

import click

from dpsync.cli.configuration import ConfigurationPaths
from dpsync.cli.help_pages import HelpCommand
from dpsync.cli.options import configuration_options, selection_options
from dpsync.cli.output import make_output
from dpsync.model.diagnostic import Exit


@click.command(
    "graph",
    cls=HelpCommand,
    examples="""
        dpsync graph
        dpsync graph --plan plan.json --format dot
    """,
    groups={
        "Picture": ("--plan", "--format"),
    },
)
@configuration_options
@selection_options
@click.option(
    "--plan", "planned", type=click.Path(path_type=Path), metavar="FILE",
    help="Also show the changes of a plan. FILE is a plan that plan --out or plan --format json wrote.",
)  # fmt: skip
@click.option(
    "--format", "language", type=click.Choice(["mermaid", "dot"]), default="mermaid", show_default=True,
    help="The language of the picture: mermaid for Markdown, dot for Graphviz.",
)  # fmt: skip
def command(
    files: tuple[str, ...], directory: Path, environment: str | None, select: tuple[str, ...],
    exclude: tuple[str, ...], planned: Path | None, language: str,
) -> int:  # fmt: skip
    """Draw the organization, or the changes of a plan.

    The picture shows the objects that your files declare. To see the changes of a plan, save the plan
    with dpsync plan --out plan.json, and pass the file with --plan plan.json.

    A line connects an object to each object inside the object. A dashed arrow leads from an object to another
    object that a field of the first object refers to. If several objects have the same title, the picture
    also shows their addresses. Exit code 5 means that the configuration is invalid, that FILE is not a plan,
    or that a pattern matches no object.
    """
    from dpsync.cli.exit_codes import exit_on_errors
    from dpsync.kinds.registry import build_registry
    from dpsync.model.address import Address
    from dpsync.model.diagnostic import Diagnostic, DiagnosticError
    from dpsync.planner.selection import selected_names
    from dpsync.render.documents import PlanDocument
    from dpsync.render.graph import GRAPH_WRITERS, make_graph
    from dpsync.render.json_reading import read_document

    out = make_output("text", "never")
    with exit_on_errors(out):
        desired = ConfigurationPaths.find(files, directory, environment).load(out)
        plan = None
        if planned is not None:
            document = read_document(directory / planned)
            if not isinstance(document, PlanDocument):
                message = f"{planned} does not contain a plan"
                raise DiagnosticError([Diagnostic("DP143", message)], Exit.INVALID)
            plan = document.plan
        registry, selected = build_registry().with_all_kinds, None
        if select or exclude:
            changed_addresses = (
                (Address.parse(change.address) for change in plan.changes) if plan is not None else ()
            )
            names = dict.fromkeys((*desired.entries, *changed_addresses))
            selected = selected_names(registry, desired, names, select, exclude)
        out.print_result(GRAPH_WRITERS[language](make_graph(desired, registry, plan, selected)))
        return Exit.DONE
    raise AssertionError
