"""Write values as YAML in the style that people use.

`yaml_document` returns a whole file: block style, short mappings on one line, quotes only where necessary.
`replace_in_snippet` writes a value into existing lines with ruamel.yaml, which keeps their comments,
anchors, quotes and order.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import Any

from dpsync.config.variables import escape_key, escape_value
from dpsync.config.yaml_reader import NumberError, parse_scalar
from dpsync.model.text import INVISIBLE_CHARACTERS

MAX_LINE_CHARS = 100
_PLAIN = re.compile(r"[\w/.(+][\w /.@()+'&!?=~$;%*°–—…’-]*(?::(?=[\w/.])[\w /.@()+'&!?=~$;%*-]*)*")
_UNSEEN = re.compile(f"[{INVISIBLE_CHARACTERS}]")
_YAML_1_1_BOOLEANS = frozenset({"y", "n", "yes", "no", "on", "off"})
"""Words that other readers of YAML take for booleans."""


class Verbatim(str):
    """A text for other readers than dpsync, in which "$" does not begin a variable."""


class BlockMapping(dict[str, Any]):
    """A mapping that is never written on one line, with comments above its entries."""

    def __init__(self, entries: Any = (), comments: list[str] | None = None) -> None:
        super().__init__(entries)
        self.comments = comments or []


def yaml_document(value: BlockMapping, head: str) -> str:
    """Return the text of a whole file. `head` is its first line."""
    return "\n".join([head, *_mapping_lines(value, "")]) + "\n"


def block_lines(value: BlockMapping, indent: str) -> list[str]:
    """Return the lines of a mapping in block style."""
    return list(_mapping_lines(value, indent))


def yaml_scalar(value: Any, key: bool = False) -> str:
    """Return a YAML scalar on one line: plain if possible, otherwise in double quotes.

    A "$" that would begin a variable is escaped, in a mapping key (`key`) by other rules than in a value.
    """
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, str):
        return json.dumps(value)
    text = str(value) if isinstance(value, Verbatim) else escape_key(value) if key else escape_value(value)
    return text if _needs_no_quotes(text) else _quoted(text)


def on_one_line(value: Any) -> str:
    """Return a value in YAML flow style, such as `{ role: read, sso: true }`."""
    if isinstance(value, dict):
        inner = ", ".join(
            f"{yaml_scalar(key, key=True)}: {on_one_line(child)}" for key, child in value.items()
        )
        return f"{{ {inner} }}" if inner else "{}"
    if isinstance(value, list):
        return f"[{', '.join(on_one_line(child) for child in value)}]"
    return yaml_scalar(value)


def _needs_no_quotes(text: str) -> bool:
    """Return whether a text needs no quotes, because every YAML reader reads it as the same text."""
    if not _PLAIN.fullmatch(text) or text != text.strip() or text.lower() in _YAML_1_1_BOOLEANS:
        return False
    if escape_invisible_yaml(text) != text or text.startswith(("...", "---")):
        return False
    try:
        return parse_scalar(text) == text and isinstance(parse_scalar(text), str)
    except NumberError:
        return False


def _quoted(text: str) -> str:
    """Return a text in double quotes, with invisible characters escaped."""
    return escape_invisible_yaml(json.dumps(text, ensure_ascii=False))


def escape_invisible_yaml(quoted: str) -> str:
    """Return the content of a double-quoted text with all invisible characters escaped."""
    if quoted.isascii() and quoted.isprintable():  # fast path for nearly every text
        return quoted
    escaped = []
    for character in quoted:
        code = ord(character)
        if is_visible_character(character):
            escaped.append(character)
        else:
            escaped.append(f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}")
    return "".join(escaped)


def is_visible_character(character: str) -> bool:
    """Return whether a character is printable and not one that editors hide."""
    return character.isprintable() and not _UNSEEN.match(character)


def inline_or_none(value: Any) -> str | None:
    """Return a value in YAML flow style; None if people would write it over several lines.

    This is the case for nested mappings, lists of collections, texts over several lines, and `BlockMapping`.
    """
    if isinstance(value, BlockMapping):
        return "{}" if not value and not value.comments else None
    if isinstance(value, dict):
        nested = [child for child in value.values() if isinstance(child, dict)]
        if any(isinstance(item, dict | list) for child in nested for item in child.values()):
            return None
        parts = {key: inline_or_none(child) for key, child in value.items()}
        if any(part is None for part in parts.values()):
            return None
        inner = ", ".join(f"{yaml_scalar(key, key=True)}: {part}" for key, part in parts.items())
        return f"{{ {inner} }}" if inner else "{}"
    if isinstance(value, list):
        if any(isinstance(child, dict | list) for child in value):
            return None
        return f"[{', '.join(yaml_scalar(child) for child in value)}]"
    if isinstance(value, str) and _may_be_block_text(value):
        return None
    return yaml_scalar(value)


def _may_span_lines(value: Any) -> bool:
    """Return whether a value can be written in block style, which an empty collection cannot."""
    return isinstance(value, dict | list) and bool(value)


def _may_be_block_text(text: str) -> bool:
    """Return whether a text can be written as a YAML block (`|`) and is read back unchanged."""
    lines = text.split("\n")
    return (
        len(lines) > 1
        and bool(text.strip())
        and escape_value(text) == text
        and all(escape_invisible_yaml(line) == line for line in lines)
        and not lines[0].startswith(" ")
        and lines[0] != ""
        and not any(line != line.rstrip() for line in lines)
        and not text.endswith("\n\n")
    )


def block_text(text: str, indent: str) -> list[str]:
    """Return the lines of a text as a YAML block, from `|` on; [] if a block would change the text.

    The lines of the text, but not the first line (`|`), get the indentation `indent`.
    """
    if not _may_be_block_text(text):
        return []
    head = "|" if text.endswith("\n") else "|-"
    return [head, *(f"{indent}{line}" if line else "" for line in text.removesuffix("\n").split("\n"))]


def _mapping_lines(value: dict[str, Any], indent: str) -> Iterator[str]:
    """Yield the lines of a mapping in block style, after its comments."""
    for comment in getattr(value, "comments", ()):
        yield f"{indent}# {escape_invisible_yaml(' '.join(comment.split()))}"
    for key, child in value.items():
        yield from _entry_lines(f"{indent}{yaml_scalar(key, key=True)}:", child, indent)


def _entry_lines(lead: str, value: Any, indent: str) -> Iterator[str]:
    """Yield the lines of a mapping entry: on one line if it is short and flat, otherwise in block style.

    `lead` is the key with its indentation and a colon, and `indent` the indentation of the key.
    """
    line = inline_or_none(value)
    if line is not None and (len(lead) + len(line) < MAX_LINE_CHARS or not _may_span_lines(value)):
        yield f"{lead} {line}"
    elif isinstance(value, dict):
        yield lead
        yield from _mapping_lines(value, indent + "  ")
    elif isinstance(value, list):
        yield lead
        yield from _sequence_lines(value, indent + "  ")
    else:
        first, *other_lines = block_text(value, indent + "  ")
        yield f"{lead} {first}"
        yield from other_lines


def _sequence_lines(items: list[Any], indent: str) -> Iterator[str]:
    """Yield the lines of a list in block style; short, flat items are on one line."""
    for item in items:
        line = inline_or_none(item)
        if line is not None and (len(indent) + len(line) + 2 < MAX_LINE_CHARS or not _may_span_lines(item)):
            yield f"{indent}- {line}"
            continue
        lines = (
            _mapping_lines(item, indent + "  ")
            if isinstance(item, dict)
            else _sequence_lines(item, indent + "  ")
        )
        if isinstance(item, str):
            yield f"{indent}- {_quoted(item)}"
            continue
        first, *other_lines = lines
        yield f"{indent}- {first[len(indent) + 2 :]}"
        yield from other_lines


class ForeignAnchorError(ValueError):
    """The lines use a YAML anchor that is outside of them."""


def replace_in_snippet(snippet: str, value: Any) -> str:
    """Return the YAML lines of a value with a new value, and keep comments, anchors, quotes and order.

    `snippet` are the old lines without indentation. Raises ForeignAnchorError if they use a YAML anchor from
    elsewhere.
    """
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    yaml = YAML()
    yaml.preserve_quotes = True
    yaml.width = 1_000_000
    # Indent new lines as the old lines are indented: nested mappings, and the dashes of lists below a key.
    key_line = r"^( *)[^\s#-][^\n]*:[ ]*(?:#[^\n]*)?\n"
    nested = re.search(key_line + r"( *)[^\s#-]", snippet, re.MULTILINE)
    mapping_indent = max(len(nested[2]) - len(nested[1]), 2) if nested else 2
    list_below_key = re.search(key_line + "( *)- ", snippet, re.MULTILINE)
    dash_offset = max(len(list_below_key[2]) - len(list_below_key[1]), 0) if list_below_key else 0
    dash = re.search(r"^( *)(- +)", snippet, re.MULTILINE)
    dash_width = len(dash[2]) if dash else 2
    yaml.indent(mapping=mapping_indent, sequence=dash_offset + dash_width, offset=dash_offset)
    try:
        data = yaml.load(snippet)
    except YAMLError:
        raise ForeignAnchorError from None
    merged = _merge_values(data, _mark_for_quotes(escape_variables(value)))
    stream = io.StringIO()
    yaml.dump(merged, stream)
    # Hidden characters of a new text are in double quotes, where they can be escaped. Old text stays.
    written = "".join(
        character if character in snippet or character == "\n" else escape_invisible_yaml(character)
        for character in stream.getvalue()
    )
    top = re.match(r" *", written)
    return re.sub(rf"^ {{{len(top[0])}}}", "", written, flags=re.MULTILINE) if top and top[0] else written


def escape_variables(value: Any) -> Any:
    """Double each dollar sign that would begin a variable in a configuration."""
    if isinstance(value, dict):
        return {escape_key(key): escape_variables(child) for key, child in value.items()}
    if isinstance(value, list):
        return [escape_variables(child) for child in value]
    return escape_value(value) if isinstance(value, str) else value


def _mark_for_quotes(value: Any) -> Any:
    """Return the value with each text that contains invisible characters marked for double quotes."""
    from ruamel.yaml.scalarstring import DoubleQuotedScalarString

    if isinstance(value, dict):
        return {_mark_for_quotes(key): _mark_for_quotes(child) for key, child in value.items()}
    if isinstance(value, list):
        return [_mark_for_quotes(child) for child in value]
    if isinstance(value, str) and not all(
        character == "\n" or is_visible_character(character) for character in value
    ):
        return DoubleQuotedScalarString(value)
    return value


def _merge_values(old: Any, new: Any) -> Any:
    """Change an old ruamel.yaml value into the new value, and return it.

    The objects of the old value are kept where possible, because they hold comments and anchors.
    """
    if isinstance(old, dict) and isinstance(new, dict):
        for key in [key for key in old if key not in new]:
            del old[key]
        for key, child in new.items():
            old[key] = _merge_values(old[key], child) if key in old else child
        return old
    if isinstance(old, list) and isinstance(new, list):
        _merge_lists(old, new)
        return old
    return old if type(new) is not bool and old == new and not isinstance(old, bool) else new


def _merge_lists(old: Any, new: list[Any]) -> None:
    """Change an old ruamel.yaml list into the new list; equal items stay, and changed items are merged."""
    before, after = [comparison_text(child) for child in old], [comparison_text(child) for child in new]
    for tag, i1, i2, j1, j2 in reversed(SequenceMatcher(None, before, after, autojunk=False).get_opcodes()):
        if tag == "equal":
            continue
        shared = min(i2 - i1, j2 - j1)
        for index in range(i2 - 1, i1 + shared - 1, -1):
            del old[index]
        for index in range(shared):
            old[i1 + index] = _merge_values(old[i1 + index], new[j1 + index])
        for index in range(shared, j2 - j1):
            old.insert(i1 + index, new[j1 + index])


def comparison_text(value: Any) -> str:
    """Return a value as text for comparisons in which true differs from 1."""
    return json.dumps(value, sort_keys=True, default=str)
