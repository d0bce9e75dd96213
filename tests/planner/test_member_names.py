"""Plans and drift show a member by e-mail and a team by title, whether or not the list of members is read."""

from __future__ import annotations

import pytest

from tests.direct import reading

from .lab import Lab, spaces

WATCH = "{ watch: [spaces/*/permissions/members, spaces/*/permissions/teams, teams/*/members] }"
PRUNE = WATCH.replace("watch", "prune")
ROLES = {"users": {"cy": "read"}, "teams": {"writers": "edit"}}
MEMBERS = "members: { ada@acme.example: admin, bo@acme.example: create, CY@acme.example: read }"
EMPTY = "{ members: {}, teams: {} }"
EMAIL, TEAM = "[cy@acme.example]", "[Technical writers]"


def lab_with_roles(lab: Lab) -> Lab:
    team = {"id": "writers", "title": "Technical writers", "members": [{"user": "cy", "role": "owner"}]}
    return lab.holds(spaces=spaces("x", permissions=ROLES), teams=[team])


@pytest.mark.parametrize(
    "people",
    [
        pytest.param("", id="members-not-read"),
        pytest.param(
            "teams: { new: { title: New, members: { bo@acme.example: owner } } }", id="other-member-looked-up"
        ),
        pytest.param(
            "teams: { new: { title: New, members: { cy@acme.example: owner } } }", id="same-member-looked-up"
        ),
        pytest.param(MEMBERS, id="members-declared"),
    ],
)
def test_permission_address_ignores_declared_members(lab: Lab, people: str) -> None:
    """If the address differed between two plans, a `--confirm` answer for one would not match the other."""
    body = f"spaces: {{ x: {{ title: Space x, permissions: {EMPTY} }} }}\n{people}"
    plan = lab_with_roles(lab).plan(body, PRUNE)
    place = "acme/spaces/x/permissions"
    assert {change.address for change in plan.changes if change.action == "delete"} == {
        f"{place}/members/{EMAIL}", f"{place}/teams/{TEAM}",
    }  # fmt: skip


@pytest.mark.parametrize("people", ["", MEMBERS], ids=["members-not-read", "members-declared"])
def test_drift_address_of_undeclared_member_contains_email(lab: Lab, people: str) -> None:
    body = f"teams: {{ writers: {{ title: Technical writers, members: {{}} }} }}\n{people}"
    session = lab_with_roles(lab).session(body, WATCH)
    with reading(lab.server) as client:
        found = session.drift(client, everything=True).found
    assert [item.address for item in found] == [f"acme/teams/writers/members/{EMAIL}"]


@pytest.mark.parametrize("people", ["", MEMBERS], ids=["members-not-read", "members-declared"])
def test_access_gain_message_contains_member_email(lab: Lab, people: str) -> None:
    body = f"spaces: {{ x: {{ title: Space x, defaultLevel: create, permissions: {EMPTY} }} }}\n{people}"
    plan = lab_with_roles(lab).plan(body, PRUNE)
    texts = [exposure.words for exposure in plan.exposures]
    assert any("cy@acme.example" in text for text in texts), texts
    assert not any("the member cy" in text for text in texts)
