"""What every answer is made of."""

from ..request.context import Context
from ..store import Json

APP = "https://app.docs.example"


def located(ctx: Context, path: str) -> str:
    """The URL of what is at a path of the API, where the caller reaches it."""
    return f"{ctx.origin}/v1{path}"


def set_only(doc: Json) -> Json:
    """A field that is not set is left out, except those that the API shows as null."""
    return {key: value for key, value in doc.items() if value is not None}
