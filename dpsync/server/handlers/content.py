"""Spaces and collections: siblings in one order, in a collection and at the top of an organization."""

from typing import Any

from .. import answers, grants
from ..content import revisions
from ..content.erasing import erase_some_expired
from ..context import Context
from ..errors import ApiError, bad, conflict, missing
from ..merge_rules import check_users, rules_for
from ..navigation import PLACE
from ..paging import chosen_page, page
from ..siblings import place, renumber, same_order
from ..store import Record
from .templates import with_template

Json = dict[str, Any]


def siblings(ctx: Context, organization: str, parent: str) -> list[Record]:
    """Spaces and collections of a collection, or of the top (`""`), in order."""
    found = [
        *ctx.store.find("space", organization=organization, parent=parent),
        *ctx.store.find("collection", organization=organization, parent=parent),
    ]
    return sorted(found, key=lambda item: (item.position, item.seq))


def _end(ctx: Context, organization: str, parent: str) -> int:
    """A position behind all siblings there."""
    return 1 + max(
        ctx.store.last(kind, organization=organization, parent=parent) for kind in ("space", "collection")
    )


# --- spaces ---------------------------------------------------------------------------------------


def list_spaces(ctx: Context) -> Json:
    """Those that the caller may view, in order of creation."""
    organization, query = ctx.organization(), ctx.query
    items, envelope = chosen_page(
        ctx.store,
        "space",
        limit=query.limit,
        cursor=query.page,
        only=ctx.sees,
        count=ctx.count_spaces_of(organization.id, ctx.user),
        organization=organization.id,
    )
    return {**envelope, "items": [_shown(ctx, space) for space in items]}


def create_space(ctx: Context) -> Json:
    organization, given = ctx.organization(), ctx.body.given()
    parent = given.pop("parent", None) or ""
    _may_create(ctx, organization.id, parent)
    fields = {"title": ctx.body.title, **answers.set_only(_but(given, "empty", "template"))}
    made = new_space(ctx, organization.id, parent, fields)
    if ctx.body.template is not None:
        first = revisions.first_id(made.id)
        content = with_template(ctx, made, first, ctx.body.template)
        revisions.activate(ctx, made, revisions.keep(ctx, made, content, [first], type="edits"))
    return answers.space(ctx, made)


def _but(doc: Json, *left_out: str) -> Json:
    return {name: value for name, value in doc.items() if name not in left_out}


def _may_create(ctx: Context, organization: str, parent: str) -> None:
    """In a collection it takes the role `create` there, at the top level in the organization."""
    if parent:
        ctx.demand(ctx.named_collection(parent, organization, "body.parent"), "create")
    else:
        ctx.demand(ctx.find_organization(organization), "create")


def new_space(ctx: Context, organization: str, parent: str, fields: Json, id: str = "") -> Record:
    """`id`: one that was taken from `new_id` before."""
    doc = {
        "editMode": "live",
        "defaultLevel": "inherit",
        "mergeRules": {"type": "inherit"},
        **fields,
        "createdAt": ctx.stamp,
        "updatedAt": ctx.stamp,
    }
    erase_some_expired(ctx, organization)
    position = _end(ctx, organization, parent)
    id = id or ctx.new_id("space")
    space = Record("space", id, doc, organization, organization, parent, position)
    ctx.put(space)
    return space


def get_space(ctx: Context) -> Any:
    return _shown(ctx, ctx.space(deleted=True))


def _shown(ctx: Context, space: Record) -> Any:
    """Merge rules make permissions the caller's own."""
    return ctx.show(answers.space, space, personal=rules_for)


def update_space(ctx: Context) -> Json:
    space, given = ctx.space(), ctx.body.given()
    check_users(ctx, space.organization, given)
    space.doc.update(given)
    space.doc["updatedAt"] = ctx.stamp
    ctx.put(space)
    return answers.space(ctx, space)


def delete_space(ctx: Context) -> None:
    """Kept for seven days outside of every list; its places in sites go at once."""
    space = ctx.load("space", ctx.params["spaceId"])
    if space is None:
        return
    ctx.permit(space)
    erase_some_expired(ctx, space.organization)
    ctx.remove(space)
    space.kind = "deleted-space"
    space.doc["deletedAt"] = ctx.stamp
    ctx.put(space)


def restore_space(ctx: Context) -> Json:
    """Back at the end of its collection, or of the top level when that is gone; in no site."""
    space = ctx.space(deleted=True)
    if space.kind == "space":
        return answers.space(ctx, space)
    ctx.store.remove(space.kind, space.id)  # what it kept is its own again
    collection = ctx.load("collection", space.parent) if space.parent else None
    if collection is None or collection.organization != space.organization:
        space.parent = ""
    space.kind = "space"
    space.position = _end(ctx, space.organization, space.parent)
    del space.doc["deletedAt"]
    space.doc["updatedAt"] = ctx.stamp
    ctx.put(space)
    return answers.space(ctx, space)


def duplicate_space(ctx: Context) -> Json:
    """Same title, settings, roles, content and collection; shown by no site."""
    space = ctx.space()
    _may_create(ctx, space.organization, space.parent)
    made = new_space(ctx, space.organization, space.parent, _but(space.doc, "revision"))
    revisions.copy_active(ctx, space, made)
    grants.copy(ctx, space, made)
    return answers.space(ctx, made)


def move_space(ctx: Context) -> Json:
    space = ctx.space()
    _move(ctx, space)
    return answers.space(ctx, space)


def transfer_space(ctx: Context) -> Json:
    """To the end of the other organization's top level. A space that a site shows may not leave: 412."""
    space = ctx.space()
    target = _transfer_target(ctx, space, [space])
    space.parent = ""
    space.position = _end(ctx, target, "")
    ctx.transfer(space, target)
    return answers.space(ctx, space)


# --- collections ----------------------------------------------------------------------------------


def list_collections(ctx: Context) -> Json:
    """Each before what is in it, siblings in their order."""
    organization, query = ctx.organization(), ctx.query
    key = ("collections", organization.id, query.nested, ctx.standing(organization.id))
    items, envelope = page(
        ctx.ordered(key, lambda: _ordered_collections(ctx, organization, nested=query.nested)),
        limit=query.limit,
        cursor=query.page,
        key=lambda entry: entry[0],
        anchor=lambda entry: entry[1].id,
    )
    return {**envelope, "items": [ctx.show(answers.collection, collection) for _, collection in items]}


def _ordered_collections(
    ctx: Context, organization: Record, *, nested: bool
) -> list[tuple[list[int], Record]]:
    """Those that the caller may view, each with a key that sorts in this order."""
    found = ctx.store.find("collection", organization=organization.id)
    below: dict[str, list[Record]] = {}
    for collection in found:
        below.setdefault(collection.parent, []).append(collection)
    ordered: list[tuple[list[int], Record]] = []
    stack: list[tuple[list[int], Record]] = [([], top) for top in reversed(below.get("", []))]
    while stack:
        prefix, collection = stack.pop()
        key = [*prefix, collection.position, collection.seq]
        if ctx.sees(collection):
            ordered.append((key, collection))
        if nested:
            stack += [(key, child) for child in reversed(below.get(collection.id, []))]
    return ordered


def create_collection(ctx: Context) -> Json:
    organization, body = ctx.organization(), ctx.body
    parent = body.parent or ""
    _may_create(ctx, organization.id, parent)
    doc = {"title": body.title, "defaultLevel": "inherit"}
    position = _end(ctx, organization.id, parent)
    id = ctx.new_id("collection")
    collection = Record("collection", id, doc, organization.id, organization.id, parent, position)
    ctx.put(collection)
    return answers.collection(ctx, collection)


def get_collection(ctx: Context) -> Any:
    return ctx.show(answers.collection, ctx.collection())


def update_collection(ctx: Context) -> Json:
    collection = ctx.collection()
    collection.doc.update(ctx.body.given())
    ctx.put(collection)
    return answers.collection(ctx, collection)


def delete_collection(ctx: Context) -> None:
    """What is in it moves to its parent, to the place where it stood."""
    collection = ctx.load("collection", ctx.params["collectionId"])
    if collection is None:
        return
    ctx.permit(collection)
    around = siblings(ctx, collection.organization, collection.parent)
    inside = siblings(ctx, collection.organization, collection.id)
    ctx.remove(collection)
    ordered = []
    for sibling in around:
        ordered += inside if sibling.id == collection.id and sibling.kind == "collection" else [sibling]
    for item in inside:
        item.parent = collection.parent
        ctx.put(item)
    renumber(ctx.store, ordered)


def list_collection_spaces(ctx: Context) -> Json:
    collection, query = ctx.collection(), ctx.query
    inside = ctx.store.find("space", organization=collection.organization, parent=collection.id)
    found = [space for space in inside if ctx.sees(space)]
    items, envelope = page(
        found,
        limit=query.limit,
        cursor=query.page,
        key=lambda space: [space.position, space.seq],
        anchor=lambda space: space.id,
    )
    return {**envelope, "items": [_shown(ctx, space) for space in items]}


def move_collection(ctx: Context) -> Json:
    collection = ctx.collection()
    _move(ctx, collection)
    return answers.collection(ctx, collection)


def transfer_collection(ctx: Context) -> Json:
    """With everything in it, to the end of the other organization's top level."""
    collection = ctx.collection()
    inside = _inside(ctx, collection)
    target = _transfer_target(ctx, collection, [item for item in inside if item.kind == "space"])
    collection.parent = ""
    collection.position = _end(ctx, target, "")
    for item in (collection, *inside):
        ctx.transfer(item, target)
    return answers.collection(ctx, collection)


def _inside(ctx: Context, collection: Record) -> list[Record]:
    """Everything below a collection."""
    found: list[Record] = []
    waiting = [collection]
    while waiting:
        for item in siblings(ctx, collection.organization, waiting.pop().id):
            found.append(item)
            if item.kind == "collection":
                waiting.append(item)
    return found


# --- moving ---------------------------------------------------------------------------------------


def _move(ctx: Context, item: Record) -> None:
    """To another collection, another place, or both.

    `parent` left out keeps the collection, null is the top level. Without a position an item goes to the
    end of its new collection. 400 invalid position, 404 no such collection, 409 nothing would change.
    """
    given = ctx.body.given() if ctx.body else {}
    parent = item.parent if "parent" not in given else (given["parent"] or "")
    if parent != item.parent:
        _may_create(ctx, item.organization, parent)
        if parent and item.kind == "collection" and (parent == item.id or _is_inside(ctx, parent, item.id)):
            raise bad("body.parent: invalid position: a collection cannot be moved into itself")
    now = siblings(ctx, item.organization, parent)
    if parent == item.parent and "position" not in given:
        raise conflict("operation would not result in any update")
    position = given.get("position") or {}
    ordered = place(now, item, _pointed(position, "before"), _pointed(position, "after"))
    if parent == item.parent and same_order(now, ordered):
        raise conflict("operation would not result in any update")
    item.parent = parent
    renumber(ctx.store, ordered, item)
    ctx.put(item)


def _is_inside(ctx: Context, collection: str, ancestor: str) -> bool:
    at = ctx.load("collection", collection)
    while at is not None and at.parent:
        if at.parent == ancestor:
            return True
        at = ctx.load("collection", at.parent)
    return False


def _pointed(position: Json, side: str) -> tuple[str, str] | None:
    """`{type: space, space: ID}` as (kind, id)."""
    pointer = position.get(side)
    if pointer is None:
        return None
    id = pointer.get(pointer["type"]) or pointer.get("id")
    if not id:
        raise bad(f"body.position.{side}: invalid position: {pointer['type']} names no neighbour")
    return pointer["type"], id


def _transfer_target(ctx: Context, item: Record, spaces: list[Record]) -> str:
    target: str = ctx.body.organization
    member, role = ctx.role_in(target)
    if not member or ctx.load("organization", target) is None:
        raise missing("body.organization: organization", target)
    if target == item.organization:
        raise conflict("operation would not result in any update")
    if role != "admin":
        raise ApiError(412, f"the {item.kind} cannot be moved: the caller is no admin of {target!r}")
    shown = next((space.id for space in spaces if ctx.store.count(PLACE, ref=space.id)), None)
    if shown:
        raise ApiError(412, f"the {item.kind} cannot be moved: a site shows the space {shown!r}")
    return target
