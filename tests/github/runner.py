"""What GitHub's runner makes of a step: its command language, its files and their limits.

Written from what the runner is documented and seen to do, for tests: it is as trusting as the real one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

LARGEST_SUMMARY = 1024 * 1024
COMMANDS = {
    "error", "warning", "notice", "debug", "group", "endgroup", "add-mask", "stop-commands", "set-output",
    "set-env", "add-path", "save-state", "echo", "add-matcher", "remove-matcher", "internal-set-repo-path",
}  # fmt: skip


@dataclass(frozen=True)
class Command:
    """A command that the runner has found in a line."""

    name: str
    properties: dict[str, str]
    data: str


def unescaped(text: str, pairs: str) -> str:
    codes = {"\r": "%0D", "\n": "%0A", "]": "%5D", ";": "%3B", ":": "%3A", ",": "%2C"}
    for character in pairs:
        text = text.replace(codes[character], character)
    return text.replace("%25", "%")


def parse_command(line: str) -> Command | None:
    """Return the command in a line: `::name a=b::data` after blanks, or `##[name a=b]data` anywhere."""
    return _second(line) or _first(line)


def _second(line: str) -> Command | None:
    text = line.lstrip()
    end = text.find("::", 2)
    if not text.startswith("::") or end < 0:
        return None
    return _made(text[2:end], text[end + 2 :], ",", "\r\n", "\r\n:,")


def _first(line: str) -> Command | None:
    start = line.find("##[")
    end = line.find("]", start)
    if start < 0 or end < 0:
        return None
    return _made(line[start + 3 : end], line[end + 1 :], ";", "\r\n];", "\r\n];")


def _made(inside: str, data: str, separator: str, in_data: str, in_values: str) -> Command | None:
    name, _, rest = inside.strip().partition(" ")
    if name.lower() not in COMMANDS:
        return None
    pairs = [one.split("=", 1) for one in rest.strip().split(separator) if "=" in one]
    values = {key.strip(): unescaped(value, in_values) for key, value in pairs}
    return Command(name.lower(), values, unescaped(data, in_data))


@dataclass
class Step:
    """What a step has printed, as the runner reads it from top to bottom."""

    commands: list[Command] = field(default_factory=list)
    text: list[str] = field(default_factory=list)
    masks: list[str] = field(default_factory=list)
    stopped: str | None = None
    stop_commands: int = 0

    def read(self, printed: str) -> Step:
        for line in re.split(r"\r\n|\n|\r", printed):
            self._line(line)
        return self

    def _line(self, line: str) -> None:
        if self.stopped is not None:
            if line.strip() == f"::{self.stopped}::":
                self.stopped = None
            else:
                self.text.append(line)
            return
        found = parse_command(line)
        if found is None:
            self.text.append(line)
        elif found.name == "stop-commands":
            self.stopped = found.data
            self.stop_commands += 1
        elif found.name == "add-mask":
            self.masks.append(found.data)
        else:
            self.commands.append(found)

    def of(self, *names: str) -> list[Command]:
        return [one for one in self.commands if one.name in names]


def read_outputs(text: str) -> dict[str, str]:
    """Parse the content of GITHUB_OUTPUT or GITHUB_ENV. Raise ValueError where the runner fails the step."""
    found: dict[str, str] = {}
    lines = text.split("\n")
    if lines and lines[-1] == "":
        lines.pop()
    at = 0
    while at < len(lines):
        line = lines[at]
        at += 1
        if not line:
            continue
        equals, heredoc = line.find("="), line.find("<<")
        if heredoc >= 0 and (equals < 0 or heredoc < equals):
            name, delimiter = line[:heredoc], line[heredoc + 2 :]
            value = []
            while at < len(lines) and lines[at] != delimiter:
                value.append(lines[at])
                at += 1
            if at >= len(lines):
                raise ValueError(f"no end of {name}")
            at += 1
            found[name] = "\n".join(value)
        elif equals >= 0:
            found[line[:equals]] = line[equals + 1 :]
        else:
            raise ValueError(f"invalid line {line!r}")
    return found


def read_summary(content: bytes) -> str:
    """Return the summary that GitHub shows for GITHUB_STEP_SUMMARY: empty if it is too large."""
    return "" if len(content) > LARGEST_SUMMARY else content.decode()
