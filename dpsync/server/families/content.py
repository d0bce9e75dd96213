"""Collections and spaces.

Siblings keep the order of the data. Collections come first, unless both have a `position`.

    collections: [{id, title, description, defaultLevel, parent}]       # parent: a collection's id
    spaces: [{id, type, title, emoji, icon, language, editMode, defaultLevel, mergeRules, parent, deletedAt}]
    both: createdBy                                         # optional: id of the user who created the object
    spaces: gitSync: {repoName, installationProvider, url…} # optional: as responses have it

A deleted space has a time (`deletedAt`) or a number of days before loading the data (`deletedDaysAgo`). With
`deletedDaysAgo`, the space was deleted at the start of that day in UTC.
"""

from datetime import timedelta

from ..clock import stamp
from ..records.family import Family
from ..records.world_format import Dumping, Loading, WorldSection, but
from ..store import Json, Record
from . import shapes

_PLACE = ("parent", "position", "deletedDaysAgo")


def _load_collections(loading: Loading, organization: Record, given: list[Json]) -> None:
    for one in loading.each(given):
        doc = {"title": "Untitled", "defaultLevel": "inherit", **but(loading.own("collection", one), *_PLACE)}
        _place(loading, "collection", organization, one, doc)


def _load_spaces(loading: Loading, organization: Record, given: list[Json]) -> None:
    for space in loading.each(given):
        doc = {
            "title": "Untitled",
            "editMode": "live",
            "defaultLevel": "inherit",
            "mergeRules": {"type": "inherit"},
            "createdAt": loading.then(),
            "updatedAt": loading.then(),
            **but(loading.own("space", space), *_PLACE),
        }
        if "deletedDaysAgo" in space:
            day = loading.now - timedelta(days=space["deletedDaysAgo"])
            doc["deletedAt"] = stamp(day.replace(hour=0, minute=0, second=0, microsecond=0))
        kind = "deleted-space" if doc.get("deletedAt") else "space"
        _place(loading, kind, organization, space, doc)


def _place(loading: Loading, kind: str, organization: Record, given: Json, doc: Json) -> None:
    parent = given.get("parent") or ""
    following = loading.following(organization.id, parent)
    position = following if given.get("position") is None else given["position"]
    id = loading.id("space" if kind == "deleted-space" else kind, given)
    if kind == "space":
        loading.titles[id] = doc["title"]
    loading.inside(
        loading.add(Record(kind, id, doc, organization.id, organization.id, parent, position)), given
    )


def _dump_collections(dumping: Dumping, organization: Record) -> list[Json]:
    return [_dump(dumping, item) for item in dumping.created("collection", organization=organization.id)]


def _dump_spaces(dumping: Dumping, organization: Record) -> list[Json]:
    found = dumping.created("space", "deleted-space", organization=organization.id)
    return [_dump(dumping, space) for space in found]


def _dump(dumping: Dumping, item: Record) -> Json:
    place = {"id": item.id, "parent": item.parent or None, "position": item.position}
    return {**place, **item.doc, **dumping.inside(item)}


FAMILIES = (
    Family("collection", prefix="col", owner="organization", counted=True,
           world=WorldSection("collections", _load_collections, _dump_collections,
                              shape=list[shapes.Collection], kind="collection")),
    Family("space", prefix="space", owner="organization", also="deleted-space", counted=True,
           world=WorldSection("spaces", _load_spaces, _dump_spaces, shape=list[shapes.Space], kind="space")),
    Family("deleted-space", owner="organization"),
)  # fmt: skip
