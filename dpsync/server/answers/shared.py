"""What every answer is made of."""

from typing import Any

API = "https://api.docs.example/v1"
APP = "https://app.docs.example"
Json = dict[str, Any]


def set_only(doc: Json) -> Json:
    """A field that is not set is left out, except those that the API shows as null."""
    return {key: value for key, value in doc.items() if value is not None}
