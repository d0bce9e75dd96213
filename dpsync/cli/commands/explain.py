"""Define `dpsync explain`: describe a kind, a field or a code, without configuration or requests."""

from __future__ import annotations

import click

from dpsync.cli.completion_values import words
from dpsync.cli.help_pages import HelpCommand
from dpsync.cli.options import color_option
from dpsync.cli.output import as_output
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
@click.argument("what", required=False, metavar="[KIND[.FIELD] | CODE]", shell_complete=words)
@color_option
def command(what: str | None, color: str) -> int:
    """Explain an object type, a field or an error code.

    KIND is an object type, such as site or team, and FIELD is a field of the object type. CODE is the code
    of an error or refusal, such as DP201 or protected. You can also pass a key of the root file, such as
    policy.prune. Without an argument, dpsync lists all object types. If dpsync does not know the word, the
    exit code is 64.
    """
    out = as_output("text", color)
    paint = out.paint()
    if what is None:
        from dpsync.kinds.registry import load
        from dpsync.render.explain_text import render_overview
        from dpsync.render.explanations import overview

        out.result(render_overview(overview(load().whole), paint))
        return Exit.DONE

    from dpsync.render.error_page import code_named, codes, plain_section

    known = codes()
    if (code := code_named(what, known)) is not None:
        from dpsync.render.explain_text import render_code

        out.result(render_code(code, plain_section(known[code]), paint))
        return Exit.DONE

    from dpsync.kinds.registry import load
    from dpsync.render.explain_text import render_explanation
    from dpsync.render.explanations import explained, what_can_be_explained

    said = explained(load().whole, what)
    if said is None:
        from dpsync.model.text import command as printed
        from dpsync.model.text import did_you_mean

        nearest = did_you_mean(what, [*what_can_be_explained(load().whole), *known])
        hint = f'Did you mean "{nearest}"?' if nearest else f"{printed('explain')} lists all object types"
        raise click.UsageError(f'dpsync knows no object type, field or code "{what}". {hint}')
    out.result(render_explanation(said, paint))
    return Exit.DONE
