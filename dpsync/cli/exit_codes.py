"""End a command with messages and an exit code, without a traceback.

`endings` catches everything that a command raises, and `finish` prints findings and ends the command.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import click

from dpsync.cli.connection import Connection
from dpsync.cli.output import Output
from dpsync.cli.signals import Ended
from dpsync.model.diagnostic import Diagnostic, DiagnosticError, Exit
from dpsync.render.diagnostics import render_diagnostics


@contextmanager
def endings(out: Output, to: Connection | None = None) -> Iterator[None]:
    """End the command with a message and an exit code if the block raises an error."""
    try:
        yield
    except (click.exceptions.Exit, click.ClickException, click.Abort, KeyboardInterrupt):
        raise
    except DiagnosticError as invalid:
        finish(out, invalid.findings, invalid.exit_code, invalid.texts)
    except Exception as failed:
        from dpsync.cli.failures import explained  # it knows the client, which not every command has

        known = explained(failed, to)
        if known is not None:
            finish(out, *known)
        if os.environ.get("DPSYNC_DEBUG"):
            raise
        message = f"dpsync has an internal error ({type(failed).__name__})"
        hint = "please report the output of the same command with DPSYNC_DEBUG=1"
        finish(out, [Diagnostic("internal", message, hint=hint)], Exit.FAILED)


@contextmanager
def nothing_applied(out: Output) -> Iterator[None]:
    """Print that nothing was applied if a command ends before its first write."""
    from dpsync.render.report_words import NOTHING_APPLIED  # only an apply needs it

    try:
        yield
    except click.ClickException:
        raise  # wrong usage: the command has not begun
    except (click.Abort, KeyboardInterrupt) as stopped:
        if out.applied:
            raise
        out.complain(f"Interrupted. {NOTHING_APPLIED}")
        signal = stopped.__cause__ or stopped  # click makes an Abort of it
        raise click.exceptions.Exit(signal.code if isinstance(signal, Ended) else Exit.INTERRUPTED) from None
    except click.exceptions.Exit:
        if not out.applied:
            out.complain(NOTHING_APPLIED)
        raise


def finish(
    out: Output,
    diagnostics: list[Diagnostic],
    code: Exit,
    texts: Mapping[str, str] | None = None,
) -> None:
    """Print the findings and end the command."""
    if not out.text:
        from dpsync.render.json_conversion import findings_document

        out.show(findings_document(diagnostics, code))
    out.complain(render_diagnostics(diagnostics, texts or {}, color=out.paint(error=True).on).rstrip())
    raise click.exceptions.Exit(int(code))
