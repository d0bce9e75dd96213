"""Declare the members of a team, with their roles (`Kind`). The key of an entry is the e-mail address.

Output: a `Kind`, from which dpsync derives the file schema, the comparison with GitBook, and the requests.
"""

from dpsync.kinds.kind import Delete, EntryMapping, Field, Kind, LastHolderGuard, ListRead, Put
from dpsync.kinds.types import Enum, Reference

TEAM_MEMBER = Kind(
    name="team_member",
    parent="team",
    key="members",
    delete_noun="membership",  # no person is deleted with it
    shape=EntryMapping(key_field="user"),
    url_path="{parent}/members/{id}",
    id_path="organization.user.id",
    has_unique_id=False,
    read=ListRead("{parent}/members"),
    natural_keys=("user",),
    title_field="user",
    referenced_title_path="organization.user.email",
    create=Put("{parent}/members/{user}", id_source="$user", repeat="safe"),
    update=Put("{self}", repeat="safe"),
    delete=Delete(repeat="safe"),
    shorthand_field="role",
    guard=LastHolderGuard("role", "owner"),
    creation_widens_access=True,
    fields=(
        Field(
            "user",
            Reference.to("member"),
            written_in="neither",
            read_path="organization.user.id",
            access_meaning="who",
        ),
        Field(
            "role",
            Enum(("owner", "member")),
            read_path="team.role",
            value_when_absent="member",
            required=True,
            can_widen_access=True,
            widens_when=("member", "owner"),
        ),
    ),
)
