"""Lists that deletes rest on are read twice: whatever came or went in between, nothing is planned."""

from __future__ import annotations

from typing import Any

import pytest

from dpsync.api import Planned
from dpsync.client.client import ReadClient
from dpsync.client.transport import Request, Response
from dpsync.model.diagnostic import DiagnosticError
from tests import direct
from tests.agreed import agreed
from tests.by_hand import by_hand
from tests.properties.platform import Around

from .lab import Lab, section, site, spaces

TEAMS = [{"id": key, "title": key.title()} for key in ("a", "b")]
KEPT = "teams: { a: { id: a, title: A } }"


class Meanwhile(Around):
    """Somebody writes between the first and the second reading of a list."""

    def __init__(self, lab: Lab, path: str, *write: Any) -> None:
        super().__init__(direct.transport(lab.server))
        self.lab, self.path, self.write, self.readings = lab, path, write, 0

    def send(self, request: Request) -> Response:
        self.readings += request.path == self.path
        if request.path == self.path and self.readings == 2:
            by_hand(self.lab.server, *self.write, token="token")
        return self.inner.send(request)


def planned(lab: Lab, body: str, policy: str, path: str, *write: Any) -> Planned:
    with ReadClient(lab.server.url, "token", transport=Meanwhile(lab, path, *write)) as client:
        return agreed(lab.session(body, policy), client)


@pytest.mark.parametrize(
    "write",
    [
        ("PUT", "/orgs/acme/teams", {"title": "C"}),
        ("DELETE", "/orgs/acme/teams/a"),
        ("DELETE", "/orgs/acme/teams/b"),
    ],
)
def test_plan_fails_if_list_changes_between_reads(lab: Lab, write: tuple[Any, ...]) -> None:
    """Otherwise, what was deleted meanwhile is planned on.

    Otherwise, a list to which somebody is adding things is planned on.
    """
    lab.holds(teams=TEAMS)
    with pytest.raises(DiagnosticError, match="somebody is changing the objects"):
        planned(lab, KEPT, "{ prune: [teams] }", "/orgs/acme/teams", *write)


def test_plan_fails_if_navigation_changes_between_reads(lab: Lab) -> None:
    """Otherwise, a list to which somebody is adding things is planned on."""
    lab.holds(spaces=spaces("a", "b", "c"), sites=[site(section("one", "a"), section("two", "b"))])
    one = "{ type: section, key: one, title: Section one, path: one, children: [A] }"
    one = one.replace("[A]", "[{ type: space, key: a, space: { id: a }, path: a }]")
    body = f"sites: {{ docs: {{ id: docs, title: Docs, structure: [{one}] }} }}"
    new = {"title": "Three", "path": "three", "spaceId": "c"}
    with pytest.raises(DiagnosticError, match="somebody is changing the objects"):
        planned(
            lab, body, "{ prune: ['sites/*/structure'] }",
            "/orgs/acme/sites/docs/structure", "POST", "/orgs/acme/sites/docs/sections", new,
        )  # fmt: skip
