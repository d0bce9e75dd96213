"""Operations on style guides: spaces of the type `styleguide` that one or more sites refer to."""

from ... import answers
from ...content.editing import Editing
from ...errors import missing
from ...request.context import Context
from ...spaces import revisions
from ...store import Json, Record
from ..spaces.spaces import new_space

TYPE = "styleguide"
TITLE = "Style guide"
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


def attach(ctx: Context, site: Record, id: str | None) -> None:
    """Set the style guide of a site, or remove it if `id` is None. Raise 404 if it does not exist."""
    if id is not None and id != site.ref:
        space = ctx.named_space(id, site.organization, "body.styleguide")
        if space.doc.get("type") != TYPE:
            raise missing("body.styleguide: style guide", id)
    site.ref = id or ""


def create(ctx: Context) -> Json:
    """Return the style guide of the site, or create one with the content of the named template."""
    site, template = ctx.site(), _template(ctx.body.template)
    there = ctx.load("space", site.ref) if site.ref else None
    if there is not None:
        return answers.space(ctx, there)
    space = new_space(ctx, site.organization, "", {"title": TITLE, "type": TYPE})
    if template is not None:
        first = revisions.first_id(space.id)
        content = revisions.content_of(revisions.active(ctx.store, space))
        editing = Editing(content, content, ctx.stamp, ctx.new_id)
        text = {"markdown": template["markdown"]}
        editing.apply([{"operation": "insert_page", "title": template["title"], "document": text}])
        kept = revisions.keep(ctx, space, editing.content, [first], type="edits")
        revisions.activate(ctx, space, kept)
    site.ref = space.id
    ctx.put(site)
    return answers.space(ctx, space)


def _template(id: str | None) -> Json | None:
    if id is None:
        return None
    found = next((template for template in TEMPLATES if template["id"] == id), None)
    if found is None:
        raise missing("body.template: template", id)
    return found


def list_templates(ctx: Context) -> Json:
    ctx.organization()
    return {"templates": list(TEMPLATES)}


def list_styleguides(ctx: Context) -> Json:
    """List the style guides that the caller may view, each with the sites that the caller may view."""
    organization = ctx.organization()
    sites = [site for site in ctx.store.find("site", organization=organization.id) if ctx.sees(site)]
    return {
        "styleguides": [
            {
                "space": answers.space(ctx, space),
                "sites": [answers.site(ctx, site) for site in sites if site.ref == space.id],
            }
            for space, _ in ctx.spaces_of(organization.id)
            if space.doc.get("type") == TYPE
        ]
    }
