"""One mistake is one finding: what only follows from it is not told."""

from __future__ import annotations

from pathlib import Path

import pytest

from dpsync.config.layers import Layers
from dpsync.config.load import load
from dpsync.model.diagnostic import MAX_RELATED, RELATED_LABEL
from dpsync.render.diagnostics import render_diagnostics

from .loading import REGISTRY, expect, loaded, organization, site

ROOT = """\
dpsync: 1
include: [spaces.yaml, people.yaml]
policy: { protect: [acme/spaces/guides] }
organizations:
  acme:
    collections: { c: { title: C, order: [guides] } }
    teams:
      writers: { title: Writers, members: { ada@acme.example: owner } }
      empty: {}
    saml: {}
    sites:
      docs:
        title: Docs
        structure:
          - { type: section, key: a, title: Aaa, children: [{ type: space, key: x, space: guides }] }
          - { type: section, key: b, title: Bbb }
"""
PEOPLE = "organizations: { acme: { members: { ada@acme.example: admin } } }\n"
SPACES = "organizations: { acme: { id: acme, spaces: { guides: { title: Guides, collection: c } } } }\n"


@pytest.mark.parametrize(
    ("files", "code"),
    [
        ({"spaces.yaml": SPACES + "  bad\n"}, "DP101"),
        ({"spaces.yaml": SPACES.replace("}\n", "\n")}, "DP101"),
        ({"spaces.yaml": "\xff"}, None),
        ({"spaces.yaml": ""}, "DP129"),
        ({"spaces.yaml": "- a\n"}, "DP118"),
        ({"spaces.yaml": "<<: x\n" + SPACES}, "DP112"),
        ({"spaces.yaml": None}, "DP124"),
        ({"spaces.yaml": SPACES.replace("spaces:", "<<:")}, "DP112"),
        ({"people.yaml": "organizations: { acme: { members: [ } }\n"}, "DP101"),
    ],
)
def test_unparsable_included_file_causes_only_one_error(
    tmp_path: Path, files: dict[str, str | None], code: str | None
) -> None:
    all_files = {"spaces.yaml": SPACES, "people.yaml": PEOPLE, **files}
    kept = {name: text for name, text in all_files.items() if text is not None}
    found = loaded(tmp_path, ROOT, kept)[1]
    assert len({item.code for item in found}) == 1, found
    if code is not None:
        assert [item.code for item in found] == [code]


def test_missing_organizations_error_is_suppressed_by_unparsable_include(tmp_path: Path) -> None:
    found = loaded(tmp_path, "dpsync: 1\ninclude: [a.yaml]\n", {"a.yaml": "organizations: [\n"})[1]
    assert [item.code for item in found] == ["DP101"]


def test_unreadable_overlay_causes_no_reference_errors(tmp_path: Path) -> None:
    """The entries that others name may be in it."""
    (tmp_path / "dpsync.yaml").write_text(
        "dpsync: 1\norganizations: { acme: { id: acme, saml: { o: { label: O, defaultTeam: writers } } } }\n"
        "environments: { prod: { overlay: ../prod.yaml } }\n"
    )
    layers = Layers.of(tmp_path / "dpsync.yaml", (), "prod")
    found = load(tmp_path / "dpsync.yaml", REGISTRY, {}, layers)[1]
    assert [item.message for item in found] == ['"../prod.yaml" is outside the project']


def test_independent_error_is_reported_together_with_syntax_error(tmp_path: Path) -> None:
    people = PEOPLE.replace("admin", "king")
    found = loaded(tmp_path, ROOT, {"spaces.yaml": "a: [\n", "people.yaml": people})[1]
    assert sorted(item.code for item in found) == ["DP101", "DP202"]


def test_unset_variable_causes_only_one_error(tmp_path: Path) -> None:
    body = """
        id: ▸${ORG}
        title: ▸${TITLE}
        emailDomains: ["▸${DOMAIN}"]
        spaces: { s: { title: S, collection: "▸${WHERE}", editMode: "▸${MODE}" } }
        teams: ▸${TEAMS}
        sites: { d: { title: Docs, structure: "▸${ALL}", published: "▸${SHOWN}" } }
    """
    expect(tmp_path, organization(body).replace("    id: acme\n", ""), "DP131", "not set")


@pytest.mark.parametrize(
    ("body", "code"),
    [
        # A list of entries that is none, under its name or under one like it.
        ("▸teams: []\nsaml: { okta: { defaultTeam: writers } }", "DP202"),
        ("▸team: { w: { title: W } }\nspaces: { s: { title: S, permissions: { teams: { w: edit } } } }",
         "DP201"),
        # An entry that is none.
        ("collections: { ▸a b: { title: C } }\nspaces: { s: { title: S, collection: a b } }", "DP211"),
        ("collections: { c: ▸5 }\nspaces: { s: { title: S, collection: c } }", "DP202"),
        # A value that is none.
        ("collections: { c: { title: C, order: [s] } }\nspaces: { s: { title: Es, collection: ▸5 } }",
         "DP202"),
    ],
)  # fmt: skip
def test_reference_to_invalid_entry_adds_no_error(tmp_path: Path, body: str, code: str) -> None:
    if "saml" in body:
        rest = 'label: O, entityID: "https://o.example/", ssoURL: "https://o.example/", certificate: null, '
        body = body.replace("defaultTeam", rest + "defaultRole: read, defaultTeam")
    expect(tmp_path, organization(body), code)


@pytest.mark.parametrize(
    ("body", "code"),
    [
        # A key that is written otherwise is not missing.
        ("teams: { w: { ▸titel: Www } }", "DP201"),
        ("sites: { d: { title: Docs, structure: [{ type: section, key: x, title: Xxx, ▸childern: [] }] } }",
         "DP201"),
        ("mergeRules: { type: rules, ▸rulse: [] }", "DP201"),
        # What an unknown key holds may be what others name.
        ("▸stuff: { w: { title: Www } }\nspaces: { s: { title: Sss, permissions: { teams: { w: edit } } } }",
         "DP201"),
    ],
)  # fmt: skip
def test_misspelt_required_field_is_reported_once(tmp_path: Path, body: str, code: str) -> None:
    expect(tmp_path, organization(body), code)


@pytest.mark.parametrize("text", ["organisations: { acme: { id: acme } }", "stuff: { acme: { id: acme } }"])
def test_unknown_top_level_key_hides_missing_organizations_error(tmp_path: Path, text: str) -> None:
    assert [one.code for one in loaded(tmp_path, f"dpsync: 1\n{text}\n")[1]] == ["DP127"]


def test_misspelt_organization_id_is_reported_once(tmp_path: Path) -> None:
    expect(tmp_path, "dpsync: 1\norganizations: { acme: { ▸idd: acme, title: Acme } }\n", "DP201")


SEVERAL = {
    "a reference": (
        "spaces:\n" + "".join(f"  s{n}: {{ title: Space {n}, collection: none }}\n" for n in range(9)),
        "DP220", 9,
    ),
    "a variable": (
        "spaces:\n" + "".join(f"  s{n}: {{ title: 'Space ${{X}} {n}' }}\n" for n in range(3)), "DP131", 3
    ),
    "a file": (
        "translations:\n" + "".join(
            f"  t{n}: {{ source: {{ space: {{ id: x{n} }}, language: en }}, language: fr, "
            "instructions: { file: none.md } }\n" for n in range(3)
        ), "DP122", 3,
    ),
    "a title": ("teams:\n" + "".join(f"  t{n}: {{ title: Same }}\n" for n in range(4)), "DP223", 3),
    "a pin": ("teams:\n" + "".join(f"  t{n}: {{ id: x, title: T{n} }}\n" for n in range(4)), "DP224", 3),
}  # fmt: skip


@pytest.mark.parametrize(("body", "code", "places"), SEVERAL.values(), ids=SEVERAL)
def test_same_error_in_many_places_is_grouped(tmp_path: Path, body: str, code: str, places: int) -> None:
    [found] = loaded(tmp_path, organization(body))[1]
    also = [span for label, span in found.related if label == RELATED_LABEL]
    assert found.code == code
    assert len(also) == min(places - 1, MAX_RELATED)
    assert 1 + len(also) + found.unlisted_related_count == places
    assert ("and at 4 more places" in render_diagnostics([found], {})) is (places == 9)


def test_same_message_for_different_objects_is_not_grouped(tmp_path: Path) -> None:
    """A section that two sites name is missing twice."""
    one = "{ title: Docs, structure: [{ type: space, key: a, space: s, path: p }, "
    one += "{ type: space, key: b, space: s, path: p }] }"
    body = f"spaces: {{ s: {{ title: Sss }} }}\nsites:\n  a: {one}\n  b: {one.replace('Docs', 'More')}"
    assert [item.code for item in loaded(tmp_path, organization(body))[1]] == ["DP225", "DP225"]


def test_unset_variable_in_several_files_is_one_finding(tmp_path: Path) -> None:
    text = "organizations: {{ acme: {{ teams: {{ {0}: {{ title: 'T ${{X}} {0}' }} }} }} }}\n"
    files = {f"{name}.yaml": text.format(name) for name in "ab"}
    root = "dpsync: 1\ninclude: [a.yaml, b.yaml]\norganizations: { acme: { id: acme } }\n"
    [found] = loaded(tmp_path, root, files)[1]
    assert {found.span and found.span.file, *(span.file for _, span in found.related)} == {*files}


@pytest.mark.parametrize(
    ("body", "hint"),
    [
        ("defaultRole: admi", 'did you mean "admin"?'),
        ("spaces: { s: { title: Sss, defaultLevel: inherrit } }", 'did you mean "inherit"?'),
        ("mergeRules: { type: rule }", 'did you mean "rules"?'),
        ("inviteLinks: yes", "write true"),
        ("inviteLinks: 'False'", "write false"),
        ("inviteLinks: maybe", None),
        ("teams:\n  w:\n    title:Www", 'write a space after the ":"'),
    ],
)
def test_misspelt_value_gets_a_suggestion(tmp_path: Path, body: str, hint: str | None) -> None:
    [found] = loaded(tmp_path, organization(body))[1]
    assert (found.code, found.hint) == ("DP202", hint)


def test_invalid_organization_id_is_reported_once(tmp_path: Path) -> None:
    expect(tmp_path, "dpsync: 1\norganizations:\n  acme:\n    id: ▸5\n", "DP202")


def test_invalid_nested_navigation_node_is_reported_once(tmp_path: Path) -> None:
    structure = """
        - { type: section, key: a, title: Aaa, children: [{ type: ▸page, key: x, space: en }] }
    """
    text = site(structure) + "    defaultContent: { type: site, site: docs }\n"
    expect(tmp_path, text, "DP202")


def test_findings_are_limited_to_fifty(tmp_path: Path) -> None:
    text = organization("\n".join(f"unknown{number}: 1" for number in range(10_000)))
    (tmp_path / "dpsync.yaml").write_text(text, encoding="utf-8")
    found = load(tmp_path / "dpsync.yaml", REGISTRY, {})[1]
    assert (len(found), found.omitted_counts) == (50, {"DP201": 9_950})
