"""A composed configuration as the document that `dpsync config` prints."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from dpsync.config.compose import Composition
from dpsync.model.nodes import Mapping as MappingNode
from dpsync.model.nodes import Node, Scalar, plain
from dpsync.model.plan import Origin
from dpsync.render.json.documents import ConfigDocument, UsedVariable, ValueOrigin

_READ_ALREADY: Final = ("include", "environments")
"""The keys whose work is done: what they name is in the tree."""
_VARIABLE: Final = re.compile(r"(?<!\$)(?:\$\$)*\$\{([A-Za-z_][A-Za-z0-9_]*)")


def config_document(composed: Composition, env: Mapping[str, str]) -> ConfigDocument:
    """The document. `env` says which variables are set."""
    entries = tuple(entry for entry in composed.root.entries if entry[0].text not in _READ_ALREADY)
    root = MappingNode(entries, composed.root.span)
    configuration = plain(root)
    assert isinstance(configuration, dict)
    return ConfigDocument(
        environment=composed.environment.name if composed.environment else None,
        files=tuple(sorted(composed.texts)),
        configuration=configuration,
        origins=tuple(_origins(root, "", env)),
    )


def part_of(pointer: str, key: str | int) -> str:
    """The pointer to a part of a value."""
    return f"{pointer}/{str(key).replace('~', '~0').replace('/', '~1')}"


def _origins(node: Node, pointer: str, env: Mapping[str, str]) -> Iterator[ValueOrigin]:
    parts: list[tuple[str | int, Node]] = []
    if isinstance(node, MappingNode):
        parts = [(key.text, item) for key, item in node.entries]
    elif not isinstance(node, Scalar):
        parts = list(enumerate(node.items))
    if not parts:
        at = Origin(file=node.span.file, line=node.span.line, column=node.span.column)
        yield ValueOrigin(pointer=pointer, at=at, variables=tuple(_variables(node, env)))
    for key, item in parts:
        yield from _origins(item, part_of(pointer, key), env)


def _variables(node: Node, env: Mapping[str, str]) -> Iterator[UsedVariable]:
    if isinstance(node, Scalar) and node.interpolated:
        for name in dict.fromkeys(_VARIABLE.findall(node.text)):
            yield UsedVariable(name=name, is_set=bool(env.get(name)))
