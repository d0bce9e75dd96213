"""Declare how visitors sign in to a site (`Kind`). dpsync never reads the key that signs their tokens.

Output: a `Kind`, from which dpsync derives the file schema, the comparison with GitBook, and the requests.
"""

from dpsync.kinds.kind import Field, Kind, Patch, SingleEntry, SingleRead
from dpsync.kinds.types import Enum, Text

VISITOR_AUTH = Kind(
    name="visitor_auth",
    parent="site",
    key="visitorAuth",
    label="visitor access",
    shape=SingleEntry(exists_with_parent=True),
    url_path="{parent}/publishing/auth",
    read=SingleRead(),
    # It wants the backend each time.
    update=Patch("{self}", {"...": "$fields", "backend": "$backend"}, repeat="safe"),
    fields=(
        Field(
            "backend",
            Enum(("custom", "integration")),
            written_in="update",
            required=True,
            platform_default="custom",
            can_widen_access=True,
            widens_when="changed",
        ),
        Field(
            "fallbackURL",
            Text(1, 2048, format="url"),
            written_in="update",
            null_effect="clear",
            can_widen_access=True,
            widens_when="changed",
        ),
        Field(
            "logoutURL",
            Text(1, 2048, format="url"),
            written_in="update",
            null_effect="clear",
            can_widen_access=True,
            widens_when="changed",
        ),
    ),
)
