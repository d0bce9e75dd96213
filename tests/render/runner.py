"""How GitHub's runner finds commands in the lines of a log: both of its parsers.

The newer one wants `::name props::data` at the beginning of a line, blanks before it allowed. Only where that
finds no command that it knows, the older one looks for `##[name props]data` anywhere in the line.
"""

from __future__ import annotations

from dataclasses import dataclass, field

KNOWN = {
    "error", "warning", "notice", "debug", "group", "endgroup", "add-mask", "stop-commands", "set-output",
    "set-env", "save-state", "add-path", "echo", "add-matcher", "remove-matcher",
}  # fmt: skip


@dataclass
class Command:
    name: str
    data: str
    properties: dict[str, str] = field(default_factory=dict)


def commands(log: str, known: set[str] = KNOWN) -> list[Command | None]:
    """Return the command that the runner finds in each line. The runner ends lines at LF and CR."""
    return [newer(line, known) or older(line, known) for line in log.replace("\r", "\n").split("\n")]


def newer(line: str, known: set[str]) -> Command | None:
    line = line.lstrip()
    end = line.find("::", 2)
    if not line.startswith("::") or end < 0:
        return None
    name, _, inside = line[2:end].partition(" ")
    if name not in known:
        return None
    properties = _pairs(inside.strip(), ",", {"%3A": ":", "%2C": ","})
    return Command(name, _unescaped(line[end + 2 :], {}), properties)


def older(line: str, known: set[str]) -> Command | None:
    start = line.find("##[")
    end = line.find("]", start)
    if start < 0 or end < 0:
        return None
    name, _, inside = line[start + 3 : end].partition(" ")
    if name not in known:
        return None
    return Command(
        name, _unescaped(line[end + 1 :], {"%5D": "]"}), _pairs(inside, ";", {"%3B": ";", "%5D": "]"})
    )


def _pairs(text: str, between: str, escapes: dict[str, str]) -> dict[str, str]:
    pairs = (pair.split("=", 1) for pair in text.split(between) if "=" in pair)
    return {name: _unescaped(value, escapes) for name, value in pairs}


def _unescaped(text: str, escapes: dict[str, str]) -> str:
    for escape, meant in {"%0D": "\r", "%0A": "\n", **escapes, "%25": "%"}.items():
        text = text.replace(escape, meant)
    return text
