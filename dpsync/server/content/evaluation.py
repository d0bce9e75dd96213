"""Evaluate the expressions and references of a document for a reader.

An expression is the name of a variable, `space.vars.NAME` or `page.vars.NAME`. Any other expression depends
on the visitor, and the companion has none.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from .documents import Json
from .editing import page_document
from .rich_text import node_data, node_ref, text_nodes

_VARIABLE = re.compile(r"\s*(space|page)\.vars\.([\w-]+)\s*")


def evaluate_expressions(
    document: Json, variables: Mapping[str, Mapping[str, str]], *, clear_unknown: bool
) -> Json:
    """Return the document with the values of variables instead of expressions.

    `variables` has the variables of `space` and of `page`. `clear_unknown`: an expression that is not a known
    variable becomes empty; if false, it stays.
    """

    def expand_expression(node: Json) -> list[Json] | None:
        if node.get("type") != "expression":
            return None
        named = _VARIABLE.fullmatch(str(node_data(node).get("expression", "")))
        found = variables[named[1]].get(named[2]) if named else None
        if found is None:
            return text_nodes("") if clear_unknown else None
        return text_nodes(found)

    return _replace_nodes(document, expand_expression)


def inline_reusable_contents(document: Json, contents: Iterable[Json]) -> Json:
    """Return the document with reusable contents in place of references to them.

    A reference stays if its content is missing or contains itself.
    """
    kept = {content["id"]: content for content in contents}

    def make_replacer(passed: frozenset[str]) -> Callable[[Json], list[Json] | None]:
        def expand_reusable_content(node: Json) -> list[Json] | None:
            if node.get("type") != "reusable-content":
                return None
            id = str(node_ref(node).get("reusableContent", ""))
            if id in passed or id not in kept:
                return None
            inside: list[Json] = _replace_nodes(page_document(kept[id]), make_replacer(passed | {id}))[
                "nodes"
            ]
            return inside

        return expand_reusable_content

    return _replace_nodes(document, make_replacer(frozenset()))


def resolve_references(document: Json, find_url: Callable[[Json], str | None]) -> Json:
    """Return the document with URLs in place of content references. A reference without a URL stays."""

    def resolve(node: Any) -> Any:
        if isinstance(node, list):
            return [resolve(child) for child in node]
        if not isinstance(node, dict):
            return node
        made = {name: resolve(value) for name, value in node.items()}
        data = made.get("data")
        if isinstance(data, dict):
            for name in ("ref", "refDark"):
                url = find_url(data[name]) if isinstance(data.get(name), dict) else None
                if url is not None:
                    data[name] = {"kind": "url", "url": url}
        return made

    found: Json = resolve(document)
    return found


def _replace_nodes(node: Json, instead: Callable[[Json], list[Json] | None]) -> Json:
    """Return a copy of a node in which descendants are replaced by what `instead` returns, unless None."""
    made = dict(node)
    for part in ("nodes", "fragments"):
        if isinstance(made.get(part), list):
            made[part] = [new for child in made[part] for new in _replace_child(child, instead)]
    return made


def _replace_child(child: Any, instead: Callable[[Json], list[Json] | None]) -> list[Any]:
    if not isinstance(child, dict):
        return [child]
    new = instead(child)
    return [_replace_nodes(child, instead)] if new is None else new
