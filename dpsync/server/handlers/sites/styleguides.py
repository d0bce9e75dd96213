"""Handle the API operations on style guides: spaces of the type `styleguide` that one or more sites use.

Input: the `Context` of a checked request. Output: the body of the response, or an `ApiError`.
"""

from ... import responses
from ...content.editing import ContentEditor
from ...errors import not_found
from ...request.context import Context
from ...spaces import revisions
from ...store import Json, Record
from ..spaces.spaces import add_space

STYLEGUIDE_TYPE = "styleguide"
DEFAULT_TITLE = "Style guide"
_CONCISE = """\
## Sentences

- Say one thing in a sentence.
- Put the verb early, and make it an active one.

## Words

- Call a thing by one name, and keep to it.
"""
_FRIENDLY = """\
## Voice

- Speak to the reader: *you can*, not *users can*.
- Say what to do before what to leave.
"""
TEMPLATES: tuple[Json, ...] = (
    {"id": "concise", "title": "Concise", "subtitle": "Short sentences", "markdown": _CONCISE},
    {"id": "friendly", "title": "Friendly", "subtitle": "Close to the reader", "markdown": _FRIENDLY},
)


def set_styleguide(ctx: Context, site: Record, id: str | None) -> None:
    """Set the style guide of a site, or remove it if `id` is None. Raise 404 if it does not exist."""
    if id is not None and id != site.ref:
        space = ctx.space_from_body(id, site.organization, "body.styleguide")
        if space.doc.get("type") != STYLEGUIDE_TYPE:
            raise not_found("body.styleguide: style guide", id)
    site.ref = id or ""


def create_styleguide(ctx: Context) -> Json:
    """Return the style guide of the site, or create one with the content of the named template.

    Raise 404 for an unknown template.
    """
    site, template_id = ctx.site_from_path(), ctx.body.template
    template = next((entry for entry in TEMPLATES if entry["id"] == template_id), None)
    if template_id is not None and template is None:
        raise not_found("body.template: template", template_id)
    existing = ctx.load("space", site.ref) if site.ref else None
    if existing is not None:
        return responses.space(ctx, existing)
    space = add_space(ctx, site.organization, "", {"title": DEFAULT_TITLE, "type": STYLEGUIDE_TYPE})
    if template is not None:
        initial_revision = revisions.initial_revision_id(space.id)
        content = revisions.revision_content(revisions.active_revision(ctx.store, space))
        editor = ContentEditor(content, content, ctx.timestamp, ctx.new_id)
        text = {"markdown": template["markdown"]}
        editor.apply([{"operation": "insert_page", "title": template["title"], "document": text}])
        revision_id = revisions.add_revision(ctx, space, editor.content, [initial_revision], type="edits")
        revisions.activate_revision(ctx, space, revision_id)
    site.ref = space.id
    ctx.put(site)
    return responses.space(ctx, space)


def list_templates(ctx: Context) -> Json:
    """List the built-in templates of style guides."""
    ctx.organization_from_path()
    return {"templates": list(TEMPLATES)}


def list_styleguides(ctx: Context) -> Json:
    """List the style guides that the caller may view, each with the sites that the caller may view."""
    organization = ctx.organization_from_path()
    sites = [site for site in ctx.store.find("site", organization=organization.id) if ctx.can_view(site)]
    return {
        "styleguides": [
            {
                "space": responses.space(ctx, space),
                "sites": [responses.site(ctx, site) for site in sites if site.ref == space.id],
            }
            for space, _ in ctx.visible_spaces_with_roles(organization.id)
            if space.doc.get("type") == STYLEGUIDE_TYPE
        ]
    }
