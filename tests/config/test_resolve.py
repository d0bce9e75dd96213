"""Every field by its type, every reference by what is declared, and what only two entries can do wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dpsync.model.address import Address
from dpsync.model.values import LiveId, Ref, to_plain

from .loading import expect, loaded, marked, organization, site

MEMBERS = "members: { ada@acme.example: admin }\n"


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("title: ▸5", 'to make it a text, put it in quotes ("…")'),
        ("title: ▸true", "found the boolean true"),
        ("title: ▸[Acme]", "expected text, found a list"),
        ("title: ▸{ a: b }", "expected text, found a mapping"),
        ("sso: ▸'yes'", 'expected true or false, found the text "yes"'),
        ("sso: ▸1", "found the number 1"),
        ("defaultRole: ▸owner", "expected one of admin, create, review, edit, comment, read, guest"),
        ("members: { ada@acme.example: ▸owner }", "expected one of "),
        ("members: { ada@acme.example: { role: ▸ADMIN } }", 'found the text "ADMIN"'),
        ("members: { ada@acme.example: { role: read, sso: ▸maybe } }", "expected true or false"),
        ("emailDomains: ▸acme.example", "expected a list"),
        ("emailDomains: [▸5]", "expected text"),
        ("sites: { d: { title: Docs, adaptiveContent: ▸true } }", "expected a mapping"),
        ("spaces: { s: { title: Ess, collection: ▸5 } }", "the key of a collection, or {id: …}"),
        ("spaces: { s: { title: Ess, collection: ▸{ id: 5 } } }", "or {id: …}"),
        ("spaces: { s: { title: Ess, collection: ▸{ name: x } } }", "or {id: …}"),
        ("spaces: { s: { title: Ess, language: ▸english } }", "expected one of en, fr"),
        ("mergeRules: ▸{ rules: [] }", "a mapping with type: rules | none"),
        ("mergeRules: { type: ▸inherit }", "expected one of rules, none"),
        (
            "mergeRules: { type: rules, rules: [{ rule: ▸magic }] }",
            "expected one of require_specific_reviewers",
        ),
        ("defaultContent: { type: ▸space }", "expected one of site"),
    ],
)
def test_value_of_wrong_type_is_refused(tmp_path: Path, body: str, words: str) -> None:
    expect(tmp_path, organization(body), "DP202", words)


@pytest.mark.parametrize(
    ("body", "code", "words"),
    [
        ("title: ▸A", "DP203", "1 character, but 2 to 255 characters are allowed"),
        ("teams: { w: { title: ▸'' } }", "DP203", "1 to 64 characters are allowed"),
        (f"teams: {{ w: {{ title: ▸{'x' * 65} }} }}", "DP203", "65 characters"),
        (
            "collections: { c: { title: C, description: ▸" + "x" * 101 + " } }",
            "DP203",
            "at most 100 characters are allowed",
        ),
        ("logo: ▸ftp://acme.example/x.png", "DP204", "http:// or https://"),
        ("members: { ▸nobody: read }", "DP204", "is not an e-mail address"),
        ("sites: { d: { title: Docs, proxy: ▸acme } }", "DP204", "a host and a path (host/docs)"),
        ("hostname: ▸a b c", "DP204", "lower-case letters, digits and hyphens"),
        ("hostname: ▸a/b?c", "DP204", "is not a host name"),
        ("hostname: ▸Acme", "DP204", "is not a host name"),
        ("hostname: ▸acme-", "DP204", "is not a host name"),
        ("emailDomains: [a.example, ▸a.example]", "DP207", "the list already contains"),
        ("teams: { ▸w: {} }", "DP206", '"title" is missing in the team "w"'),
        ("spaces: { ▸s: { emoji: x } }", "DP206", '"title" is missing'),
        ("teams: { w: { title: W, members: { ▸ada@acme.example: {} } } }", "DP206", '"role" is missing'),
        ("sites: { d: { title: Docs, adaptiveContent: ▸{} } }", "DP206", '"enabled" is missing'),
        ("type: ▸business", "DP221", "only GitBook sets this field"),
    ],
)
def test_disallowed_value_is_refused(tmp_path: Path, body: str, code: str, words: str) -> None:
    expect(tmp_path, organization(body), code, words)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a b", '"a b" is "a%20b" in URLs'),
        ("a/b?c#d", '"a/b?c#d" is "a%2Fb%3Fc%23d" in URLs'),
        ("100%", '"100%" is "100%25" in URLs'),
        ("über", '"über" is "%C3%BCber" in URLs'),
        ("..", 'no URL leads to ".."'),
    ],
)
def test_url_unsafe_path_is_a_warning(tmp_path: Path, text: str, shown: str) -> None:
    word = json.dumps(text, ensure_ascii=False)
    section = f"type: section, key: s, title: Ess, path: ▸{word}"
    place = f"type: space, key: a, space: en, path: ▸{word}"
    below = f"structure: [{{ {section}, children: [{{ {place} }}] }}]"
    docs = f"spaces: {{ en: {{ title: EN }} }}\nsites: {{ d: {{ title: Docs, basename: ▸{word}, {below} }} }}"
    expect(tmp_path, organization(docs), "DP237", shown)
    assert {one.severity for one in loaded(tmp_path, marked(organization(docs))[0])[1]} == {"warning"}


@pytest.mark.parametrize("text", ["guides", "v1.2_a-b~c", "2026"])
def test_url_safe_basename_has_no_warning(tmp_path: Path, text: str) -> None:
    assert loaded(tmp_path, organization(f"sites: {{ d: {{ title: Docs, basename: '{text}' }} }}"))[1] == []


@pytest.mark.parametrize(
    "node",
    [
        "{ type: section, key: ▸s, children: [{ type: space, key: a, space: en }] }",
        "{ type: section-group, key: ▸s }",
        "{ type: space, key: ▸s }",
    ],
)
def test_missing_required_navigation_field_is_an_error(tmp_path: Path, node: str) -> None:
    expect(tmp_path, site(f"- {node}"), "DP206", "is missing")


# Null, empty and absent.


@pytest.mark.parametrize(
    "body",
    [
        "title: ▸null",
        "title: ▸~",
        "sso: ▸null",
        "emailDomains: ▸null",
        "defaultRole: ▸null",
        "members: { ada@acme.example: { role: ▸null } }",
        "spaces: { s: { title: Ess, language: ▸null } }",
        "sites: { d: { title: Docs, basename: ▸null } }",
        "sites: { d: { title: Docs, published: ▸null } }",
    ],
)
def test_null_for_unclearable_field_is_refused(tmp_path: Path, body: str) -> None:
    expect(tmp_path, organization(body), "DP222", "to leave the field unchanged, delete the line")


def test_null_for_required_field_hints_to_write_value(tmp_path: Path) -> None:
    expect(tmp_path, organization("teams: { w: { title: ▸null } }"), "DP222", "write a value")


@pytest.mark.parametrize(
    ("body", "address", "field", "value"),
    [
        ("logo: null", "acme", "logo", None),
        ("logo:", "acme", "logo", None),
        ("defaultContent: ~", "acme", "defaultContent", None),
        ("collections: { c: { title: C, description: null } }", "acme/collections/c", "description", None),
        ("collections: { c: { title: C, description: '' } }", "acme/collections/c", "description", None),
        ("spaces: { s: { title: Ess, collection: null } }", "acme/spaces/s", "collection", None),
        ("spaces: { s: { title: Ess, emoji: 'null' } }", "acme/spaces/s", "emoji", "null"),
        ("emailDomains: []", "acme", "emailDomains", []),
        ("defaultRole: guest", "acme", "defaultRole", "guest"),
        ("members: { Ada@Acme.example: read }", "acme/members/ada@acme.example", "email", "ada@acme.example"),
    ],
)
def test_null_clears_field_and_empty_value_is_kept(
    tmp_path: Path, body: str, address: str, field: str, value: Any
) -> None:
    desired, diagnostics = loaded(tmp_path, organization(body))
    assert diagnostics == []
    assert desired.entries[Address.parse(address)].fields[field] == value


def test_omitted_field_is_absent_from_resource(tmp_path: Path) -> None:
    desired, _ = loaded(tmp_path, organization("sites: { d: { title: Docs } }"))
    assert dict(desired.entries[Address.parse("acme/sites/d")].fields) == {"title": "Docs"}


def test_member_shorthand_equals_role_field(tmp_path: Path) -> None:
    short = loaded(tmp_path, organization("members: { ada@acme.example: read }"))[0]
    long = loaded(tmp_path, organization("members: { ada@acme.example: { role: read } }"))[0]
    address = Address.parse("acme/members/ada@acme.example")
    assert short.entries[address].fields == long.entries[address].fields


# References.


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (
            "spaces: { s: { title: Ess, collection: ▸nope } }",
            "For an object without an entry, write { id: … }",
        ),
        (
            "collections: { product: { title: P } }\nspaces: { s: { title: Ess, collection: ▸produkt } }",
            'did you mean "product"?',
        ),
        ("collections: { c: { title: C, parent: ▸d } }", 'your files contain no collection "d"'),
        ("collections: { c: { title: C, order: [▸s] } }", 'your files contain no space "s"'),
        (
            "teams: { w: { title: W } }\nspaces: { s: { title: Ess, collection: ▸w } }",
            'your files contain no collection "w"',
        ),
        ("defaultContent: { type: site, site: ▸docs }", 'your files contain no site "docs"'),
        (
            MEMBERS + "teams: { w: { title: W, members: { ▸lin@acme.example: owner } } }",
            'your files contain no member "lin@',
        ),
        (
            MEMBERS
            + "mergeRules: { type: rules, rules: [{ rule: allow_bypass, users: [▸ida@acme.example] }] }",
            "For an object without an entry, write { id: … }",
        ),
    ],
)
def test_unknown_reference_is_an_error(tmp_path: Path, body: str, words: str) -> None:
    expect(tmp_path, organization(body), "DP220", words)


def test_unknown_space_in_navigation_suggests_key(tmp_path: Path) -> None:
    expect(tmp_path, site("- { type: space, key: en, space: ▸enn }"), "DP220", 'did you mean "en"?')


def test_reference_resolves_to_address_or_raw_id(tmp_path: Path) -> None:
    body = """
        collections: { c: { title: C } }
        spaces: { s: { title: Ess, collection: c }, t: { title: Tee, collection: { id: x } } }
    """
    desired, diagnostics = loaded(tmp_path, organization(body))
    assert diagnostics == []
    assert desired.entries[Address.parse("acme/spaces/s")].fields["collection"] == Ref(
        Address.parse("acme/collections/c")
    )
    assert desired.entries[Address.parse("acme/spaces/t")].fields["collection"] == LiveId("x")


def test_reference_to_undeclared_member_email_becomes_lookup(tmp_path: Path) -> None:
    body = "teams: { w: { title: W, members: { Lin@acme.example: owner } } }"
    desired, diagnostics = loaded(tmp_path, organization(body))
    assert diagnostics == []
    (lookup,) = desired.lookups.values()
    assert (str(lookup.address), lookup.key) == ("acme/members/lin@acme.example", "lin@acme.example")
    assert str(lookup.span) == "dpsync.yaml:5:40"


def test_reference_to_other_organization_key_is_refused(tmp_path: Path) -> None:
    text = (
        "dpsync: 1\norganizations:\n  acme: { id: acme, collections: { c: { title: C } } }\n"
        "  globex: { id: globex, spaces: { s: { title: Ess, collection: ▸c } } }\n"
    )
    expect(tmp_path, text, "DP220", 'your files contain no collection "c"')


# More than one entry.


@pytest.mark.parametrize(
    ("body", "code", "words"),
    [
        ("collections: { a: { title: A, ▸parent: a } }", "DP235", '"a" in "a"'),
        ("collections: { b: { title: B, parent: a }, a: { title: A, ▸parent: b } }", "DP235", '"b" in "a"'),
        (
            "collections: { a: { title: A, id: x, ▸parent: { id: x } } }",
            "DP235",
            "change or delete the parent of one",
        ),
        ("teams: { a: { title: T }, b: { ▸title: T } }", "DP223", 'or add "id" to both'),
        ("spaces: { a: { title: Tee }, b: { ▸title: Tee } }", "DP223", "or show them at different paths"),
        (
            "spaces: { a: { title: Tee }, b: { ▸title: Tee } }\n"
            "sites: { d: { title: Docs, structure: [{ type: space, key: a, space: a, path: a }] } }",
            "DP223",
            "so dpsync cannot tell them apart",
        ),
        (
            "spaces: { a: { title: Tee }, b: { ▸title: Tee } }\n"
            "sites: { d: { title: Docs, structure: [{ type: space, key: a, space: a, path: a }, "
            "{ type: space, key: b, space: b }] } }",
            "DP223",
            "so dpsync cannot tell them apart",
        ),
        (
            "collections: { c: { title: C } }\n"
            "spaces: { a: { title: T, collection: c }, b: { ▸title: T, collection: c } }",
            "DP223",
            "so dpsync cannot tell them apart",
        ),
        ("teams: { a: { title: T, id: x }, b: { title: U, id: ▸x } }", "DP224", 'two teams have the id "x"'),
        (
            "sites: { a: { title: Aaa, basename: x }, b: { title: Bbb, ▸basename: x } }",
            "DP225",
            'two sites have the basename "x"',
        ),
        (
            "spaces: { s: { title: Ess }, t: { title: Tee } }\ncollections: { c: { title: C, ▸order: [s] } }",
            "DP227",
            '"order" of "c" lists "s", but the entry "s" has no collection: c',
        ),
        (
            "collections: { c: { title: C, ▸order: [s] }, d: { title: D } }\n"
            "spaces: { s: { title: Ess, collection: d } }",
            "DP227",
            "add collection: c to the entry, or delete the key from the list",
        ),
        (
            "collections: { c: { title: C, ▸collectionOrder: [d] }, d: { title: D, parent: null } }",
            "DP227",
            "add parent: c to the entry, or delete the key from the list",
        ),
        (
            "collections: { c: { title: C } }\n▸collectionOrder: [c]",
            "DP227",
            "add parent: null to the entry, or delete the key from the list",
        ),
        (
            "collections: { c: { title: C, order: [s, ▸s] } }\nspaces: { s: { title: Ess, collection: c } }",
            "DP207",
            "the list already contains",
        ),
    ],
)
def test_conflicting_entries_are_refused(tmp_path: Path, body: str, code: str, words: str) -> None:
    expect(tmp_path, organization(body), code, words)


@pytest.mark.parametrize(
    "body",
    [
        "teams: { a: { title: T, id: x }, b: { title: T, id: y } }",
        "teams: { a: { title: T, id: x }, b: { title: T } }",
        "collections: { c: { title: C } }\n"
        "spaces: { a: { title: T, collection: c }, b: { title: T, collection: null } }",
        "spaces: { a: { title: T, language: en }, b: { title: T, language: fr } }",
        "sites: { a: { title: Same, basename: x }, b: { title: Same, basename: y } }",
    ],
)
def test_entries_with_distinguishing_fields_are_valid(tmp_path: Path, body: str) -> None:
    assert loaded(tmp_path, organization(body))[1] == []


SECTION = (
    "- {{ type: section, key: {0}, title: Sec {0}, {1},"
    " children: [{{ type: space, key: a, space: en{2} }}] }}\n"
)


@pytest.mark.parametrize(
    ("structure", "code", "words"),
    [
        (
            SECTION.format("s", "path: x", "") + SECTION.format("t", "▸path: x", ""),
            "DP225",
            "two sections have the path",
        ),
        (
            SECTION.format("s", "default: true", "") + SECTION.format("t", "▸default: true", ""),
            "DP226",
            "but only one can",
        ),
        (
            SECTION.format("s", "default: true", "")
            + "- { type: section-group, key: g, title: G, children: [{ type: section, key: t, title: Tee,"
            " ▸default: true, children: [{ type: space, key: a, space: en }] }] }",
            "DP226",
            "two sections have `default: true`",
        ),
        (
            "- { type: space, key: a, space: en, path: x }\n- { type: space, key: b, space: fr, ▸path: x }",
            "DP225",
            "each path must be unique",
        ),
        (
            "- { type: space, key: a, space: en, default: true }\n"
            "- { type: space, key: b, space: fr, ▸default: true }",
            "DP226",
            "two site spaces have `default: true`",
        ),
    ],
)
def test_duplicate_path_or_default_in_structure_is_refused(
    tmp_path: Path, structure: str, code: str, words: str
) -> None:
    expect(tmp_path, site(structure), code, words)


def test_path_and_default_are_unique_per_section(tmp_path: Path) -> None:
    text = site(
        SECTION.format("s", "path: x", ", path: p, default: true")
        + SECTION.format("t", "path: y", ", path: p, default: true")
    )
    assert loaded(tmp_path, text)[1] == []


# Values from files.

SCHEMA = "sites: { d: { title: Docs, adaptiveSchema: { file: ▸schema.json } } }"
GOOD = '{"type": "object", "properties": {"plan": {"type": "string"}}, "additionalProperties": false}'


def test_file_value_path_is_relative_to_containing_file(tmp_path: Path) -> None:
    root = "dpsync: 1\ninclude: [sites/docs.yaml]\norganizations: { acme: { id: acme } }\n"
    part = (
        "organizations: { acme: { sites: { d: { title: Docs, adaptiveSchema: { file: schema.json } } } } }\n"
    )
    desired, diagnostics = loaded(tmp_path, root, {"sites/docs.yaml": part, "sites/schema.json": GOOD})
    assert diagnostics == []
    value = desired.entries[Address.parse("acme/sites/d/adaptiveSchema")].fields["jsonSchema"]
    assert value == {
        "type": "object",
        "properties": {"plan": {"type": "string"}},
        "additionalProperties": False,
    }
    assert desired.texts["sites/schema.json"] == GOOD


@pytest.mark.parametrize(
    ("body", "files", "code", "words"),
    [
        (SCHEMA, {}, "DP122", 'cannot read "schema.json"'),
        (SCHEMA.replace("schema.json", "../schema.json"), {}, "DP125", "is outside the project"),
        (SCHEMA.replace("schema.json", "/etc/passwd"), {}, "DP125", "is outside the project"),
        (SCHEMA.replace(".json", ".txt"), {"schema.txt": "text"}, "DP208", "neither JSON nor YAML"),
        (SCHEMA.replace("schema.json", "5"), {}, "DP202", "the path of a file"),
        (SCHEMA.replace("{ file: ▸", "▸{ file: "), {"schema.json": "[]"}, "DP208", "holds a list, expected"),
        ("sites: { d: { title: Docs, adaptiveSchema: ▸{ type: object } } }", {}, "DP208", "must have"),
        ("sites: { d: { title: Docs, adaptiveSchema: ▸{ type: object, properties: {} } } }", {}, "DP208",
         "additionalProperties: false"),
        ("sites: { d: { title: Docs, adaptiveSchema: "
         "▸{ type: object, additionalProperties: false, properties: { a: { type: nope } } } } }", {},
         "DP208", "not a valid JSON Schema (draft 7): at properties/a/type"),
        ("sites: { d: { title: Docs, adaptiveSchema: ▸text } }", {}, "DP202", "expected a mapping"),
    ],
)  # fmt: skip
def test_invalid_file_value_is_an_error(
    tmp_path: Path, body: str, files: dict[str, str], code: str, words: str
) -> None:
    expect(tmp_path, organization(body), code, words, files)


def test_file_value_symlink_leaving_project_is_refused(tmp_path: Path) -> None:
    outside = tmp_path / "outside.json"
    outside.write_text(GOOD)
    project = tmp_path / "project"
    project.mkdir()
    (project / "schema.json").symlink_to(outside)
    expect(project, organization(SCHEMA), "DP125", "is outside the project")


def test_invalid_json_file_error_is_located_in_file(tmp_path: Path) -> None:
    _, (wrong,) = loaded(tmp_path, organization(SCHEMA.replace("▸", "")), {"schema.json": '{"type": }}'})
    assert wrong.span is not None
    assert (wrong.code, wrong.span.file) == ("DP101", "schema.json")


def test_inline_schema_may_have_property_named_file(tmp_path: Path) -> None:
    schema = "{ type: object, additionalProperties: false, properties: { file: { type: string } } }"
    body = f"sites: {{ d: {{ title: Docs, adaptiveSchema: {schema} }} }}"
    desired, diagnostics = loaded(tmp_path, organization(body))
    assert diagnostics == []
    fields = desired.entries[Address.parse("acme/sites/d/adaptiveSchema")].fields
    assert to_plain(fields["jsonSchema"])["properties"] == {"file": {"type": "string"}}


def test_collection_parent_cycle_is_reported_once(tmp_path: Path) -> None:
    around = {"a": "b", "b": "c", "c": "a", "d": "a", "e": "d"}
    entries = [f"  {key}: {{ title: T{key}, parent: {other} }}" for key, other in around.items()]
    (found,) = loaded(tmp_path, organization("\n".join(["collections:", *entries])))[1]
    assert found.message == 'a collection would be inside itself: "a" in "b" in "c" in "a"'
    assert found.span is not None
    assert [span.line for span in (found.span, *(span for _, span in found.related))] == [6, 7, 8]


def test_long_collection_cycle_message_is_shortened(tmp_path: Path) -> None:
    entries = [f"  c{n}: {{ title: C{n}, parent: c{(n + 1) % 900} }}" for n in range(900)]
    (found,) = loaded(tmp_path, organization("\n".join(["collections:", *entries])))[1]
    assert found.message.endswith('"c7" in "c8" in … (891 more) in "c0"')
    assert len(found.related) == 10


def test_long_collection_parent_chain_is_valid(tmp_path: Path) -> None:
    entries = [f"  c{n}: {{ title: C{n}, parent: c{n + 1} }}" for n in range(3000)]
    text = organization("\n".join(["collections:", *entries, "  c3000: { title: End }"]))
    assert loaded(tmp_path, text)[1] == []


TWO_ORGANIZATIONS = """\
dpsync: 1
organizations:
  acme:
    id: acme
    teams: { editors: { title: Editors } }
    saml: { okta: { label: Okta, defaultTeam: KEY } }
  beta:
    id: beta
    teams: { writers: { title: Writers } }
"""


@pytest.mark.parametrize(
    ("key", "hint"),
    [
        pytest.param("editor", 'did you mean "editors"?', id="near a key of this organization"),
        pytest.param(
            "writers",
            "beta/teams/writers exists, but this field accepts only keys of entries in acme",
            id="a key of another organization",
        ),
        pytest.param(
            "writer", "add the entry, or remove this reference", id="near a key of another organization"
        ),
    ],
)
def test_unresolved_reference_suggests_keys_of_same_organization(tmp_path: Path, key: str, hint: str) -> None:
    found = [
        item for item in loaded(tmp_path, TWO_ORGANIZATIONS.replace("KEY", key))[1] if item.code == "DP220"
    ]
    assert len(found) == 1
    assert (found[0].hint or "").startswith(hint)


def test_variables_in_free_form_mapping_keys_are_replaced(tmp_path: Path) -> None:
    """Without substitution, a share link on the platform would be named `${PARTNER}`."""
    text = organization(
        "teams: { a: { title: A, members: { '${ADA}': owner } } }\n"
        "sites:\n  d:\n    title: Docs\n"
        "    redirects: { '/${VERSION}/a': { destination: { kind: external, url: 'https://a.example' } } }\n"
        "    shareLinks: { '${PARTNER}': { active: true } }\n"
    )
    env = {"ADA": "ada@acme.example", "VERSION": "v2", "PARTNER": "Globex"}
    desired, found = loaded(tmp_path, text, env=env)
    assert found == []
    assert {str(address) for address in desired.entries} >= {
        "acme/teams/a/members/ada@acme.example",
        "acme/sites/d/redirects//v2/a",
        "acme/sites/d/shareLinks/Globex",
    }


@pytest.mark.parametrize(
    ("body", "code"),
    [
        pytest.param("teams: { ▸'${KEY}': { title: A } }", "DP211", id="a local key"),
        pytest.param("teams: { a: { ▸'${FIELD}': A } }", "DP201", id="a field"),
    ],
)
def test_variables_in_schema_defined_keys_are_refused(tmp_path: Path, body: str, code: str) -> None:
    """An address that changes with a variable would mean a different object each time."""
    text, [place] = marked(organization(body))
    found = loaded(tmp_path, text, env={"KEY": "a", "FIELD": "title"})[1]
    assert (found[0].code, f"{found[0].span.line}:{found[0].span.column}") == (code, place)  # type: ignore[union-attr]
