"""What a context connection is set up with, by its connector. Tokens are secrets, and may be read back."""

from dpsync.kinds.types import Enum, Object, Table, Text

_GIVEN = Text(1)
_SECRET = Text(1, secret=True)
_REPOSITORY = Text(3, None, r"[A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+", meaning="a repository (acme/docs)")
_VIDEOS = Text(
    4, None, r"UC[A-Za-z0-9_-]{22}|@[A-Za-z0-9._-]{3,100}", meaning="a channel's id (UC…) or handle (@…)"
)
_STATUS = Enum(("draft", "open", "archived", "merged"))
PARTS = {
    "url": Text(1, 2048, form="url"), "channelId": _VIDEOS, "repository": _REPOSITORY, "token": _SECRET,
    "subdomain": _GIVEN, "email": _GIVEN, "apiToken": _SECRET, "dataCenter": _GIVEN, "orgId": _GIVEN,
    "clientId": _GIVEN, "clientSecret": _SECRET, "refreshToken": _SECRET, "domain": _GIVEN, "apiKey": _SECRET,
    "baseUrl": Text(1, 2048, form="url"), "apiEmail": Text(3, 254, form="email"),
    "statusMapping": Table(_STATUS, Text(1, 255)),
}  # fmt: skip
_NEEDED = {
    "website": ("url",), "youtube": ("channelId",), "github-discussions": ("repository", "token"),
    "github-issues": ("repository", "token"), "intercom": ("token",), "front": ("token",),
    "pylon": ("token",), "hubspot": ("token",), "linear": ("token",),
    "zendesk": ("subdomain", "email", "apiToken"),
    "zoho-desk": ("dataCenter", "orgId", "clientId", "clientSecret", "refreshToken"),
    "freshdesk": ("domain", "apiKey"), "jira": ("baseUrl", "apiEmail", "apiToken"),
}  # fmt: skip
_MAY = {"jira": ("statusMapping",)}
FORMS = {
    f"builtin:{name}": Object(
        {part: PARTS[part] for part in (*needed, *_MAY.get(name, ()))},
        needed,
        f"the settings of builtin:{name}",
    )
    for name, needed in _NEEDED.items()
}
"""By connector the settings that it needs, and may have. The others have none."""
CONNECTOR = Text(
    1, None, rf"integration:[^:]+|builtin:(email|api|{'|'.join(_NEEDED)})",
    meaning="a connector: integration:NAME, or builtin:NAME with one of these names: email, api, "
    f"{', '.join(_NEEDED)}",
)  # fmt: skip
