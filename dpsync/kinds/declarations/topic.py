"""Declare the topics of a site (`Kind`): subjects of readers' questions that GitBook finds.

Topics cannot be created or deleted. An entry in the files only says how the AI agents use a topic.
Output: a `Kind`, from which dpsync derives the file schema, the comparison with GitBook, and the requests.
"""

from dpsync.kinds.kind import EntryMapping, Field, Kind, ListRead, ManualStep, Patch
from dpsync.kinds.types import Flag, Object, Text

TOPIC = Kind(
    name="topic",
    parent="site",
    key="topics",
    shape=EntryMapping(),
    url_path="{parent}/topics/{id}",
    read=ListRead("{parent}/topics", is_unpaged=True),
    changed_at_path="updatedAt",
    natural_keys=("label",),  # not unique on the platform
    title_field="label",
    create=ManualStep("wait until GitBook creates the topic {key}, because the API cannot create topics"),
    update=Patch("{self}", repeat="safe"),
    fields=(
        Field("label", Text(1), written_in="create", required=True),
        Field(
            "usageSettings",
            Object({"changeRequests": Flag()}, ("changeRequests",)),
            written_in="update",
            in_responses="always",
            platform_default={"changeRequests": False},
            widens_when=({"changeRequests": False}, {"changeRequests": True}),
        ),
    ),
)
