"""Collections and spaces: siblings in the order given, collections first."""

from ..store import Record, Store
from .loading import Json, Loading, Part, but, created

_PLACE = ("id", "parent", "position")


def _load_collections(loading: Loading, organization: str, given: list[Json]) -> None:
    for collection in given:
        doc = {"title": "Untitled", "defaultLevel": "inherit", **but(collection, *_PLACE)}
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
            **but(space, *_PLACE),
        }
        _placed(loading, "deleted-space" if doc.get("deletedAt") else "space", organization, space, doc)


def _placed(loading: Loading, kind: str, organization: str, given: Json, doc: Json) -> None:
    parent = given.get("parent") or ""
    following = loading.following(organization, parent)
    position = given.get("position") or following
    id = loading.id("space" if kind == "deleted-space" else kind, given)
    if kind == "space":
        loading.titles[id] = doc["title"]
    loading.add(Record(kind, id, doc, organization, organization, parent, position))


def _dump_collections(store: Store, organization: str) -> list[Json]:
    return [_dump(item) for item in created(store, "collection", organization=organization)]


def _dump_spaces(store: Store, organization: str) -> list[Json]:
    return [_dump(item) for item in created(store, "space", "deleted-space", organization=organization)]


def _dump(item: Record) -> Json:
    return {"id": item.id, "parent": item.parent or None, "position": item.position, **item.doc}


PARTS = (
    Part("collections", _load_collections, _dump_collections),
    Part("spaces", _load_spaces, _dump_spaces),
)
