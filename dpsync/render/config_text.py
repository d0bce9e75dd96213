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
    """Return the configuration as YAML with the file and line of each value in a comment.

    The YAML has the same values when dpsync reads it again.
    """
    origins = {origin.pointer: origin for origin in document.origins}
    lines = list(_AnnotatedYaml(origins, paint).mapping_lines(document.configuration, "", ""))
    if document.environment is not None:
        lines.insert(0, paint(f"# The environment {visible(document.environment)} is applied.", "dim"))
    return "\n".join(lines)


class _AnnotatedYaml:
    """Print a configuration as YAML. `origins` has the file and line of each value by JSON pointer."""

    def __init__(self, origins: dict[str, ValueOrigin], paint: Paint) -> None:
        self._origins = origins
        self._paint = paint

    def mapping_lines(self, mapping: dict[str, Any], pointer: str, indent: str) -> Iterator[str]:
        """Yield the YAML lines of a mapping. `pointer` is its JSON pointer, such as `/sites/docs`."""
        for key, value in mapping.items():
            start = f"{indent}{yaml_scalar(key, key=True)}:"
            value_pointer = item_pointer(pointer, key)
            if isinstance(value, dict) and value:
                yield start
                yield from self.mapping_lines(value, value_pointer, indent + "  ")
            elif isinstance(value, list) and value and not self._fits_on_one_line(value, value_pointer):
                yield start
                yield from self._sequence_lines(value, value_pointer, indent + "  ")
            else:
                yield f"{start} {on_one_line(value)}{self._source_comment(value_pointer, value)}"

    def _sequence_lines(self, items: list[Any], pointer: str, indent: str) -> Iterator[str]:
        """Yield the YAML lines of a list with one item per line.

        An item is written with a deeper indent; then its first line gets the dash.
        """
        for index, value in enumerate(items):
            element_pointer = item_pointer(pointer, index)
            if isinstance(value, dict) and value:
                first_line, *other_lines = self.mapping_lines(value, element_pointer, indent + "  ")
            elif isinstance(value, list) and value:
                first_line, *other_lines = self._sequence_lines(value, element_pointer, indent + "  ")
            else:
                first_line, other_lines = (
                    f"{indent}  {on_one_line(value)}{self._source_comment(element_pointer, value)}",
                    [],
                )
            yield f"{indent}- {first_line[len(indent) + 2 :]}"
            yield from other_lines

    def _fits_on_one_line(self, items: list[Any], pointer: str) -> bool:
        """Return whether a list is printed on one line.

        This needs single values that are all from one file and have no variables, so that one comment
        suffices.
        """
        if any(isinstance(item, dict | list) for item in items):
            return False
        origins = [self._origins[item_pointer(pointer, index)] for index in range(len(items))]
        return (
            not any(origin.variables for origin in origins)
            and len({origin.at.file for origin in origins}) == 1
        )

    def _source_comment(self, pointer: str, value: Any) -> str:
        """Return the comment after a value: its file and line, and the variables in the value.

        A list on one line has the source of its first item.
        """
        origin = self._origins[item_pointer(pointer, 0) if isinstance(value, list) and value else pointer]
        sources = [f"{visible(origin.at.file)}:{origin.at.line}"]
        names = [f"${{{variable.name}}}" for variable in origin.variables if variable.is_set]
        defaults = [f"${{{variable.name}}}" for variable in origin.variables if not variable.is_set]
        sources += [join_with_and(names)] if names else []
        sources += [f"the default of {join_with_and(defaults)}"] if defaults else []
        return self._paint(f"  # {', '.join(sources)}", "dim")
