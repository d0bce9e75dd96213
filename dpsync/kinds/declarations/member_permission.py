"""Declare the roles of members in one space, collection or site."""

from dpsync.kinds.kind import Delete, Entries, Field, Kind, Pages, Patch, Post
from dpsync.kinds.shared.fields import GIVEN_ROLE
from dpsync.kinds.types import Reference

MEMBER_PERMISSION = Kind(
    name="member_permission",
    parent=("space", "translation_access", "collection", "site"),
    key="permissions.members",
    label="member permission",
    shape=Entries(natural="user"),
    at="{parent}/permissions/users/{id}",
    id="user.id",
    own_id=False,
    read=Pages("{parent}/permissions/users"),
    identity=("user",),
    title="user",
    title_at="user.email",
    create=Post("{parent}/permissions", {"users": ["$user"], "role": "$role"}, gives="$user", repeat="safe"),
    update=Patch("{self}", repeat="safe"),
    delete=Delete(repeat="safe"),
    shorthand="role",
    security=True,
    fields=(
        Field("user", Reference.to("member"), on="neither", read="user.id", access="who"),
        GIVEN_ROLE,
    ),
)
