"""What a plan on `published` says about access, read from a companion, in every output."""

from __future__ import annotations

from html import unescape
from pathlib import Path
from typing import Any

import pytest

from dpsync.kinds.registry import build_registry
from dpsync.model.change import Exposure
from dpsync.model.plan import Plan
from dpsync.render.formats import FORMATS, render
from dpsync.render.json_conversion import plan_document
from dpsync.render.paint import Paint
from dpsync.render.plan_words import missing_access_lists_text
from dpsync.render.view_text import render_plan
from dpsync.server.process.threaded_server import ThreadedServer

from .lab import Lab, section, site, spaces

ALL_LISTS = "{ prune: [sites/*/permissions/*, spaces/*/permissions/*] }"
NO_LIMITS = "limits: { deletes: 50, percent: 100 }"
MEMBERS = "members: { ada@acme.example: admin, bo@acme.example: create, cy@acme.example: read }"
SPACES = "spaces: { en: { title: Space en }, fr: { title: Space fr } }"
TEAMS = "teams: { writers: { title: Writers, members: { bo@acme.example: member } } }"


@pytest.fixture
def lab(published_server: ThreadedServer, tmp_path: Path) -> Lab:
    return Lab(published_server, tmp_path, build_registry("published"))


def holds(lab: Lab, *shown: str, **permissions: Any) -> Lab:
    """Two spaces, some of them shown on a site with these permissions, and a team with one member."""
    return lab.holds(
        spaces=spaces("en", "fr", defaultLevel="inherit"),
        sites=[site(section("one", *shown), permissions=permissions)],
        teams=[{"id": "writers", "title": "Writers", "members": [{"user": "bo", "role": "member"}]}],
    )


def declared(*shown: str, permissions: str = "{ members: {}, teams: {} }", **more: str) -> str:
    """Return the configuration that declares the same organization."""
    nodes = ", ".join(f"{{ type: space, key: {key}, space: {key}, path: {key} }}" for key in shown)
    return "\n".join(
        [
            more.get("members", MEMBERS),
            more.get("spaces", SPACES),
            more.get("teams", TEAMS),
            "sites:",
            f"  docs: {{ title: Docs, permissions: {permissions}, structure: [{{ type: section, key: one, "
            f"title: Section one, path: one, children: [{nodes}] }}] }}",
        ]
    )


def exposures(lab: Lab, body: str, policy: str = "{}") -> dict[str, str]:
    return {item.address: item.words for item in lab.plan(body, policy).exposures}


def test_output_formats_name_members_gaining_access(lab: Lab) -> None:
    holds(lab, "en", users={"bo": "comment", "cy": "edit"})
    roles = "{ members: { bo@acme.example: comment, cy@acme.example: edit }, teams: {} }"
    lists = "{ permissions: { members: {}, teams: {} }, title: Space"
    listed = f"spaces: {{ en: {lists} en }}, fr: {lists} fr }} }}"
    plan = lab.plan(declared("en", "fr", permissions=roles, spaces=listed), ALL_LISTS)
    words = "cy@acme.example: read → edit on acme/spaces/fr"
    assert [(item.address, item.words) for item in plan.exposures] == [
        ("acme/sites/docs/structure/one/fr", words)
    ]
    for name in FORMATS:
        if name not in ("github", "codequality"):  # they have one line for each thing that needs a person
            text = unescape(render(plan_document(plan), name)).replace("\\u2192", "→")
            assert "read → edit on" in text, name  # some formats break up addresses, so that none is a link


def test_undeclared_space_permissions_make_exposure_uncertain(lab: Lab) -> None:
    holds(lab, "en", users={"cy": "edit"})
    roles = "{ members: { cy@acme.example: edit }, teams: {} }"
    assert exposures(lab, declared("en", "fr", permissions=roles), ALL_LISTS) == {
        "acme/sites/docs/structure/one/fr": "may open acme/spaces/fr to cy@acme.example"
    }


def test_plan_lists_missing_permissions_once(lab: Lab) -> None:
    """Otherwise, each line repeats the reason, and nothing says what to write."""
    holds(lab, "en", users={"cy": "edit"})
    roles = "{ members: { cy@acme.example: edit }, teams: {} }"
    text = render_plan(lab.plan(declared("en", "fr", permissions=roles), ALL_LISTS), Paint(on=False))
    assert text.splitlines()[-2:-1] == [
        "To see who gains access, add to your files: the permissions of acme/spaces/fr (if empty: "
        "permissions: { members: {}, teams: {} }. Empty lists need policy: watch: access)"
    ]


def test_plan_names_all_missing_permissions() -> None:
    """A person copies the names. Otherwise, the next plan names the lists that this plan left out."""
    missing = tuple(f"the permissions of acme/spaces/s{number}" for number in range(5))
    exposure = Exposure(address="acme/members/bo", words="may open more objects to bo", missing=missing)
    text = missing_access_lists_text(Plan(exposures=(exposure,)))
    assert "the permissions of " + ", ".join(f"acme/spaces/s{number}" for number in range(5)) + " (" in text


def test_empty_declared_permissions_make_exposure_certain(lab: Lab) -> None:
    """The plan proposes to write these empty lists."""
    holds(lab, "en")
    empty = "{ permissions: { members: {}, teams: {} }, title: Space"
    spaces = f"spaces: {{ en: {{ title: Space en }}, fr: {empty} fr }} }}"
    plan = lab.plan(declared("en", "fr", spaces=spaces), "{ watch: access }")
    assert [one.missing for one in plan.exposures] == []


def test_site_deletion_exposure_is_listed(lab: Lab) -> None:
    """The permissions of an undeclared site are read before it is deleted, so that the plan can tell."""
    holds(lab, "en", users={"bo": "comment"})
    body = "\n".join([MEMBERS, SPACES, TEAMS, "sites: {}"])
    assert exposures(lab, body, f"{{ prune: [sites], {NO_LIMITS} }}") == {
        "acme/sites/[Docs]": "may open acme/spaces/en to bo@acme.example"
    }


def test_team_deletion_exposure_is_listed(lab: Lab) -> None:
    """All permissions of a team are read before it is deleted, also on sites that declare none."""
    holds(lab, "en", teams={"writers": "comment"})
    body = declared("en", teams="teams: {}").replace("permissions: { members: {}, teams: {} }, ", "")
    found = exposures(lab, body, f"{{ prune: [teams], {NO_LIMITS} }}")
    assert list(found) == ["acme/teams/[Writers]"]
    assert found["acme/teams/[Writers]"].startswith(
        "may open acme/sites/docs, acme/spaces/en to bo@acme.example"
    )


@pytest.mark.parametrize("shown", [("en",), ("en", "fr")], ids=["unchanged", "linked"])
def test_access_exposures_need_no_extra_requests(lab: Lab, shown: tuple[str, ...]) -> None:
    holds(lab, "en", users={"cy": "edit"})
    roles = "{ members: { cy@acme.example: edit }, teams: {} }"
    lab.server.app.requests.clear()
    lab.plan(declared(*shown, permissions=roles), ALL_LISTS)
    lists = [path for _, path, _ in lab.server.app.requests if "/permissions" in path]
    assert len(lists) == 2
