"""Handle the API operations on collections, except moves (`moves.py`).

Collections and spaces are siblings in one order.
Input: the `Context` of a checked request. Output: the body of the response, or an `ApiError`.
"""

from typing import Any

from ... import responses
from ...records.sibling_order import write_positions
from ...request.context import Context
from ...request.paging import list_page
from ...store import Json, Record
from .spaces import end_position_in, load_siblings, require_create_role, space_response


def list_collections(ctx: Context) -> Json:
    """List collections, each before its children, siblings in their order."""
    organization, nested = ctx.organization_from_path(), ctx.query.nested
    key = ("collections", organization.id, nested, ctx.access_in(organization.id))
    entries = ctx.cached_list(
        key, {"collection"}, lambda: _ordered_collections(ctx, organization, nested=nested)
    )
    return list_page(
        ctx, entries, lambda entry: ctx.render_cached(responses.collection, entry[1]), lambda entry: entry[0]
    )


def _ordered_collections(
    ctx: Context, organization: Record, *, nested: bool
) -> list[tuple[list[int], Record]]:
    """Return the collections that the caller may view, each with a key that sorts in list order."""
    collections = ctx.store.find("collection", organization=organization.id)
    children_by_parent: dict[str, list[Record]] = {}
    for collection in collections:
        children_by_parent.setdefault(collection.parent, []).append(collection)
    ordered: list[tuple[list[int], Record]] = []
    stack: list[tuple[list[int], Record]] = [([], top) for top in reversed(children_by_parent.get("", []))]
    while stack:
        prefix, collection = stack.pop()
        key = [*prefix, collection.position, collection.seq]
        if ctx.can_view(collection):
            ordered.append((key, collection))
        if nested:
            stack += [(key, child) for child in reversed(children_by_parent.get(collection.id, []))]
    return ordered


def create_collection(ctx: Context) -> Json:
    """Create a collection at the end of its parent."""
    organization, body = ctx.organization_from_path(), ctx.body
    parent = body.parent or ""
    require_create_role(ctx, organization.id, parent)
    doc = {"title": body.title, "defaultLevel": "inherit", "createdBy": ctx.user}
    position = end_position_in(ctx, organization.id, parent)
    id = ctx.new_id("collection")
    collection = Record("collection", id, doc, organization.id, organization.id, parent, position)
    ctx.put(collection)
    return responses.collection(ctx, collection)


def get_collection(ctx: Context) -> Any:
    """Return the collection that the path names."""
    return ctx.render_cached(responses.collection, ctx.collection_from_path())


def update_collection(ctx: Context) -> Json:
    """Update a collection. As with spaces, changing only the level may need just the role `create`."""
    collection, fields = ctx.collection_from_path(), ctx.body.sent_fields()
    if fields.keys() != {"defaultLevel"}:
        ctx.require_role(collection, "admin")
    collection.doc.update(fields)
    ctx.put(collection)
    return responses.collection(ctx, collection)


def delete_collection(ctx: Context) -> None:
    """Delete a collection. Its contents move to the position of the collection in its parent."""
    collection = ctx.load("collection", ctx.params["collectionId"])
    if collection is None:
        return
    ctx.require_access(collection)
    siblings = load_siblings(ctx, collection.organization, collection.parent)
    contents = load_siblings(ctx, collection.organization, collection.id)
    ctx.remove(collection)
    ordered = []
    for sibling in siblings:
        ordered += contents if sibling.id == collection.id and sibling.kind == "collection" else [sibling]
    for item in contents:
        item.parent = collection.parent
        ctx.put(item)
    write_positions(ctx.store, ordered, contents)


def list_collection_spaces(ctx: Context) -> Json:
    """List the spaces in a collection that the caller may view, in their order."""
    collection = ctx.collection_from_path()
    spaces = ctx.store.find("space", organization=collection.organization, parent=collection.id)
    visible = list(ctx.visible_spaces(collection.organization, spaces))
    return list_page(
        ctx, visible, lambda space: space_response(ctx, space), lambda space: [space.position, space.seq]
    )
