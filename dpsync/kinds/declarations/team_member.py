"""Declare the members of a team, with their roles. The key of an entry is the member's email."""

from dpsync.kinds.kind import Delete, Entries, Field, Guard, Kind, Pages, Put
from dpsync.kinds.types import Enum, Reference

TEAM_MEMBER = Kind(
    name="team_member",
    parent="team",
    key="members",
    delete_noun="membership",  # no person is deleted with it
    shape=Entries(natural="user"),
    at="{parent}/members/{id}",
    id="organization.user.id",
    own_id=False,
    read=Pages("{parent}/members"),
    identity=("user",),
    title="user",
    title_at="organization.user.email",
    create=Put("{parent}/members/{user}", gives="$user", repeat="safe"),
    update=Put("{self}", repeat="safe"),
    delete=Delete(repeat="safe"),
    shorthand="role",
    guard=Guard("role", "owner"),
    security=True,
    fields=(
        Field("user", Reference.to("member"), on="neither", read="organization.user.id", access="who"),
        Field(
            "role",
            Enum(("owner", "member")),
            read="team.role",
            absent="member",
            required=True,
            security=True,
            raised=("member", "owner"),
        ),
    ),
)
