"""Evaluate the expressions and references of a document for a reader.

An expression is the name of a variable, `space.vars.NAME` or `page.vars.NAME`. Any other expression depends
on the visitor, and the companion has none.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from .documents import Json
from .editing import document_of
from .rich_text import data_of, ref_of, texts

_VARIABLE = re.compile(r"\s*(space|page)\.vars\.([\w-]+)\s*")


def evaluated(document: Json, variables: Mapping[str, Mapping[str, str]], *, others: bool) -> Json:
    """Return the document with the values of variables instead of expressions.

    `variables` has the variables of `space` and of `page`. `others`: an expression that is not a known
    variable becomes empty; if false, it stays.
    """

    def value(node: Json) -> list[Json] | None:
        if node.get("type") != "expression":
            return None
        named = _VARIABLE.fullmatch(str(data_of(node).get("expression", "")))
        found = variables[named[1]].get(named[2]) if named else None
        if found is None:
            return texts("") if others else None
        return texts(found)

    return _replaced(document, value)


def with_reusable_contents(document: Json, contents: Iterable[Json]) -> Json:
    """Return the document with reusable contents in place of references to them.

    A reference stays if its content is missing or contains itself.
    """
    kept = {content["id"]: content for content in contents}

    def replacing(passed: frozenset[str]) -> Callable[[Json], list[Json] | None]:
        def blocks(node: Json) -> list[Json] | None:
            if node.get("type") != "reusable-content":
                return None
            id = str(ref_of(node).get("reusableContent", ""))
            if id in passed or id not in kept:
                return None
            inside: list[Json] = _replaced(document_of(kept[id]), replacing(passed | {id}))["nodes"]
            return inside

        return blocks

    return _replaced(document, replacing(frozenset()))


def with_addresses(document: Json, address: Callable[[Json], str | None]) -> Json:
    """Return the document with URLs in place of content references. A reference without a URL stays."""

    def follow(node: Any) -> Any:
        if isinstance(node, list):
            return [follow(child) for child in node]
        if not isinstance(node, dict):
            return node
        made = {name: follow(value) for name, value in node.items()}
        data = made.get("data")
        if isinstance(data, dict):
            for name in ("ref", "refDark"):
                url = address(data[name]) if isinstance(data.get(name), dict) else None
                if url is not None:
                    data[name] = {"kind": "url", "url": url}
        return made

    found: Json = follow(document)
    return found


def _replaced(node: Json, instead: Callable[[Json], list[Json] | None]) -> Json:
    """Return a copy of a node in which descendants are replaced by what `instead` returns, unless None."""
    made = dict(node)
    for part in ("nodes", "fragments"):
        if isinstance(made.get(part), list):
            made[part] = [new for child in made[part] for new in _instead(child, instead)]
    return made


def _instead(child: Any, instead: Callable[[Json], list[Json] | None]) -> list[Any]:
    if not isinstance(child, dict):
        return [child]
    new = instead(child)
    return [_replaced(child, instead)] if new is None else new
