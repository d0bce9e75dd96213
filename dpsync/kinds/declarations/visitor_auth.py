"""Declare how visitors sign in to a site. dpsync never reads the key that signs their tokens."""

from dpsync.kinds.kind import Field, Kind, One, Patch, Single
from dpsync.kinds.types import Enum, Text

VISITOR_AUTH = Kind(
    name="visitor_auth",
    parent="site",
    key="visitorAuth",
    label="visitor access",
    shape=Single(always=True),
    at="{parent}/publishing/auth",
    read=One(),
    # It wants the backend each time.
    update=Patch("{self}", {"...": "$fields", "backend": "$backend"}, repeat="safe"),
    fields=(
        Field(
            "backend",
            Enum(("custom", "integration")),
            on="update",
            required=True,
            platform_default="custom",
            security=True,
            raised="changed",
        ),
        Field(
            "fallbackURL",
            Text(1, 2048, form="url"),
            on="update",
            null="clear",
            security=True,
            raised="changed",
        ),
        Field(
            "logoutURL", Text(1, 2048, form="url"), on="update", null="clear", security=True, raised="changed"
        ),
    ),
)
