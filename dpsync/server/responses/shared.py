"""Help to make response bodies: build API URLs, and leave out members that are None."""

from ..request.context import Context
from ..store import Json

APP_URL = "https://app.docs.example"


def api_url(ctx: Context, path: str) -> str:
    """Return the URL of an API path at the origin that the caller uses."""
    return f"{ctx.base_url}/v1{path}"


def without_none(doc: Json) -> Json:
    """Return the document without fields that are None. The API omits an unset field in most answers."""
    return {key: value for key, value in doc.items() if value is not None}
