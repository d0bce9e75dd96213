"""Handle the API operations that move spaces and collections to another position, collection or organization.

Input: the `Context` of a checked request. Output: the body of the response, or an `ApiError`.
"""

from ... import responses
from ...errors import ApiError, bad_request, conflict, not_found
from ...records.sibling_order import insert_sibling, same_order, write_positions
from ...request.context import Context
from ...sites.navigation import SITE_SPACE
from ...store import Json, Record
from .spaces import end_position_in, load_siblings, require_create_role


def move_space(ctx: Context) -> Json:
    """Move a space to another position or collection."""
    space = ctx.space_from_path()
    _move_item(ctx, space)
    return responses.space(ctx, space)


def transfer_space(ctx: Context) -> Json:
    """Move a space to the end of another organization's top level. Raise 412 if a site shows the space."""
    space = ctx.space_from_path()
    target = _transfer_target(ctx, space, [space])
    space.parent = ""
    space.position = end_position_in(ctx, target, "")
    ctx.transfer(space, target)
    return responses.space(ctx, space)


def move_collection(ctx: Context) -> Json:
    """Move a collection to another position or collection."""
    collection = ctx.collection_from_path()
    _move_item(ctx, collection)
    return responses.collection(ctx, collection)


def transfer_collection(ctx: Context) -> Json:
    """Move a collection with its contents to the end of another organization's top level."""
    collection = ctx.collection_from_path()
    contents = _descendants(ctx, collection)
    target = _transfer_target(ctx, collection, [item for item in contents if item.kind == "space"])
    collection.parent = ""
    collection.position = end_position_in(ctx, target, "")
    for item in (collection, *contents):
        ctx.transfer(item, target)
    return responses.collection(ctx, collection)


def _descendants(ctx: Context, collection: Record) -> list[Record]:
    """Return all collections and spaces in a collection, at any depth."""
    descendants: list[Record] = []
    unread_collections = [collection]
    while unread_collections:
        for item in load_siblings(ctx, collection.organization, unread_collections.pop().id):
            descendants.append(item)
            if item.kind == "collection":
                unread_collections.append(item)
    return descendants


def _move_item(ctx: Context, item: Record) -> None:
    """Move an item to another collection, another position, or both.

    An omitted `parent` keeps the collection; null is the top level. Without a position, an item goes to the
    end of its new collection. Raise 400 for an invalid position, 404 for an unknown collection, and 409 if
    nothing would change.
    """
    fields = ctx.body.sent_fields() if ctx.body else {}
    parent = item.parent if "parent" not in fields else (fields["parent"] or "")
    if parent != item.parent:
        require_create_role(ctx, item.organization, parent)
        if parent and item.kind == "collection" and (parent == item.id or _is_inside(ctx, parent, item.id)):
            raise bad_request("body.parent: invalid position: a collection cannot be moved into itself")
    siblings = load_siblings(ctx, item.organization, parent)
    if parent == item.parent and "position" not in fields:
        raise conflict("operation would not result in any update")
    position = fields.get("position") or {}
    ordered = insert_sibling(
        siblings, item, _parse_neighbor(position, "before"), _parse_neighbor(position, "after")
    )
    if parent == item.parent and same_order(siblings, ordered):
        raise conflict("operation would not result in any update")
    item.parent = parent
    write_positions(ctx.store, ordered, [item])
    ctx.put(item)


def _is_inside(ctx: Context, collection: str, ancestor: str) -> bool:
    """Return whether a collection is inside another collection, directly or deeper."""
    current = ctx.load("collection", collection)
    while current is not None and current.parent:
        if current.parent == ancestor:
            return True
        current = ctx.load("collection", current.parent)
    return False


def _parse_neighbor(position: Json, side: str) -> tuple[str, str] | None:
    """Return (kind, id) of the sibling that a request's position names, or None if it names none.

    `side` is "before" or "after". A position is `{before: {type: space, space: ID}}` or `{after: …}`. Raise
    400 without an id.
    """
    neighbor = position.get(side)
    if neighbor is None:
        return None
    id = neighbor.get(neighbor["type"]) or neighbor.get("id")
    if not id:
        raise bad_request(f"body.position.{side}: invalid position: {neighbor['type']} names no neighbor")
    return neighbor["type"], id


def _transfer_target(ctx: Context, item: Record, spaces: list[Record]) -> str:
    """Return the organization to which an item is transferred, after checking that this is possible.

    Raise 404 if the caller is not a member there, 409 if the item is there already, and 412 if the caller is
    not an admin there or a site shows one of the spaces that move along.
    """
    target: str = ctx.body.organization
    member, role = ctx.membership_in(target)
    if not member or ctx.load("organization", target) is None:
        raise not_found("body.organization: organization", target)
    if target == item.organization:
        raise conflict("operation would not result in any update")
    if role != "admin":
        raise ApiError(412, f"the {item.kind} cannot be moved: the caller is not an admin of {target!r}")
    on_site = next((space.id for space in spaces if ctx.store.count(SITE_SPACE, ref=space.id)), None)
    if on_site:
        raise ApiError(412, f"the {item.kind} cannot be moved: a site shows the space {on_site!r}")
    return target
