"""From files to Desired: all errors at once, every field with its place, in whatever order it is written."""

from __future__ import annotations

from pathlib import Path

import pytest

from dpsync.api import load
from dpsync.model.address import Address
from dpsync.model.diagnostic import DiagnosticError, Exit
from dpsync.model.values import Ref

from .loading import loaded, marked, organization

MANY = """\
dpsync: 1
policy: { prune: [▸'a*'], ▸purge: [] }
organizations:
  acme:
    id: acme
    ▸titel: Acme
    sso: ▸perhaps
    members: { ▸lin@acme.example: }
    teams:
      writers: { title: ▸'' }
      ▸'no key': { title: X }
    spaces:
      a: { title: Same, collection: ▸nowhere }
      b: { ▸title: Same }
    sites:
      docs:
        title: Docs
        type: ▸enormous
        structure:
          - { type: space, key: en, space: ▸c }
          - { type: section, key: ▸s, title: Sec, children: [{ type: space, key: en, space: a }] }
          - { type: section, key: ▸t, title: Tec }
          - { type: ▸outside-link, key: l }
"""


def test_load_reports_all_errors_at_once(tmp_path: Path) -> None:
    plain, places = marked(MANY)
    found = {
        (f"{item.span.line}:{item.span.column}", item.code)
        for item in loaded(tmp_path, plain)[1]
        if item.span
    }
    assert {place for place, _ in found} == set(places)
    assert {code for _, code in found} == {
        "DP230", "DP201", "DP202", "DP212", "DP203", "DP211", "DP220", "DP223", "DP214", "DP215",
    }  # fmt: skip


def test_load_errors_have_exit_code_and_texts(tmp_path: Path) -> None:
    plain, _ = marked(MANY)
    (tmp_path / "dpsync.yaml").write_text(plain)
    with pytest.raises(DiagnosticError) as found:
        load(tmp_path / "dpsync.yaml", {})
    assert found.value.exit_code is Exit.INVALID
    assert found.value.texts == {"dpsync.yaml": plain}
    assert len(found.value.diagnostics) > 10


def test_duplicate_errors_show_both_places(tmp_path: Path) -> None:
    members = "members: { ada@acme.example: read, ADA@acme.example: read }"
    body = f"{members}\nteams: {{ a: {{ title: T }}, b: {{ title: T }} }}"
    _, diagnostics = loaded(tmp_path, organization(body))
    assert {item.code: [str(span) for _, span in item.related] for item in diagnostics} == {
        "DP213": ["dpsync.yaml:5:16"],
        "DP223": ["dpsync.yaml:6:19"],
    }


def test_finding_contains_entry_address(tmp_path: Path) -> None:
    _, (wrong,) = loaded(tmp_path, organization("teams: { w: { title: '' } }"))
    assert wrong.address == "acme/teams/w"


def test_error_in_included_file_is_located_there(tmp_path: Path) -> None:
    root = "dpsync: 1\ninclude: [teams.yaml]\norganizations: { acme: { id: acme } }\n"
    _, (wrong,) = loaded(
        tmp_path, root, {"teams.yaml": "organizations:\n  acme:\n    teams: { w: { titel: W, title: W } }\n"}
    )
    assert (wrong.code, str(wrong.span)) == ("DP201", "teams.yaml:3:19")


def test_loaded_fields_keep_their_positions(tmp_path: Path) -> None:
    body = """
        title: Acme
        members: { ada@acme.example: admin }
        spaces:
          en: { title: English, collection: { id: c } }
    """
    desired, _ = loaded(tmp_path, organization(body))
    places = {
        f"{address}#{name}": str(span).removeprefix("dpsync.yaml:")
        for address, resource in desired.entries.items()
        for name, span in resource.spans.items()
    }
    assert places == {
        "acme#id": "4:9",
        "acme#title": "5:5",
        "acme/members/ada@acme.example#email": "6:16",
        "acme/members/ada@acme.example#role": "6:34",
        "acme/spaces/en#title": "8:13",
        "acme/spaces/en#collection": "8:29",
    }


def test_variables_are_substituted_before_validation(tmp_path: Path) -> None:
    desired, diagnostics = loaded(
        tmp_path,
        "dpsync: 1\norganizations: { acme: { id: '${ORG}', title: '${T:-Acme}' } }\n",
        env={"ORG": "x1"},
    )
    assert diagnostics == []
    resource = desired.entries[Address.root("acme")]
    assert (resource.pin, resource.fields["title"]) == ("x1", "Acme")


def test_key_and_file_order_do_not_change_configuration(tmp_path: Path) -> None:
    one, _ = loaded(
        tmp_path / "one",
        organization(
            "teams: { a: { title: Aaa, members: { ada@acme.example: owner } }, b: { title: Bbb } }\n"
            "spaces: { x: { title: Exx, collection: c } }\ncollections: { c: { title: Cee } }"
        ),
    )
    two, _ = loaded(
        tmp_path / "two",
        "include: [b.yaml, a.yaml]\n"
        "organizations: { acme: { collections: { c: { title: Cee } } } }\ndpsync: 1\n",
        {
            "a.yaml": "organizations: { acme: { spaces: { x: { collection: c, title: Exx } }, id: acme } }",
            "b.yaml": "organizations: { acme: { teams:"
            " { b: { title: Bbb }, a: { members: { ada@acme.example: owner }, title: Aaa } } } }",
        },
    )
    for field in ("kind", "key", "parent", "holder", "fields", "pin", "children"):
        assert {address: getattr(item, field) for address, item in one.entries.items()} == {
            address: getattr(item, field) for address, item in two.entries.items()
        }
    assert set(one.scopes) == set(two.scopes)
    assert set(one.lookups) == set(two.lookups)


def test_navigation_nodes_reference_parent_and_children(tmp_path: Path) -> None:
    body = """
        spaces: { en: { title: English } }
        sites:
          docs:
            title: Docs
            structure:
              - type: section-group
                key: g
                title: Group
                children:
                  - type: section
                    key: s
                    title: Sec
                    children: [{ type: space, key: e, space: en }]
    """
    desired, diagnostics = loaded(tmp_path, organization(body))
    assert diagnostics == []
    base = Address.parse("acme/sites/docs/structure")
    section, place = desired.entries[base.child("s")], desired.entries[base.child("s", "e")]
    assert section.fields["group"] == Ref(base.child("g"))
    assert place.fields["section"] == Ref(base.child("s"))
    assert desired.entries[Address.parse("acme/sites/docs")].children == (base.child("g"),)
    assert desired.entries[base.child("g")].children == (base.child("s"),)


def test_numeric_key_is_read_as_text(tmp_path: Path) -> None:
    body = """
        spaces: { 2024: { title: Old } }
        sites:
          docs:
            title: Docs
            structure: [{ type: space, key: 1.0, space: "2024" }]
    """
    desired, diagnostics = loaded(tmp_path, organization(body))
    assert diagnostics == []
    assert Address.parse("acme/sites/docs/structure/1.0") in desired.entries
