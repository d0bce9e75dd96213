"""What a delete takes along is read again right before it: what came after the plan stops the delete."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from dpsync.api import Options
from dpsync.apply import delete_checks
from dpsync.client.client import WriteClient
from dpsync.client.transport import HttpTransport, Token
from dpsync.model.journal import Outcome, Report
from dpsync.model.snapshot import Identity
from dpsync.server.process.threaded_server import ThreadedServer
from tests.agreed import agreed
from tests.apply.late import Meanwhile
from tests.by_hand import by_hand
from tests.direct import writing
from tests.live.answers import Tape
from tests.planner.lab import Lab
from tests.planner.vanishing import EVERYTHING, named, section, things

LIMITS = "limits: { deletes: 999, percent: 100 }"
ORG, DOCS, OTHER = "/orgs/acme", "/orgs/acme/sites/docs", "/orgs/acme/sites/other"
OPS = "teams: { ops: { title: ops } }"
PEOPLE = "members: { ada@acme.example: admin, cy@acme.example: read }"
SPACES = "spaces: { xx: { title: xx }, zz: { title: zz, mergeRules: { type: none } } }"
SITES = "sites: { docs: { title: docs } }"
AA, BB, CC = (
    f"{{ type: section, key: {key}, title: {key}, path: {key}, children: [{', '.join(shown)}] }}"
    for key, shown in {
        "aa": [f"{{ type: space, key: {key}, path: {key}, space: {{ id: {key} }} }}" for key in ("xx", "yy")],
        "bb": ["{ type: space, key: yy, space: { id: yy } }"],
        "cc": ["{ type: space, key: zz, space: { id: zz } }"],
    }.items()
)
GG = f"{{ type: section-group, key: gg, title: gg, children: [{CC}] }}"
EE = "{ type: section-group, key: ee, title: ee }"
LINK = "{ type: external-link, key: shop, title: shop, url: 'https://shop.example' }"


def tree(*nodes: str) -> str:
    return f"sites: {{ docs: {{ title: docs, structure: [{', '.join(nodes)}] }} }}"


@pytest.fixture
def lab(server: ThreadedServer, tmp_path: Path) -> Lab:
    return Lab(server, tmp_path)


def send(lab: Lab, method: str, path: str, body: Any = None) -> None:
    """Send a write as another client."""
    by_hand(lab.server, method, path, body, token="token")


def apply_after(lab: Lab, body: str, places: str, *requests: tuple[str, str, Any]) -> Report:
    """Plan; then the others; then apply what was planned."""
    session, options = lab.session(body, f"{{ prune: [{places}], {LIMITS} }}"), Options()
    with WriteClient(lab.server.url, "token") as client:
        planned = agreed(session, client, options)
        assert planned.plan.can_apply, planned.plan.refusals
        for request in requests:
            send(lab, *request)
        lab.server.app.requests.clear()
        return session.apply(client, planned)


def stale(report: Report) -> list[Outcome]:
    return [outcome for outcome in report.outcomes if outcome.result == "stale"]


def leads_to(kind: str, **where: str) -> dict[str, Any]:
    return {"source": "/new", "destination": {"kind": kind, **where}}


ROLE = {"role": "read"}
CASES: dict[str, tuple[str, str, tuple[str, str, Any], str]] = {
    "a member joins the team": (
        OPS, "teams", ("PUT", f"{ORG}/teams/sales/members/cy", None), "[sales]/members/[cy"),
    "a member leaves the team": (
        OPS, "teams", ("DELETE", f"{ORG}/teams/sales/members/bo", None), "[sales]/members/[bo"),
    "the team gets a role on a space": (
        OPS, "teams", ("POST", "/spaces/zz/permissions", {"teams": ["sales"], **ROLE}), "teams/[sales]"),
    "the team loses a role on a site": (
        OPS, "teams", ("DELETE", f"{DOCS}/permissions/teams/sales", None), "permissions/teams/[sales]"),
    "the team becomes a default team": (
        OPS, "teams", ("POST", f"{ORG}/saml", {"label": "new", "defaultTeam": "sales"}), "saml/[new]#"),
    "the member joins a team": (
        PEOPLE, "members", ("PUT", f"{ORG}/teams/ops/members/bo", None), "teams/[ops]/members/[bo"),
    "the member gets a role on a collection": (
        PEOPLE, "members", ("DELETE", "/collections/shelf/permissions/users/bo", None), "members/[bo"),
    "the member becomes a reviewer": (
        PEOPLE, "members",
        ("PATCH", "/spaces/xx", {"mergeRules": {"type": "rules", "rules": [
            {"rule": "require_specific_reviewers", "users": ["bo"]}]}}),
        "spaces/[xx]#mergeRules"),
    "the space is shown at another place": (
        SPACES, "spaces", ("POST", f"{OTHER}/site-spaces", {"spaceId": "yy", "sectionId": "ff"}), "[ff]/["),
    "the last other space of a section goes": (
        SPACES, "spaces", ("DELETE", f"{DOCS}/site-spaces/aa-xx", None), "sites/[docs]/structure/[aa]"),
    "an integration is put on the space": (
        SPACES, "spaces", ("DELETE", "/integrations/bot/installations/i/spaces/yy", None), "spaces/[yy]"),
    "a place of the space gets a redirect": (
        SPACES, "spaces", ("POST", f"{OTHER}/redirects", leads_to("site-space", siteSpaceId="dd-yy")),
        "redirects/[/new]"),
    "the space is translated": (
        SPACES, "spaces",
        ("POST", f"{ORG}/translations", {"source": {"space": "yy", "language": "en"}, "language": "de"}),
        "translations/[de]#source"),
    "the section gets a redirect": (
        tree(AA, GG, EE, LINK), "sites/*/structure",
        ("POST", f"{DOCS}/redirects", leads_to("site-section", siteSectionId="bb")), "redirects/[/new]"),
    "something is moved into the group": (
        tree(AA, BB, GG, LINK), "sites/*/structure",
        ("PATCH", f"{DOCS}/sections/bb", {"siteSectionGroupId": "ee"}), "this object is not empty"),
    "something is moved into the collection": (
        "collections: {}", "collections", ("POST", "/spaces/zz/move", {"parent": "shelf"}), "not empty"),
    "the collection gets a role": (
        "collections: {}", "collections",
        ("POST", "/collections/shelf/permissions", {"users": ["ada"], **ROLE}), "permissions/members/[ada"),
    "the site gets a redirect": (
        SITES, "sites", ("POST", f"{OTHER}/redirects", leads_to("external", url="https://a.example")), "new"),
    "the site gets a share link": (
        SITES, "sites", ("POST", f"{OTHER}/share-links", {"name": "new"}), "shareLinks/[new]"),
    "the site becomes the default content": (
        SITES, "sites", ("PATCH", ORG, {"defaultContent": {"type": "site", "site": "other"}}), "acme#d"),
    "the integration is put on a site": (
        "integrations: {}", "integrations",
        ("POST", "/integrations/bot/installations/i/sites", {"siteId": "other"}), "sites/[other]"),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_delete_is_stale_when_more_objects_would_cascade(case: str, lab: Lab) -> None:
    body, places, request, told = CASES[case]
    lab.holds(**EVERYTHING)
    report = apply_after(lab, body, places, request)
    (outcome,) = stale(report)
    assert told in (outcome.error or "")
    assert not [write for write in lab.writes if write.startswith("DELETE")]
    assert not report.converged


RENAMED: dict[str, tuple[str, str, tuple[str, str, Any]]] = {
    "a team": (
        "teams: { ops: { title: ops }, new: { title: new, new: true } }", "teams",
        ("PATCH", f"{ORG}/teams/sales", {"title": "Quite another"})),
    "a space": (
        "spaces: { xx: { title: xx }, zz: { title: zz }, new: { title: new, new: true } }",
        "spaces", ("PATCH", "/spaces/yy", {"title": "Quite another"})),
    "a collection": (
        "collections: { new: { title: new, new: true } }", "collections",
        ("PATCH", "/collections/shelf", {"title": "Quite another"})),
    "a site": (
        "sites: { docs: { title: docs }, new: { title: new, new: true } }", "sites",
        ("PATCH", OTHER, {"title": "Quite another"})),
    "a redirect": (
        "sites: { other: { title: other, redirects: { /new: DESTINATION } } }".replace(
            "DESTINATION", "{ destination: { kind: external, url: 'https://a.example' } }"),
        "'sites/*/redirects'",
        ("PATCH", f"{OTHER}/redirects/to-dd", {"destination": {"kind": "external", "url": "https://c.example"}})),
}  # fmt: skip


@pytest.mark.parametrize("case", RENAMED)
def test_object_renamed_during_apply_is_not_deleted(case: str, lab: Lab) -> None:
    """The list that it is in was read before this apply wrote to it: only the reading right before tells.

    Otherwise, what was renamed under its feet, and is another thing now, is deleted.
    """
    body, places, request = RENAMED[case]
    lab.holds(**EVERYTHING)
    session = replace(lab.session(body, f"{{ prune: [{places}], {LIMITS} }}"), parallelism=1)
    with writing(lab.server) as client:
        planned = agreed(session, client)
    transport = Meanwhile(HttpTransport(lab.server.url, Token("token")), lambda: send(lab, *request))
    with WriteClient(lab.server.url, "token", transport=transport) as client:
        report = session.apply(client, planned)
    (outcome,) = stale(report)
    assert outcome.error == "this object was changed after the plan was made"
    assert not report.converged


CHANGED: dict[str, tuple[str, str, tuple[str, str, Any], str]] = {
    "a section of the site": (
        SITES, "sites", ("PATCH", f"{OTHER}/sections/dd", {"title": "Quite another"}), "structure/[dd]"),
    "the address of a space in the site": (
        SITES, "sites", ("PATCH", f"{OTHER}/site-spaces/ff-xx", {"path": "elsewhere"}), "structure/[ff]/["),
    "a redirect of the site": (
        SITES, "sites",
        ("PATCH", f"{OTHER}/redirects/to-dd", {"destination": {"kind": "external", "url": "https://c.example"}}),
        "redirects/[/to-dd]"),
    "the role of a member of the team": (
        OPS, "teams", ("PUT", f"{ORG}/teams/sales/members/bo", {"role": "owner"}), "[sales]/members/[bo"),
    "the role of the team on a space": (
        OPS, "teams", ("PATCH", "/spaces/yy/permissions/teams/sales", {"role": "edit"}),
        "spaces/[yy]/permissions/teams/[sales]"),
    "the role of the member in a team": (
        PEOPLE, "members", ("PUT", f"{ORG}/teams/sales/members/bo", {"role": "owner"}), "members/[bo"),
    "the role on the collection": (
        "collections: {}", "collections",
        ("PATCH", "/collections/shelf/permissions/users/bo", {"role": "read"}),
        "permissions/members/[bo"),
    "the place of the space in a site": (
        SPACES, "spaces", ("PATCH", f"{OTHER}/site-spaces/dd-yy", {"path": "elsewhere"}), "structure/[dd]/["),
}  # fmt: skip


@pytest.mark.parametrize("case", CHANGED)
def test_delete_is_stale_when_cascaded_object_changed(case: str, lab: Lab) -> None:
    """Otherwise, what goes along is another thing by now, and is deleted."""
    body, places, request, told = CHANGED[case]
    lab.holds(**EVERYTHING)
    report = apply_after(lab, body, places, request)
    (outcome,) = stale(report)
    assert told in (outcome.error or "")
    assert "would also be deleted, but was changed after the plan was made" in (outcome.error or "")
    assert not [write for write in lab.writes if write.startswith("DELETE")]


def test_stale_delete_does_not_stop_other_deletes(lab: Lab) -> None:
    lab.holds(**EVERYTHING)
    report = apply_after(lab, "teams: {}", "teams", ("PUT", f"{ORG}/teams/sales/members/cy", None))
    assert [(item.address, item.result) for item in report.outcomes] == [
        ("acme/teams/[ops]", "done"),
        ("acme/teams/[sales]", "stale"),
    ]
    assert "teams/sales/members/cy" in things(lab.world())


@pytest.mark.parametrize(("method", "who"), [("DELETE", "bo"), ("PUT", "cy")])
def test_membership_change_between_deletes_is_detected(method: str, who: str, lab: Lab) -> None:
    """The shared lists were read before the first one; those of its own are read before each."""
    lab.holds(**EVERYTHING)
    session = replace(lab.session("teams: {}", f"{{ prune: [teams], {LIMITS} }}"), parallelism=1)
    transport = Meanwhile(
        HttpTransport(lab.server.url, Token("token")),
        lambda: send(lab, method, f"{ORG}/teams/sales/members/{who}"),
    )
    with WriteClient(lab.server.url, "token", transport=transport) as client:
        report = session.apply(client, agreed(session, client))
    (outcome,) = stale(report)
    assert f"[sales]/members/[{who}" in (outcome.error or "")


def test_delete_is_stale_when_dependents_are_unreadable(lab: Lab) -> None:
    lab.holds(**EVERYTHING)
    session = lab.session(OPS, f"{{ prune: [teams], {LIMITS} }}")
    tape = Tape(lab.server.url, "token", keep=False)
    with WriteClient(lab.server.url, "token", transport=tape) as client:
        planned = agreed(session, client)
        tape.refused = {f"{ORG}/saml"}
        report = session.apply(client, planned)
    (outcome,) = stale(report)
    assert "can no longer read the objects that GitBook would also delete: GET /orgs/acme/saml" in (
        outcome.error or ""
    )


def test_already_deleted_object_does_not_fail_apply(lab: Lab) -> None:
    """Otherwise, what somebody else has deleted already ends in a failed step."""
    lab.holds(**EVERYTHING)
    report = apply_after(lab, "teams: {}", "teams", ("DELETE", f"{ORG}/teams/sales", None))
    assert {item.result for item in report.outcomes} <= {"done", "already"}
    assert report.converged


def read_each_time(self: delete_checks.DeleteChecks) -> dict[Identity, str]:
    """Read the shared lists again before every delete."""
    found = READ_AGAIN(self)
    self._deletes_until_next_read = 1
    return found


READ_AGAIN = delete_checks.DeleteChecks._read_shared_lists


@pytest.mark.parametrize("reading", [READ_AGAIN, read_each_time])
def test_deletes_of_objects_with_shared_dependents_all_succeed(
    reading: Callable[[delete_checks.DeleteChecks], dict[Identity, str]],
    lab: Lab,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Otherwise, what an earlier delete of this apply has taken along stops the next one.

    Otherwise, a delete that was sent already stops those after it.
    """
    monkeypatch.setattr(delete_checks.DeleteChecks, "_read_shared_lists", reading)
    lab.holds(**EVERYTHING)
    body = (
        "members: { ada@acme.example: admin }\nteams: {}\nsaml: {}\ncollections: {}\nspaces: {}\n"
        "sites: { docs: { title: docs, redirects: {}, permissions: { members: {}, teams: {} } } }\n"
        "integrations: {}\npublishedIntegrations: {}\ntranslations: {}"
    )
    report = apply_after(
        lab, body, "members, teams, saml, collections, spaces, sites, 'sites/*/redirects', integrations,"
        " publishedIntegrations, translations, 'sites/*/permissions/members', 'sites/*/permissions/teams'",
    )  # fmt: skip
    assert [item for item in report.outcomes if item.result not in ("done", "already")] == []
    assert report.converged


def test_delete_checks_run_after_last_other_write(lab: Lab) -> None:
    lab.holds(**EVERYTHING)
    apply_after(lab, "teams: { new: { title: new }, ops: { title: Operations, id: ops } }", "teams")
    order = [(method, path.removeprefix("/v1")) for method, path, _ in lab.server.app.requests]
    delete = order.index(("DELETE", f"{ORG}/teams/sales"))
    others = [index for index, (method, _) in enumerate(order) if method not in ("GET", "DELETE")]
    own = order.index(("GET", f"{ORG}/teams/sales/members"))
    roles = [
        index for index, (method, path) in enumerate(order[:delete]) if path.endswith("/permissions/teams")
    ]
    assert len(others) == 2
    assert max(others) < min(roles) <= max(roles) < own < delete


# How much is read.

MANY = 120


def reads(lab: Lab, ending: str = "") -> int:
    return sum(method == "GET" and path.endswith(ending) for method, path, _ in lab.server.app.requests)


def test_space_deletes_share_list_reads(lab: Lab) -> None:
    keys = [f"s{number}" for number in range(MANY)]
    shown = [{**named("docs", basename="docs")[0], "structure": [section("aa", *keys)]}]
    lab.holds(spaces=named(*keys, "xx"), sites=shown)
    report = apply_after(lab, "spaces: { xx: { title: xx } }", "spaces")
    assert report.count("done") == MANY
    batches = -(-MANY // delete_checks.READ_INTERVAL)
    assert reads(lab, "/structure") == batches
    assert reads(lab, "/redirects") == batches
    assert reads(lab) <= 12 * batches


def test_each_team_delete_needs_one_extra_read(lab: Lab) -> None:
    titles = [f"t{number}" for number in range(MANY)]
    lab.holds(teams=named(*titles), spaces=named("xx"))
    report = apply_after(lab, "teams: {}", "teams")
    assert report.count("done") == MANY
    assert reads(lab, "/members") == MANY
    assert reads(lab) <= MANY + 12 * -(-MANY // delete_checks.READ_INTERVAL)


def test_member_deletes_with_many_lists_read_less_often(lab: Lab) -> None:
    members = [f"m{number}" for number in range(MANY)]
    world = {
        "users": [
            {"id": name, "displayName": name, "email": f"{name}@acme.example"} for name in ["ada", *members]
        ],
        "tokens": {"token": "ada"},
        "organizations": [
            {
                "id": "acme",
                "title": "Acme",
                "members": [{"user": "ada", "role": "admin"}, *({"user": name} for name in members)],
                "spaces": named(*(f"s{number}" for number in range(70))),
            }
        ],
    }
    lab.server.reset(world)
    report = apply_after(lab, "members: { ada@acme.example: admin }", "members")
    assert report.count("done") == MANY
    assert reads(lab) <= 2 * MANY


def test_apply_without_deletes_runs_no_delete_checks(lab: Lab) -> None:
    lab.holds(**EVERYTHING)
    apply_after(lab, "teams: { new: { title: new } }", "spaces")
    assert reads(lab, "/structure") == reads(lab, "/members") == 0
