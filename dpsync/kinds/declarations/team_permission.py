"""Declare the roles of teams in one space, collection or site."""

from dpsync.kinds.kind import Delete, Entries, Field, Kind, Pages, Patch, Post
from dpsync.kinds.shared.fields import GIVEN_ROLE
from dpsync.kinds.types import Reference

TEAM_PERMISSION = Kind(
    name="team_permission",
    parent=("space", "translation_access", "collection", "site"),
    key="permissions.teams",
    label="team permission",
    shape=Entries(natural="team"),
    at="{parent}/permissions/teams/{id}",
    id="team.id",
    own_id=False,
    read=Pages("{parent}/permissions/teams"),
    identity=("team",),
    title="team",
    title_at="team.title",
    create=Post("{parent}/permissions", {"teams": ["$team"], "role": "$role"}, gives="$team", repeat="safe"),
    update=Patch("{self}", repeat="safe"),
    delete=Delete(repeat="safe"),
    shorthand="role",
    security=True,
    fields=(
        Field("team", Reference.to("team"), on="neither", read="team.id", access="who"),
        GIVEN_ROLE,
    ),
)
