"""Declare the roles of teams in one space, collection or site (`Kind`): fields and requests.

Output: a `Kind`, from which dpsync derives the file schema, the comparison with GitBook, and the requests.
"""

from dpsync.kinds.kind import Delete, EntryMapping, Field, Kind, ListRead, Patch, Post
from dpsync.kinds.shared.fields import REQUIRED_ROLE
from dpsync.kinds.types import Reference

TEAM_PERMISSION = Kind(
    name="team_permission",
    parent=("space", "translation_access", "collection", "site"),
    key="permissions.teams",
    label="team permission",
    shape=EntryMapping(key_field="team"),
    url_path="{parent}/permissions/teams/{id}",
    id_path="team.id",
    has_unique_id=False,
    read=ListRead("{parent}/permissions/teams"),
    natural_keys=("team",),
    title_field="team",
    referenced_title_path="team.title",
    create=Post(
        "{parent}/permissions", {"teams": ["$team"], "role": "$role"}, id_source="$team", repeat="safe"
    ),
    update=Patch("{self}", repeat="safe"),
    delete=Delete(repeat="safe"),
    shorthand_field="role",
    creation_widens_access=True,
    fields=(
        Field("team", Reference.to("team"), written_in="neither", read_path="team.id", access_meaning="who"),
        REQUIRED_ROLE,
    ),
)
