"""Collections and spaces: siblings in the order given, collections first.

When a space was deleted is said as a time (`deletedAt`) or, for worlds that are to stay fresh, as a number of
days before that of loading (`deletedDaysAgo`): then it was at its beginning, by UTC.
"""

from datetime import timedelta

from ..clock import stamp
from ..store import Record, Store
from . import grants, pages
from .loading import Json, Loading, Part, but, created

_APART = ("id", "parent", "position", "deletedDaysAgo", grants.KEY, *pages.KEYS)


def _load_collections(loading: Loading, organization: str, given: list[Json]) -> None:
    for collection in given:
        doc = {"title": "Untitled", "defaultLevel": "inherit", **but(collection, *_APART)}
        _placed(loading, "collection", organization, collection, doc)


def _load_spaces(loading: Loading, organization: str, given: list[Json]) -> None:
    for space in given:
        doc = {
            "title": "Untitled",
            "editMode": "live",
            "defaultLevel": "inherit",
            "mergeRules": {"type": "inherit"},
            "createdAt": loading.then(),
            "updatedAt": loading.then(),
            **but(space, *_APART),
        }
        if "deletedDaysAgo" in space:
            day = loading.now - timedelta(days=space["deletedDaysAgo"])
            doc["deletedAt"] = stamp(day.replace(hour=0, minute=0, second=0, microsecond=0))
        kind = "deleted-space" if doc.get("deletedAt") else "space"
        pages.load(loading, _placed(loading, kind, organization, space, doc), space)


def _placed(loading: Loading, kind: str, organization: str, given: Json, doc: Json) -> Record:
    parent = given.get("parent") or ""
    following = loading.following(organization, parent)
    position = given.get("position") or following
    id = loading.id("space" if kind == "deleted-space" else kind, given)
    if kind == "space":
        loading.titles[id] = doc["title"]
    placed = loading.add(Record(kind, id, doc, organization, organization, parent, position))
    grants.load(loading, placed, given)
    return placed


def _dump_collections(store: Store, organization: str) -> list[Json]:
    return [_dump(store, item) for item in created(store, "collection", organization=organization)]


def _dump_spaces(store: Store, organization: str) -> list[Json]:
    found = created(store, "space", "deleted-space", organization=organization)
    return [_dump(store, space) | pages.dump(store, space) for space in found]


def _dump(store: Store, item: Record) -> Json:
    place = {"id": item.id, "parent": item.parent or None, "position": item.position}
    return {**place, **item.doc, **grants.dump(store, item)}


PARTS = (
    Part("collections", _load_collections, _dump_collections),
    Part("spaces", _load_spaces, _dump_spaces),
)
