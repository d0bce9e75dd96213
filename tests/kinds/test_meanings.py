"""Every kind and every field has sentences and an example, and the examples are valid files."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from dpsync.api import load
from dpsync.config.schema import configuration_schema
from dpsync.kinds.examples import entry_example, field_example, file_example
from dpsync.kinds.field_descriptions import (
    ENTRY_KEYWORD_DESCRIPTIONS,
    FIELD_DESCRIPTIONS,
    KIND_DESCRIPTIONS,
    KIND_NOTES,
    ROOT_KEY_DESCRIPTIONS,
    field_description,
)
from dpsync.kinds.kind import Field, Kind
from dpsync.kinds.registry import build_registry as load_registry
from dpsync.kinds.types import List, Object, OneOf, Table, Type
from dpsync.model.diagnostic import DiagnosticError
from dpsync.render.explanations import example_text

REGISTRY = load_registry().with_all_kinds
FIELDS = [
    (kind, field)
    for kind in REGISTRY.in_dependency_order
    for field in kind.fields
    if not field.is_parent_reference
]
SCHEMA = configuration_schema(REGISTRY)


def members(type_: Type, path: str) -> Iterator[str]:
    """Yield the paths of a value's named members."""
    match type_:
        case Object(parts=parts):
            for name, part in parts.items():
                yield f"{path}.{name}"
                yield from members(part, f"{path}.{name}")
        case OneOf(tag=tag, forms=forms):
            yield f"{path}.{tag}"
            yield from (f"{path}.{word}" for word in getattr(type_, "short_words", ()))
            for form in forms.values():
                yield from members(form, path)
        case List(item_type=inner) | Table(value_type=inner):
            yield from members(inner, path)


def ids(value: Any) -> str:
    return str(value.name)


@pytest.mark.parametrize("kind", REGISTRY.in_dependency_order, ids=ids)
def test_every_kind_field_has_documented_meaning(kind: Kind) -> None:
    wanted = {field.name for field in kind.fields if not field.is_parent_reference}
    inside = {path for field in kind.fields for path in members(field.type, field.name)}
    assert set(FIELD_DESCRIPTIONS[kind.name]) == wanted | inside


def test_documented_meanings_refer_only_to_existing_kinds() -> None:
    assert set(FIELD_DESCRIPTIONS) == set(REGISTRY.kinds) == set(KIND_DESCRIPTIONS)
    assert set(KIND_NOTES) <= set(REGISTRY.kinds)


def test_meanings_are_short_sentences_with_full_stop() -> None:
    said = [text for table in FIELD_DESCRIPTIONS.values() for text in table.values()]
    said += [
        *ENTRY_KEYWORD_DESCRIPTIONS.values(),
        *ROOT_KEY_DESCRIPTIONS.values(),
        *KIND_DESCRIPTIONS.values(),
    ]
    said += [text for notes in KIND_NOTES.values() for text in notes]
    sentences = [one for text in said for one in text.removesuffix(".").split(". ")]
    assert [text for text in said if not text.endswith(".")] == []
    assert [one for one in sentences if len(one.split()) > 22] == []


@pytest.mark.parametrize("key", sorted(ROOT_KEY_DESCRIPTIONS))
def test_root_key_example_contains_its_key(key: str) -> None:
    text = example_text(file_example(key))
    assert text.startswith("dpsync: 1\n")
    assert f"{key.rpartition('.')[2]}:" in text


def test_meaning_of_unknown_kind_is_empty() -> None:
    assert field_description("nothing", "title") == ""


def properties(schema: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every property of a schema, at any depth."""
    if isinstance(schema, list):
        for item in schema:
            yield from properties(item, path)
    if isinstance(schema, dict):
        for name, item in schema.get("properties", {}).items():
            yield f"{path}/{name}", item
        for name, item in schema.items():
            if name not in ("examples", "default"):
                yield from properties(item, f"{path}/{name}")


def test_schema_describes_every_property() -> None:
    found = list(properties(SCHEMA))
    assert len(found) > 300
    assert [path for path, item in found if not item.get("description")] == []


def test_field_type_schemas_contain_no_descriptions() -> None:
    assert configuration_schema(REGISTRY) == SCHEMA
    assert not any("description" in field.type.schema() for _, field in FIELDS)


ROOT_FILE = "dpsync: 1\ninclude: [example.yaml]\norganization: acme\nid: acme\n"


def findings(text: str, folder: Any) -> set[str]:
    """Return the problem codes of a root file, or of a file that a root file includes."""
    root = text if text.startswith("dpsync: 1\n") else ROOT_FILE
    (folder / "example.yaml").write_text(text, encoding="utf-8")
    (folder / "dpsync.yaml").write_text(root, encoding="utf-8")
    try:
        load(folder / "dpsync.yaml")
    except DiagnosticError as wrong:
        return {one.code for one in wrong.diagnostics if not is_undeclared(one)}
    return set()


def is_undeclared(one: Any) -> bool:
    return "cannot read" in one.message or "your files contain no" in one.message


@pytest.mark.parametrize("kind", REGISTRY.in_dependency_order, ids=ids)
def test_kind_example_is_valid_configuration(kind: Kind, tmp_path: Any) -> None:
    assert findings(example_text(entry_example(REGISTRY, kind)), tmp_path) == set()


@pytest.mark.parametrize(
    ("kind", "field"),
    [(kind, field) for kind, field in FIELDS if field.is_declarable],
    ids=[f"{kind.name}.{field.name}" for kind, field in FIELDS if field.is_declarable],
)
def test_field_example_is_valid_configuration(kind: Kind, field: Field, tmp_path: Any) -> None:
    if field.name != kind.key_field:
        assert findings(example_text(field_example(REGISTRY, kind, field)), tmp_path) == set()
