"""Templates: a template is a space that the caller may view, whose content is copied."""

from typing import Any

from ...content.templates import combined
from ...errors import missing
from ...models.content import Template
from ...request.context import Context
from ...spaces import revisions
from ...store import Record

Json = dict[str, Any]


def with_template(ctx: Context, space: Record, revision: str, given: Template) -> Json:
    """A content of a space with that of the template behind it. 404: there is no such template."""
    source = ctx.find_space(given.id)
    if source is None:
        raise missing("template: space", given.id)
    content = revisions.content_of(revisions.read(ctx.store, space, revision))
    copied = revisions.content_of(revisions.active(ctx.store, source))
    named = given.params.given().get("contentRefs", {}) if given.params else {}
    return combined(content, copied, named, ctx.stamp, lambda: ctx.new_id("page"))
