"""The space that a translation makes has no entry: its access is declared with the translation."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dpsync.api import Options, Session, import_
from dpsync.importing.files import CachingClient
from dpsync.kinds.registry import build_registry
from dpsync.model.drift import Drift
from dpsync.model.journal import Report
from dpsync.server.process.threaded_server import ThreadedServer
from tests.by_hand import by_hand
from tests.direct import reading, writing
from tests.planner.lab import Lab

REGISTRY = build_registry()
ACCESS = "acme/translations/guides-fr/access"
FILES = """
members: {{ ada@acme.example: admin, lin@acme.example: create }}
spaces: {{ guides: {{ title: Guides }} }}
translations:
  guides-fr: {{ source: {{ space: guides, language: en }}, language: fr{access} }}
"""


class Acme(Lab):
    """The built-in world, whose one translation has not been run."""

    def run(self) -> str:
        """Run the translation and return the id of the space that it creates."""
        by_hand(self.server, "POST", "/orgs/acme/translations/guides-fr/run")
        self.server.wait_for_jobs()
        made = by_hand(self.server, "GET", "/orgs/acme/translations")["items"][0]["result"]["space"]
        assert isinstance(made, str)
        return made

    def space(self, id: str) -> Any:
        return by_hand(self.server, "GET", f"/spaces/{id}")

    def with_access(self, access: str, policy: str = "{}") -> Session:
        return self.session(FILES.format(access=f", access: {access}" if access else ""), policy)

    def drifted(self, session: Session, **how: bool) -> Drift:
        with reading(self.server, "ada-token") as client:
            return session.drift(client, **how)

    def carried_out(self, session: Session) -> Report:
        with writing(self.server, "ada-token") as client:
            return session.apply(client, session.plan(client, Options()))


@pytest.fixture
def acme(server: ThreadedServer, tmp_path: Path) -> Acme:
    server.reset()
    return Acme(server, tmp_path)


def test_translation_access_is_applied_to_translated_space(acme: Acme) -> None:
    made = acme.run()
    session = acme.with_access(
        "{ defaultLevel: read, mergeRules: { type: none },"
        " permissions: { members: { lin@acme.example: edit } } }"
    )
    report = acme.carried_out(session)
    assert report.converged, report.remaining
    found = acme.space(made)
    assert (found["defaultLevel"], found["mergeRules"]) == ("read", {"type": "none"})
    given = by_hand(acme.server, "GET", f"/spaces/{made}/permissions/users")["items"]
    assert [(one["user"]["id"], one["permission"]) for one in given] == [("lin", "edit")]
    assert acme.drifted(session).found == ()


def test_drift_reports_opened_access_of_translated_space(acme: Acme) -> None:
    made = acme.run()
    session = acme.with_access(
        "{ defaultLevel: read }", "{ watch: ['translations/*/access/permissions/members'] }"
    )
    acme.carried_out(session)
    by_hand(acme.server, "PATCH", f"/spaces/{made}", {"defaultLevel": "admin"})
    by_hand(acme.server, "POST", f"/spaces/{made}/permissions", {"users": ["lin"], "role": "admin"})
    found = acme.drifted(session, everything=True).found
    assert [(item.address, [part.field for part in item.fields]) for item in found] == [
        (ACCESS, ["defaultLevel"]),
        (f"{ACCESS}/permissions/members/[lin@acme.example]", []),
    ]


def test_drift_lists_undeclared_translation_access_as_unwatched(acme: Acme) -> None:
    acme.run()
    lines = acme.drifted(acme.with_access(""), unwatched=True).unwatched_lines
    assert ("access: { defaultLevel: … }") in [line.line for line in lines if line.address == ACCESS]


def test_translation_access_is_blocked_until_space_exists(acme: Acme) -> None:
    session = acme.with_access("{ defaultLevel: read, permissions: { members: { lin@acme.example: edit } } }")
    report = acme.carried_out(session)
    assert report.remaining is not None
    assert {item.address for item in report.remaining.blocked} == {
        ACCESS, f"{ACCESS}/permissions/members/lin@acme.example",
    }  # fmt: skip
    reasons = {item.reason for item in report.remaining.blocked}
    assert "the space of acme/translations/guides-fr does not exist yet" in reasons
    made = acme.run()
    assert acme.carried_out(session).converged
    assert acme.space(made)["defaultLevel"] == "read"


def test_translation_deletion_does_not_cascade_to_permissions(acme: Acme) -> None:
    """The platform keeps that space."""
    made = acme.run()
    access = "{ defaultLevel: read, permissions: { members: { lin@acme.example: edit } } }"
    policy = "{ prune: [translations], limits: { percent: 100 } }"
    acme.carried_out(acme.with_access(access))
    session = acme.session("translations: {}\nspaces: { guides: { title: Guides } }", policy)
    with writing(acme.server, "ada-token") as client:
        planned = session.plan(client, Options(("delete acme/translations/[fr]",)))
        assert planned.plan.refusals == (), [item.way_out for item in planned.plan.refusals]
        assert [(one.address, one.effects) for one in planned.plan.changes] == [
            ("acme/translations/[fr]", ())
        ]
        assert session.apply(client, planned).converged
    assert acme.space(made)["defaultLevel"] == "read"


def test_import_writes_and_watches_translation_access(acme: Acme) -> None:
    made = acme.run()
    by_hand(acme.server, "PATCH", f"/spaces/{made}", {"defaultLevel": "edit"})
    by_hand(acme.server, "POST", f"/spaces/{made}/permissions", {"teams": ["sales"], "role": "read"})
    with CachingClient(acme.server.url, "ada-token") as client:
        imported = import_(client, REGISTRY, ["acme"])
    assert imported.proven, imported.problems
    text = imported.made.files["acme/translations.yaml"].decode()
    assert "defaultLevel: edit" in text
    assert "teams: { sales: read }" in text
    assert "    - access\n" in imported.made.files["dpsync.yaml"].decode()
