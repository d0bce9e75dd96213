"""Handle the API operations on spaces, which are siblings of collections in one order.

Input: the `Context` of a checked request. Output: the body of the response, or an `ApiError`.
"""

from typing import Any

from ... import responses
from ...content.templates import append_template
from ...errors import not_found
from ...models.content import Template
from ...records import grants
from ...records.sibling_order import POSITION_STEP
from ...request.changes import changed_fields
from ...request.context import Context
from ...request.paging import filtered_page
from ...spaces import revisions
from ...spaces.expired_spaces import erase_some_expired
from ...spaces.merge_rules import check_users, rules_in_force
from ...store import Json, Record


def content_with_template(ctx: Context, space: Record, revision: str, template: Template) -> Json:
    """Return the content of a revision with the content of the template appended.

    Raise 404 if the caller cannot see the space of the template.
    """
    source = ctx.find_space(template.id)
    if source is None:
        raise not_found("template: space", template.id)
    content = revisions.revision_content(revisions.read_revision(ctx.store, space, revision))
    template_content = revisions.revision_content(revisions.active_revision(ctx.store, source))
    refs = template.params.sent_fields().get("contentRefs", {}) if template.params else {}
    return append_template(content, template_content, refs, ctx.timestamp, lambda: ctx.new_id("page"))


def load_siblings(ctx: Context, organization: str, parent: str) -> list[Record]:
    """Return the spaces and collections of a collection, or of the top level (`""`), in order."""
    siblings = [
        *ctx.store.find("space", organization=organization, parent=parent),
        *ctx.store.find("collection", organization=organization, parent=parent),
    ]
    return sorted(siblings, key=lambda item: (item.position, item.seq))


def end_position_in(ctx: Context, organization: str, parent: str) -> int:
    """Return a position after all siblings."""
    return POSITION_STEP + max(
        ctx.store.last_position(kind, organization=organization, parent=parent)
        for kind in ("space", "collection")
    )


# --- spaces ---------------------------------------------------------------------------------------


def list_spaces(ctx: Context) -> Json:
    """List the spaces that the caller may view, in order of creation."""
    organization = ctx.organization_from_path().id
    return filtered_page(
        ctx,
        "space",
        lambda space: space_response(ctx, space),
        matches=ctx.can_view,
        count=ctx.count_visible_spaces(organization, ctx.user),
        organization=organization,
    )


def create_space(ctx: Context) -> Json:
    """Create a space at the end of its parent, optionally with the content of a template."""
    organization, body_fields = ctx.organization_from_path(), ctx.body.sent_fields()
    parent = body_fields.pop("parent", None) or ""
    require_create_role(ctx, organization.id, parent)
    space_fields = {
        "title": ctx.body.title,
        **responses.without_none(_without_keys(body_fields, "empty", "template")),
    }
    space = add_space(ctx, organization.id, parent, space_fields)
    if ctx.body.template is not None:
        initial_revision = revisions.initial_revision_id(space.id)
        content = content_with_template(ctx, space, initial_revision, ctx.body.template)
        revisions.activate_revision(
            ctx, space, revisions.add_revision(ctx, space, content, [initial_revision], type="edits")
        )
    return responses.space(ctx, space)


def _without_keys(doc: Json, *left_out: str) -> Json:
    """Return a document without some members."""
    return {name: value for name, value in doc.items() if name not in left_out}


def require_create_role(ctx: Context, organization: str, parent: str) -> None:
    """Require the role `create` on the collection, or on the organization for the top level."""
    if parent:
        ctx.require_role(ctx.collection_from_body(parent, organization, "body.parent"), "create")
    else:
        ctx.require_role(ctx.find_organization(organization), "create")


def add_space(ctx: Context, organization: str, parent: str, fields: Json, id: str = "") -> Record:
    """Create a space at the end of a collection, or of the top level (`parent=""`).

    `fields` are members that replace the defaults. `id` is an id that `new_id` returned earlier, or "" for a
    new one. Also erase some deleted spaces whose retention has expired.
    """
    doc = {
        "editMode": "live",
        "defaultLevel": "inherit",
        "mergeRules": {"type": "inherit"},
        **fields,
        "createdAt": ctx.timestamp,
        "createdBy": ctx.user,
        "updatedAt": ctx.timestamp,
    }
    erase_some_expired(ctx, organization)
    position = end_position_in(ctx, organization, parent)
    id = id or ctx.new_id("space")
    space = Record("space", id, doc, organization, organization, parent, position)
    ctx.put(space)
    return space


def get_space(ctx: Context) -> Any:
    """Return the space that the path names, also if it was deleted in the last seven days."""
    return space_response(ctx, ctx.space_from_path(deleted=True))


def space_response(ctx: Context, space: Record) -> Any:
    """Return the answer for a space. It is cached per caller if the space has merge rules, else per role."""
    return ctx.render_cached(responses.space, space, depends_on_caller=rules_in_force)


_EXCLUSIVE_FIELDS = {"emoji": "icon", "icon": "emoji"}
"""A space has an emoji or an icon: setting one clears the other."""


def update_space(ctx: Context) -> Json:
    """Update a space.

    A deleted space accepts values that it already has, because it can still be read. Any other change needs a
    restore first. In some profiles the role `create` may change the level; all other fields need the role
    `admin`.
    """
    space = ctx.space_from_path(deleted=True)
    body = ctx.body.sent_fields()
    if body.keys() != {"defaultLevel"}:
        ctx.require_role(space, "admin")
    body |= {
        _EXCLUSIVE_FIELDS[name]: None
        for name in _EXCLUSIVE_FIELDS.keys() & body.keys()
        if body[name] is not None
    }
    changes = changed_fields({"emoji": None, "icon": None, **space.doc}, body)
    if changes and space.kind != "space":
        raise not_found("space", space.id)
    check_users(ctx, space, changes)
    if changes:
        space.doc |= {**changes, "updatedAt": ctx.timestamp}
        ctx.put(space)
    return responses.space(ctx, space)


def delete_space(ctx: Context) -> None:
    """Delete a space. Sites stop showing it at once.

    The space becomes a record of the kind `deleted-space`, from which it can be restored for seven days.
    """
    space = ctx.load("space", ctx.params["spaceId"])
    if space is None:
        return
    ctx.require_access(space)
    erase_some_expired(ctx, space.organization)
    ctx.remove(space)
    space.kind = "deleted-space"
    space.doc["deletedAt"] = ctx.timestamp
    ctx.put(space)


def restore_space(ctx: Context) -> Json:
    """Restore a space at the end of its collection, or of the top level if the collection does not exist.

    No site shows the restored space.
    """
    space = ctx.space_from_path(deleted=True)
    if space.kind == "space":
        return responses.space(ctx, space)
    # Not `ctx.remove`: records that depend on the deleted space belong to the restored space again.
    ctx.store.remove(space.kind, space.id)
    collection = ctx.load("collection", space.parent) if space.parent else None
    if collection is None or collection.organization != space.organization:
        space.parent = ""
    space.kind = "space"
    space.position = end_position_in(ctx, space.organization, space.parent)
    del space.doc["deletedAt"]
    space.doc["updatedAt"] = ctx.timestamp
    ctx.put(space)
    return responses.space(ctx, space)


def duplicate_space(ctx: Context) -> Json:
    """Copy a space with its title, settings, roles, content and collection. No site shows the copy."""
    space = ctx.space_from_path()
    require_create_role(ctx, space.organization, space.parent)
    copy = add_space(ctx, space.organization, space.parent, _without_keys(space.doc, "revision", "gitSync"))
    revisions.copy_active_revision(ctx, space, copy)
    grants.copy_grants(ctx, space, copy)
    return responses.space(ctx, copy)
