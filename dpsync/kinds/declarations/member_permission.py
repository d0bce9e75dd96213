"""Declare the roles of single members in one space, collection or site (`Kind`): fields and requests.

Output: a `Kind`, from which dpsync derives the file schema, the comparison with GitBook, and the requests.
"""

from dpsync.kinds.kind import Delete, EntryMapping, Field, Kind, ListRead, Patch, Post
from dpsync.kinds.shared.fields import REQUIRED_ROLE
from dpsync.kinds.types import Reference

MEMBER_PERMISSION = Kind(
    name="member_permission",
    parent=("space", "translation_access", "collection", "site"),
    key="permissions.members",
    label="member permission",
    shape=EntryMapping(key_field="user"),
    url_path="{parent}/permissions/users/{id}",
    id_path="user.id",
    has_unique_id=False,
    read=ListRead("{parent}/permissions/users"),
    natural_keys=("user",),
    title_field="user",
    referenced_title_path="user.email",
    create=Post(
        "{parent}/permissions", {"users": ["$user"], "role": "$role"}, id_source="$user", repeat="safe"
    ),
    update=Patch("{self}", repeat="safe"),
    delete=Delete(repeat="safe"),
    shorthand_field="role",
    creation_widens_access=True,
    fields=(
        Field(
            "user", Reference.to("member"), written_in="neither", read_path="user.id", access_meaning="who"
        ),
        REQUIRED_ROLE,
    ),
)
