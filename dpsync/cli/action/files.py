"""Files that a step on GitHub writes: outputs and summary, which the runner reads, and its result."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from tempfile import gettempdir
from typing import TYPE_CHECKING, Final

from dpsync import disk
from dpsync.render.markdown import render_markdown
from dpsync.render.view import View

if TYPE_CHECKING:
    from dpsync.github.runner import Inputs, Log, Ran
    from dpsync.github.workspace import WorkflowRun

LIMIT: Final = 1_000_000
"""Bytes of a summary: from 1 MiB on the runner throws it away as a whole."""
_END: Final = "\n"
"""Of a summary: what the runner appends begins on a line of its own."""


def stem(inputs: Inputs, place: WorkflowRun) -> Path:
    """How the names of the files with the result begin: other ones for each run and each configuration."""
    folder = Path(os.environ.get("RUNNER_TEMP") or gettempdir())
    return folder / f"dpsync-{place.run}-{place.attempt}-{inputs.command}-{inputs.key[:8]}"


def write_result(beginning: Path, ran: Ran) -> dict[str, str]:
    """Write the result, for programs and for a browser; by the name of the output the files that it has."""
    from dpsync.render.formats import render

    found: dict[str, str] = {}
    if ran.document is None:
        return found
    for output, format_ in (("json-file", "json"), ("report-file", "html")):
        path = beginning.with_name(f"{beginning.name}.{format_}")
        with suppress(OSError):
            disk.put(path, render(ran.document, format_).encode())
            found[output] = str(path)
    return found


def write_outputs(log: Log, values: Mapping[str, str]) -> None:
    """Set outputs of the step: of what is written several times the runner takes the last."""
    from dpsync.github.runner import output_lines

    _append(log, os.environ.get("GITHUB_OUTPUT", ""), output_lines(values))


def write_summary(log: Log, text: str) -> None:
    """Add to the summary of the job."""
    _append(log, os.environ.get("GITHUB_STEP_SUMMARY", ""), text)


def _append(log: Log, name: str, text: str) -> None:
    if not name:
        return
    try:
        disk.append(Path(name), text.encode())
    except OSError as error:
        log.notice(f"dpsync cannot write {name}: {disk.why(error)}", "warning")


def summary(view: View, said: str = "") -> str:
    """The summary of the job, as Markdown: the same as in a comment, in a place that holds more of it.

    `said` stands first. Never longer than the limit.
    """
    head = f"{said}\n\n" if said else ""
    for limit in (LIMIT, LIMIT // 3):  # no UTF-16 unit takes more than three bytes of UTF-8
        text = f"{head}{render_markdown(view, limit - len(f'{head}{_END}'.encode()))}{_END}"
        if len(text.encode()) <= LIMIT:
            return text
    raise AssertionError
