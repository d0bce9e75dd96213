"""What a plan refuses: each guard says its code and the way out, and nothing of it is applied."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from dpsync.client.client import ReadClient
from dpsync.client.transport import HttpTransport, Request, Response, Stats, Token
from dpsync.model.diagnostic import DiagnosticError, Exit
from dpsync.model.plan import Plan

from .lab import Lab, group, section, site, spaces

LIMITLESS = "limits: { deletes: 99, percent: 100 }"


def codes(plan: Plan) -> list[tuple[str, str]]:
    assert plan.can_apply is not bool(plan.refusals)
    assert all(item.way_out and item.message for item in plan.refusals)
    return [(item.code, item.address) for item in plan.refusals]


def test_refused_plan_is_not_applied(lab: Lab) -> None:
    lab.holds(sites=[site(type="basic")])
    with pytest.raises(DiagnosticError) as found:
        lab.apply("sites: { docs: { title: Docs, type: premium } }")
    assert found.value.exit_code is Exit.REFUSED
    assert lab.writes == []


def test_create_only_field_change_is_refused(lab: Lab) -> None:
    lab.holds(sites=[site(type="basic")])
    assert codes(lab.plan("sites: { docs: { title: Docs, type: basic } }")) == []
    assert codes(lab.plan("sites: { docs: { title: Docs, type: premium } }")) == [
        ("create-only", "acme/sites/docs#type")
    ]


def test_ignored_create_only_field_change_is_allowed(lab: Lab) -> None:
    lab.holds(sites=[site(type="basic")])
    plan = lab.plan("sites: { docs: { title: Docs, type: premium } }", "{ ignore: ['sites/*#type'] }")
    assert (codes(plan), plan.empty) == ([], True)


def test_protected_object_deletion_is_refused(lab: Lab) -> None:
    lab.holds(teams=[{"id": "t", "title": "Sales"}, {"id": "u", "title": "Ops"}])
    plan = lab.plan("teams: {}", f"{{ prune: [teams], protect: ['teams/[Sales]'], {LIMITLESS} }}")
    assert codes(plan) == [("protected", "acme/teams/[Sales]")]


NAVIGATION = "sites: { docs: { title: Docs, structure: [{ type: section, key: a, title: Section a, " \
    "path: a, children: [{ type: space, key: x, space: { id: x } }] }] } }"  # fmt: skip


def test_protected_object_prevents_cascading_deletion(lab: Lab) -> None:
    """Otherwise, what is protected goes along with something else."""
    lab.holds(spaces=spaces("x"), sites=[site(section("a", "x"), section("b", "x"))])
    protect = "protect: ['sites/docs/structure/[Section b]/*']"
    plan = lab.plan(NAVIGATION, f"{{ prune: [sites/docs/structure], {protect}, {LIMITLESS} }}")
    assert codes(plan) == [("protected", "acme/sites/docs/structure/[Section b]/[x]")]


def test_protected_redirect_prevents_section_deletion(lab: Lab) -> None:
    leads = {"id": "r", "source": "/old", "destination": {"kind": "site-section", "siteSectionId": "b"}}
    lab.holds(spaces=spaces("x"), sites=[site(section("a", "x"), section("b", "x"), redirects=[leads])])
    protect = "protect: ['sites/docs/redirects/*']"
    plan = lab.plan(NAVIGATION, f"{{ prune: [sites/docs/structure], {protect}, {LIMITLESS} }}")
    assert codes(plan) == [("protected", "acme/sites/docs/redirects/[/old]")]


def test_declared_installation_prevents_integration_deletion(lab: Lab) -> None:
    bot = {"name": "bot", "title": "Bot", "scopes": [], "visibility": "private"}
    lab.holds(integrations=[bot], installations=[{"id": "i", "integration": "bot"}])
    policy = f"{{ prune: [publishedIntegrations], {LIMITLESS} }}"
    plan = lab.plan("publishedIntegrations: {}\nintegrations: { bot: {} }", policy)
    assert codes(plan) == [("in-use", "acme/integrations/bot#integration")]


class Refusing:
    """A transport that may not read one list."""

    def __init__(self, url: str, path: str) -> None:
        self._inner = HttpTransport(url, Token("token"))
        self._path = path

    def send(self, request: Request) -> Response:
        answer = self._inner.send(request)
        return replace(answer, status=403) if request.path == self._path else answer

    def close(self) -> None:
        self._inner.close()

    def stats(self) -> Stats:
        return self._inner.stats()


@pytest.mark.parametrize("path", ["/orgs/acme/teams/t/members", "/spaces/x/permissions/teams"])
def test_unreadable_dependents_block_deletion(lab: Lab, path: str) -> None:
    """Otherwise, what would take along what nobody sees is deleted."""
    lab.holds(spaces=spaces("x"), teams=[{"id": "t", "title": "Sales"}])
    session = lab.session("teams: {}", f"{{ prune: [teams], {LIMITLESS} }}")
    with ReadClient(lab.server.url, "token", transport=Refusing(lab.server.url, path)) as client:
        plan = session.plan(client).plan
    assert (codes(plan), plan.changes) == ([], ())
    (blocked,) = plan.blocked
    assert blocked.address == "acme/teams/[Sales]"
    assert f"GET {path} is not allowed (403)" in blocked.reason


@pytest.mark.parametrize(
    ("pattern", "protected"),
    [
        ("sites/*", []),
        ("sites/docs/structure/*", ["[Section b]"]),
        ("sites/docs/structure/*/*", ["[Section b]/[x]"]),
        ("sites/**", ["[Section b]", "[Section b]/[x]"]),
    ],
)
def test_protect_pattern_does_not_protect_children_of_match(
    lab: Lab, pattern: str, protected: list[str]
) -> None:
    lab.holds(spaces=spaces("x"), sites=[site(section("a", "x"), section("b", "x"))])
    plan = lab.plan(NAVIGATION, f"{{ prune: [sites/docs/structure], protect: ['{pattern}'], {LIMITLESS} }}")
    assert codes(plan) == [("protected", f"acme/sites/docs/structure/{name}") for name in protected]


def test_nonempty_collection_deletion_is_refused(lab: Lab) -> None:
    lab.holds(collections=[{"id": "c", "title": "C"}], spaces=spaces("x", parent="c"))
    policy = f"{{ prune: [collections], {LIMITLESS} }}"
    assert codes(lab.plan("collections: {}", policy)) == [("not-empty", "acme/collections/[C]")]
    # The same where the space is declared, but not where it is.
    declared = "collections: {}\nspaces: { x: { title: Space x } }"
    assert codes(lab.plan(declared, policy)) == [("not-empty", "acme/collections/[C]")]
    lab.converges("collections: {}\nspaces: { x: { title: Space x, collection: null } }", policy)


@pytest.mark.parametrize(
    ("body", "line"),
    [
        ("collections: {}", "(add an entry for the space with collection: null)"),
        (
            "collections: {}\nspaces: { x: { title: Space x } }",
            "(write collection: null in the entry of the space)",
        ),
    ],
    ids=["space without entry", "space with entry"],
)
def test_collection_refusal_says_how_to_empty(lab: Lab, body: str, line: str) -> None:
    """Otherwise, a person does not know that a missing line of a space keeps the space in the collection."""
    lab.holds(collections=[{"id": "c", "title": "C"}], spaces=spaces("x", parent="c"))
    (refusal,) = lab.plan(body, f"{{ prune: [collections], {LIMITLESS} }}").refusals
    assert line in refusal.way_out


def test_nested_collections_are_deleted_inside_out(lab: Lab) -> None:
    lab.holds(
        collections=[{"id": "c", "title": "C"}, {"id": "d", "title": "D", "parent": "c"}],
        spaces=spaces("x", parent="d"),
    )
    lab.converges("collections: {}\nspaces: {}", f"{{ prune: [collections, spaces], {LIMITLESS} }}")
    assert [write for write in lab.writes if write.startswith("DELETE")] == [
        "DELETE /spaces/x", "DELETE /collections/d", "DELETE /collections/c",
    ]  # fmt: skip


def test_nonempty_section_group_deletion_is_refused(lab: Lab) -> None:
    """With prune what nobody declares in it goes too; a section that is left alone on purpose stays.

    Otherwise, what is in a group counts as lying in nothing, and a group that is not empty is deleted.
    """
    lab.holds(spaces=spaces("x"), sites=[site(section("a", "x"), group("g", section("b", "x")))])
    policy = f"{{ prune: [sites/docs/structure], ignore: ['sites/docs/structure/[Section b]'], {LIMITLESS} }}"
    assert codes(lab.plan(NAVIGATION, policy)) == [("not-empty", "acme/sites/docs/structure/[Group g]")]
    lab.converges(NAVIGATION, f"{{ prune: [sites/docs/structure], {LIMITLESS} }}")


def test_referring_space_prevents_collection_deletion(lab: Lab) -> None:
    lab.holds(collections=[{"id": "c", "title": "C"}, {"id": "d", "title": "D"}], spaces=spaces("x"))
    body = "collections: { c: { title: C } }\nspaces: { x: { title: Space x, collection: { id: d } } }"
    assert ("in-use", "acme/spaces/x#collection") in codes(
        lab.plan(body, f"{{ prune: [collections], {LIMITLESS} }}")
    )


FLAT = "[{ type: space, key: x, space: { id: x }, path: x }]"
SECTIONS = (
    "[{ type: section, key: a, title: Section a, path: a,"
    " children: [{ type: space, key: x, space: { id: x } }] }]"
)


@pytest.mark.parametrize("prune", ["", "prune: [sites/docs/structure], "])
@pytest.mark.parametrize(
    ("live", "wanted", "refused"),
    [
        ([{"type": "space", "id": "p", "space": "x", "path": "x"}], SECTIONS, True),
        ([section("a", "x")], FLAT, True),
        ([group("g")], FLAT, True),
        ([{"type": "space", "id": "p", "space": "x", "path": "x"}], FLAT, False),
        ([section("a", "x")], SECTIONS, False),
        ([], FLAT, False),
        ([], SECTIONS, False),
    ],
)  # fmt: skip
def test_site_navigation_type_change_is_refused(
    lab: Lab, live: list[dict[str, Any]], wanted: str, refused: bool, prune: str
) -> None:
    """Otherwise, a navigation is taken apart, and every URL changes, unasked."""
    lab.holds(spaces=spaces("x"), sites=[site(*live)])
    plan = lab.plan(f"sites: {{ docs: {{ title: Docs, structure: {wanted} }} }}", f"{{ {prune}{LIMITLESS} }}")
    found = [item for item in codes(plan) if item[0] == "restructure"]
    assert found == [("restructure", "acme/sites/docs")] * refused


MEMBERS = f"{{ prune: [members], {LIMITLESS} }}"


@pytest.mark.parametrize(
    ("members", "refused"),
    [
        ("ada@acme.example: admin, bo@acme.example: create, cy@acme.example: read", []),
        ("ada@acme.example: admin", []),
        ("ada@acme.example: admin, bo@acme.example: admin", []),
        ("ada@acme.example: create, bo@acme.example: admin", ["own-user"]),
        ("bo@acme.example: admin", ["own-user"]),
        ("ada@acme.example: read", ["last-admin", "own-user"]),
        ("bo@acme.example: read", ["last-admin", "own-user"]),
        ("new@acme.example: admin", ["last-admin", "own-user"]),
    ],
)
def test_plan_refuses_losing_last_admin_or_token_rights(lab: Lab, members: str, refused: list[str]) -> None:
    lab.holds()
    assert sorted(code for code, _ in codes(lab.plan(f"members: {{ {members} }}", MEMBERS))) == refused


def test_token_user_needs_no_admin_role(lab: Lab) -> None:
    """Nobody is kept from writing down what is so already."""
    lab.holds(members=[{"user": "ada", "role": "create"}, {"user": "bo", "role": "admin"}])
    assert codes(lab.plan("members: { ada@acme.example: create, bo@acme.example: admin }", MEMBERS)) == []


def test_removing_token_user_is_always_refused(lab: Lab) -> None:
    lab.holds(members=[{"user": "ada", "role": "create"}, {"user": "bo", "role": "admin"}])
    assert codes(lab.plan("members: { bo@acme.example: admin }", MEMBERS)) == [
        ("own-user", "acme/members/[ada@acme.example]")
    ]


TEAM = [
    {"id": "t", "title": "T", "members": [{"user": "bo", "role": "owner"}, {"user": "cy", "role": "member"}]}
]


@pytest.mark.parametrize(
    ("members", "prune", "refused"),
    [
        ("bo@acme.example: owner", True, False),
        ("bo@acme.example: member", False, True),
        ("bo@acme.example: member, cy@acme.example: owner", False, False),
        ("cy@acme.example: owner", True, False),
        ("cy@acme.example: member", True, True),
        ("cy@acme.example: member", False, False),
        ("ada@acme.example: owner", True, False),
    ],
)
def test_removing_last_team_owner_is_refused(lab: Lab, members: str, prune: bool, refused: bool) -> None:
    lab.holds(teams=TEAM)
    policy = f"{{ {'prune: [teams/*/members], ' if prune else ''}{LIMITLESS} }}"
    plan = lab.plan(f"teams: {{ t: {{ title: T, members: {{ {members} }} }} }}", policy)
    assert [code for code, _ in codes(plan)] == ["last-owner"] * refused


def test_last_team_owner_must_stay_in_organization(lab: Lab) -> None:
    lab.holds(teams=[{"id": "t", "title": "T", "members": [{"user": "cy", "role": "owner"}, {"user": "bo"}]}])
    body = "members: { ada@acme.example: admin, bo@acme.example: create }"
    plan = lab.plan(body, f"{{ prune: [members], {LIMITLESS} }}")
    assert codes(plan) == [("last-owner", "acme/teams/[T]/members/[cy@acme.example]")]


def test_deleting_team_with_its_owners_is_allowed(lab: Lab) -> None:
    lab.holds(teams=TEAM)
    assert codes(lab.plan("teams: {}", f"{{ prune: [teams], {LIMITLESS} }}")) == []


def team_policy(limits: str) -> str:
    return f"{{ prune: [teams], limits: {{ {limits} }} }}"


TEAMS = [{"id": f"t{number}", "title": f"Team {number}"} for number in range(20)]
KEPT = "teams: { " + ", ".join(f"t{number}: {{ title: Team {number} }}" for number in range(17)) + " }"


@pytest.mark.parametrize(("going", "refused"), [(4, None), (5, "25 percent of 20")])
def test_percent_limit_counts_only_prunable_objects(lab: Lab, going: int, refused: str | None) -> None:
    """Of the teams, where only these are declared: members and spaces do not count."""
    lab.holds(teams=[{"id": f"t{n}", "title": f"T{n}"} for n in range(20)], spaces=spaces("x", "y"))
    kept = ", ".join(f"t{n}: {{ title: T{n} }}" for n in range(20 - going))
    found = lab.plan(f"teams: {{ {kept} }}", team_policy("deletes: 99, percent: 20")).refusals
    assert [item.code for item in found] == (["limits"] if refused else [])
    assert all(f" deletes {refused} objects" in item.message for item in found)


@pytest.mark.parametrize(
    ("limits", "confirm", "allowed"),
    [
        ("deletes: 3, percent: 100", (), True),
        ("deletes: 2, percent: 100", (), False),
        ("deletes: 99, percent: 15", (), True),
        ("deletes: 99, percent: 14", (), False),
        ("deletes: 0", (), False),
        ("deletes: 99, percent: 0", (), False),
        ("deletes: 0", ("delete 3",), True),
        ("deletes: 0", ("delete 2",), False),
        ("deletes: 0", ("delete 4",), False),
        ("deletes: 0", ("delete 2", "delete 3"), True),
    ],
)
def test_deletions_above_limit_need_confirmed_count(
    lab: Lab, limits: str, confirm: tuple[str, ...], allowed: bool
) -> None:
    lab.holds(teams=TEAMS)
    plan = lab.plan(KEPT, team_policy(limits), *confirm)
    assert plan.deletes == 3
    assert codes(plan) == [] if allowed else [("limits", "acme")]
    assert all('--confirm "delete 3"' in item.way_out for item in plan.refusals)


def test_cascaded_deletions_count_against_limit(lab: Lab) -> None:
    lab.holds(spaces=spaces("x", "y"), sites=[site(section("a", "x"), section("b", "x", "y"))])
    policy = "{ prune: [sites/docs/structure], limits: { deletes: 2, percent: 100 } }"
    plan = lab.plan(NAVIGATION, policy)
    assert plan.deletes == 3
    assert codes(plan) == [("limits", "acme")]
    assert codes(lab.plan(NAVIGATION, policy, "delete 3")) == []


def test_no_delete_option_keeps_all_objects(lab: Lab) -> None:
    """Otherwise, --no-delete deletes."""
    lab.holds(teams=TEAMS)
    plan = lab.plan(KEPT, team_policy("deletes: 0"), delete=False)
    assert (plan.deletes, codes(plan)) == (0, [])
    assert [len(kept.addresses) for kept in plan.kept] == [3]


def two(a: str, b: str, pins: bool = False) -> str:
    nodes = [
        f"{{ type: section, key: {key}, {f'id: {key}, ' if pins else ''}title: Section {key}, path: {path}, "
        f"children: [{{ type: space, key: x, space: {{ id: {space} }} }}] }}"
        for key, path, space in (("a", a, "x"), ("b", b, "y"))
    ]
    return f"sites: {{ docs: {{ title: Docs, structure: [{', '.join(nodes)}] }} }}"


def test_path_of_unmanaged_section_is_refused(lab: Lab) -> None:
    """The section on that path is no entry's, and the one that wants it is pinned to another.

    Otherwise, a path that somebody else holds is taken, and the platform refuses halfway.
    """
    lab.holds(
        spaces=spaces("x", "y", "z"),
        sites=[site(section("a", "x"), section("b", "y"), section("taken", "z"))],
    )
    plan = lab.plan(two("a", "taken", pins=True))
    assert codes(plan) == [("taken", "acme/sites/docs/structure/b#path")]
    assert "[Section taken]" in plan.refusals[0].message


def test_path_of_deleted_section_is_reusable(lab: Lab) -> None:
    """Otherwise, what stays counts as what arrives, so that a section that goes along stops its delete."""
    lab.holds(
        spaces=spaces("x", "y", "z"),
        sites=[site(section("a", "x"), section("b", "y"), section("taken", "z"))],
    )
    lab.converges(two("a", "taken", pins=True), f"{{ prune: [sites/docs/structure], {LIMITLESS} }}")


def test_swapped_section_paths_fail_as_ambiguous(lab: Lab) -> None:
    lab.holds(spaces=spaces("x", "y"), sites=[site(section("a", "x"), section("b", "y"))])
    with pytest.raises(DiagnosticError) as found:
        lab.plan(two("b", "a"))
    assert found.value.exit_code is Exit.INVALID
    assert [item.code for item in found.value.diagnostics] == ["DP303", "DP303"]
    assert all('"a"' in item.message and '"b"' in item.message for item in found.value.diagnostics)


def test_swapped_paths_of_pinned_sections_converge(lab: Lab) -> None:
    lab.holds(spaces=spaces("x", "y"), sites=[site(section("a", "x"), section("b", "y"))])
    report = lab.converges(two("b", "a", pins=True))
    assert report.remaining is not None
    assert report.remaining.bindings["acme/sites/docs/structure/a"] == "a"
    assert lab.apply(two("b", "a", pins=True)).writes == 0


@pytest.mark.parametrize(
    ("body", "code", "exit_code"),
    [
        ("teams: { t: { title: T, id: gone } }", "DP301", Exit.INVALID),
        ("teams: { t: { title: T, members: { no@acme.example: owner } } }", "DP304", Exit.INVALID),
        ("teams: { t: { title: Twice } }", "DP302", Exit.INVALID),
    ],
)
def test_ambiguous_identity_has_invalid_configuration_exit_code(
    lab: Lab, body: str, code: str, exit_code: Exit
) -> None:
    lab.holds(
        teams=[{"id": "t1", "title": "Twice"}, {"id": "t2", "title": "Twice"}, {"id": "t", "title": "T"}]
    )
    with pytest.raises(DiagnosticError) as found:
        lab.plan(body)
    (wrong,) = found.value.diagnostics
    assert (wrong.code, found.value.exit_code) == (code, exit_code)
    assert wrong.span is not None


@pytest.mark.parametrize("who", ["id: nowhere", "hostname: nowhere"])
def test_plan_fails_for_unknown_organization(lab: Lab, who: str, tmp_path: Any) -> None:
    """Otherwise, an organization that is not there is taken for an empty one."""
    from dpsync.api import Session, load
    from dpsync.client.client import ReadClient

    from .lab import REGISTRY

    lab.holds()
    (tmp_path / "dpsync.yaml").write_text(f"dpsync: 1\norganizations: {{ acme: {{ {who} }} }}\n")
    session = Session(load(tmp_path / "dpsync.yaml", {}), REGISTRY)
    with ReadClient(lab.server.url, "token") as client, pytest.raises(DiagnosticError) as found:
        session.plan(client)
    assert found.value.exit_code is Exit.FAILED
    assert [item.code for item in found.value.diagnostics] == ["DP310"]
