"""Which entries there are: keys, shapes and addresses. What is wrong is told at its place, with a way out."""

from __future__ import annotations

from pathlib import Path

import pytest

from .loading import expect, loaded, organization, site

UNKNOWN = [
    ("▸titel: Acme", 'did you mean "title"?'),
    ("▸zzz: 1", "allowed keys: "),
    ("teams: { w: { title: W, ▸tilte: X } }", 'did you mean "title"?'),
    ("teams: { w: { title: W, ▸previousely: X } }", 'unknown key "previousely" in a team'),
    ("members: { ada@acme.example: { role: read, ▸roll: x } }", 'did you mean "role"?'),
    ("members: { ada@acme.example: { role: read, ▸email: x } }", 'unknown key "email" in a member'),
    (
        "teams: { w: { title: W, members: { ada@acme.example: { role: owner, ▸user: x } } } }",
        "in a team member",
    ),
    ("collections: { p: { title: P, ▸colour: red } }", 'unknown key "colour" in a collection'),
    ("spaces: { p: { title: P, ▸colection: x } }", 'did you mean "collection"?'),
    ("spaces: { p: { title: P, ▸parent: x } }", 'unknown key "parent" in a space'),
    ("sites: { d: { title: Docs, ▸domain: x } }", 'unknown key "domain" in a site'),
    ("sites: { d: { title: Docs, ▸Title: x } }", 'did you mean "title"?'),
    ("sites: { d: { title: Docs, ▸3: x } }", 'unknown key "3" in a site'),
    ("sites: { d: { title: Docs, ▸null: x } }", 'unknown key "null" in a site'),
    (
        "sites: { d: { title: Docs, adaptiveContent: { enabled: true, ▸enable: 1 } } }",
        'did you mean "enabled"?',
    ),
    ("defaultContent: { type: site, site: { id: x }, ▸page: 1 }", 'unknown key "page"'),
    ("mergeRules: { type: rules, rules: [{ rule: require_agent_review, ▸users: [] }] }", "in this rule"),
]


@pytest.mark.parametrize(("body", "words"), UNKNOWN)
def test_unknown_key_is_reported_at_every_level(tmp_path: Path, body: str, words: str) -> None:
    expect(tmp_path, organization(body), "DP201", words)


@pytest.mark.parametrize(
    ("structure", "words"),
    [
        ("- { type: space, key: en, space: en, ▸pth: en }", 'did you mean "path"?'),
        ("- { type: space, key: en, space: en, ▸title: En }", 'unknown key "title" in a site space'),
        (
            "- { type: section, key: s, title: Sec, ▸url: x,"
            " children: [{ type: space, key: en, space: en }] }",
            "section",
        ),
        ("- { type: section-group, key: g, title: G, ▸path: x }", 'unknown key "path" in a section group'),
        ("- { type: space, key: en, space: en, ▸children: [] }", 'unknown key "children" in a site space'),
        ("- { type: space, key: en, space: en, ▸section: s }", 'unknown key "section" in a site space'),
    ],
)
def test_unknown_key_in_navigation_node_is_reported(tmp_path: Path, structure: str, words: str) -> None:
    expect(tmp_path, site(structure), "DP201", words)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("teams: ▸[]", "teams must be a mapping of entries"),
        (
            "▸teams:",
            "indent the entries two spaces deeper than teams. If there are no entries, delete the key",
        ),
        ("▸teams: writers", "teams must be a mapping of entries"),
        ("teams: { w: ▸Writers }", "a team must be a mapping"),
        ("teams: { w: ▸[a] }", "a team must be a mapping"),
        ("teams: { w: { title: W, id: ▸5 } }", '"id" must be a text with the GitBook id of the object'),
        (
            "teams: { w: { title: W, id: ▸'' } }",
            '"id" must be a text with the GitBook id of the object, found an empty text',
        ),
        (
            "teams: { w: { title: W, id: ▸.. } }",
            '"id" must be a text with the GitBook id of the object, found only dots',
        ),
        (
            "teams: { w: { title: W, id: ▸a/../b } }",
            '"id" must be a text with the GitBook id of the object, found only dots',
        ),
        ("teams: { w: { title: W, id: ▸'{acme/sites/docs}' } }", 'found a text with "{"'),
        (
            "sites: { d: { title: Docs, structure: ▸{} } }",
            "structure must be a list of sections, groups, links or spaces",
        ),
        (
            "sites: { d: { title: Docs, structure: ▸no } }",
            "structure must be a list of sections, groups, links or spaces",
        ),
        (
            "sites: { d: { title: Docs, structure: ▸null } }",
            "structure must be a list of sections, groups, links or spaces",
        ),
        ("id2: 1", ""),
    ][:-1],
)
def test_wrong_yaml_shape_is_an_error(tmp_path: Path, body: str, words: str) -> None:
    expect(
        tmp_path, organization(body.replace("▸[]", "[]").replace("teams: []", "▸teams: []")), "DP202", words
    )


@pytest.mark.parametrize(
    ("structure", "words"),
    [
        ("- ▸just text", "an entry in the navigation must be a mapping"),
        ("- ▸{ key: en, space: en }", "one of "),
        ("- { type: ▸spaces, key: en, space: en }", 'did you mean "space"?'),
        ("- { type: ▸page, key: en }", 'an entry in the navigation has an unknown "type"'),
        ("- { type: ▸[space], key: en }", 'an entry in the navigation has an unknown "type"'),
        (
            "- { type: section-group, key: g, title: G, children: ▸{} }",
            '"children" must be a list of sections, groups, links or spaces',
        ),
    ],
)
def test_invalid_navigation_node_is_an_error(tmp_path: Path, structure: str, words: str) -> None:
    expect(tmp_path, site(structure), "DP202", words)


@pytest.mark.parametrize(
    ("structure", "words"),
    [
        (
            "- { type: section, key: s, title: Sec, children: [{ type: space, key: a, space: en }] }\n"
            "- { type: space, key: ▸b, space: fr }",
            "cannot both be at the top level of a site",
        ),
        (
            "- { type: space, key: a, space: en }\n- { type: section-group, key: ▸b, title: More }",
            "cannot both be at the top level of a site",
        ),
        (
            "- { type: section-group, key: g, title: G, children: [{ type: ▸space, key: a, space: en }] }",
            "a section group can contain: ",
        ),
        (
            "- type: section\n  key: s\n  title: Sec\n  children:\n    - { type: space, key: a, space: en }\n"
            "    - { type: ▸section, key: t, title: Sec }",
            "a section can contain: space",
        ),
    ],
)
def test_misplaced_navigation_node_is_an_error(tmp_path: Path, structure: str, words: str) -> None:
    expect(tmp_path, site(structure), "DP214", words)


@pytest.mark.parametrize(
    "structure",
    [
        "- { type: section, key: ▸s, title: Sec }",
        "- { type: section, key: ▸s, title: Sec, children: [] }",
        "- { type: section-group, key: g, title: G, children: [{ type: section, key: ▸s, title: Sec }] }",
    ],
)
def test_section_without_site_space_is_an_error(tmp_path: Path, structure: str) -> None:
    expect(tmp_path, site(structure), "DP215", "needs at least one site space")


@pytest.mark.parametrize(
    "body",
    [
        "teams: { ▸-x: { title: X } }",
        "teams: { '▸a b': { title: X } }".replace("'▸", "▸'"),
        "teams: { ▸é: { title: X } }",
        "sites: { ▸.a: { title: Docs } }",
        "spaces: { ▸a/b: { title: X } }",
        "spaces: { ▸'': { title: X } }",
    ],
)
def test_invalid_characters_in_local_key_are_refused(tmp_path: Path, body: str) -> None:
    expect(tmp_path, organization(body), "DP211", "letters, digits, dots, underscores and hyphens")


@pytest.mark.parametrize(
    "structure",
    [
        "- { type: ▸space, space: en }",
        "- { type: space, key: ▸'a b', space: en }",
        "- { type: space, key: ▸[a], space: en }",
        "- { type: space, key: ▸null, space: en }",
    ],
)
def test_navigation_node_without_valid_key_is_refused(tmp_path: Path, structure: str) -> None:
    expect(
        tmp_path,
        site(structure),
        "DP211",
        'add "key" with a name of your choice, which dpsync does not send to GitBook',
    )


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("teams: { ▸w: }", 'the team "w" is empty'),
        ("members: { ▸ada@acme.example: }", "or its role"),
        ("members: { ▸ada@acme.example: null }", "write {} for an entry without settings"),
        ("teams: { w: { title: W, members: { ▸ada@acme.example: ~ } } }", "write the role, or delete"),
        ("teams: { ▸w: ~ }", "write { title: … }, or delete the entry"),
        ("sites: { ▸d: ~ }", 'the site "d" is empty'),
        ("sites: { d: { title: Docs, ▸adaptiveSchema: } }", "is empty"),
    ],
)
def test_null_entry_is_an_error(tmp_path: Path, body: str, words: str) -> None:
    expect(tmp_path, organization(body), "DP212", words)


@pytest.mark.parametrize(
    "body",
    [
        "members: { ada@acme.example: read, ▸ADA@acme.example: admin }",
        "teams: { w: { title: W, members: { Ada@acme.example: owner, ▸ada@ACME.example: member } } }",
    ],
)
def test_member_emails_differing_only_in_case_are_refused(tmp_path: Path, body: str) -> None:
    expect(tmp_path, organization(body), "DP213", "upper and lower case make no difference")


@pytest.mark.parametrize(
    "structure",
    [
        "- { type: space, key: a, space: en }\n- { type: space, key: ▸a, space: fr }",
        "- { type: section-group, key: g, title: G, children: [{ type: section-group, key: ▸g, title: H }] }",
        "- { type: section-group, key: s, title: G }\n"
        "- { type: section, key: ▸s, title: Sec, children: [{ type: space, key: a, space: en }] }",
        "- { type: section, key: s, title: Sec, children: [{ type: space, key: a, space: en },"
        " { type: space, key: ▸a, space: fr }] }",
    ],
)
def test_navigation_nodes_with_same_address_are_refused(tmp_path: Path, structure: str) -> None:
    expect(tmp_path, site(structure), "DP213", "declared twice")


def test_site_space_keys_are_unique_within_section_only(tmp_path: Path) -> None:
    text = site(
        "- { type: section, key: s, title: Sec, children: [{ type: space, key: a, space: en }] }\n"
        "- { type: section, key: t, title: Tec, children: [{ type: space, key: a, space: en }] }"
    )
    desired, diagnostics = loaded(tmp_path, text)
    assert diagnostics == []
    addresses = {str(address) for address in desired.entries}
    assert {"acme/sites/docs/structure/s/a", "acme/sites/docs/structure/t/a"} <= addresses


def test_section_address_is_independent_of_its_group(tmp_path: Path) -> None:
    text = site(
        "- type: section-group\n  key: g\n  title: G\n  children:\n"
        "    - type: section-group\n      key: h\n      title: H\n"
        "      children: [{ type: section, key: s, title: Sec,"
        " children: [{ type: space, key: a, space: en }] }]"
    )
    desired, diagnostics = loaded(tmp_path, text)
    assert diagnostics == []
    nodes = {
        str(address): resource for address, resource in desired.entries.items() if "structure" in str(address)
    }
    base = "acme/sites/docs/structure"
    assert list(nodes) == [f"{base}/g", f"{base}/h", f"{base}/s", f"{base}/s/a"]
    assert str(nodes[f"{base}/s"].parent) == "acme/sites/docs"
    assert str(nodes[f"{base}/s"].holder) == f"{base}/h"
    assert str(nodes[f"{base}/s/a"].parent) == f"{base}/s"


@pytest.mark.parametrize("word", ["teams", "sites", "members", "spaces", "collections"])
def test_organization_key_must_not_be_reserved_word(tmp_path: Path, word: str) -> None:
    expect(tmp_path, f"dpsync: 1\norganizations:\n  ▸{word}: {{ id: acme }}\n", "DP210", "is a reserved word")


def test_organization_without_id_or_hostname_is_refused(tmp_path: Path) -> None:
    expect(tmp_path, "dpsync: 1\norganizations:\n  ▸acme: { title: Acme }\n", "DP216", 'add "id"')


def test_organization_may_be_declared_by_hostname(tmp_path: Path) -> None:
    assert loaded(tmp_path, "dpsync: 1\norganizations:\n  acme: { hostname: acme }\n")[1] == []


@pytest.mark.parametrize(
    "body",
    [
        *(f"▸{word}: {{}}" for word in ("saml", "openapi", "translations", "integrations", "glossary")),
        *(f"sites: {{ d: {{ title: Docs, ▸{word}: {{}} }} }}" for word in ("redirects", "shareLinks")),
        *(
            f"{place}: {{ e: {{ title: Entry, permissions: {{ ▸{whose}: {{}} }} }} }}"
            for place in ("sites", "spaces", "collections")
            for whose in ("teams", "members")
        ),
    ],
)
def test_empty_mapping_without_prune_or_watch_is_reported(tmp_path: Path, body: str) -> None:
    expect(tmp_path, organization(body), "DP232", 'to "prune" or "watch" under "policy"')


def test_permissions_on_organization_are_refused(tmp_path: Path) -> None:
    expect(tmp_path, organization("▸permissions: {}"), "DP201", 'unknown key "permissions"')


@pytest.mark.parametrize(
    "body",
    [
        "members: { ada@acme.example: ▸ }",
        "integrations: { tool: ▸ }",
        "sites: { docs: { title: Docs, shareLinks: { fair: ▸ } } }",
        "sites: { docs: { title: Docs, customization: ▸ } }",
    ],
)
def test_empty_braces_are_accepted_where_hint_suggests(tmp_path: Path, body: str) -> None:
    empty = loaded(tmp_path, organization(body.replace("▸", "")))[1]
    assert [(item.code, str(item.hint)[:8]) for item in empty] == [("DP212", "write {}")]
    assert not loaded(tmp_path, organization(body.replace("▸", "{}")))[1]


def test_empty_mapping_is_valid_with_prune_or_watch(tmp_path: Path) -> None:
    """What the finding says is accepted, one way and the other."""
    assert not loaded(tmp_path, organization("title: Acme"))[1]
    for word in ("prune", "watch"):
        assert not loaded(tmp_path, organization("teams: {}", f"policy: {{ {word}: [teams] }}\n"))[1]


@pytest.mark.parametrize("wrong", ["1", "[a]", ""])
def test_many_invalid_entries_create_no_resources(tmp_path: Path, wrong: str) -> None:
    teams = "".join(f"      t{number}: {wrong}\n" for number in range(2000))
    desired, found = loaded(
        tmp_path, f"dpsync: 1\norganizations:\n  acme:\n    id: acme\n    teams:\n{teams}"
    )
    assert len(desired.entries) == 1
    assert len(found) == 50


@pytest.mark.parametrize(
    ("body", "entry"),
    [
        ("▸members: [ada@acme.example]", "ada@acme.example: create"),
        ("teams: { w: { title: W, ▸members: [{ user: ada@acme.example }] } }", "ada@acme.example: member"),
        ("▸spaces: [{ title: Guides }]", "guides-en: { … }"),
    ],
    ids=["members", "team members", "spaces"],
)
def test_list_of_entries_hints_at_mapping(tmp_path: Path, body: str, entry: str) -> None:
    expect(tmp_path, organization(body), "DP202", f"write each entry as {entry}, without a dash or [ ]")
