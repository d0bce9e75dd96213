"""An example as the text of a file: one line for what is small, a line each for the rest."""

from __future__ import annotations

from typing import Any

from dpsync.importing.yaml_text.emit import BlockMapping, document, scalar


def example_text(value: dict[str, Any]) -> str:
    """A whole file with the values of an example (`dpsync.kinds.examples`)."""
    (first, version), *rest = value.items()
    return document(_block(dict(rest)), f"{first}: {scalar(version)}")


def _block(value: Any) -> Any:
    """The same, where each mapping that holds another one is never put on one line."""
    if isinstance(value, list):
        return [_block(item) for item in value]
    if not isinstance(value, dict):
        return value
    parts = {key: _block(item) for key, item in value.items()}
    holds = any(isinstance(item, dict) or _of_mappings(item) for item in parts.values())
    return BlockMapping(parts) if holds else parts


def _of_mappings(value: Any) -> bool:
    return isinstance(value, list) and any(isinstance(item, dict) for item in value)
