"""Declare OpenAPI specifications (`Kind`): fields and requests.

GitBook processes a source again after each write, so dpsync writes only sources that changed.
Output: a `Kind`, from which dpsync derives the file schema, the comparison with GitBook, and the requests.
"""

from dpsync.kinds.kind import (
    BusyState,
    Delete,
    EntryMapping,
    Field,
    Kind,
    ListRead,
    Patch,
    PlatformWork,
    Put,
    Trouble,
)
from dpsync.kinds.types import Enum, Object, Text
from dpsync.kinds.types.texts import OpenApiText

SLUG = Text(
    1,
    100,
    "[a-zA-Z0-9]+(-[a-zA-Z0-9]+)*",
    pattern_description="a slug: letters and digits, joined by hyphens",
)
SOURCE = Object({"url": Text(1, 2048, format="url"), "text": OpenApiText(1, is_write_only=True)},
                noun="the source of a specification", exactly_one=True)  # fmt: skip
OPENAPI = Kind(
    name="openapi",
    parent="organization",
    key="openapi",
    label="OpenAPI specification",
    list_noun="openapi",
    shape=EntryMapping(default_key_field="slug"),
    url_path="{parent}/openapi/{id}",
    id_path="slug",
    has_unique_id=False,
    read=ListRead("{parent}/openapi"),
    natural_keys=("slug",),
    title_field="slug",
    create=Put("{parent}/openapi/{slug}", {"source": "$source"}, id_source="$slug", repeat="safe"),
    update=Patch("{self}", repeat="safe"),
    delete=Delete(repeat="safe"),
    has_content=True,
    platform_work=PlatformWork(
        busy=BusyState("processingState", ("pending", "progress")),
        trouble=Trouble(
            "lastProcessErrorCode",
            "GitBook could not fetch or parse the specification",
            "check that GitBook can reach the URL and that the specification is valid",
            detail_field="lastProcessError",
        ),
        processed_field="source",
    ),
    fields=(
        Field("slug", SLUG, written_in="create", required=True),
        # The URL is read beside the source; a text is kept in versions only.
        Field("source", SOURCE, read_path={"url": "sourceURL"}, required=True, widens_when="hosts",
              separate_read_paths={"text": "{self}/versions/latest/content/raw"},
              own_call=Put("{self}", {"source": "$value"}, repeat="safe")),
        Field("visibility", Enum(("private", "public")), written_in="update", platform_default="private",
              exposure=("private", "public"), can_widen_access=True),
        Field("processingState", Enum(("pending", "progress", "complete")), written_in="neither"),
        Field("lastProcessErrorCode", Text(), written_in="neither"),
        Field("lastProcessError", Text(), written_in="neither", read_path="lastProcessedErrors.0.message"),
    ),
)  # fmt: skip
