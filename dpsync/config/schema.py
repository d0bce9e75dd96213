"""Generate the JSON Schema (draft-07) and the editor snippets of configuration files.

`configuration_schema` derives the schema from the kinds. It accepts a little more than the loader, which also
checks what needs more than one entry (references, natural keys). `describe` adds a description, a docs page
and an example to each property: editors show them, validators ignore them. `snippet` is an entry of a kind
with its required fields and a place to type each value.
"""

from __future__ import annotations

from copy import deepcopy
from itertools import count
from typing import Any, Final

from dpsync.config.compose import SINGLE_ORGANIZATION_KEY
from dpsync.config.csv_rows import FILE_KEY as ROWS_WORD
from dpsync.config.csv_rows import row_format
from dpsync.kinds.examples import FILE_EXAMPLES, key_example, minimal_entry_example, value_example
from dpsync.kinds.field_descriptions import (
    ENTRY_KEYWORD_DESCRIPTIONS,
    ROOT_KEY_DESCRIPTIONS,
    field_description,
    kind_page_url,
    root_key_page_url,
)
from dpsync.kinds.kind import EntryMapping, Field, Kind, SingleEntry, TreeNode
from dpsync.kinds.kind import TreeNode as NodeShape
from dpsync.kinds.profiles import PROFILES
from dpsync.kinds.registry import Registry
from dpsync.kinds.value_descriptions import value_description
from dpsync.kinds.watch_patterns import ACCESS_WORD
from dpsync.model.desired import Limits
from dpsync.model.text import format_command, join_with_and, json_text, plural

Snippet = dict[str, Any]


def snippet(registry: Registry, kind: Kind) -> Snippet:
    """Return an editor snippet that inserts a new entry of a kind: its label, description and body."""
    numbers = count(1)
    body = minimal_entry_example(registry, kind)
    if isinstance(kind.shape, EntryMapping):
        key = _tab_stop(key_example(registry, kind), numbers)
        body = {key: _with_tab_stops(body, numbers)}
    else:
        body = _with_tab_stops(body, numbers)
    description = f"A new {kind.noun}, with all required fields."
    return {"label": f"new {kind.noun}", "description": description, "body": body}


def _with_tab_stops(value: Any, numbers: count[int]) -> Any:
    """Return an example with an editor's tab stop in place of each text, except the value of `type`."""
    if isinstance(value, dict):
        return {
            key: _with_tab_stops(element, numbers) if key != "type" else element
            for key, element in value.items()
        }
    if isinstance(value, list):
        return [_with_tab_stops(element, numbers) for element in value]
    return _tab_stop(value, numbers) if isinstance(value, str) else value


def _tab_stop(text: str, numbers: count[int]) -> str:
    """Return the next tab stop of a snippet, with a text as its default: `${1:docs}`."""
    escaped = text.replace("\\", "\\\\").replace("$", "\\$").replace("}", "\\}")
    return f"${{{next(numbers)}:{escaped}}}"


Schema = dict[str, Any]

_SHORT_FORM_SENTENCES = {
    "env": "The name of the environment variable that contains the secret.",
    "file": "The path of the file that contains the value, relative to this YAML file.",
    "id": "The GitBook id of an object that has no entry in your files.",
}
"""Sentences about the only member of a value in short form."""
_UNCHANGED_SENTENCE: Final = "If you leave this key out, dpsync does not change the value."
_KEYWORD_EXAMPLES: Final = {"id": "id-1", "new": True, "takeover": True, "key": "guides"}
"""The examples of keys that belong to no field."""
_TEXT_EXAMPLES: Final = {"env": "NAME", "file": "text.md", "id": "id-1", "url": "https://acme.example"}
"""The examples of texts, by the name of the key."""
_DEFAULTS: Final[dict[str, Any]] = {
    "policy.limits.deletes": Limits().deletes,
    "policy.limits.percent": Limits().percent,
    "environments.profile": "full",
}


def describe(schema: Schema, registry: Registry) -> Schema:
    """Return a copy of the configuration schema with a description and an example for every property."""
    schema = _deep_copy(schema)
    _describe_file(schema, "")
    for name, definition in schema["definitions"].items():
        kind = registry[name]
        for form in (definition, *definition.get("anyOf", ())):
            if "properties" in form:
                _describe_entry(form, registry, kind)
            elif kind.shorthand_field is not None:
                short = value_example(registry, kind, kind.field(kind.shorthand_field))
                _describe_members(form, kind, kind.shorthand_field, short)
        if not isinstance(kind.shape, EntryMapping):
            definition["defaultSnippets"] = [snippet(registry, kind)]
    root = schema["properties"][registry.root.key]
    root["defaultSnippets"] = [snippet(registry, registry.root)]
    return schema


def _deep_copy(value: Any) -> Any:
    """Return a copy in which no part is shared, so that each property can have its own description."""
    if isinstance(value, dict):
        return {key: _deep_copy(element) for key, element in value.items()}
    return [_deep_copy(element) for element in value] if isinstance(value, list) else value


def _describe_file(part: Schema, path_above: str) -> None:
    """Add descriptions and examples to the keys of the root file that belong to no kind.

    `path_above` is the dotted path of `part` in the file, such as `policy.limits`.
    """
    for name, property_schema in part.get("properties", {}).items():
        path = f"{path_above}.{name}" if path_above else name
        property_schema["examples"] = [FILE_EXAMPLES[path]]
        if path in _DEFAULTS:
            property_schema["default"] = _DEFAULTS[path]
        required = name in part.get("required", ())
        _set_description(
            property_schema,
            ROOT_KEY_DESCRIPTIONS[path],
            root_key_page_url(path),
            path,
            _absence_sentence(property_schema, required),
        )
        for form in (property_schema, *property_schema.get("anyOf", ())):
            _describe_values(form, path)
        _describe_file(property_schema, path)
        value_schema = property_schema.get("additionalProperties")
        for form in (value_schema, *property_schema.get("items", {}).get("anyOf", ())):
            if isinstance(form, dict):
                _describe_file(form, path)


def _describe_entry(form: Schema, registry: Registry, kind: Kind) -> None:
    """Add descriptions and examples to the keys of an entry of a kind. `form` is the entry's schema."""
    fields = {field.name: field for field in kind.fields}
    kinds_by_path, page = registry.kinds_by_list_key(kind.name), kind_page_url(kind.noun)
    for name, part in form["properties"].items():
        required = name in form.get("required", ())
        if (field := fields.get(name)) is not None:  # a field
            part["examples"] = [value_example(registry, kind, field)]
            if field.platform_default is not None:
                part["default"] = field.platform_default
            explain_topic = f"{kind.name}.{name}"
            _set_description(
                part,
                field_description(kind.name, name),
                page,
                explain_topic,
                _absence_sentence(part, required),
            )
            _describe_members(part, kind, name, part["examples"][0])
        elif name in kinds_by_path:  # a list of child entries
            _describe_list(part, registry, kinds_by_path[name], kind)
        elif (inline := kind.inline_words.get(name)) is not None:  # a short form of a field
            part["examples"] = [_example_value(part, name)]
            sentence = field_description(kind.name, f"{inline}.{name}")
            _set_description(part, sentence, page, f"{kind.name}.{inline}", _absence_sentence(part, required))
            _describe_members(part, kind, f"{inline}.{name}", part["examples"][0])
        elif name in ENTRY_KEYWORD_DESCRIPTIONS:  # a keyword such as `previously`
            part["examples"] = [_example_of_word(registry, kind, name)]
            _set_description(
                part, ENTRY_KEYWORD_DESCRIPTIONS[name], page, kind.name, _absence_sentence(part, required)
            )
            _describe_values(part, name)
            _describe_members(part, kind, "", part["examples"][0])
        else:  # a mapping that only contains lists of child entries
            kinds_by_key = {key: kinds_by_path[f"{name}.{key}"] for key in part.get("properties", {})}
            part["examples"] = [{key: {} for key in kinds_by_key}]
            sentence = f"The objects that belong to {kind.noun_with_article}, by object type."
            _set_description(part, sentence, page, kind.name, _absence_sentence(part, required))
            for key, kinds in kinds_by_key.items():
                _describe_list(part["properties"][key], registry, kinds, kind)


def _describe_list(part: Schema, registry: Registry, kinds: tuple[Kind, ...], container: Kind) -> None:
    """Describe a key of an entry that contains child entries, nodes, or a single object."""
    first = kinds[0]
    example = minimal_entry_example(registry, first)
    if isinstance(first.shape, EntryMapping):
        example = {key_example(registry, first): example}
        part["defaultSnippets"] = [snippet(registry, first)]
        for file in part.get("properties", {}).values():  # `file`, the CSV file with more entries
            file["examples"] = [f"{first.key}.csv"]
            page = kind_page_url(first.noun)
            _set_description(
                file, file["description"], page, first.name, _absence_sentence(file, required=False)
            )
    elif isinstance(first.shape, TreeNode):
        example = [example]
    part["examples"] = [example]
    _set_description(
        part,
        _contents_sentence(kinds, container),
        kind_page_url(first.noun),
        first.name,
        _absence_sentence(part, required=False),
    )


def _example_of_word(registry: Registry, kind: Kind, name: str) -> Any:
    """Return an example of a keyword of entries, such as `previously`."""
    if name == "type" and isinstance(kind.shape, TreeNode):
        return kind.shape.yaml_type
    if name == "children" and isinstance(kind.shape, TreeNode):
        return [minimal_entry_example(registry, registry[kind.shape.child_kinds[0]])]
    if name == "previously":
        return "The earlier name"
    return _KEYWORD_EXAMPLES[name]


def _contents_sentence(kinds: tuple[Kind, ...], container: Kind) -> str:
    """Return the sentence about the objects that a key contains, such as "The teams of an organization"."""
    nouns = join_with_and([*dict.fromkeys(plural(kind.noun) for kind in kinds)])
    if kinds[0].is_node:
        return f"The navigation of {container.noun_with_article}, in the order that readers see: {nouns}."
    noun = kinds[0].noun if isinstance(kinds[0].shape, SingleEntry) else nouns
    return f"The {noun}." if container.noun in noun else f"The {noun} of {container.noun_with_article}."


def _describe_members(part: Any, kind: Kind, path: str, example: Any) -> None:
    """Describe the keys of a field's value, at any depth. `path` is the path of `part` below the entry."""
    if not isinstance(part, dict):
        return
    _describe_values(part, f"{kind.name}.{path}")
    properties = part.get("properties", {})
    forms = _SHORT_FORM_SENTENCES if len(properties) == 1 else {}
    for name, inner in properties.items():
        inner_path = f"{path}.{name}" if path else name
        sentence = field_description(kind.name, inner_path) or forms.get(name, "")
        inner_example = example.get(name) if isinstance(example, dict) else None
        if inner_example is None or ("const" in inner and inner_example != inner["const"]):
            inner_example = _example_value(inner, name)
        inner["examples"] = [inner_example]
        explain_topic = f"{kind.name}.{path.partition('.')[0]}" if path else kind.name
        _set_description(
            inner,
            sentence,
            kind_page_url(kind.noun),
            explain_topic,
            _absence_sentence(inner, name in part.get("required", ())),
        )
        _describe_members(inner, kind, inner_path, inner_example)
    items = example[0] if isinstance(example, list) and example else None
    values = next(iter(example.values()), None) if isinstance(example, dict) and not properties else None
    for inner in part.get("anyOf", ()):
        _describe_members(inner, kind, path, example)
    _describe_members(part.get("items"), kind, path, items)
    _describe_members(part.get("additionalProperties"), kind, path, values)
    _describe_members(part.get("propertyNames"), kind, path, None)


def _describe_values(part: Schema, path: str) -> None:
    """Add a sentence for each allowed value of a property, if there are such sentences."""
    if "enum" in part:
        meanings = [value_description(path, word) for word in part["enum"]]
        if any(meanings):
            part["enumDescriptions"] = meanings
    elif "const" in part and (only := value_description(path, part["const"])):
        part["enumDescriptions"] = [only]


def _example_value(part: Schema, name: str) -> Any:
    """Return a value that fits the schema of a property, from its allowed values, type or name."""
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
                return _TEXT_EXAMPLES.get(name, name)
            case "array":
                return [_example_value(form.get("items", {}), name)]
            case "object":
                inner = form.get("properties", {})
                return {key: _example_value(inner[key], key) for key in form.get("required", [*inner][:1])}
    return name


def _absence_sentence(part: Schema, required: bool) -> str:
    """Return the sentence that says what happens if a property is left out."""
    if required:
        return "This key is required."
    if "default" in part:
        return f"{_UNCHANGED_SENTENCE} In a new object, GitBook uses `{json_text(part['default'])}`."
    return _UNCHANGED_SENTENCE


def _set_description(
    part: Schema, sentence: str, page: str, explain_topic: str, absence_sentence: str
) -> None:
    """Set the description of a property, as plain text and as Markdown with links.

    `explain_topic` is the argument of `dpsync explain` about it.
    """
    name = page.rpartition("/")[2].partition(".")[0]
    part["description"] = sentence.replace("`", "")
    part["markdownDescription"] = (
        f"{sentence} {absence_sentence}\n\nMore: {format_command('explain', explain_topic)}, [{name}]({page})"
    )


SCHEMA_ID = "https://www.schemastore.org/dpsync.json"
"""The URL of the schema in the catalog that editors use. dpsync fetches nothing from there."""

_TEXT_SCHEMA: Schema = {"type": "string", "minLength": 1}
_ENVIRONMENT_SCHEMA: Schema = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "url": _TEXT_SCHEMA,
        "token": {
            "type": "object",
            "additionalProperties": False,
            "required": ["env"],
            "properties": {"env": _TEXT_SCHEMA},
        },
        "profile": {"enum": list(PROFILES)},
        "limits": {
            "type": "object",
            "additionalProperties": False,
            "properties": {"rate": {"type": "string", "pattern": "^[1-9][0-9]{0,5}/[smh]$"}},
        },
        "overlay": _TEXT_SCHEMA,
        "organizations": {
            "type": "object",
            "additionalProperties": {
                "type": "object",
                "additionalProperties": False,
                "minProperties": 1,
                "properties": {"id": _TEXT_SCHEMA, "hostname": _TEXT_SCHEMA},
            },
        },
    },
}

_KEY_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9._-]*$"


def configuration_schema(registry: Registry) -> Schema:
    """Return the JSON Schema of the root file (`dpsync.yaml`), with descriptions and examples.

    The schema is also used for included files, which have only some of the keys.
    """
    patterns: Schema = {"type": "array", "items": {"type": "string"}}
    number: Schema = {"type": "integer", "minimum": 0}
    skip_mapping: Schema = {
        "type": "object",
        "additionalProperties": False,
        "required": ["address", "skip"],
        "properties": {"address": {"type": "string"}, "skip": {"const": True}},
    }
    protected: Schema = {"type": "array", "items": {"anyOf": [{"type": "string"}, skip_mapping]}}
    schema: Schema = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "$id": SCHEMA_ID,
        "title": "dpsync configuration",
        "type": "object",
        "additionalProperties": False,
        "anyOf": [{"required": [registry.root.key]}, {"required": [SINGLE_ORGANIZATION_KEY]}],
        "properties": {
            "dpsync": {"const": 1},
            "include": {"type": "array", "items": {"type": "string"}},
            "policy": {
                "type": "object",
                "additionalProperties": False,
                "properties": {
                    "prune": patterns,
                    "protect": protected,
                    "ignore": patterns,
                    "forget": patterns,
                    "watch": {"anyOf": [{"const": ACCESS_WORD}, patterns]},
                    "removed": patterns,
                    "accept": patterns,
                    "limits": {
                        "type": "object",
                        "additionalProperties": False,
                        "properties": {"deletes": number, "percent": number, "exposures": number},
                    },
                },
            },
            "environments": {"type": "object", "additionalProperties": _ENVIRONMENT_SCHEMA},
            SINGLE_ORGANIZATION_KEY: {"type": "string", "pattern": _KEY_PATTERN},
            registry.root.key: _entries_schema(registry, registry.root),
        },
        "definitions": {kind.name: _definition_schema(registry, kind) for kind in sorted_kinds(registry)},
    }
    described = describe(schema, registry)
    # A file with `organization: KEY` has the keys of the organization at its top.
    for name, part in described["definitions"][registry.root.name]["properties"].items():
        described["properties"].setdefault(name, deepcopy(part))
    return described


def sorted_kinds(registry: Registry) -> list[Kind]:
    """Return the kinds of a registry by name."""
    return [registry[name] for name in sorted(registry.kinds)]


def _definition_schema(registry: Registry, kind: Kind) -> Schema:
    """Return the schema of an entry: an object, its short form, or both."""
    object_schema = _object_schema(registry, kind)
    if kind.shorthand_field is None:
        return object_schema
    short_schema = _field_schema(kind.field(kind.shorthand_field))
    if kind.is_always_shorthand:
        return short_schema
    return {"anyOf": [short_schema, object_schema]}


def _object_schema(registry: Registry, kind: Kind) -> Schema:
    """Return the schema of an entry that is written as a mapping."""
    properties: Schema = {} if isinstance(kind.shape, SingleEntry) else {"id": {"type": "string"}}
    if kind.can_be_renamed:
        properties["previously"] = _previously_schema(kind)
    if kind.has_content:
        properties["new"] = {"type": "boolean"}
    if kind.git_sync is not None:
        properties["takeover"] = {"type": "boolean"}
    required: list[str] = []
    if isinstance(kind.shape, NodeShape):
        properties |= {
            "type": {"const": kind.shape.yaml_type},
            "key": {"type": "string", "pattern": _KEY_PATTERN},
        }
        required += ["type", "key"]
        if kind.shape.child_kinds:
            properties["children"] = _nodes_schema(kind.shape.child_kinds, kind.shape.min_children)
            required += ["children"] if kind.shape.min_children else []
    for field in kind.fields:
        if field.is_declarable and not field.is_parent_reference and field.name != kind.key_field:
            properties[field.name] = _field_schema(field)
            required += [field.name] if field.required and field.name != kind.default_key_field else []
    forms: list[Schema] = []
    for word, name in kind.inline_words.items():
        shorts = properties[name]["anyOf"]
        properties[word] = next(short["properties"][word] for short in shorts if word in short["properties"])
        if name in required:
            forms = [{"required": [name]}]
            required.remove(name)
        forms += [{"required": [word]}]
    for list_path, kinds in registry.kinds_by_list_key(kind.name).items():
        _put_property(properties, list_path.split("."), _list_schema(registry, kinds))
    schema: Schema = {"type": "object", "additionalProperties": False, "properties": properties}
    schema |= {"anyOf": forms} if forms else {}
    return schema | ({"required": required} if required else {})


def _previously_schema(kind: Kind) -> Schema:
    """Return the schema of `previously`: a text, the fields of a natural key, or a list of these."""
    fields = {name: kind.field(name).type.schema() for name in kind.natural_key_fields}
    named: Schema = {
        "type": "object", "additionalProperties": False, "properties": fields, "minProperties": 1,
    }  # fmt: skip
    name_schema: Schema = {"anyOf": [{"type": "string", "minLength": 1}, named]}
    return {"anyOf": [*name_schema["anyOf"], {"type": "array", "items": name_schema}]}


def _field_schema(field: Field) -> Schema:
    """Return the schema of a field's value, with null if the field accepts it."""
    schema = field.type.schema()
    return schema if field.null_effect == "refused" or not schema else {"anyOf": [schema, {"type": "null"}]}


def _put_property(properties: Schema, path: list[str], schema: Schema) -> None:
    """Add the schema of a key, given as its path. For a dotted key, add an object inside an object."""
    head, *inner_path = path
    if not inner_path:
        properties[head] = schema
        return
    inner = properties.setdefault(head, {"type": "object", "additionalProperties": False, "properties": {}})
    _put_property(inner["properties"], inner_path, schema)


def _list_schema(registry: Registry, kinds: tuple[Kind, ...]) -> Schema:
    """Return the schema of a key that contains entries, a single entry, or nodes."""
    match kinds[0].shape:
        case EntryMapping():
            return _entries_schema(registry, kinds[0])
        case SingleEntry():
            return {"$ref": f"#/definitions/{kinds[0].name}"}
        case NodeShape():
            return _nodes_schema(tuple(kind.name for kind in kinds), 0)


def _entries_schema(registry: Registry, kind: Kind) -> Schema:
    """Return the schema of a mapping of entries, which may name a CSV file."""
    entry_schema: Schema = {"$ref": f"#/definitions/{kind.name}"}
    schema: Schema = {"type": "object", "additionalProperties": entry_schema}
    if row_format(kind) is not None:
        described = {"description": "A CSV file with more entries, one per line."}
        schema["properties"] = {ROWS_WORD: {**described, "anyOf": [{"type": "string"}, entry_schema]}}
    return schema if registry.has_data_key(kind) else schema | {"propertyNames": {"pattern": _KEY_PATTERN}}


def _nodes_schema(names: tuple[str, ...], least: int) -> Schema:
    """Return the schema of a list of nodes, with its least length."""
    schema: Schema = {
        "type": "array",
        "items": {"anyOf": [{"$ref": f"#/definitions/{name}"} for name in sorted(names)]},
    }
    return schema | ({"minItems": least} if least else {})
