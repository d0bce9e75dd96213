"""Find errors in an OpenAPI document: a list of `{message, code}`, which is empty for a valid document.

The document is JSON or YAML, OpenAPI 3 or Swagger 2. The checks cover the syntax, the version, the title, the
paths, and the targets of local references. Other documents are never fetched.
"""

import re
from collections.abc import Iterator
from itertools import islice
from typing import Any
from urllib.parse import unquote

import yaml
from pydantic_core import from_json

from ..store import Json

_MAX_DEPTH = 200
_MAX_ERRORS = 20
_MAX_VALUES = 1_000_000
"""The maximum number of values in a document after its aliases are expanded."""
_VERSION_PATTERN = re.compile(r"3\.\d+(\.\d+)?(-\S+)?|2\.0")


def find_errors(text: str) -> list[Json]:
    """Return the errors of an OpenAPI document in JSON or YAML, at most twenty."""
    try:
        document = _parse(text)
    except (ValueError, TypeError, yaml.YAMLError, RecursionError) as wrong:
        return [_error("SYNTAX", f"the source is neither JSON nor YAML: {' '.join(str(wrong).split())}")]
    if not isinstance(document, dict):
        return [_error("SYNTAX", "the document is not an object")]
    return list(islice(_document_errors(document), _MAX_ERRORS))


def to_plain_json(text: str) -> Json:
    """Return a valid document as JSON: keys are strings, and YAML aliases are replaced by their targets.

    Raise ValueError if the document contains itself or is too long.
    """
    return dict(_to_plain_json(_parse(text), 0, [_MAX_VALUES]))


def _to_plain_json(value: Any, depth: int, budget: list[int]) -> Any:
    """Return a value as JSON. `budget` has the number of values that may still be written.

    Raise ValueError if the budget is used up.
    """
    budget[0] -= 1
    if depth > _MAX_DEPTH or budget[0] < 0:
        raise ValueError("the document is too long or contains itself")
    if isinstance(value, dict):
        return {str(key): _to_plain_json(child, depth + 1, budget) for key, child in value.items()}
    if isinstance(value, list):
        return [_to_plain_json(child, depth + 1, budget) for child in value]
    return value if value is None or isinstance(value, str | int | float) else str(value)


def is_json(text: str) -> bool:
    """Return whether a text is JSON."""
    try:
        from_json(text)
    except ValueError:
        return False
    return True


def _parse(text: str) -> Any:
    """Return the data of an OpenAPI specification in JSON or YAML.

    Raise ValueError if it is nested too deep, and YAMLError if it is neither JSON nor YAML.
    """
    if text.lstrip().startswith("{"):
        try:
            return from_json(text)
        except ValueError:
            pass
    depth = 0
    # The loader below recurses in C, so that deep nesting would crash the process. Check the depth first.
    for event in yaml.parse(text, Loader=yaml.CSafeLoader):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > _MAX_DEPTH:
            raise ValueError(f"the document is nested more than {_MAX_DEPTH} levels deep")
    return yaml.load(text, Loader=yaml.CSafeLoader)


def _error(code: str, message: str) -> Json:
    """Return an error as the API shows it."""
    return {"code": code, "message": message}


def _document_errors(document: Json) -> Iterator[Json]:
    """Yield the errors of a document: version, title, paths, and references without a target."""
    version = document.get("openapi", document.get("swagger"))
    if not isinstance(version, str) or not _VERSION_PATTERN.fullmatch(version):
        yield _error("VERSION", "`openapi` must be a version 3, or `swagger` must be 2.0")
    info = document.get("info")
    info = info if isinstance(info, dict) else {}
    for field in ("title", "version"):
        if not isinstance(info.get(field), str):
            yield _error("INFO", f"`info.{field}` is not a text")
    paths = document.get("paths")
    if paths is None:
        if not (str(version).startswith("3.1") and {"components", "webhooks"} & document.keys()):
            yield _error("PATHS", "`paths` is missing")
    elif not isinstance(paths, dict):
        yield _error("PATHS", "`paths` is not an object")
    else:
        for path, path_item in paths.items():
            if not str(path).startswith(("/", "x-")):
                yield _error("PATHS", f"the path {str(path)[:100]!r} does not start with a slash")
            elif str(path).startswith("/") and not isinstance(path_item, dict):
                yield _error("PATHS", f"the path {path[:100]!r} is not an object")
    for reference in _references(document):
        if reference.startswith("#") and not _has_target(document, reference):
            yield _error("REFERENCE", f"the reference {reference[:200]!r} has no target")


def _references(document: Json) -> Iterator[str]:
    """Yield each reference once. YAML documents can contain loops, so each value is visited once."""
    unvisited: list[Any] = [document]
    visited, yielded = {id(document)}, set()
    while unvisited:
        value = unvisited.pop()
        if isinstance(value, dict):
            reference = value.get("$ref")
            if isinstance(reference, str) and reference not in yielded:
                yielded.add(reference)
                yield reference
        children = value.values() if isinstance(value, dict) else value
        for child in children:
            if isinstance(child, dict | list) and id(child) not in visited:
                visited.add(id(child))
                unvisited.append(child)


def _has_target(document: Json, reference: str) -> bool:
    """Return whether a local reference such as `#/components/schemas/Pet` leads to a value."""
    value: Any = document
    pointer = unquote(reference[1:])
    if not pointer.startswith("/"):  # the whole document, or an anchor
        return True
    for part in pointer[1:].split("/"):
        name = part.replace("~1", "/").replace("~0", "~")
        # YAML has numbers as keys: the statuses of responses.
        keys: list[Any] = [name, int(name)] if re.fullmatch("[0-9]{1,9}", name) else [name]
        available_keys = (
            value.keys() if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
        )
        matching_keys = [key for key in keys if key in available_keys]
        if not matching_keys:
            return False
        value = value[matching_keys[0]]
    return True
