"""A server with the documented operations alone: other operations are used, or the reason is told."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from dpsync.api import Session
from dpsync.kinds.kind import Kind
from dpsync.kinds.registry import Registry, build_registry
from dpsync.model.journal import Report
from dpsync.model.plan import Plan
from dpsync.server.http.app import build_companion
from dpsync.server.process.threaded_server import ThreadedServer
from dpsync.server.store import open_store
from tests.direct import reading

from .lab import Lab, group, section, site, spaces

REFERENCE = build_registry("reference")


class Documented(Lab):
    """A lab whose platform has the documented operations alone."""

    def session(self, body: str, policy: str = "{}") -> Session:
        return Session(replace(super().session(body, policy).desired, profile="reference"), REFERENCE)

    def requests(self) -> list[tuple[str, str, int]]:
        return self.server.run_in_server(lambda: list(self.server.app.requests))


@pytest.fixture(scope="module")
def server() -> Iterator[ThreadedServer]:
    app = build_companion(open_store(":memory:"), profile="reference", check_responses=True)
    with ThreadedServer(app) as running:
        yield running
        assert running.app.violations == []


@pytest.fixture
def documented(server: ThreadedServer, tmp_path: Path) -> Documented:
    return Documented(server, tmp_path)


def reasons(plan: Plan) -> dict[str, str]:
    return {item.address: item.reason for item in plan.blocked}


EVERYTHING = """
members: { ada@acme.example: admin }
spaces:
  a: { title: Space a, permissions: { members: { ada@acme.example: admin } } }
  made: { title: Made }
glossary:
  shop: { en: shop }
integrations:
  chat: {}
sites:
  docs:
    title: Docs
    basename: docs
    published: true
    defaultLevel: read
    customization: { title: The docs }
    redirects: { /old: { destination: { kind: external, url: "https://acme.example" } } }
    shareLinks: { partners: {} }
    visitorAuth: { backend: custom }
    structure:
      - { type: section, key: k, title: Section k, path: k, draft: true,
          children: [{ type: space, key: a, space: a, path: a, customization: { title: A } }] }
      - { type: external-link, key: status, title: Status, url: "https://status.acme.example" }
      - { type: section-group, key: h, title: Group h, children: [
          { type: section-group, key: g, title: Group g } ] }
"""


def test_unsupported_operations_are_blocked_with_reason(documented: Documented) -> None:
    documented.holds(
        spaces=spaces("a"), sites=[site(section("k", "a"), group("g"), group("h"), published=False)]
    )

    plan = documented.plan(EVERYTHING)

    no = "the API version reference has no operation for"
    docs = "acme/sites/docs"
    assert reasons(plan) == {
        "acme/glossary/shop": f"{no} reading a glossary term",
        "acme/integrations/chat": f"{no} reading an integration",
        "acme/spaces/a/permissions/members/ada@acme.example": f"{no} reading a member permission",
        "acme/spaces/made": f"{no} creating a space",
        f"{docs}#published": f"{no} setting published to true",
        f"{docs}#defaultLevel": f"{no} setting defaultLevel to read",
        f"{docs}/customization": f"{no} reading a customization",
        f"{docs}/redirects//old": f"{no} reading a redirect",
        f"{docs}/shareLinks/partners": f"{no} reading a share link",
        f"{docs}/structure/g#group": f"{no} setting group to {docs}/structure/h",
        f"{docs}/structure/k#draft": f"{no} setting draft to true",
        f"{docs}/structure/k/a/customization": f"{no} reading a customization of a site space",
        f"{docs}/structure/status": f"{no} reading an external link",
        f"{docs}/visitorAuth": f"{no} reading a visitor access",
    }
    assert plan.empty
    assert plan.profile == "reference"


def test_section_group_order_is_unsupported_on_reference(documented: Documented) -> None:
    """Otherwise, what no request moves is moved all the same, and the apply fails halfway."""
    documented.holds(spaces=spaces("a"), sites=[site(section("k", "a"), group("g"), group("h"))])

    plan = documented.plan("""
        sites:
          docs:
            title: Docs
            structure:
              - { type: section-group, key: h, title: Group h }
              - { type: section-group, key: g, title: Group g }
    """)

    (blocked,) = plan.blocked
    assert blocked.reason == "the API version reference has no operation for moving a section group"
    assert blocked.address in ("acme/sites/docs/structure/g", "acme/sites/docs/structure/h")
    assert plan.empty


def test_unmovable_child_blocks_section_group_deletion(documented: Documented) -> None:
    """Otherwise, the plan shows the delete of a group that no request can empty; its apply ends as stale.

    Otherwise, the group around one that stays is deleted, and the platform lifts that out of it.
    """
    documented.holds(
        spaces=spaces("a"),
        sites=[site(section("k", "a"), group("x", group("h", group("g", section("m", "a")))))],
    )

    plan = documented.plan(
        """
        sites:
          docs:
            title: Docs
            structure:
              - { type: section-group, key: g, title: Group g }
        """,
        "{ prune: [sites/docs/structure] }",
    )

    stays = (
        "the plan would delete this object, but must first move acme/sites/docs/structure/g out of this "
        "object, and the API cannot do so"
    )
    found = reasons(plan)
    assert found["acme/sites/docs/structure/[Group h]"] == stays
    assert found["acme/sites/docs/structure/[Group x]"] == stays
    assert "acme/sites/docs/structure/g#group" in found
    assert not [x for x in plan.changes if x.action == "delete" and "Group" in x.address]


def test_sections_change_groups_on_reference_api_version(documented: Documented) -> None:
    """Otherwise, what has an order of its own counts as what no request moves."""
    documented.holds(
        spaces=spaces("a", "b"),
        sites=[site(section("k", "a"), section("l", "b"), group("g", section("m", "a"), section("n", "b")))],
    )
    documented.converges("""
        spaces: { a: { title: Space a }, b: { title: Space b } }
        sites:
          docs:
            title: Docs
            structure:
              - { type: section, key: m, title: Section m, path: m, children: [
                  { type: space, key: a, space: a, path: a } ] }
              - { type: section, key: l, title: Section l, path: l, children: [
                  { type: space, key: b, space: b, path: b } ] }
              - { type: section-group, key: g, title: Group g, children: [
                  { type: section, key: n, title: Section n, path: n, children: [
                      { type: space, key: b, space: b, path: b } ] },
                  { type: section, key: k, title: Section k, path: k, children: [
                      { type: space, key: a, space: a, path: a } ] } ] }
    """)

    site_ = "/orgs/acme/sites/docs"
    assert documented.writes == [
        f"DELETE {site_}/section-groups/g/sections/m",
        f"POST {site_}/section-groups/g/sections",
        f"POST {site_}/sections/m/move",
    ]


def test_admin_demotion_needs_confirmation_without_token_user(documented: Documented) -> None:
    """Otherwise, where nobody says whose token it is, its owner is removed without a question."""
    documented.holds(members=[{"user": name, "role": "admin"} for name in ("ada", "bo")])
    body = "members: { ada@acme.example: admin, bo@acme.example: read }"

    plan = documented.plan(body)

    assert [item.code for item in plan.refusals] == ["own-user"]
    assert "showing the user of the token" in plan.refusals[0].message
    report: Report = documented.converges(body, "{}", "not my own acme/members/bo@acme.example")
    assert report.writes == 1
    assert not [entry for entry in documented.requests() if entry[2] == 501]


def test_empty_unreadable_glossary_is_blocked(documented: Documented) -> None:
    documented.holds()
    plan = documented.plan("glossary: {}", "{ prune: [glossary] }")
    assert reasons(plan) == {
        "acme/glossary": "the API version reference has no operation for reading a glossary term"
    }


def test_unsupported_space_move_blocks_order(documented: Documented) -> None:
    there = [{"id": name, "title": f"Space {name}", "parent": "c"} for name in "ab"]
    documented.holds(collections=[{"id": "c", "title": "Shelf"}], spaces=there)
    body = "collections: { c: { title: Shelf, order: [b, a] } }\nspaces:\n" + "".join(
        f"  {name}: {{ title: Space {name}, collection: c }}\n" for name in "ab"
    )
    move = ("POST", "/spaces/{}/move")
    assert REFERENCE.profile.operations is not None
    still = replace(REFERENCE.profile, name="still", operations=REFERENCE.profile.operations - {move})
    desired = documented.session(body).desired

    def planned(registry: Registry) -> Plan:
        with reading(documented.server) as client:
            return Session(replace(desired, profile=registry.profile.name), registry).plan(client).plan

    assert [change.moved for change in planned(REFERENCE).changes] == ["before acme/spaces/a"]
    assert reasons(planned(Registry(REFERENCE.declared.values(), still))) == {
        "acme/spaces/b": "the API version still has no operation for moving a space"
    }


def test_reference_api_version_kinds_refer_to_available_kinds() -> None:
    for kind in REFERENCE.kinds.values():
        for item in kind.fields:
            assert {*item.type.referenced_kinds} <= {*REFERENCE.kinds}, f"{kind.name}.{item.name}"


OF_TODAY = {"agent_settings", "channel", "context_connection", "mcp_server", "topic"}
"""The kinds that only today's edition has; of the others, these fields."""
FIELDS_OF_TODAY = (("site", "styleguide"), ("space", "icon"))


def test_full_profile_omits_only_published_fields() -> None:
    full = build_registry()
    assert [*full.kinds] == [name for name in full.declared if name not in OF_TODAY]
    for name, kind in full.kinds.items():
        declared = full.declared[name]
        for word in set(Kind.__struct_fields__) - {"fields"}:
            assert getattr(kind, word) == getattr(declared, word)
        different = [one.name for one, was in zip(kind.fields, declared.fields, strict=True) if one != was]
        lacking = [field for of, field in FIELDS_OF_TODAY if of == name]
        assert (different, sorted(kind.unsupported_fields), kind.unsupported) == (
            lacking,
            lacking,
            frozenset(),
        )
