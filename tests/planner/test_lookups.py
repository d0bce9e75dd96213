"""People who are named without being declared: found by their address among the members."""

from __future__ import annotations

from typing import Any

from tests.by_hand import by_hand

from .lab import Lab, world


def test_email_of_two_members_matches_first_listed_member(lab: Lab) -> None:
    """Which one is meant must not change from run to run.

    Otherwise, what is live is named as if it were still to be made.
    Otherwise, of two people with one address another one is meant than the list says first.
    """
    members = [{"user": "ada", "role": "admin"}, *({"user": name, "role": "read"} for name in ("bo", "bo2"))]
    people: dict[str, Any] = world(members=members, teams=[{"id": "t", "title": "T"}])
    people["users"].append({"id": "bo2", "displayName": "bo2", "email": "BO@acme.example"})
    lab.server.reset(people)
    listed = by_hand(lab.server, "GET", "/orgs/acme/members", token="token")["items"]
    first, _ = (item["user"]["id"] for item in listed if item["user"]["id"] != "ada")

    (change,) = lab.plan("teams: { t: { title: T, members: { bo@acme.example: member } } }").changes

    assert change.steps[0].path == f"/orgs/acme/teams/t/members/{first}"
