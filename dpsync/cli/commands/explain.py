"""`dpsync explain`: what a kind, a field or a code means. It reads no configuration and asks no platform."""

from __future__ import annotations

import click

from dpsync.cli.arguments.completing import words
from dpsync.cli.arguments.options import color_option
from dpsync.cli.terminal.output import as_output
from dpsync.model.findings.diagnostic import Exit


@click.command("explain")
@click.argument("what", required=False, metavar="[KIND[.FIELD] | CODE]", shell_complete=words)
@color_option
def command(what: str | None, color: str) -> int:
    """Say what a kind, a field or a code means.

    KIND is a kind of thing, as `site` or `team`; with FIELD it is one field, as `site.visibility`. CODE is
    the code of a finding or a refusal, as `DP201` or `protected`. A key of the root file works, too:
    `policy.prune`. Without a word it lists all kinds. Exit code 64 for a word that is none of these.
    """
    out = as_output("text", color)
    paint = out.paint()
    if what is None:
        from dpsync.kinds.registry import load
        from dpsync.render.terminal.explain_text import render_overview
        from dpsync.render.words.explanations import overview

        out.result(render_overview(overview(load().whole), paint))
        return Exit.DONE

    from dpsync.render.words.error_page import code_named, codes, plain_section

    known = codes()
    if (code := code_named(what, known)) is not None:
        from dpsync.render.terminal.explain_text import render_code

        out.result(render_code(code, plain_section(known[code]), paint))
        return Exit.DONE

    from dpsync.kinds.registry import load
    from dpsync.render.terminal.explain_text import render_explanation
    from dpsync.render.words.explanations import explained, what_can_be_explained

    said = explained(load().whole, what)
    if said is None:
        from dpsync.model.texts.command import command as printed
        from dpsync.model.texts.suggestions import did_you_mean

        nearest = did_you_mean(what, [*what_can_be_explained(load().whole), *known])
        hint = f'did you mean "{nearest}"?' if nearest else f"{printed('explain')} lists all kinds"
        raise click.UsageError(f'There is no kind, field or code "{what}": {hint}')
    out.result(render_explanation(said, paint))
    return Exit.DONE
