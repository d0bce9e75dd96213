"""Declare spaces (`Kind`): fields and requests.

Move requests change the collection of a space and its position in the collection.
Output: a `Kind`, from which dpsync derives the file schema, the comparison with GitBook, and the requests.
"""

from dpsync.kinds.kind import Delete, EntryMapping, Field, Kind, Lifecycle, ListRead, Patch, Post, Restore
from dpsync.kinds.shared.fields import LANGUAGE, SPACE_ACCESS, SPACE_SYNC, STYLEGUIDE_ITEMS
from dpsync.kinds.types import Enum, Reference, Text

SPACE = Kind(
    name="space", parent="organization", key="spaces", shape=EntryMapping(), url_path="/spaces/{id}",
    read=ListRead("{parent}/spaces"), changed_at_path="updatedAt", natural_keys=("title",),
    tie_breakers=("collection", "language"),
    create=Post("{parent}/spaces", {"...": "$fields", "empty": True}, repeat="look_up"),
    update=Patch("{self}", repeat="safe"), delete=Delete(repeat="safe"), has_content=True,
    git_sync=SPACE_SYNC, page_tree_path="{self}/content/pages", foreign_items=STYLEGUIDE_ITEMS,
    owner_list=ListRead("{parent}/sites?space={id}"),
    lifecycle=Lifecycle(
        transfer=Post("{self}/transfer", {"organization": "$organization"}, repeat="safe"),
        # It is in no site then.
        restore=Restore(Post("{self}/restore", None, repeat="look_up"), deleted_path="deletedAt", days=7),
    ),
    fields=(
        Field("title", Text(1, 50), required=True),
        Field(
            "collection", Reference.to("collection"), read_path="parent", write_name="parent",
            null_effect="clear", can_widen_access=True, access_meaning="inside",
            own_call=Post("{self}/move", {"parent": "$value"}, repeat="safe"),
        ),
        Field("emoji", Text(1, 50), null_effect="clear", mutually_exclusive_with="icon"),
        # Written as `icon`, read as `urls.icon`, where the platform may answer with a URL of its own.
        Field(
            "icon", Text(1, 2048, format="url"), written_in="update", read_path="urls.icon",
            null_effect="clear", mutually_exclusive_with="emoji",
        ),
        Field("editMode", Enum(("live", "locked")), platform_default="live", widens_when=("locked", "live")),
        Field("language", LANGUAGE), *SPACE_ACCESS,
    ),
)  # fmt: skip
