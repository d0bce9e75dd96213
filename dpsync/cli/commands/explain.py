"""Define `dpsync explain`: describe a kind, a field or a code, without configuration or requests."""

from __future__ import annotations

import click

from dpsync.cli.completion_values import explain_words
from dpsync.cli.help_pages import HelpCommand
from dpsync.cli.options import color_option
from dpsync.cli.output import make_output
from dpsync.model.diagnostic import Exit


@click.command(
    "explain",
    cls=HelpCommand,
    examples="""
        dpsync explain site
        dpsync explain site.visibility
        dpsync explain policy.prune
        dpsync explain DP201
    """,
)
@click.argument("what", required=False, metavar="[KIND[.FIELD] | CODE]", shell_complete=explain_words)
@color_option
def command(what: str | None, color: str) -> int:
    """Explain an object type, a field or an error code.

    KIND is an object type, such as site or team, and FIELD is a field of the object type. CODE is the code
    of an error or refusal, such as DP201 or protected. You can also pass a key of the root file, such as
    policy.prune. Without an argument, dpsync lists all object types. If dpsync does not know the word, the
    exit code is 64.
    """
    out = make_output("text", color)
    paint = out.paint()
    if what is None:
        from dpsync.kinds.registry import build_registry
        from dpsync.render.explain_text import render_overview
        from dpsync.render.explanations import overview

        out.print_result(render_overview(overview(build_registry().with_all_kinds), paint))
        return Exit.DONE

    from dpsync.render.error_page import find_code, plain_section, read_code_sections

    sections = read_code_sections()
    if (code := find_code(what, sections)) is not None:
        from dpsync.render.explain_text import render_code

        out.print_result(render_code(code, plain_section(sections[code]), paint))
        return Exit.DONE

    from dpsync.kinds.registry import build_registry
    from dpsync.render.explain_text import render_explanation
    from dpsync.render.explanations import explainable_words, find_explanation

    explanation = find_explanation(build_registry().with_all_kinds, what)
    if explanation is None:
        from dpsync.model.text import did_you_mean
        from dpsync.model.text import format_command as printed

        nearest = did_you_mean(what, [*explainable_words(build_registry().with_all_kinds), *sections])
        hint = f'Did you mean "{nearest}"?' if nearest else f"{printed('explain')} lists all object types"
        raise click.UsageError(f'dpsync knows no object type, field or code "{what}". {hint}')
    out.print_result(render_explanation(explanation, paint))
    return Exit.DONE
