"""Puts the words of the declarations into a JSON Schema: what each property means, with an example.

Editors show them while somebody types. They decide nothing: a validator reads none of them.
"""

from __future__ import annotations

from typing import Any

from dpsync.kinds.examples import value_example
from dpsync.kinds.kind import Kind, Single
from dpsync.kinds.meanings import EVERY_ENTRY, OF_THE_FILE, meaning
from dpsync.kinds.registry import Registry
from dpsync.model.texts.words import plural

Schema = dict[str, Any]

_FORMS = {
    "env": "The variable of the environment that holds the secret.",
    "file": "The file that holds the value, relative to the file of this line.",
    "id": "The platform's id of something that is not managed here.",
}
"""The member of a value that stands for another one."""


def describe(schema: Schema, registry: Registry) -> Schema:
    """A copy of the schema of a configuration, with a description for every property that has words."""
    schema = _unshared(schema)
    _describe_file(schema["properties"], "")
    for name, definition in schema["definitions"].items():
        kind = registry[name]
        for form in (definition, *definition.get("anyOf", ())):
            if "properties" in form:
                _describe_entry(form["properties"], registry, kind)
            else:
                _describe_members(form, kind, kind.shorthand or "")
    return schema


def _unshared(value: Any) -> Any:
    """A copy in which no part is in two places: each place has words of its own."""
    if isinstance(value, dict):
        return {key: _unshared(item) for key, item in value.items()}
    return [_unshared(item) for item in value] if isinstance(value, list) else value


def _describe_file(properties: Schema, above: str) -> None:
    for name, part in properties.items():
        path = f"{above}.{name}" if above else name
        _say(part, OF_THE_FILE.get(path, ""))
        _describe_file(part.get("properties", {}), path)
        inner = part.get("additionalProperties")
        if isinstance(inner, dict):
            _describe_file(inner.get("properties", {}), path)


def _describe_entry(properties: Schema, registry: Registry, kind: Kind) -> None:
    fields = {field.name: field for field in kind.fields}
    places = registry.places(kind.name)
    for name, part in properties.items():
        if (field := fields.get(name)) is not None:
            _say(part, meaning(kind.name, name))
            part["examples"] = [value_example(registry, kind, field)]
            if field.platform_default is not None:
                part["default"] = field.platform_default
            _describe_members(part, kind, name)
        elif name in places:
            _say(part, _held(places[name], kind))
        elif name in EVERY_ENTRY:
            _say(part, EVERY_ENTRY[name])
            _describe_members(part, kind, "")
        else:
            _say(part, f"What belongs to {kind.one}, by its kind.")
            for key, inner in part.get("properties", {}).items():
                _say(inner, _held(places[f"{name}.{key}"], kind))


def _held(kinds: tuple[Kind, ...], holder: Kind) -> str:
    nouns = " and ".join(dict.fromkeys(plural(kind.noun) for kind in kinds))
    if kinds[0].in_tree:
        return f"The navigation of {holder.one}, in order: {nouns}."
    return f"The {kinds[0].noun if isinstance(kinds[0].shape, Single) else nouns} of {holder.one}."


def _describe_members(part: Any, kind: Kind, path: str) -> None:
    """The members of a value, at any depth; `path` is where it is below its entry."""
    if not isinstance(part, dict):
        return
    properties = part.get("properties", {})
    forms = _FORMS if len(properties) == 1 else {}
    for name, inner in properties.items():
        inside = f"{path}.{name}" if path else name
        _say(inner, meaning(kind.name, inside) or forms.get(name, ""))
        _describe_members(inner, kind, inside)
    for inner in (*part.get("anyOf", ()), part.get("items"), part.get("additionalProperties")):
        _describe_members(inner, kind, path)


def _say(part: Schema, sentence: str) -> None:
    if sentence:
        part["description"] = sentence
