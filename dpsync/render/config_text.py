"""Print `dpsync config`: YAML with the source of each value in a comment."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dpsync.importing.write_yaml import on_one_line, yaml_scalar
from dpsync.model.text import join_with_and
from dpsync.render.command_documents import item_pointer
from dpsync.render.documents import (
    ConfigDocument,
    ValueOrigin,
)
from dpsync.render.paint import Paint
from dpsync.render.visible import visible


def render_config(document: ConfigDocument, paint: Paint) -> str:
    """Return the configuration as YAML that has the same values when read again."""
    origins = {one.pointer: one for one in document.origins}
    lines = list(_AnnotatedYaml(origins, paint).mapping_lines(document.configuration, "", ""))
    if document.environment is not None:
        lines.insert(0, paint(f"# The environment {visible(document.environment)} is applied.", "dim"))
    return "\n".join(lines)


class _AnnotatedYaml:
    def __init__(self, origins: dict[str, ValueOrigin], paint: Paint) -> None:
        self._origins = origins
        self._paint = paint

    def mapping_lines(self, value: dict[str, Any], pointer: str, indent: str) -> Iterator[str]:
        for key, item in value.items():
            yield from self._entry_lines(
                f"{indent}{yaml_scalar(key, key=True)}:", item, item_pointer(pointer, key), indent
            )

    def _entry_lines(self, lead: str, item: Any, pointer: str, indent: str) -> Iterator[str]:
        if isinstance(item, dict) and item:
            yield lead
            yield from self.mapping_lines(item, pointer, indent + "  ")
        elif isinstance(item, list) and item and not self._fits_on_one_line(item, pointer):
            yield lead
            yield from self._sequence_lines(item, pointer, indent + "  ")
        else:
            yield f"{lead} {on_one_line(item)}{self._source_comment(pointer, item)}"

    def _sequence_lines(self, items: list[Any], pointer: str, indent: str) -> Iterator[str]:
        for index, item in enumerate(items):
            inside = item_pointer(pointer, index)
            if isinstance(item, dict) and item:
                first, *rest = self.mapping_lines(item, inside, indent + "  ")
            elif isinstance(item, list) and item:
                first, *rest = self._sequence_lines(item, inside, indent + "  ")
            else:
                first, rest = f"{indent}  {on_one_line(item)}{self._source_comment(inside, item)}", []
            yield f"{indent}- {first[len(indent) + 2 :]}"
            yield from rest

    def _fits_on_one_line(self, items: list[Any], pointer: str) -> bool:
        """Whether a list is one line: of single values, all in one file and without variables."""
        if any(isinstance(item, dict | list) for item in items):
            return False
        at = [self._origins[item_pointer(pointer, index)] for index in range(len(items))]
        return not any(one.variables for one in at) and len({one.at.file for one in at}) == 1

    def _source_comment(self, pointer: str, item: Any) -> str:
        origin = self._origins[item_pointer(pointer, 0) if isinstance(item, list) and item else pointer]
        words = [f"{visible(origin.at.file)}:{origin.at.line}"]
        names = [f"${{{one.name}}}" for one in origin.variables if one.is_set]
        defaults = [f"${{{one.name}}}" for one in origin.variables if not one.is_set]
        words += [join_with_and(names)] if names else []
        words += [f"the default of {join_with_and(defaults)}"] if defaults else []
        return self._paint(f"  # {', '.join(words)}", "dim")
