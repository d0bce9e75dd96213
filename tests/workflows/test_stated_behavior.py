"""Plan and apply converge with API behavior that the vendor documents outside the OpenAPI document.

The tests run over HTTP with the profile `published`. tests/server/test_stated_behavior.py tests the companion
itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from dpsync.api import Session, load
from dpsync.client.client import ReadClient, WriteClient
from dpsync.kinds.registry import build_registry as load_registry
from dpsync.model.diagnostic import DiagnosticError
from dpsync.model.journal import Report
from dpsync.model.plan import Plan
from dpsync.server.process.threaded_server import ThreadedServer
from tests.agreed import agreed
from tests.by_hand import by_hand
from tests.planner.lab import world

REGISTRY = load_registry("published")
SPACES = [{"id": name, "title": name.title()} for name in ("guides", "api", "news")]
DECLARED_SPACES = "spaces: { guides: { title: Guides }, api: { title: Api }, news: { title: News } }"
POLICY = "policy: { prune: [sites, sites/**], limits: { deletes: 99, percent: 100 } }"
SITE = "/orgs/acme/sites/docs"


@dataclass
class Project:
    """A project directory and a companion, connected over HTTP."""

    server: ThreadedServer
    directory: Path

    def session(self, body: str) -> Session:
        file = self.directory / "dpsync.yaml"
        head = f"dpsync: 1\n{POLICY}\norganizations:\n  acme:\n    id: acme\n"
        lines = f"{DECLARED_SPACES}\n{dedent(body).strip()}".splitlines()
        file.write_text(head + "".join(f"    {line}\n" for line in lines), encoding="utf-8")
        return Session(load(file, {}, REGISTRY), REGISTRY)

    def plan(self, body: str) -> Plan:
        with ReadClient(self.server.url, "token") as client:
            return agreed(self.session(body), client).plan

    def apply(self, body: str, token: str = "token") -> Report:
        session = self.session(body)
        with WriteClient(self.server.url, token) as client:
            return session.apply(client, agreed(session, client))

    def apply_and_converge(self, body: str) -> list[str]:
        """Apply, check that a new plan is empty, and return the writes.

        Pruning covers sites, so an empty plan also shows that no unmanaged object is left.
        """
        self.server.app.requests.clear()
        assert self.apply(body).converged
        requests = [(method, path) for method, path, _ in self.server.app.requests if method != "GET"]
        plan = self.plan(body)
        assert (plan.changes, plan.refusals, plan.notes) == ((), (), ())
        return [f"{method} {path.removeprefix(f'/v1{SITE}')}" for method, path in requests]

    def reset_platform(self, **organization: Any) -> None:
        whole = world(**{"spaces": SPACES, **organization})
        whole["tokens"]["token-of-bo"] = "bo"
        self.server.reset(whole)


@pytest.fixture
def project(published_server: ThreadedServer, tmp_path: Path) -> Project:
    made = Project(published_server, tmp_path)
    made.reset_platform()
    return made


def changes(plan: Plan) -> list[tuple[str, str]]:
    return [(change.action, change.address.removeprefix("acme/sites/docs")) for change in plan.changes]


DESCRIBED = """
    sites:
      docs:
        title: Docs
        structure:
          - type: section
            key: guides
            title: Guides
            description: Everything for beginners
            localizedTitle: { fr: Guides pratiques }
            localizedDescription: { fr: Pour débuter }
            children: [{ type: space, key: guides, space: guides }]
    """
FLAT = """
    sites:
      docs:
        title: Docs
        basename: docs
        type: site
        structure:
          - { type: space, key: guides, space: guides }
          - { type: space, key: api, space: api, default: true }
    """


NEWS = "          - { type: space, key: news, space: news }"


def test_new_section_gets_description_by_patch(project: Project) -> None:
    """A request that creates a section ignores its description and translations."""
    project.reset_platform(sites=[{"id": "docs", "title": "Docs"}])
    assert changes(project.plan(DESCRIBED)) == [
        ("create", "/structure/guides"), ("create", "/structure/guides/guides")
    ]  # fmt: skip
    writes = project.apply_and_converge(DESCRIBED)
    assert [write.split("/")[:2] for write in writes] == [["POST ", "sections"], ["PATCH ", "sections"]]


def live_sections(project: Project) -> list[tuple[str, list[str]]]:
    """Return the live sections of the site, each with its space ids."""
    (site,) = by_hand(project.server, "GET", "/orgs/acme/sites", token="token")["items"]
    nodes = by_hand(project.server, "GET", f"/orgs/acme/sites/{site['id']}/structure", token="token")
    return [
        (node["title"], [place["space"]["id"] for place in node["siteSpaces"]]) for node in nodes["structure"]
    ]


def test_spaces_of_site_without_sections_converge_after_apply(project: Project) -> None:
    """The platform wraps the spaces in an undeclared section, which pruning must not delete."""
    project.apply_and_converge(FLAT)
    assert live_sections(project) == [("Docs", ["guides", "api"])]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        pytest.param("title: Docs", "title: Handbook", ["guides", "api"], id="renamed site"),
        pytest.param(
            "space: guides }\n", f"space: guides }}\n{NEWS}\n", ["guides", "news", "api"], id="added space"
        ),
        pytest.param("- { type: space, key: guides, space: guides }", "", ["api"], id="removed space"),
        pytest.param("space: guides }", "space: guides, path: start }", ["guides", "api"], id="changed path"),
        pytest.param("key: api, space: api", "key: api, space: news", ["guides", "news"], id="another space"),
    ],
)
def test_edits_inside_automatic_section_converge(
    project: Project, old: str, new: str, expected: list[str]
) -> None:
    project.apply_and_converge(FLAT)
    assert old in FLAT
    project.apply_and_converge(FLAT.replace(old, new))
    assert live_sections(project) == [("Docs", expected)]


def test_automatic_section_created_in_gitbook_is_recognized(project: Project) -> None:
    """Somebody added the spaces in the application, and the files declare them without a section."""
    project.reset_platform(sites=[{"id": "docs", "title": "Docs", "type": "site"}])
    for space in ("guides", "api"):
        by_hand(project.server, "POST", f"{SITE}/site-spaces", {"spaceId": space}, token="token")
    assert changes(project.plan(FLAT)) == [("update", "/structure/api")]
    project.apply_and_converge(FLAT)
    assert live_sections(project) == [("Docs", ["guides", "api"])]


def test_declared_sections_replace_automatic_section(project: Project) -> None:
    """Like the vendor's skill: create the sections, then delete the wrapper section."""
    project.apply_and_converge(FLAT)
    project.apply_and_converge(DESCRIBED)
    assert live_sections(project) == [("Guides", ["guides"])]


REDIRECTED = """
    sites:
      docs:
        title: Docs
        redirects: { SOURCE: { destination: { kind: external, url: "https://new.example/" } } }
    """


def test_redirect_matches_live_source_regardless_of_case(project: Project) -> None:
    """The platform would refuse a second redirect, because published URLs are case-insensitive."""
    destination = {"kind": "external", "url": "https://new.example/"}
    redirects = [{"source": "/Install", "destination": destination}]
    project.reset_platform(sites=[{"id": "docs", "title": "Docs", "redirects": redirects}])
    for source in ("/Install", "/install", "/INSTALL"):
        assert project.apply_and_converge(REDIRECTED.replace("SOURCE", source)) == []
    (kept,) = by_hand(project.server, "GET", f"{SITE}/redirects", token="token")["items"]
    assert kept["source"] == "/Install"


def test_redirect_source_is_created_as_written(project: Project) -> None:
    project.reset_platform(sites=[{"id": "docs", "title": "Docs"}])
    assert project.apply_and_converge(REDIRECTED.replace("SOURCE", "/Install")) == ["POST /redirects"]
    (made,) = by_hand(project.server, "GET", f"{SITE}/redirects", token="token")["items"]
    assert made["source"] == "/Install"


def test_redirect_sources_differing_only_in_case_are_refused(project: Project) -> None:
    line = '{ destination: { kind: external, url: "https://new.example/" } }'
    body = f"sites:\n  docs:\n    title: Docs\n    redirects:\n      /Install: {line}\n      /install: {line}"
    with pytest.raises(DiagnosticError, match='"/Install" and "/install" are the same redirect'):
        project.session(body)


def test_customization_change_sends_whole_object(project: Project) -> None:
    """`PUT …/customization` requires the whole object."""
    project.reset_platform(sites=[{"id": "docs", "title": "Docs"}])
    body = """
        sites:
          docs:
            title: Docs
            customization: { styling: { primaryColor: { light: "#0E5BFF", dark: "#5B8CFF" } } }
        """
    before = by_hand(project.server, "GET", f"{SITE}/customization", token="token")
    assert project.apply_and_converge(body) == ["PUT /customization"]
    after = by_hand(project.server, "GET", f"{SITE}/customization", token="token")
    color = {"light": "#0E5BFF", "dark": "#5B8CFF"}
    assert after == {**before, "styling": {**before["styling"], "primaryColor": color}}


def test_forbidden_site_change_names_both_possible_reasons(project: Project) -> None:
    """403: the token's user may not, or the plan of the site is too small."""
    project.reset_platform(sites=[{"id": "docs", "title": "Docs"}])
    report = project.apply("sites: { docs: { title: Handbook, basename: docs } }", token="token-of-bo")
    (outcome,) = report.outcomes
    assert outcome.result == "failed"
    assert (
        "a token that may make this change, or check that the GitBook plan of the site includes this feature"
        in str(outcome.error)
    )
