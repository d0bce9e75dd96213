"""Declare the redirects of a site. The key of an entry is the old path."""

from dpsync.kinds.kind import Delete, Entries, Field, Kind, Pages, Patch, Post, Redirects, RowFormat
from dpsync.kinds.types import Flag, Object, OneOf, Page, Reference, ShortForm, Text

_WHAT = "this destination"
# A path is not offered: the platform answers with the page that it led to when it was written.
DESTINATION = OneOf("kind", {
    "site-section": Object({"siteSectionId": Reference.to("section")}, ("siteSectionId",), _WHAT),
    "site-space": Object({"siteSpaceId": Reference.to("site_space")}, ("siteSpaceId",), _WHAT),
    "site-page": Object({"siteSpaceId": Reference.to("site_space"), "pageId": Page(1, beside="siteSpaceId")},
                        ("siteSpaceId", "pageId"), _WHAT),
    "external": Object({"url": Text(1, 2048, form="url")}, ("url",), _WHAT),
}, (
    ShortForm("site-section", {"section": ("siteSectionId",)}),
    ShortForm("site-space", {"space": ("siteSpaceId",)}),
    ShortForm("site-page", {"page": ("siteSpaceId", "pageId")}),
    ShortForm("site-page", {"space": ("siteSpaceId",), "page": ("pageId",)}),
    ShortForm("external", {"url": ("url",)}),
), _WHAT)  # fmt: skip
ROWS = RowFormat({
    ("destination",): {"destination": {"kind": "external", "url": "$destination"}},
    ("section",): {"destination": {"kind": "site-section", "siteSectionId": "$section"}},
    ("space",): {"destination": {"kind": "site-space", "siteSpaceId": "$space"}},
    ("space", "page"): {"destination": {"kind": "site-page", "siteSpaceId": "$space", "pageId": "$page"}},
})  # fmt: skip
_SEGMENT = r"([A-Za-z0-9\-._~+]|%[0-9A-Fa-f]{2})+"
# Published URLs resolve without regard to case (GitBook docs, publish/site-redirects).
_SOURCE = Text(1, 512, caseless=True)
_STRICT_SOURCE = Text(
    2, 512, rf"/{_SEGMENT}(/{_SEGMENT})*(/?\*)?", caseless=True,
    meaning="a path that begins with / and has only letters, digits, - . _ ~ + and %XX, with at most one * "
    "at the end",
    begins="/",
)  # fmt: skip
REDIRECT = Kind(
    name="redirect",
    parent="site",
    key="redirects",
    shape=Entries(natural="source", rows=ROWS),
    at="{parent}/redirects/{id}",
    read=Pages("{parent}/redirects"),
    identity=("source",),
    title="source",
    create=Post("{parent}/redirects", {"...": "$fields", "source": "$source"}, repeat="look_up"),
    update=Patch("{self}", repeat="safe"),
    delete=Delete(repeat="safe"),
    security=True,
    redirects=Redirects(
        "source",
        {"draft": (False,)},
        {
            "section": {"destination": {"kind": "site-section", "siteSectionId": "$key"}},
            "site_space": {"destination": {"kind": "site-space", "siteSpaceId": "$key"}},
        },
    ),
    fields=(
        Field("source", _SOURCE, in_answers="always", on_profiles={"published": {"type": _STRICT_SOURCE}}),
        Field("destination", DESTINATION, required=True, inline=True, security=True),
        Field("captureWildcard", Flag(), absent=False, security=True),
        Field("permanent", Flag(), absent=False, security=True),
        Field("draft", Flag(), absent=False, security=True, exposure=(True, False)),
    ),
)
