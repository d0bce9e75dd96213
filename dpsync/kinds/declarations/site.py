"""Declare sites (`Kind`): fields and requests.

The parts of a site's navigation are kinds of their own (section_group, section, site_space).
Output: a `Kind`, from which dpsync derives the file schema, the comparison with GitBook, and the requests.
"""

from msgspec.structs import replace

from dpsync.kinds.kind import Delete, EntryMapping, Field, Kind, ListRead, Patch, Post, Restriction, Url
from dpsync.kinds.shared.fields import LEVEL, ROLES_ASCENDING_WITH_GUEST, SITE_SYNC, STYLEGUIDE
from dpsync.kinds.types import Enum, Flag, Object, Text

_STRICT_PROXY = Text(
    3, 512, r"([A-Za-z0-9_-]+\.)*[A-Za-z0-9_-]+\.[A-Za-z]{2,}(/[A-Za-z0-9_-]+)+",
    pattern_description="a host name and a path, such as docs.example.com/docs, with only letters, "
    "digits, _ and - "
    "between the dots and slashes",
)  # fmt: skip
_TYPES = ("basic", "premium", "ultimate", "sponsored", "legacy-basic", "legacy-premium")
SITE = Kind(
    name="site", parent="organization", key="sites", shape=EntryMapping(), url_path="{parent}/sites/{id}",
    read=ListRead("{parent}/sites"),
    # Creating takes no basename: an interrupted creation is found by its title.
    url=Url(
        "urls.published", segment_field="basename", host_fields=("proxy", "hostname"),
        host_label_field="hostname", preview_path="urls.preview",
    ),
    visible_when={"published": (True,), "visibility": ("public", "unlisted", "visitor-auth")},
    changed_at_path="updatedAt", natural_keys=("basename", "title"),
    create=Post("{parent}/sites", repeat="look_up"), update=Patch("{self}", repeat="safe"),
    delete=Delete(repeat="safe"), has_content=True, git_sync=SITE_SYNC,
    profile_overrides={"published": {"git_sync": replace(SITE_SYNC, is_rechecked_before_write=True)}},
    fields=(
        Field("title", Text(2, 128), required=True),
        Field(
            "type", Enum(_TYPES), written_in="create", platform_default="basic", in_responses="always",
            # The default depends on the organization. Only the vendor's skills mention the type "site".
            profile_overrides={"published": {"platform_default": None, "type": Enum((*_TYPES, "site"))}},
        ),
        Field(
            "visibility", Enum(("public", "unlisted", "share-link", "visitor-auth")),
            exposure=("visitor-auth", "share-link", "unlisted", "public"), can_widen_access=True,
            written_after=("visitor_auth", "share_link"), in_responses="always",
        ),
        Field(
            "basename", Text(1, 100, is_url_segment=True), written_in="update", unique_within="organization"
        ),
        Field("hostname", Text(), written_in="neither"),
        # Written as one text, read as an object with the platform's target beside it.
        Field(
            "proxy",
            Text(
                3, 512, r"[\w-]+(\.[\w-]+)*(/[^\s/?#]+)+", pattern_description="a host and a path (host/docs)"
            ),
            written_in="update", read_path="proxy.origin", null_effect="clear", can_widen_access=True,
            widens_when="set", profile_overrides={"published": {"type": _STRICT_PROXY}},
        ),
        Field(
            "adaptiveContent", Object({"enabled": Flag()}, ("enabled",)), written_in="update",
            value_when_absent={"enabled": False},
            exposure=Restriction(unrestricted_values=({"enabled": False},)),
        ),
        Field(
            "defaultLevel", LEVEL, written_in="update", platform_default="inherit", can_widen_access=True,
            widens_when=ROLES_ASCENDING_WITH_GUEST, access_meaning="level",
        ),
        Field(
            "agentsContext", Enum(("excluded", "included")), written_in="update",
            platform_default="included", widens_when=("excluded", "included"),
            profile_overrides={"published": {"platform_default": None}},
        ),
        STYLEGUIDE,
        # Publishing may be answered with a checkout instead of the site: then it did not happen.
        Field(
            "published", Flag(), value_when_absent=False, exposure=(False, True), can_widen_access=True,
            written_in="update", in_responses="always",
            own_call={
                True: Post("{self}/publish", None, success_object="site", repeat="safe"),
                False: Post("{self}/unpublish", None, success_object="site", repeat="safe"),
            },
        ),
    ),
)  # fmt: skip
