"""Where the key of an entry is the thing's own name, `previously` is the old key."""

from __future__ import annotations

from typing import Any

import pytest

from tests.by_hand import by_hand

from .past import Project
from .test_git_base import did


@pytest.fixture
def site(project: Project) -> Project:
    project.holds(sites=[{"id": "docs", "title": "Docs", "basename": "docs"}])
    send(project, "POST", "redirects", {"source": "/old", **elsewhere("https://acme.example/a")})
    return project


def elsewhere(url: str) -> dict[str, Any]:
    return {"destination": {"kind": "external", "url": url}}


def send(project: Project, method: str, path: str, body: Any = None) -> Any:
    return by_hand(project.server, method, f"/orgs/acme/sites/docs/{path}", body, token="token")


def redirects(project: Project) -> dict[str, str]:
    return {item["id"]: item["source"] for item in send(project, "GET", "redirects")["items"]}


TEXT = """
sites:
  docs:
    title: Docs
    redirects:
      /new: { previously: /old, destination: { kind: external, url: "https://acme.example/a" } }
"""


def test_redirect_rename_is_matched_by_previously(site: Project) -> None:
    (before,) = redirects(site)
    assert did(site.write(TEXT).plan()) == {"acme/sites/docs/redirects//new": "update"}
    site.converges()
    assert redirects(site) == {before: "/new"}
    assert site.plan().empty


def test_redirect_rename_without_previously_creates_redirect(site: Project) -> None:
    plan = site.write(TEXT.replace("previously: /old, ", "")).plan()
    assert did(plan) == {"acme/sites/docs/redirects//new": "create"}
