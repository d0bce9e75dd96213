"""Operations on spaces, which are siblings of collections in one order."""

from typing import Any

from ... import answers
from ...content.templates import combined
from ...errors import missing
from ...models.content import Template
from ...records import grants
from ...records.order import STEP
from ...request.changes import changes
from ...request.context import Context
from ...request.paging import chosen_page
from ...spaces import revisions
from ...spaces.erasing import erase_some_expired
from ...spaces.merge_rules import check_users, rules_for
from ...store import Json, Record


def with_template(ctx: Context, space: Record, revision: str, given: Template) -> Json:
    """Return the content of a revision with the content of the template appended.

    Raise 404 if the caller cannot see the space of the template.
    """
    source = ctx.find_space(given.id)
    if source is None:
        raise missing("template: space", given.id)
    content = revisions.content_of(revisions.read(ctx.store, space, revision))
    copied = revisions.content_of(revisions.active(ctx.store, source))
    named = given.params.given().get("contentRefs", {}) if given.params else {}
    return combined(content, copied, named, ctx.stamp, lambda: ctx.new_id("page"))


def siblings(ctx: Context, organization: str, parent: str) -> list[Record]:
    """Return the spaces and collections of a collection, or of the top level (`""`), in order."""
    found = [
        *ctx.store.find("space", organization=organization, parent=parent),
        *ctx.store.find("collection", organization=organization, parent=parent),
    ]
    return sorted(found, key=lambda item: (item.position, item.seq))


def end_of(ctx: Context, organization: str, parent: str) -> int:
    """Return a position after all siblings."""
    return STEP + max(
        ctx.store.last(kind, organization=organization, parent=parent) for kind in ("space", "collection")
    )


# --- spaces ---------------------------------------------------------------------------------------


def list_spaces(ctx: Context) -> Json:
    """List the spaces that the caller may view, in order of creation."""
    organization = ctx.organization().id
    return chosen_page(
        ctx,
        "space",
        lambda space: space_answer(ctx, space),
        only=ctx.sees,
        count=ctx.count_spaces_of(organization, ctx.user),
        organization=organization,
    )


def create_space(ctx: Context) -> Json:
    organization, given = ctx.organization(), ctx.body.given()
    parent = given.pop("parent", None) or ""
    may_create(ctx, organization.id, parent)
    fields = {"title": ctx.body.title, **answers.set_only(_but(given, "empty", "template"))}
    made = new_space(ctx, organization.id, parent, fields)
    if ctx.body.template is not None:
        first = revisions.first_id(made.id)
        content = with_template(ctx, made, first, ctx.body.template)
        revisions.activate(ctx, made, revisions.keep(ctx, made, content, [first], type="edits"))
    return answers.space(ctx, made)


def _but(doc: Json, *left_out: str) -> Json:
    return {name: value for name, value in doc.items() if name not in left_out}


def may_create(ctx: Context, organization: str, parent: str) -> None:
    """Require the role `create` on the collection, or on the organization for the top level."""
    if parent:
        ctx.demand(ctx.named_collection(parent, organization, "body.parent"), "create")
    else:
        ctx.demand(ctx.find_organization(organization), "create")


def new_space(ctx: Context, organization: str, parent: str, fields: Json, id: str = "") -> Record:
    """Create a space. `id` is an id that `new_id` returned earlier, or ""."""
    doc = {
        "editMode": "live",
        "defaultLevel": "inherit",
        "mergeRules": {"type": "inherit"},
        **fields,
        "createdAt": ctx.stamp,
        "createdBy": ctx.user,
        "updatedAt": ctx.stamp,
    }
    erase_some_expired(ctx, organization)
    position = end_of(ctx, organization, parent)
    id = id or ctx.new_id("space")
    space = Record("space", id, doc, organization, organization, parent, position)
    ctx.put(space)
    return space


def get_space(ctx: Context) -> Any:
    return space_answer(ctx, ctx.space(deleted=True))


def space_answer(ctx: Context, space: Record) -> Any:
    """Return the answer for a space. It is cached per caller if the space has merge rules, else per role."""
    return ctx.show(answers.space, space, personal=rules_for)


_OTHER = {"emoji": "icon", "icon": "emoji"}
"""What a space has beside its name: one of these takes the place of the other."""


def update_space(ctx: Context) -> Json:
    """Update a space.

    A deleted space accepts values that it already has, because it can still be read. Any other change needs a
    restore first. In some editions the role `create` may change the level; all other fields need the role
    `admin`.
    """
    space = ctx.space(deleted=True)
    body = ctx.body.given()
    if body.keys() != {"defaultLevel"}:
        ctx.demand(space, "admin")
    body |= {_OTHER[name]: None for name in _OTHER.keys() & body.keys() if body[name] is not None}
    given = changes({"emoji": None, "icon": None, **space.doc}, body)
    if given and space.kind != "space":
        raise missing("space", space.id)
    check_users(ctx, space, given)
    if given:
        space.doc |= {**given, "updatedAt": ctx.stamp}
        ctx.put(space)
    return answers.space(ctx, space)


def delete_space(ctx: Context) -> None:
    """Delete a space. It can be restored for seven days. Sites stop showing it at once."""
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
    """Restore a space at the end of its collection, or of the top level if the collection does not exist.

    No site shows the restored space.
    """
    space = ctx.space(deleted=True)
    if space.kind == "space":
        return answers.space(ctx, space)
    ctx.store.remove(space.kind, space.id)  # what it kept is its own again
    collection = ctx.load("collection", space.parent) if space.parent else None
    if collection is None or collection.organization != space.organization:
        space.parent = ""
    space.kind = "space"
    space.position = end_of(ctx, space.organization, space.parent)
    del space.doc["deletedAt"]
    space.doc["updatedAt"] = ctx.stamp
    ctx.put(space)
    return answers.space(ctx, space)


def duplicate_space(ctx: Context) -> Json:
    """Copy a space with its title, settings, roles, content and collection. No site shows the copy."""
    space = ctx.space()
    may_create(ctx, space.organization, space.parent)
    made = new_space(ctx, space.organization, space.parent, _but(space.doc, "revision", "gitSync"))
    revisions.copy_active(ctx, space, made)
    grants.copy(ctx, space, made)
    return answers.space(ctx, made)
