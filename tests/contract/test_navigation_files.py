"""Every navigation file that the vendor's schema allows is taken over, and what is exported is such a file.

The files are drawn from the schema itself, with all that its rules in words forbid, too.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from typing import Any

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dpsync.config.yaml_reader import CONTROLS, read
from dpsync.importing.layout import NewConfiguration
from dpsync.importing.navigation import convert_navigation_file
from dpsync.importing.navigation_file import export_navigation
from dpsync.kinds.registry import Registry, build_registry
from dpsync.model.diagnostic import DiagnosticError
from dpsync.model.nodes import Mapping, Node, Scalar, Sequence, Span
from tests.references import resolved
from tests.soak import examples

from . import editions

EDITION = "0.202.0"
pytestmark = pytest.mark.skipif(not editions.is_here(EDITION), reason="the vendor's document is not here")

_LETTERS = st.characters(blacklist_characters="".join(map(chr, range(32))), blacklist_categories=("Cs", "Cn"))
_WORDS = st.sampled_from(
    ["A", "Guides", "guides", "a/b", "..", "${HOME}", "$$", "-", "x: y", "ß", "首页", "no"]
)
FILE = {"$ref": "#/components/schemas/GitSyncSiteConfig"}
"""What a navigation file is in the document."""


@cache
def document() -> dict[str, Any]:
    """Return the vendor's OpenAPI document with all operations and schemas."""
    return editions.document(EDITION)


@cache
def validator() -> jsonschema.Draft202012Validator:
    """Return a validator for navigation files, made from the vendor's document."""
    return jsonschema.Draft202012Validator({**FILE, "components": document()["components"]})


def texts(schema: dict[str, Any]) -> st.SearchStrategy[str]:
    """Texts of a length that the schema allows; what a file of dpsync may hold is not its business."""
    least, most = schema.get("minLength", 0), schema.get("maxLength", 300)
    if schema.get("format") == "uri":
        return st.sampled_from(
            ["https://acme.example/a", "http://a.b", "mailto:a@b.c", "javascript:alert(1)"]
        )
    drawn = st.text(_LETTERS, min_size=least, max_size=min(most, least + 90))
    return st.one_of(_WORDS, drawn).filter(
        lambda text: least <= len(text) <= most and not any(one in _forbidden() for one in text)
    )


@cache
def _forbidden() -> frozenset[str]:
    controls = re.compile(f"[{CONTROLS}]")
    return frozenset(chr(code) for code in range(0x110000) if controls.match(chr(code)))


def valid(schema: dict[str, Any], depth: int = 0) -> st.SearchStrategy[Any]:
    """Values that are valid by a schema."""
    schema = resolved(document(), schema)
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    if "oneOf" in schema:
        forms = [resolved(document(), form) for form in schema["oneOf"]]
        return st.one_of([st.deferred(lambda form=form: valid(form, depth)) for form in forms])
    match schema["type"]:
        case "string":
            return texts(schema)
        case "boolean":
            return st.booleans()
        case "integer":
            return st.integers(0, 3)
        case "null":
            return st.none()
        case "array":
            most = 3 if depth < 3 else 0
            return st.lists(st.deferred(lambda: valid(schema["items"], depth + 1)), max_size=most)
    members = schema.get("properties", {})
    required = schema.get("required", [])
    if not members:
        names = valid(schema.get("propertyNames", {"type": "string"}))
        return st.dictionaries(names, valid(schema["additionalProperties"]), max_size=3)
    return st.fixed_dictionaries(
        {name: valid(members[name], depth) for name in required},
        optional={name: valid(one, depth) for name, one in members.items() if name not in required},
    )


FILES = st.deferred(lambda: valid(FILE))


REGISTRIES = st.sampled_from(["full", "published"]).map(
    lambda profile: build_registry(profile).with_all_kinds
)
"""What may be written is another thing on each platform; what the file may say is not."""


def taken(
    file: dict[str, Any], registry: Registry, directories: pytest.TempPathFactory
) -> tuple[NewConfiguration, str]:
    """Write a navigation file; return its conversion to a configuration, and its text."""
    text = json.dumps(file, ensure_ascii=False, indent=1)
    text = "".join(f"\\u{ord(one):04x}" if one in "\u2028\u2029\ufeff" else one for one in text)
    path = directories.getbasetemp() / "gitbook-docs.yaml"
    path.write_text(text, encoding="utf-8")
    title = file["site"]["title"]
    return convert_navigation_file(path, registry, "acme", None if 2 <= len(title) <= 128 else "Docs"), text


def unsaid(node: Node, known: set[Any], noted: set[Span], covered: bool = False) -> Iterator[Any]:
    """Yield each value of a file that neither the configuration nor a note mentions."""
    covered = covered or node.span in noted
    match node:
        case Scalar(value=value):
            if not covered and value not in known and value not in (None, False, ""):
                yield value
        case Sequence(items=items):
            for item in items:
                yield from unsaid(item, known, noted, covered)
        case Mapping(entries=entries):
            for key, item in entries:
                if key.text not in ("$schema", "version"):
                    yield from unsaid(item, known, noted, covered or key.span in noted)


def values(node: Node) -> Iterator[Any]:
    match node:
        case Scalar(value=value):
            yield value.replace("$$", "$") if isinstance(value, str) else value
        case Sequence(items=items):
            for item in items:
                yield from values(item)
        case Mapping(entries=entries):
            for key, item in entries:
                yield key.text
                yield from values(item)


@settings(max_examples=examples(150, 5000), deadline=None, suppress_health_check=list(HealthCheck))
@given(file=FILES, registry=REGISTRIES)
def test_import_of_navigation_file_gives_valid_configuration(
    file: dict[str, Any], registry: Registry, tmp_path_factory: pytest.TempPathFactory
) -> None:
    made, _ = taken(file, registry, tmp_path_factory)
    assert not made.load(registry)[1].errors


@settings(max_examples=examples(150, 5000), deadline=None, suppress_health_check=list(HealthCheck))
@given(file=FILES, registry=REGISTRIES)
def test_import_of_navigation_file_reports_dropped_values(
    file: dict[str, Any], registry: Registry, tmp_path_factory: pytest.TempPathFactory
) -> None:
    made, text = taken(file, registry, tmp_path_factory)
    noted = {note.span for note in made.left_out if note.span is not None}
    known = {
        value
        for path, content in made.files.items()
        if path.endswith(".yaml") and (node := read(content, path)[0]) is not None
        for value in values(node)
    }
    node, _ = read(text, "gitbook-docs.yaml")
    assert node is not None
    assert list(unsaid(node, known, noted)) == []


@settings(max_examples=examples(150, 5000), deadline=None, suppress_health_check=list(HealthCheck))
@given(file=FILES, registry=REGISTRIES)
def test_exported_navigation_file_reimports_as_same_configuration(
    file: dict[str, Any], registry: Registry, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Unless the configuration does not say what the file needs: that is refused."""
    made, _ = taken(file, registry, tmp_path_factory)
    desired, _ = made.load(registry)
    site = next(str(one.address) for one in desired.entries.values() if one.kind == "site")
    try:
        exported = export_navigation(desired, registry, site)
    except DiagnosticError:
        return
    validator().validate(json.loads(exported.json()))
    path = tmp_path_factory.getbasetemp() / "exported.yaml"
    for text in (exported.yaml(), exported.json()):
        if (
            "\\ud" in text
        ):  # JSON escapes an astral character that hides by two escapes, which YAML does not know
            continue
        path.write_text(text, encoding="utf-8")
        second = convert_navigation_file(path, registry, "acme")
        if not any(note.field == "key" for note in exported.left_out):
            assert second.files == made.files


@settings(max_examples=examples(40, 400), deadline=None, suppress_health_check=list(HealthCheck))
@given(file=FILES)
def test_generated_navigation_files_match_vendor_schema(file: dict[str, Any]) -> None:
    validator().validate(file)
