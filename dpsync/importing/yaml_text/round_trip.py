"""New values in lines of YAML by ruamel.yaml, which keeps their comments, anchors, quotes and order."""

from __future__ import annotations

import io
import json
import re
from difflib import SequenceMatcher
from typing import Any

from dpsync.config.variables import doubled, escaped_key
from dpsync.importing.yaml_text.emit import is_seen, with_escapes


class Foreign(ValueError):
    """The lines use an anchor that stands outside of them."""


def round_trip(snippet: str, value: Any) -> str:
    """The lines of one value with another value in them. Raises Foreign."""
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    yaml = YAML()
    yaml.preserve_quotes = True
    yaml.width = 1_000_000
    dash = re.search(r"^( *)(- +)", snippet, re.MULTILINE)
    offset = _dash_offset(snippet)
    yaml.indent(mapping=_step(snippet), sequence=offset + (len(dash[2]) if dash else 2), offset=offset)
    try:
        data = yaml.load(snippet)
    except YAMLError:
        raise Foreign from None
    merged = _merge(data, _in_quotes(escaped(value)))
    stream = io.StringIO()
    yaml.dump(merged, stream)
    # Hidden characters of a new text are in double quotes, where they can be escaped. Old text stays.
    made = "".join(one if one in snippet or one == "\n" else with_escapes(one) for one in stream.getvalue())
    top = re.match(r" *", made)
    return re.sub(rf"^ {{{len(top[0])}}}", "", made, flags=re.MULTILINE) if top and top[0] else made


def _step(snippet: str) -> int:
    """By how much the lines of a mapping in a mapping are indented."""
    found = re.search(r"^( *)[^\s#-][^\n]*:[ ]*(?:#[^\n]*)?\n( *)[^\s#-]", snippet, re.MULTILINE)
    return max(len(found[2]) - len(found[1]), 2) if found else 2


def _dash_offset(snippet: str) -> int:
    """How far the dashes of a list stand behind the key above it."""
    found = re.search(r"^( *)[^\s#-][^\n]*:[ ]*(?:#[^\n]*)?\n( *)- ", snippet, re.MULTILINE)
    return max(len(found[2]) - len(found[1]), 0) if found else 0


def escaped(value: Any) -> Any:
    """Double each dollar sign that would begin a variable in a configuration."""
    if isinstance(value, dict):
        return {escaped_key(key): escaped(item) for key, item in value.items()}
    if isinstance(value, list):
        return [escaped(item) for item in value]
    return doubled(value) if isinstance(value, str) else value


def _in_quotes(value: Any) -> Any:
    """The same value, in which each text with something hidden is one in double quotes."""
    from ruamel.yaml.scalarstring import DoubleQuotedScalarString

    if isinstance(value, dict):
        return {_in_quotes(key): _in_quotes(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_in_quotes(item) for item in value]
    if isinstance(value, str) and not all(one == "\n" or is_seen(one) for one in value):
        return DoubleQuotedScalarString(value)
    return value


def _merge(old: Any, new: Any) -> Any:
    """The new value, with as much of the old one's objects as possible: comments and anchors hang on them."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in [key for key in old if key not in new]:
            del old[key]
        for key, item in new.items():
            old[key] = _merge(old[key], item) if key in old else item
        return old
    if isinstance(old, list) and isinstance(new, list):
        _merge_lists(old, new)
        return old
    return old if type(new) is not bool and old == new and not isinstance(old, bool) else new


def _merge_lists(old: Any, new: list[Any]) -> None:
    before, after = [compared(item) for item in old], [compared(item) for item in new]
    for tag, i1, i2, j1, j2 in reversed(SequenceMatcher(None, before, after, autojunk=False).get_opcodes()):
        if tag == "equal":
            continue
        shared = min(i2 - i1, j2 - j1)
        for index in range(i2 - 1, i1 + shared - 1, -1):
            del old[index]
        for index in range(shared):
            old[i1 + index] = _merge(old[i1 + index], new[j1 + index])
        for index in range(shared, j2 - j1):
            old.insert(i1 + index, new[j1 + index])


def compared(value: Any) -> str:
    """A value as text, by which two are held against each other: true is not 1."""
    return json.dumps(value, sort_keys=True, default=str)
