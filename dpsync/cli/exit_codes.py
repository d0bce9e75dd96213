"""End a command with messages and an exit code, without a traceback.

`exit_on_errors` catches everything that a command raises, and `exit_with_findings` prints findings and ends
the command.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import click

from dpsync.cli.connection import Connection
from dpsync.cli.output import Output
from dpsync.cli.signals import EndedBySignal
from dpsync.model.diagnostic import Diagnostic, DiagnosticError, Exit
from dpsync.render.diagnostics import render_diagnostics


@contextmanager
def exit_on_errors(out: Output, connection: Connection | None = None) -> Iterator[None]:
    """End the command with a message and an exit code if the block raises an error.

    `connection` is the server of the block, for the messages. With DPSYNC_DEBUG, an internal error keeps its
    traceback.
    """
    try:
        yield
    except (click.exceptions.Exit, click.ClickException, click.Abort, KeyboardInterrupt):
        raise
    except DiagnosticError as error:
        exit_with_findings(out, error.findings, error.exit_code, error.texts)
    except Exception as error:
        from dpsync.cli.failures import explain_error  # it knows the client, which not every command has

        explanation = explain_error(error, connection)
        if explanation is not None:
            exit_with_findings(out, *explanation)
        if os.environ.get("DPSYNC_DEBUG"):
            raise
        message = f"dpsync has an internal error ({type(error).__name__})"
        hint = "please report the output of the same command with DPSYNC_DEBUG=1"
        exit_with_findings(out, [Diagnostic("internal", message, hint=hint)], Exit.FAILED)


@contextmanager
def report_nothing_applied(out: Output) -> Iterator[None]:
    """Print that nothing was applied if the block ends a command before its first write.

    An interrupt becomes an exit code. Wrong usage gets no such line, because the command has not begun.
    """
    from dpsync.render.report_words import NOTHING_APPLIED  # only an apply needs it

    try:
        yield
    except click.ClickException:
        raise  # wrong usage: the command has not begun
    except (click.Abort, KeyboardInterrupt) as interrupt:
        if out.may_have_written:
            raise
        out.print_problem(f"Interrupted. {NOTHING_APPLIED}")
        signal = interrupt.__cause__ or interrupt  # click makes an Abort of it
        raise click.exceptions.Exit(
            signal.code if isinstance(signal, EndedBySignal) else Exit.INTERRUPTED
        ) from None
    except click.exceptions.Exit:
        if not out.may_have_written:
            out.print_problem(NOTHING_APPLIED)
        raise


def exit_with_findings(
    out: Output,
    diagnostics: list[Diagnostic],
    code: Exit,
    texts: Mapping[str, str] | None = None,
) -> None:
    """Print findings, as text or as a document, and end the command with an exit code."""
    if not out.is_text:
        from dpsync.render.json_conversion import findings_document

        out.print_document(findings_document(diagnostics, code))
    out.print_problem(
        render_diagnostics(diagnostics, texts or {}, color=out.paint(error=True).is_on).rstrip()
    )
    raise click.exceptions.Exit(int(code))
