"""Print values before and after a change: on one line, or as differences inside a large value."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

from pydantic_core import to_json

from dpsync.model.change import Difference
from dpsync.model.text import format_count
from dpsync.model.values import ENV_MARKER, ID_MARKER, REF_MARKER, unwrap_data
from dpsync.render.visible import visible

_WORD: Final = re.compile(r"[A-Za-z][A-Za-z0-9_.@:/+-]{0,99}")
_NON_TEXT_WORDS: Final = frozenset({"true", "false", "null"})


def is_long(value: Any) -> bool:
    """Return whether a value needs several lines: a text with line breaks, or a large mapping or list."""
    if isinstance(value, str):
        return "\n" in value.strip("\n")
    return isinstance(value, dict | list) and len(to_json(value)) > 80


def diff_lines(difference: Difference, max_lines: int | None = 20, width: int = 100) -> Iterable[str]:
    """Yield the differences between a large value before and after, as lines with `+`, `-` or `~`.

    Of a text, these are the changed lines: at most `max_lines`, each cut at `width` characters. Of a mapping
    or list, these are the changed parts with their path, such as `~ settings.color: red → blue`. deepdiff is
    imported only when a field needs it, because the import is slow.
    """
    if isinstance(difference.after, str) and isinstance(difference.before, str | None):
        from difflib import unified_diff

        before_lines, after_lines = (difference.before or "").splitlines(), difference.after.splitlines()
        changed_lines = [
            f"{line[0]} {_cut(visible(line[1:]), width)}".rstrip()
            for line in list(unified_diff(before_lines, after_lines, n=0, lineterm=""))[2:]
            if not line.startswith("@@")
        ]
        yield from _first_lines(changed_lines, max_lines)
        return
    if difference.before is None and isinstance(difference.after, dict | list):
        if isinstance(difference.after, list):
            parts = [format_value(part) for part in difference.after]
        else:
            members = unwrap_data(difference.after) or difference.after
            parts = [f"{visible(str(name))}: {format_value(part)}" for name, part in members.items()]
        yield from _first_lines([f"+ {part}" for part in parts], max_lines)
        return
    from deepdiff import DeepDiff

    diff = DeepDiff(difference.before, difference.after, view="tree", ignore_order=False)
    lines = []
    for kind, entries in sorted(diff.items()):
        for entry in entries:
            path = entry.path(output_format="list")
            before, after = entry.t1, entry.t2
            if path and path[-1] in (
                REF_MARKER,
                ID_MARKER,
                ENV_MARKER,
            ):  # the text of a marker differs: show the marker
                marker = path.pop()
                before, after = {marker: before}, {marker: after}
            path_text = ".".join(map(str, path)) or "(all)"
            if kind.endswith("_added"):
                lines.append(f"+ {visible(path_text)}: {format_value(after)}")
            elif kind.endswith("_removed"):
                lines.append(f"- {visible(path_text)}: {format_value(before)}")
            else:
                lines.append(f"~ {visible(path_text)}: {format_value(before)} → {format_value(after)}")
    yield from sorted(lines, key=lambda line: line[2:])


def _first_lines(lines: list[str], max_lines: int | None) -> Iterator[str]:
    """Yield at most `max_lines` lines, and a line with the number of further lines."""
    yield from lines[:max_lines]
    if max_lines is not None and len(lines) > max_lines:
        yield f"… {format_count(len(lines) - max_lines, 'more line')}"


def format_brief(value: Any, quoted: bool = False) -> str:
    """Return a value on one line; a text of one word has quotation marks only if `quoted`."""
    return format_value(value) if quoted or not is_word(value) else str(value)


def is_word(value: Any) -> bool:
    """Return whether a value is a text that needs no quotation marks to be recognized as text."""
    return isinstance(value, str) and bool(_WORD.fullmatch(value)) and value.lower() not in _NON_TEXT_WORDS


def format_value(value: Any, max_chars: int = 120) -> str:
    """Return a value on one line, cut at `max_chars` characters.

    References are shown as addresses, and secrets as the name of their environment variable.
    """
    if value is None:
        return "(nothing)"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f'"{_cut(visible(value), max_chars)}"'
    if (data := unwrap_data(value)) is not None:
        value = data
    elif isinstance(value, dict) and len(value) == 1:
        (key, name), *_ = value.items()
        if key in (REF_MARKER, ID_MARKER, ENV_MARKER) and isinstance(
            name, str
        ):  # a forged journal may hold anything there
            return {REF_MARKER: "{}", ID_MARKER: "id {}", ENV_MARKER: "(secret from {})"}[key].format(
                visible(name)
            )
    if isinstance(value, dict):
        members = ", ".join(f"{visible(str(name))}: {format_value(part)}" for name, part in value.items())
        return _cut(f"{{ {members} }}" if members else "{}", max_chars)
    if isinstance(value, list):
        return _cut(f"[{', '.join(format_value(part) for part in value)}]", max_chars)
    return str(value)


def _cut(text: str, max_chars: int) -> str:
    """Return a text cut to at most `max_chars` characters, with `…` at a cut end."""
    return text if len(text) <= max_chars else f"{text[: max_chars - 1]}…"
