"""Puts the words of the declarations into a JSON Schema: what each property means, its page, an example.

Editors show them while somebody types. They decide nothing: a validator reads none of them.
"""

from __future__ import annotations

from typing import Any, Final

from dpsync.config.declaring.snippets import snippet
from dpsync.kinds.examples import bare_example, key_example, value_example
from dpsync.kinds.kind import Entries, Kind, Node, Single
from dpsync.kinds.meanings import EVERY_ENTRY, OF_THE_FILE, PAGES, meaning, page_of_kind
from dpsync.kinds.registry import Registry
from dpsync.kinds.value_meanings import value_meaning
from dpsync.model.entries.desired import Limits
from dpsync.model.texts.command import command
from dpsync.model.texts.json_text import json_text
from dpsync.model.texts.words import plural

Schema = dict[str, Any]

_FORMS = {
    "env": "The variable of the environment that holds the secret.",
    "file": "The file that holds the value, relative to the file of this line.",
    "id": "The platform's id of something that is not managed here.",
}
"""The member of a value that stands for another one."""
_OF_EVERY_ENTRY: Final = {"id": "id-1", "new": True, "takeover": True, "key": "guides"}
"""Examples of the keys that belong to no field."""
_TEXTS: Final = {"env": "NAME", "file": "text.md", "id": "id-1", "url": "https://acme.example"}
"""Examples of texts, by the name of the member."""
_IN_FILE: Final[dict[str, Any]] = {
    "dpsync": 1,
    "include": ["teams.yaml", "sites/*.yaml"],
    "policy": {"prune": ["teams"]},
    "policy.prune": ["teams", "sites/*/structure"],
    "policy.protect": ["sites/*"],
    "policy.protect.address": "sites/*",
    "policy.protect.skip": True,
    "policy.ignore": ["spaces/*#emoji"],
    "policy.forget": ["acme/teams/writers"],
    "policy.watch": "access",
    "policy.removed": ["acme/spaces/old-guides"],
    "policy.accept": ["acme/saml/okta#status"],
    "policy.limits": {"deletes": 5},
    "policy.limits.deletes": 5,
    "policy.limits.percent": 20,
    "policy.limits.exposures": 0,
    "environments": {"production": {"url": "https://api.acme.example", "token": {"env": "DPSYNC_TOKEN"}}},
    "environments.url": "https://api.acme.example",
    "environments.token": {"env": "DPSYNC_TOKEN"},
    "environments.token.env": "DPSYNC_TOKEN",
    "environments.limits": {"rate": "5/s"},
    "environments.limits.rate": "5/s",
    "environments.profile": "published",
    "environments.overlay": "production.yaml",
    "environments.organizations": {"acme": {"id": "acme-production"}},
    "environments.organizations.id": "acme-production",
    "environments.organizations.hostname": "acme",
    "organization": "acme",
    "organizations": {"acme": {"id": "acme", "title": "Acme"}},
}
_DEFAULTS: Final[dict[str, Any]] = {
    "policy.limits.deletes": Limits().deletes,
    "policy.limits.percent": Limits().percent,
    "environments.profile": "full",
}


def describe(schema: Schema, registry: Registry) -> Schema:
    """A copy of the schema of a configuration, with words, a page and an example for every property."""
    schema = _unshared(schema)
    _describe_file(schema, "")
    for name, definition in schema["definitions"].items():
        kind = registry[name]
        for form in (definition, *definition.get("anyOf", ())):
            if "properties" in form:
                _describe_entry(form, registry, kind)
            elif kind.shorthand is not None:
                short = value_example(registry, kind, kind.field(kind.shorthand))
                _describe_members(form, kind, kind.shorthand, short)
        if not isinstance(kind.shape, Entries):
            definition["defaultSnippets"] = [snippet(registry, kind)]
    root = schema["properties"][registry.root.key]
    root["defaultSnippets"] = [snippet(registry, registry.root)]
    return schema


def _unshared(value: Any) -> Any:
    """A copy in which no part is in two places: each place has words of its own."""
    if isinstance(value, dict):
        return {key: _unshared(item) for key, item in value.items()}
    return [_unshared(item) for item in value] if isinstance(value, list) else value


def _describe_file(part: Schema, above: str) -> None:
    """The keys of the root file that belong to no kind."""
    for name, inner in part.get("properties", {}).items():
        path = f"{above}.{name}" if above else name
        page = PAGES.get(path) or PAGES[path.partition(".")[0]]
        inner["examples"] = [_IN_FILE[path]]
        if path in _DEFAULTS:
            inner["default"] = _DEFAULTS[path]
        _say(inner, OF_THE_FILE[path], page, path, _left_out(inner, name in part.get("required", ())))
        for form in (inner, *inner.get("anyOf", ())):
            _describe_values(form, path)
        _describe_file(inner, path)
        below = inner.get("additionalProperties")
        for form in (below, *inner.get("items", {}).get("anyOf", ())):
            if isinstance(form, dict):
                _describe_file(form, path)


def _describe_entry(form: Schema, registry: Registry, kind: Kind) -> None:
    fields = {field.name: field for field in kind.fields}
    places, page = registry.places(kind.name), page_of_kind(kind.noun)
    for name, part in form["properties"].items():
        needed = name in form.get("required", ())
        if (field := fields.get(name)) is not None:
            part["examples"] = [value_example(registry, kind, field)]
            if field.platform_default is not None:
                part["default"] = field.platform_default
            word = f"{kind.name}.{name}"
            _say(part, meaning(kind.name, name), page, word, _left_out(part, needed))
            _describe_members(part, kind, name, part["examples"][0])
        elif name in places:
            _describe_place(part, registry, places[name], kind)
        elif (inline := kind.inline_words.get(name)) is not None:
            part["examples"] = [_any_value(part, name)]
            said = meaning(kind.name, f"{inline}.{name}")
            _say(part, said, page, f"{kind.name}.{inline}", _left_out(part, needed))
            _describe_members(part, kind, f"{inline}.{name}", part["examples"][0])
        elif name in EVERY_ENTRY:
            part["examples"] = [_example_of_word(registry, kind, name)]
            _say(part, EVERY_ENTRY[name], page, kind.name, _left_out(part, needed))
            _describe_values(part, name)
            _describe_members(part, kind, "", part["examples"][0])
        else:
            inner_places = {key: places[f"{name}.{key}"] for key in part.get("properties", {})}
            part["examples"] = [{key: {} for key in inner_places}]
            _say(part, f"What belongs to {kind.one}, by its kind.", page, kind.name, _left_out(part, needed))
            for key, kinds in inner_places.items():
                _describe_place(part["properties"][key], registry, kinds, kind)


def _describe_place(part: Schema, registry: Registry, kinds: tuple[Kind, ...], holder: Kind) -> None:
    """A place of entries, of nodes, or of the only one of its kind."""
    first = kinds[0]
    example = bare_example(registry, first)
    if isinstance(first.shape, Entries):
        example = {key_example(registry, first): example}
        part["defaultSnippets"] = [snippet(registry, first)]
        for file in part.get("properties", {}).values():  # the file of rows
            file["examples"] = [f"{first.key}.csv"]
            page = "docs/configuration.md#many-entries-in-a-file-of-rows"
            _say(file, file["description"], page, first.name, _left_out(file, needed=False))
    elif isinstance(first.shape, Node):
        example = [example]
    part["examples"] = [example]
    _say(part, _held(kinds, holder), page_of_kind(first.noun), first.name, _left_out(part, needed=False))


def _example_of_word(registry: Registry, kind: Kind, name: str) -> Any:
    """An example of a key that an entry has by its shape."""
    if name == "type" and isinstance(kind.shape, Node):
        return kind.shape.type
    if name == "children" and isinstance(kind.shape, Node):
        return [bare_example(registry, registry[kind.shape.holds[0]])]
    if name == "previously":
        return "The earlier name"
    return _OF_EVERY_ENTRY[name]


def _held(kinds: tuple[Kind, ...], holder: Kind) -> str:
    nouns = " and ".join(dict.fromkeys(plural(kind.noun) for kind in kinds))
    if kinds[0].in_tree:
        return f"The navigation of {holder.one}, in order: {nouns}."
    return f"The {kinds[0].noun if isinstance(kinds[0].shape, Single) else nouns} of {holder.one}."


def _describe_members(part: Any, kind: Kind, path: str, example: Any) -> None:
    """The members of a value, at any depth; `path` is where it is below its entry."""
    if not isinstance(part, dict):
        return
    _describe_values(part, f"{kind.name}.{path}")
    properties = part.get("properties", {})
    forms = _FORMS if len(properties) == 1 else {}
    for name, inner in properties.items():
        inside = f"{path}.{name}" if path else name
        said = meaning(kind.name, inside) or forms.get(name, "")
        inner_example = example.get(name) if isinstance(example, dict) else None
        if inner_example is None or ("const" in inner and inner_example != inner["const"]):
            inner_example = _any_value(inner, name)
        inner["examples"] = [inner_example]
        word = f"{kind.name}.{path.partition('.')[0]}" if path else kind.name
        _say(inner, said, page_of_kind(kind.noun), word, _left_out(inner, name in part.get("required", ())))
        _describe_members(inner, kind, inside, inner_example)
    items = example[0] if isinstance(example, list) and example else None
    values = next(iter(example.values()), None) if isinstance(example, dict) and not properties else None
    for inner in part.get("anyOf", ()):
        _describe_members(inner, kind, path, example)
    _describe_members(part.get("items"), kind, path, items)
    _describe_members(part.get("additionalProperties"), kind, path, values)
    _describe_members(part.get("propertyNames"), kind, path, None)


def _describe_values(part: Schema, path: str) -> None:
    """One sentence for each word that may stand here."""
    if "enum" in part:
        said = [value_meaning(path, word) for word in part["enum"]]
        if any(said):
            part["enumDescriptions"] = said
    elif "const" in part and (only := value_meaning(path, part["const"])):
        part["enumDescriptions"] = [only]


def _any_value(part: Schema, name: str) -> Any:
    """A value that a property may have, by its schema alone."""
    for form in (part, *part.get("anyOf", ())):
        if "const" in form:
            return form["const"]
        if "enum" in form:
            return form["enum"][0]
        match form.get("type"):
            case "boolean":
                return True
            case "integer" | "number":
                return form.get("minimum", 1)
            case "string":
                return _TEXTS.get(name, name)
            case "array":
                return [_any_value(form.get("items", {}), name)]
            case "object":
                inner = form.get("properties", {})
                return {key: _any_value(inner[key], key) for key in form.get("required", [*inner][:1])}
    return name


def _left_out(part: Schema, needed: bool) -> str:
    """What holds where the key is not written."""
    if needed:
        return "It must be written."
    if "default" in part:
        return f"Left out, it is left as it is; the platform begins with `{json_text(part['default'])}`."
    return "Left out, it is left as it is."


def _say(part: Schema, sentence: str, page: str, word: str, left_out: str) -> None:
    part["description"] = sentence
    part["markdownDescription"] = f"{sentence} {left_out}\n\nMore: {command('explain', word)}, {page}"
