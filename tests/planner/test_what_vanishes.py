"""What a delete makes vanish was shown and counted: for each kind, against what the companion exports."""

from __future__ import annotations

import re

import pytest

from dpsync.kinds.kind import Call
from dpsync.model.plan import Plan

from .lab import REGISTRY, Lab
from .vanishing import EVERYTHING, things

DOCS = "sites: { docs: { title: docs, %s } }"
PEOPLE = "members: { ada@acme.example: admin%s }"
ALL = PEOPLE % ", bo@acme.example: create, cy@acme.example: read"


def section(key: str, *shown: str) -> str:
    children = ", ".join(
        f"{{ type: space, key: {key}, path: {key}, space: {{ id: {key} }} }}" for key in shown
    )
    return f"{{ type: section, key: {key}, title: {key}, path: {key}, children: [{children}] }}"


GROUP = f"{{ type: section-group, key: gg, title: gg, children: [{section('cc', 'zz')}] }}"
EMPTY = "{ type: section-group, key: ee, title: ee }"
LINK = "{ type: external-link, key: shop, title: shop, url: 'https://shop.example' }"


def structure(*nodes: str) -> str:
    return DOCS % f"structure: [{', '.join(nodes)}]"


AA, BB = section("aa", "xx", "yy"), section("bb", "yy")
CASES: dict[str, tuple[str, str]] = {
    "collection": ("collections: {}", "collections"),
    "external_link": (structure(AA, BB, GROUP, EMPTY), "sites/docs/structure"),
    "glossary_term": ("glossary: {}", "glossary"),
    "installation": ("integrations: {}", "integrations"),
    "installation_site": ("integrations: { bot: { sites: {} } }", "integrations/*/sites"),
    "installation_space": ("integrations: { bot: { spaces: {} } }", "integrations/*/spaces"),
    "member": (PEOPLE % "", "members"),
    "member_permission": (
        f"{ALL}\nspaces: {{ xx: {{ title: xx, permissions: {{ members: {{}} }} }} }}",
        "spaces/*/permissions/members",
    ),
    "openapi": ("openapi: {}", "openapi"),
    "published_integration": ("publishedIntegrations: {}", "publishedIntegrations"),
    "redirect": (DOCS % "redirects: {}", "sites/*/redirects"),
    "saml": ("saml: {}", "saml"),
    "section": (structure(AA, GROUP, EMPTY, LINK), "sites/docs/structure"),
    "section_group": (structure(AA, BB, GROUP, LINK), "sites/docs/structure"),
    "share_link": (DOCS % "shareLinks: {}", "sites/*/shareLinks"),
    "site": ("sites: {}", "sites"),
    "site_space": (structure(section("aa", "xx"), BB, GROUP, EMPTY, LINK), "sites/docs/structure"),
    "space": ("spaces: { zz: { title: zz } }", "spaces"),
    "team": ("teams: { ops: { title: ops } }", "teams"),
    "team_member": (
        f"{ALL}\nteams: {{ sales: {{ title: sales, members: {{ ada@acme.example: owner }} }} }}",
        "teams/*/members",
    ),
    "team_permission": (
        "teams: { sales: { title: sales }, ops: { title: ops } }\n"
        "spaces: { xx: { title: xx, permissions: { teams: {} } } }",
        "spaces/*/permissions/teams",
    ),
    "translation": ("translations: {}", "translations"),
}


def test_deletion_cases_include_every_deletable_kind() -> None:
    assert set(CASES) == {kind.name for kind in REGISTRY.in_dependency_order if isinstance(kind.delete, Call)}


def shown(plan: Plan, _counted: bool = True) -> list[str]:
    """Return what the plan says is deleted, in the export's words; with values if not `counted`."""
    gone = [change for change in plan.changes if change.action == "delete"]
    addresses = [change.address for change in gone]
    addresses += [one.address for change in gone for one in change.effects if one.counts or one.kind]
    return [plain(address) for address in addresses]


def plain(address: str) -> str:
    return re.sub(r"[\[\]]|@acme.example", "", address).replace("%2F", "/").removeprefix("acme/")


@pytest.mark.parametrize("kind", CASES)
def test_plan_counts_all_deleted_objects(kind: str, lab: Lab) -> None:
    body, place = CASES[kind]
    lab.holds(**EVERYTHING)
    policy = f"{{ prune: ['{place}'], limits: {{ deletes: 0 }} }}"
    count = lab.plan(body, policy).deletes
    plan = lab.plan(body, policy, f"delete {count}")
    assert plan.can_apply, plan.refusals
    assert {change.kind for change in plan.changes} >= {kind}
    before = things(lab.world())
    lab.apply(body, policy, f"delete {count}")
    vanished = before - things(lab.world())
    objects = {name for name in vanished if "#" not in name}
    assert sorted(name for name in shown(plan) if "#" not in name) == sorted(objects)
    # The values of a thing go with it. A value that names it may also stay, and mean nothing.
    assert {name for name in vanished - objects if name.partition("#")[0] not in objects} <= set(shown(plan))
    assert plan.deletes == count == len(objects)
