"""An editor says of each word of a configuration what it means, where to read more, and shows one."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from dpsync.config.schema import SCHEMA_ID, configuration_schema, snippet
from dpsync.importing.layout import editor_settings
from dpsync.kinds.kind import EntryMapping, Kind
from dpsync.kinds.registry import build_registry as load_registry
from dpsync.kinds.value_descriptions import VALUE_DESCRIPTIONS
from dpsync.model.urls import DOCS_URL
from dpsync.render.explanations import explainable_words

ROOT = Path(__file__).parents[2]
REGISTRY = load_registry().with_all_kinds
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
SCHEMA = configuration_schema(REGISTRY)
MORE = re.compile(
    rf"\n\nMore: `dpsync explain ([\w.]+)`, \[[\w-]+\]\({re.escape(DOCS_URL)}/([\w/-]+\.md)(?:#([\w-]+))?\)$"
)
DATA = ("examples", "default", "defaultSnippets", "enum")


def parts(value: Any, path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every schema in a schema, with where it is."""
    if isinstance(value, list):
        for number, item in enumerate(value):
            yield from parts(item, f"{path}/{number}")
    elif isinstance(value, dict):
        yield path, value
        for name, item in value.items():
            if name not in DATA:
                yield from parts(item, f"{path}/{name}")


def anchors(page: str) -> set[str]:
    """Return the headings of a page that a link can lead to."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    return {re.sub(r"[^a-z0-9 -]", "", title.lower()).replace(" ", "-") for title in HEADING.findall(text)}


PROPERTIES = [
    (f"{path}/{name}", item)
    for path, part in parts(SCHEMA)
    if path.endswith("/properties")
    for name, item in part.items()
]


def test_every_schema_property_has_description_and_absence_note() -> None:
    assert len(PROPERTIES) > 450
    assert [path for path, item in PROPERTIES if not item.get("description", "").endswith(".")] == []
    said = re.compile(r"This key is required\.|If you leave this key out, dpsync does not change the value\.")
    assert [path for path, item in PROPERTIES if not said.search(item["markdownDescription"])] == []


def test_schema_property_links_to_documentation_and_explain() -> None:
    found = {match.groups() for _, item in PROPERTIES if (match := MORE.search(item["markdownDescription"]))}
    assert [path for path, item in PROPERTIES if not MORE.search(item["markdownDescription"])] == []
    known = {page: anchors(page) for _, page, _ in found}
    assert [one for one in found if one[2] is not None and one[2] not in known[one[1]]] == []
    assert {word for word, _, _ in found} <= set(explainable_words(REGISTRY))


def test_schema_property_examples_are_valid() -> None:
    definitions = {"definitions": SCHEMA["definitions"]}
    wrong = []
    for path, item in PROPERTIES:
        check = jsonschema.Draft7Validator({**item, **definitions})
        wrong += [(path, one) for one in item["examples"] if not check.is_valid(one)]
    assert wrong == []


def test_every_enum_value_has_description() -> None:
    """But for words that are no choice: the version of the format and what is of one type anyway."""
    words = [
        (path, item)
        for path, item in parts(SCHEMA)
        if ("enum" in item or "const" in item) and not path.endswith("/properties")
    ]
    wanted = [(path, len(item.get("enum", [None])), item.get("enumDescriptions", [])) for path, item in words]
    assert len(wanted) > 50
    assert [path for path, number, said in wanted if len(said) != number or not all(said)] == []


def test_enum_descriptions_are_short_and_used() -> None:
    said = [text for table in VALUE_DESCRIPTIONS.values() for text in table.values()]
    assert [text for text in said if not text.endswith(".") or len(text.split()) > 20] == []
    used = {text for _, item in parts(SCHEMA) for text in item.get("enumDescriptions", ())}
    assert set(said) - used == set()


@pytest.mark.parametrize("kind", REGISTRY.in_dependency_order, ids=lambda kind: str(kind.name))
def test_every_kind_has_valid_editor_snippet(kind: Kind) -> None:
    found = [one for _, item in parts(SCHEMA) for one in item.get("defaultSnippets", ())]
    made = snippet(REGISTRY, kind)
    assert made in found
    definition = {"$ref": f"#/definitions/{kind.name}", "definitions": SCHEMA["definitions"]}
    body = json.loads(re.sub(r"\$\{\d+:([^}]*)\}", r"\1", json.dumps(made["body"])))
    for entry in body.values() if isinstance(kind.shape, EntryMapping) else [body]:
        jsonschema.Draft7Validator(definition).validate(entry)


def test_schemastore_entry_matches_schema() -> None:
    """As its own schema says: a name, a description and an https address; each pattern once."""
    entry = json.loads((ROOT / "schemas" / "schemastore.json").read_text(encoding="utf-8"))
    assert set(entry) == {"name", "description", "fileMatch", "url"}
    assert entry["url"] == SCHEMA_ID == SCHEMA["$id"]
    assert entry["url"].startswith("https://")
    assert len(set(entry["fileMatch"])) == len(entry["fileMatch"]) == 2
    named = json.loads(editor_settings())["yaml.schemas"]
    assert {name for names in named.values() for name in names} <= set(entry["fileMatch"])
