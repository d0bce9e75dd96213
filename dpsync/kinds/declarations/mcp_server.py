"""Declare the MCP servers of a site's assistant. Responses contain the headers, which may be secret."""

from dpsync.kinds.kind import Delete, Entries, Field, Kind, Lifted, Pages, Patch, Post
from dpsync.kinds.types import Enum, Table, Text
from dpsync.kinds.types.free_form import Condition

_HEADER = Text(1, 256, r"[!#$%&'*+.^_`|~0-9A-Za-z-]+", meaning="the name of an HTTP header")
MCP_SERVER = Kind(
    name="mcp_server",
    parent="site",
    key="mcpServers",
    label="MCP server",
    shape=Entries(),
    at="{parent}/mcp-servers/{id}",
    read=Pages("{parent}/mcp-servers"),
    identity=("name",),  # not unique on the platform
    title="name",
    create=Post("{parent}/mcp-servers", {"headers": {}, "...": "$fields"}, repeat="look_up"),
    update=Patch("{self}", repeat="safe"),
    delete=Delete(repeat="safe"),
    security=True,
    # A condition may name a claim.
    after=("adaptive_schema",),
    fields=(
        Field("name", Text(1, 100), required=True),
        # Its tools, and its headers, are somebody else's at another address.
        Field("url", Text(1, 2048, form="url"), required=True, security=True, raised="changed"),
        Field("transport", Enum(("sse", "http")), platform_default="sse"),
        # They are replaced together. The platform gives them back: dpsync forgets them where it reads them.
        Field("headers", Table(_HEADER, Text(secret=True)), absent={}, security=True, raised="changed"),
        Field("condition", Condition(1, 1024), null="clear", exposure=Lifted()),
    ),
)
