"""Print `dpsync config`: YAML with the source of each value in a comment."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dpsync.importing.write_yaml import on_one_line, scalar
from dpsync.model.text import listed
from dpsync.render.command_documents import part_of
from dpsync.render.documents import (
    ConfigDocument,
    ValueOrigin,
)
from dpsync.render.paint import Paint
from dpsync.render.visible import visible


def render_config(document: ConfigDocument, paint: Paint) -> str:
    """Return the configuration as YAML that has the same values when read again."""
    origins = {one.pointer: one for one in document.origins}
    lines = list(_WithPlaces(origins, paint).mapping(document.configuration, "", ""))
    if document.environment is not None:
        lines.insert(0, paint(f"# The environment {visible(document.environment)} is applied.", "dim"))
    return "\n".join(lines)


class _WithPlaces:
    def __init__(self, origins: dict[str, ValueOrigin], paint: Paint) -> None:
        self._origins = origins
        self._paint = paint

    def mapping(self, value: dict[str, Any], pointer: str, indent: str) -> Iterator[str]:
        for key, item in value.items():
            yield from self._entry(f"{indent}{scalar(key, key=True)}:", item, part_of(pointer, key), indent)

    def _entry(self, lead: str, item: Any, pointer: str, indent: str) -> Iterator[str]:
        if isinstance(item, dict) and item:
            yield lead
            yield from self.mapping(item, pointer, indent + "  ")
        elif isinstance(item, list) and item and not self._one_place(item, pointer):
            yield lead
            yield from self._sequence(item, pointer, indent + "  ")
        else:
            yield f"{lead} {on_one_line(item)}{self._comment(pointer, item)}"

    def _sequence(self, items: list[Any], pointer: str, indent: str) -> Iterator[str]:
        for index, item in enumerate(items):
            inside = part_of(pointer, index)
            if isinstance(item, dict) and item:
                first, *rest = self.mapping(item, inside, indent + "  ")
            elif isinstance(item, list) and item:
                first, *rest = self._sequence(item, inside, indent + "  ")
            else:
                first, rest = f"{indent}  {on_one_line(item)}{self._comment(inside, item)}", []
            yield f"{indent}- {first[len(indent) + 2 :]}"
            yield from rest

    def _one_place(self, items: list[Any], pointer: str) -> bool:
        """Whether a list is one line: of single values, all in one file and without variables."""
        if any(isinstance(item, dict | list) for item in items):
            return False
        at = [self._origins[part_of(pointer, index)] for index in range(len(items))]
        return not any(one.variables for one in at) and len({one.at.file for one in at}) == 1

    def _comment(self, pointer: str, item: Any) -> str:
        origin = self._origins[part_of(pointer, 0) if isinstance(item, list) and item else pointer]
        words = [f"{visible(origin.at.file)}:{origin.at.line}"]
        names = [f"${{{one.name}}}" for one in origin.variables if one.is_set]
        defaults = [f"${{{one.name}}}" for one in origin.variables if not one.is_set]
        words += [listed(names)] if names else []
        words += [f"the default of {listed(defaults)}"] if defaults else []
        return self._paint(f"  # {', '.join(words)}", "dim")
