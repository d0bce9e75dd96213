"""What the files say otherwise than those of a base: who is who by the files alone, and every difference."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dpsync.config.edits import edits
from dpsync.config.load import load
from dpsync.model.drift import Edit
from tests.config.loading import REGISTRY, loaded, organization, site

TEAMS = """\
teams:
  writers: { title: Writers, members: { ada@acme.example: owner, lin@acme.example: member } }
  sales: { title: Sales }
"""
TREE = """\
- { type: section, key: a, title: AA, path: a, children: [{ type: space, key: en, space: en, path: en }] }
- { type: section, key: b, title: BB, path: b, children: [{ type: space, key: fr, space: fr, path: fr }] }
- { type: section-group, key: g, title: GG, children: [] }
"""
NESTED = """\
- { type: section, key: b, title: BB, path: b, children: [{ type: space, key: fr, space: fr, path: fr }] }
- type: section-group
  key: g
  title: GG
  children:
    - { type: section, key: a, title: AA, path: a, children: [{ type: space, key: en, space: en, path: en }] }
"""


def edited(directory: Path, before: str, now: str) -> list[Edit]:
    sides = []
    for name, text in (("before", before), ("now", now)):
        (directory / name).mkdir()
        desired, wrong = loaded(directory / name, text)
        assert not [one for one in wrong if one.severity == "error"], wrong
        sides.append(desired)
    return list(edits(REGISTRY, *sides))


def told(found: list[Edit]) -> list[str]:
    """Format each edit: action, addresses, and each field as `name: before > after` (`-`: not declared)."""
    lines = []
    for one in found:
        was = f" was {one.before}" if one.before else ""
        inside = f" with {one.inside}" if one.inside else ""
        fields = [
            f"{item.field}: {'-' if item.declared == 'after' else json.dumps(item.before)} > "
            f"{'-' if item.declared == 'before' else json.dumps(item.after)}"
            for item in one.fields
        ]
        lines.append(f"{one.what} {one.address}{was}{inside} {'; '.join(fields)}".rstrip())
    return lines


def org(body: str, head: str = "") -> str:
    return organization(body, head)


@pytest.mark.parametrize(("before", "now", "expected"), [
    (org(TEAMS), org(TEAMS), []),
    (org("teams: { a: { title: A }, b: { title: B } }"),
     org("teams: { b: { title: B }, a: { title: A } }"), []),
    (org("title: One"), org("title: Two"), ['changed acme title: "One" > "Two"']),
    (org("title: One"), org(""), ['changed acme title: "One" > -']),
    (org(TEAMS), org(TEAMS.replace("owner", "member")),
     ['changed acme/teams/writers/members/ada@acme.example role: "owner" > "member"']),
    # An entry comes with all that it says, and goes with all that is in it.
    (org(TEAMS), org(TEAMS + "  x: { title: X }\n"), ['added acme/teams/x title: - > "X"']),
    (org(TEAMS), org("teams: { sales: { title: Sales } }"), ["removed acme/teams/writers with 2"]),
    # A key is the configuration's own: the same name, or the same pin, is the same thing, with what is in it.
    (org(TEAMS), org(TEAMS.replace("writers:", "authors:")),
     ["renamed acme/teams/authors was acme/teams/writers"]),
    (org(TEAMS), org(TEAMS.replace("writers:", "authors:").replace("owner", "member")),
     ["renamed acme/teams/authors was acme/teams/writers",
      'changed acme/teams/authors/members/ada@acme.example role: "owner" > "member"']),
    (org("teams: { a: { id: t-1, title: A } }"), org("teams: { b: { id: t-1, title: B } }"),
     ['renamed acme/teams/b was acme/teams/a title: "A" > "B"']),
    (org(TEAMS), org(TEAMS.replace("sales: { title: Sales }", "shop: { title: Shop }")),
     ["removed acme/teams/sales", 'added acme/teams/shop title: - > "Shop"']),
    # Two that could be meant: nobody guesses.
    (org("collections: { c: { title: C } }\nspaces: { a: { title: A } }"),
     org("collections: { c: { title: C } }\nspaces: { b: { title: A }, d: { title: A, collection: c } }"),
     ["removed acme/spaces/a", 'added acme/spaces/b title: - > "A"',
      'added acme/spaces/d title: - > "A"; collection: - > {"dpsync:ref": "acme/collections/c"}']),
    # Who is a person is said by the key.
    (org(TEAMS), org(TEAMS.replace("lin@", "kim@")),
     ["removed acme/teams/writers/members/lin@acme.example",
      'added acme/teams/writers/members/kim@acme.example role: - > "member"']),
    # A reference to what only has another key now is no difference.
    (org("spaces: { en: { title: EN, collection: c } }\ncollections: { c: { title: C, order: [en] } }"),
     org("spaces: { de: { title: EN, collection: c } }\ncollections: { c: { title: C, order: [de] } }"),
     ["renamed acme/spaces/de was acme/spaces/en"]),
    # Trees: order, and what a node is in.
    (site(TREE), site(NESTED), [
        'changed acme/sites/docs/structure/a group: null > {"dpsync:ref": "acme/sites/docs/structure/g"}']),
    (site(TREE), site("\n".join(TREE.splitlines()[i] for i in (1, 0, 2))), [
        'changed acme/sites/docs order: ["acme/sites/docs/structure/a", "acme/sites/docs/structure/b", '
        '"acme/sites/docs/structure/g"] > ["acme/sites/docs/structure/b", "acme/sites/docs/structure/a", '
        '"acme/sites/docs/structure/g"]']),
    # What guards a plan.
    (org(TEAMS, "policy: { protect: [teams/*], limits: { deletes: 1 } }\n"),
     org(TEAMS, "policy: { prune: [teams] }\n"),
     ['changed policy prune: [] > ["teams"]; protect: ["teams/*"] > []; limits.deletes: 1 > 5']),
    # A place that is declared, and empty: where it is pruned, all that is live in it goes.
    (org(TEAMS), org(TEAMS, "policy: { accept: ['saml/*#status'] }\n"),
     ['changed policy accept: [] > ["saml/*#status"]']),
    (org("", "policy: { prune: [teams] }\n"), org("teams: {}", "policy: { prune: [teams] }\n"),
     ["added acme/teams"]),
    (org("teams: {}", "policy: { prune: [teams] }\n"), org("", "policy: { prune: [teams] }\n"),
     ["removed acme/teams"]),
])  # fmt: skip
def test_edits_between_two_configurations_are_listed(
    before: str, now: str, expected: list[str], tmp_path: Path
) -> None:
    assert told(edited(tmp_path, before, now)) == expected


def test_edits_include_line_except_for_removed_entries(tmp_path: Path) -> None:
    before = org("teams:\n  a: { title: A }\n  b: { title: B }")
    now = org("teams:\n  a:\n    title: C\n  c: { title: D }")
    found = [(one.what, one.kind, one.label, one.at and one.at.line) for one in edited(tmp_path, before, now)]
    assert found == [("removed", "team", "B", None), ("changed", "team", "C", 7), ("added", "team", "D", 8)]


def test_edits_of_identical_configurations_are_empty() -> None:
    root = Path(__file__).parents[2] / "examples" / "acme" / "dpsync.yaml"
    desired, _ = load(root, REGISTRY, {})
    assert len(desired.entries) > 50
    assert edits(REGISTRY, desired, desired) == ()


def test_edits_list_same_entries_as_added_and_removed(tmp_path: Path) -> None:
    """From everything to an organization alone, and back."""
    root = Path(__file__).parents[2] / "examples" / "acme" / "dpsync.yaml"
    whole, _ = load(root, REGISTRY, {})
    bare, _ = loaded(tmp_path, "dpsync: 1\norganizations: { acme: { id: acme } }\n")
    added = [one for one in edits(REGISTRY, bare, whole) if one.what == "added" and one.kind != "place"]
    removed = [one for one in edits(REGISTRY, whole, bare) if one.what == "removed" and one.kind != "place"]
    assert len(added) == len(whole.entries) - 1
    assert len(removed) + sum(one.inside for one in removed) == len(added)
    assert {one.address for one in removed} <= {one.address for one in added}
