"""Declare the teams of an organization (`Kind`). Team members are a kind of their own (team_member).

Output: a `Kind`, from which dpsync derives the file schema, the comparison with GitBook, and the requests.
"""

from dpsync.kinds.kind import Delete, EntryMapping, Field, Kind, ListRead, Patch, Put
from dpsync.kinds.types import Text

TEAM = Kind(
    name="team",
    parent="organization",
    key="teams",
    shape=EntryMapping(),
    url_path="{parent}/teams/{id}",
    read=ListRead("{parent}/teams"),
    natural_keys=("title",),  # not unique on the platform: two of one title need pins
    create=Put("{parent}/teams", repeat="look_up"),  # makes a new team each time, although it is a PUT
    update=Patch("{self}", repeat="safe"),
    delete=Delete(repeat="safe"),
    has_content=True,
    can_be_empty=True,
    fields=(Field("title", Text(1, 64), required=True),),
)
