"""Spaces hold content. Their place in a collection and their position in it are changed by moving."""

from dpsync.kinds.base import Delete, Entries, Field, Kind, Order, Pages, Patch, Post
from dpsync.kinds.roles import LEVEL, MERGE_RULES
from dpsync.kinds.types import Enum, Reference, Text

LANGUAGES = (
    "en", "fr", "de", "es", "it", "pt", "pt-br", "ru", "ja", "zh", "zh-tw", "yue", "ko", "ar", "hi", "nl",
    "pl", "tr", "sv", "no", "da", "fi", "el", "cs", "hu", "ro", "th", "vi", "id", "ms", "he", "uk", "sk",
    "bg", "hr", "lt", "lv", "et", "sl",
)  # fmt: skip
SPACE = Kind(
    name="space",
    parent="organization",
    key="spaces",
    shape=Entries(),
    at="/spaces/{id}",
    read=Pages("{parent}/spaces"),
    identity=("title",),
    near=("collection", "language"),
    create=Post("{parent}/spaces", {"...": "$fields", "empty": True}),
    update=Patch("{self}"),
    delete=Delete(),
    order=Order(
        Post("{self}/move", {"position": "$position"}),
        pointer={"type": "space", "space": "$id"},
        within="collection",
        field="order",
        read=Pages("/collections/{id}/spaces"),
    ),
    content=True,
    shown_in=Pages("{parent}/sites?space={id}"),
    fields=(
        Field("title", Text(1, 50), required=True),
        Field("collection", Reference("collection"), read="parent", write="parent", null="clear",
              via=Post("{self}/move", {"parent": "$value"})),
        Field("emoji", Text(1, 50), null="clear"),
        Field("editMode", Enum(("live", "locked"))),
        Field("language", Enum(LANGUAGES)),
        Field("defaultLevel", LEVEL, on="update", absent="guest"),
        Field("mergeRules", MERGE_RULES, on="update"),
    ),
)  # fmt: skip
