"""Declare the MCP servers of a site's assistant (`Kind`): fields and requests.

Responses contain the HTTP headers that GitBook sends to the server; they may be secret.
Output: a `Kind`, from which dpsync derives the file schema, the comparison with GitBook, and the requests.
"""

from dpsync.kinds.kind import Delete, EntryMapping, Field, Kind, ListRead, Patch, Post, Restriction
from dpsync.kinds.types import Enum, Table, Text
from dpsync.kinds.types.free_form import Condition

_HEADER = Text(1, 256, r"[!#$%&'*+.^_`|~0-9A-Za-z-]+", pattern_description="the name of an HTTP header")
MCP_SERVER = Kind(
    name="mcp_server",
    parent="site",
    key="mcpServers",
    label="MCP server",
    shape=EntryMapping(),
    url_path="{parent}/mcp-servers/{id}",
    read=ListRead("{parent}/mcp-servers"),
    natural_keys=("name",),  # not unique on the platform
    title_field="name",
    create=Post("{parent}/mcp-servers", {"headers": {}, "...": "$fields"}, repeat="look_up"),
    update=Patch("{self}", repeat="safe"),
    delete=Delete(repeat="safe"),
    creation_widens_access=True,
    # A condition may name a claim.
    steps_after_kinds=("adaptive_schema",),
    fields=(
        Field("name", Text(1, 100), required=True),
        # Its tools, and its headers, are somebody else's at another address.
        Field(
            "url", Text(1, 2048, format="url"), required=True, can_widen_access=True, widens_when="changed"
        ),
        Field("transport", Enum(("sse", "http")), platform_default="sse"),
        # They are replaced together. The platform gives them back: dpsync forgets them where it reads them.
        Field(
            "headers",
            Table(_HEADER, Text(secret=True)),
            value_when_absent={},
            can_widen_access=True,
            widens_when="changed",
        ),
        Field("condition", Condition(1, 1024), null_effect="clear", exposure=Restriction()),
    ),
)
