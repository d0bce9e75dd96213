"""Evaluate the expressions and references of a document for a reader.

An expression is the name of a variable, `space.vars.NAME` or `page.vars.NAME`. Any other expression depends
on the visitor, and the local server has none.
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
        """Return the value of the variable in an expression as nodes, or None to keep the node."""
        if node.get("type") != "expression":
            return None
        match = _VARIABLE.fullmatch(str(node_data(node).get("expression", "")))
        value = variables[match[1]].get(match[2]) if match else None
        if value is None:
            return text_nodes("") if clear_unknown else None
        return text_nodes(value)

    return _replace_nodes(document, expand_expression)


def inline_reusable_contents(document: Json, contents: Iterable[Json]) -> Json:
    """Return the document with reusable contents inserted in place of references to them, at any depth.

    A reference stays if its content is missing, or if it is inside that same content. `make_replacer` gets
    the ids of the contents around a node.
    """
    contents_by_id = {content["id"]: content for content in contents}

    def make_replacer(outer_ids: frozenset[str]) -> Callable[[Json], list[Json] | None]:
        """Return the function that replaces references inside the contents with these ids."""

        def expand_reusable_content(node: Json) -> list[Json] | None:
            """Return the nodes of the content that a node refers to, or None to keep the node."""
            if node.get("type") != "reusable-content":
                return None
            id = str(node_ref(node).get("reusableContent", ""))
            if id in outer_ids or id not in contents_by_id:
                return None
            nodes: list[Json] = _replace_nodes(
                page_document(contents_by_id[id]), make_replacer(outer_ids | {id})
            )["nodes"]
            return nodes

        return expand_reusable_content

    return _replace_nodes(document, make_replacer(frozenset()))


def resolve_references(document: Json, find_url: Callable[[Json], str | None]) -> Json:
    """Return the document with URLs in place of content references. A reference without a URL stays."""

    def resolve(node: Any) -> Any:
        """Return a copy of a node or list with each `ref` and `refDark` replaced by a URL, at any depth."""
        if isinstance(node, list):
            return [resolve(child) for child in node]
        if not isinstance(node, dict):
            return node
        resolved = {name: resolve(value) for name, value in node.items()}
        data = resolved.get("data")
        if isinstance(data, dict):
            for name in ("ref", "refDark"):
                url = find_url(data[name]) if isinstance(data.get(name), dict) else None
                if url is not None:
                    data[name] = {"kind": "url", "url": url}
        return resolved

    result: Json = resolve(document)
    return result


def _replace_nodes(node: Json, replace: Callable[[Json], list[Json] | None]) -> Json:
    """Return a copy of a document node in which `replace` has replaced descendants.

    `replace` gets a descendant and returns the new nodes, or None to keep it and continue with its children.
    """
    copy = dict(node)
    for part in ("nodes", "fragments"):
        if not isinstance(copy.get(part), list):
            continue
        children: list[Any] = []
        for child in copy[part]:
            new_nodes = replace(child) if isinstance(child, dict) else [child]
            children += [_replace_nodes(child, replace)] if new_nodes is None else new_nodes
        copy[part] = children
    return copy
