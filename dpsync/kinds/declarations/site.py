"""Declare sites. The entries of their navigation are kinds too (section_group, section, site_space)."""

from msgspec.structs import replace

from dpsync.kinds.kind import Delete, Entries, Field, Kind, Lifted, Pages, Patch, Post, Url
from dpsync.kinds.shared.fields import GUEST_FIRST, LEVEL, SITE_SYNC, STYLEGUIDE
from dpsync.kinds.types import Enum, Flag, Object, Text

_STRICT_PROXY = Text(
    3, 512, r"([A-Za-z0-9_-]+\.)*[A-Za-z0-9_-]+\.[A-Za-z]{2,}(/[A-Za-z0-9_-]+)+",
    meaning="a host name and a path, such as docs.example.com/docs, with only letters, digits, _ and - "
    "between the dots and slashes",
)  # fmt: skip
_TYPES = ("basic", "premium", "ultimate", "sponsored", "legacy-basic", "legacy-premium")
SITE = Kind(
    name="site",
    parent="organization",
    key="sites",
    shape=Entries(),
    at="{parent}/sites/{id}",
    read=Pages("{parent}/sites"),
    # Creating takes no basename: an interrupted creation is found by its title.
    url=Url("urls.published", part="basename", hosts=("proxy", "hostname"), label="hostname",
            preview="urls.preview"),
    visible_when={"published": (True,), "visibility": ("public", "unlisted", "visitor-auth")},
    changed="updatedAt",
    identity=("basename", "title"),
    create=Post("{parent}/sites", repeat="look_up"),
    update=Patch("{self}", repeat="safe"),
    delete=Delete(repeat="safe"),
    content=True, synced=SITE_SYNC,
    on_profiles={"published": {"synced": replace(SITE_SYNC, asked_again=True)}},
    fields=(
        Field("title", Text(2, 128), required=True),
        Field("type", Enum(_TYPES), on="create", platform_default="basic", in_answers="always",
              # The default depends on the organization. Only the vendor's skills mention the type "site".
              on_profiles={"published": {"platform_default": None, "type": Enum((*_TYPES, "site"))}}),
        Field("visibility", Enum(("public", "unlisted", "share-link", "visitor-auth")),
              exposure=("visitor-auth", "share-link", "unlisted", "public"), security=True,
              after=("visitor_auth", "share_link"), in_answers="always"),
        Field("basename", Text(1, 100, segment=True), on="update", unique="organization"),
        Field("hostname", Text(), on="neither"),
        # Written as one text, read as an object with the platform's target beside it.
        Field("proxy", Text(3, 512, r"[\w-]+(\.[\w-]+)*(/[^\s/?#]+)+",
                            meaning="a host and a path (host/docs)"),
              on="update", read="proxy.origin", null="clear", security=True, raised="set",
              on_profiles={"published": {"type": _STRICT_PROXY}}),
        Field("adaptiveContent", Object({"enabled": Flag()}, ("enabled",)),
              on="update", absent={"enabled": False}, exposure=Lifted(free=({"enabled": False},))),
        Field("defaultLevel", LEVEL, on="update", platform_default="inherit", security=True,
              raised=GUEST_FIRST, access="level"),
        Field("agentsContext", Enum(("excluded", "included")), on="update", platform_default="included",
              raised=("excluded", "included"), on_profiles={"published": {"platform_default": None}}),
        STYLEGUIDE,
        # Publishing may be answered with a checkout instead of the site: then it did not happen.
        Field("published", Flag(), absent=False, exposure=(False, True), security=True, on="update",
              in_answers="always",
              via={True: Post("{self}/publish", None, answers="site", repeat="safe"),
                   False: Post("{self}/unpublish", None, answers="site", repeat="safe")}),
    ),
)  # fmt: skip
