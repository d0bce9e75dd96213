"""A view as workflow commands: annotations on lines of the files, as GitHub's runner reads them from a log.

The runner takes `::command::` at the beginning of a line, after blanks, and `##[command]` anywhere in it.
Every line here is one of our commands, with nothing of anybody else's before its second `::`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from dpsync.model.plan import Origin
from dpsync.model.text import are, counted
from dpsync.render.layout.view import LEVELS, View, ViewEntry, body, clip
from dpsync.render.options import FormatOptions
from dpsync.render.words.visible import visible

MOST: Final = 9
"""GitHub shows ten annotations of a level and a step, and says nothing of the others."""
BODY: Final = 12
"""Lines behind the first one."""
_COMMANDS: Final = {"error": "error", "warning": "warning", "note": "notice"}


def as_annotations(view: View, options: FormatOptions) -> str:
    """One command to a line, the errors first; nothing where nobody is called for anything.

    Where there are more than GitHub shows, those in files that the change touches come first of each level.
    """
    return "\n".join(_commands(view, options))


def _commands(view: View, options: FormatOptions) -> Iterator[str]:
    found = list(view.calls)
    if len(found) > MOST:
        below, changed = options.below(), options.changed()
        found.sort(key=lambda one: (LEVELS.index(one.level), _file(one, below) not in changed))
    for entry in found[:MOST]:
        yield _command(entry, options)
    if more := max(0, len(found) - MOST) + view.left_out:
        text = f"{counted(more, 'more annotation')} {are(more)} not shown here. Read the job summary."
        yield f"::notice title=dpsync::{_data(text)}"


def _command(entry: ViewEntry, options: FormatOptions) -> str:
    place = entry.where or entry.enclosing
    title = " ".join(filter(None, (entry.sign, entry.title or entry.address))) or f"dpsync {entry.name}"
    properties = {**(_place(place, options) if place else {}), "title": clip(title, 200)}
    inside = ",".join(f"{name}={_property(text)}" for name, text in properties.items())
    code = f" ({entry.code})" if entry.code and entry.message else ""
    said = "\n".join(filter(None, [f"{clip(entry.message)}{code}", *body(entry, BODY)]))
    return f"::{_COMMANDS[entry.level]} {inside}::{_data(said or entry.title or entry.name)}"


def _file(entry: ViewEntry, below: str) -> str | None:
    place = entry.where or entry.enclosing
    return f"{below}{place.file}" if place else None


def _place(at: Origin, options: FormatOptions) -> dict[str, str]:
    line, column = str(at.line), str(at.column)
    return {"file": f"{options.below()}{at.file}", "line": line, "endLine": line, "col": column}


def _data(text: str) -> str:
    """What stands behind the second `::`. A runner that does not know the command looks for `##[`."""
    lines = (visible(line).replace("%", "%25").replace("##[", "## [") for line in text.split("\n"))
    return "%0A".join(lines)


def _property(text: str) -> str:
    return _data(visible(text)).replace(":", "%3A").replace(",", "%2C")
