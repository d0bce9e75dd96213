"""Declare OpenAPI specifications. A write processes a source again, so dpsync writes only changed sources."""

from dpsync.kinds.kind import Busy, Delete, Entries, Field, Kind, Pages, Patch, PlatformWork, Put, Trouble
from dpsync.kinds.types import Enum, Object, Text
from dpsync.kinds.types.texts import OpenApiText

SLUG = Text(1, 100, "[a-zA-Z0-9]+(-[a-zA-Z0-9]+)*", meaning="a slug: letters and digits, joined by hyphens")
SOURCE = Object({"url": Text(1, 2048, form="url"), "text": OpenApiText(1, unreadable=True)},
                what="the source of a specification", one=True)  # fmt: skip
OPENAPI = Kind(
    name="openapi",
    parent="organization",
    key="openapi",
    label="OpenAPI specification",
    list_noun="openapi",
    shape=Entries(default="slug"),
    at="{parent}/openapi/{id}",
    id="slug",
    own_id=False,
    read=Pages("{parent}/openapi"),
    identity=("slug",),
    title="slug",
    create=Put("{parent}/openapi/{slug}", {"source": "$source"}, gives="$slug", repeat="safe"),
    update=Patch("{self}", repeat="safe"),
    delete=Delete(repeat="safe"),
    content=True,
    platform=PlatformWork(
        busy=Busy("processingState", ("pending", "progress")),
        trouble=Trouble(
            "lastProcessErrorCode",
            "GitBook could not fetch or parse the specification",
            "check that GitBook can reach the URL and that the specification is valid",
            detail="lastProcessError",
        ),
        processed="source",
    ),
    fields=(
        Field("slug", SLUG, on="create", required=True),
        # The URL is read beside the source; a text is kept in versions only.
        Field("source", SOURCE, read={"url": "sourceURL"}, required=True, raised="hosts",
              own_read={"text": "{self}/versions/latest/content/raw"},
              via=Put("{self}", {"source": "$value"}, repeat="safe")),
        Field("visibility", Enum(("private", "public")), on="update", platform_default="private",
              exposure=("private", "public"), security=True),
        Field("processingState", Enum(("pending", "progress", "complete")), on="neither"),
        Field("lastProcessErrorCode", Text(), on="neither"),
        Field("lastProcessError", Text(), on="neither", read="lastProcessedErrors.0.message"),
    ),
)  # fmt: skip
