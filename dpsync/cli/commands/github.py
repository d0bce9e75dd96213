"""Define `dpsync github`, which runs the GitHub Action (action.yml).

It reads the inputs of the action; `cli/github_action.py` does the rest.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import click

from dpsync.cli.help_pages import HelpCommand
from dpsync.cli.signals import EndedBySignal, SignalRecorder, handle_signals
from dpsync.model.diagnostic import Exit

if TYPE_CHECKING:
    from dpsync.github.runner import Inputs, Log
    from dpsync.github.workspace import WorkflowRun


@click.command(
    "github",
    cls=HelpCommand,
    examples="""
        dpsync github < inputs.json
    """,
)
def command() -> int:
    """Run dpsync in a GitHub workflow, and report on GitHub.

    The GitHub Action (action.yml) runs this command and passes its inputs as one JSON object on standard
    input. dpsync plans, applies, validates or looks for drift. dpsync writes the comment, the issue, the
    job summary, the annotations and the outputs. The exit code is the exit code of the dpsync command.
    Drift and planned changes fail the job only if the input fail-on is "changes".
    """
    from dpsync.github.runner import Log

    log, signals = Log(sys.stdout), SignalRecorder()
    with handle_signals(signals.handle):
        try:
            with signals.interruptible():
                run_inputs = _read_run(log)
            if run_inputs is None:
                return Exit.USAGE
            from dpsync.cli.github_action import run_action

            return run_action(log, *run_inputs, signals)
        except EndedBySignal as interrupt:
            signals.begin_last_part()
            if not signals.may_have_changed:
                from dpsync.cli.github_action import write_outputs
                from dpsync.github.runner import outputs

                write_outputs(log, outputs(None, interrupt.code))
            return interrupt.code


def _read_run(log: Log) -> tuple[Inputs, WorkflowRun] | None:
    """Return the inputs of the action and the workflow run; None after printing an error about them.

    The inputs come from standard input, or from the caller in this process.
    """
    from dpsync.cli.github_action import write_outputs
    from dpsync.config.git_base import read_github_event
    from dpsync.github.runner import InvalidInputError, outputs, outputs_if_killed, read_inputs
    from dpsync.github.workspace import find_workflow_run

    # If nothing else is written any more, this holds.
    write_outputs(log, outputs_if_killed())
    try:
        caller_input = click.get_current_context().obj  # from the caller in this process
        if isinstance(caller_input, str):
            text = caller_input
        else:
            text = "" if sys.stdin is None or sys.stdin.isatty() else sys.stdin.read()
        inputs = read_inputs(text)
        workflow_run = find_workflow_run(os.environ, read_github_event(os.environ))
    except (InvalidInputError, ValueError) as error:
        log.notice(str(error), "error")
        write_outputs(log, outputs(None, Exit.USAGE))
        return None
    log.mask(inputs.token)
    log.mask(inputs.github_token)
    log.mask(inputs.ids_token)
    return inputs, workflow_run
