"""Declare the redirects of a site (`Kind`). The key of an entry in the files is the old path.

Output: a `Kind`, from which dpsync derives the file schema, the comparison with GitBook, and the requests.
"""

from dpsync.kinds.kind import Delete, EntryMapping, Field, Kind, ListRead, Patch, Post, Redirects, RowFormat
from dpsync.kinds.types import Flag, Object, OneOf, Page, Reference, ShortForm, Text

_DESTINATION_NOUN = "this destination"
# A path is not offered: the platform answers with the page that it led to when it was written.
DESTINATION = OneOf(
    "kind",
    {
        "site-section": Object(
            {"siteSectionId": Reference.to("section")}, ("siteSectionId",), _DESTINATION_NOUN
        ),
        "site-space": Object(
            {"siteSpaceId": Reference.to("site_space")}, ("siteSpaceId",), _DESTINATION_NOUN
        ),
        "site-page": Object(
            {"siteSpaceId": Reference.to("site_space"), "pageId": Page(1, site_space_part="siteSpaceId")},
            ("siteSpaceId", "pageId"), _DESTINATION_NOUN,
        ),
        "external": Object({"url": Text(1, 2048, format="url")}, ("url",), _DESTINATION_NOUN),
    },
    (
        ShortForm("site-section", {"section": ("siteSectionId",)}),
        ShortForm("site-space", {"space": ("siteSpaceId",)}),
        ShortForm("site-page", {"page": ("siteSpaceId", "pageId")}),
        ShortForm("site-page", {"space": ("siteSpaceId",), "page": ("pageId",)}),
        ShortForm("external", {"url": ("url",)}),
    ),
    _DESTINATION_NOUN,
)  # fmt: skip
ROWS = RowFormat({
    ("destination",): {"destination": {"kind": "external", "url": "$destination"}},
    ("section",): {"destination": {"kind": "site-section", "siteSectionId": "$section"}},
    ("space",): {"destination": {"kind": "site-space", "siteSpaceId": "$space"}},
    ("space", "page"): {"destination": {"kind": "site-page", "siteSpaceId": "$space", "pageId": "$page"}},
})  # fmt: skip
_SEGMENT = r"([A-Za-z0-9\-._~+]|%[0-9A-Fa-f]{2})+"
# Published URLs resolve without regard to case (GitBook docs, publish/site-redirects).
_SOURCE = Text(1, 512, is_case_insensitive=True)
_STRICT_SOURCE = Text(
    2, 512, rf"/{_SEGMENT}(/{_SEGMENT})*(/?\*)?", is_case_insensitive=True,
    pattern_description="a path that begins with / and has only letters, digits, - . _ ~ + and %XX, "
    "with at most one * "
    "at the end", first_character="/",
)  # fmt: skip
REDIRECT = Kind(
    name="redirect",
    parent="site",
    key="redirects",
    shape=EntryMapping(key_field="source", row_format=ROWS),
    url_path="{parent}/redirects/{id}",
    read=ListRead("{parent}/redirects"),
    natural_keys=("source",),
    title_field="source",
    create=Post("{parent}/redirects", {"...": "$fields", "source": "$source"}, repeat="look_up"),
    update=Patch("{self}", repeat="safe"),
    delete=Delete(repeat="safe"),
    creation_widens_access=True,
    redirects=Redirects(
        "source",
        {"draft": (False,)},
        {
            "section": {"destination": {"kind": "site-section", "siteSectionId": "$key"}},
            "site_space": {"destination": {"kind": "site-space", "siteSpaceId": "$key"}},
        },
    ),
    fields=(
        Field(
            "source",
            _SOURCE,
            in_responses="always",
            profile_overrides={"published": {"type": _STRICT_SOURCE}},
        ),
        Field("destination", DESTINATION, required=True, allows_inline_words=True, can_widen_access=True),
        Field("captureWildcard", Flag(), value_when_absent=False, can_widen_access=True),
        Field("permanent", Flag(), value_when_absent=False, can_widen_access=True),
        Field("draft", Flag(), value_when_absent=False, can_widen_access=True, exposure=(True, False)),
    ),
)
