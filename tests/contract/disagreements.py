"""Where the profile `full` follows the reference, and the vendor's document 0.146.0 says otherwise.

Each row is a disagreement that is known, with the side that `full` is on. What a row covers is counted apart
by the witness; everything else that the document would refuse is an error. The rows
are on docs/api-versions.md.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

EDITION: Final = "0.146.0"


@dataclass(frozen=True)
class Disagreement:
    """One difference: in which exchanges, how the judge of the document words it, and what it is."""

    exchanges: str
    """A pattern of `request METHOD PATH` or `answer METHOD PATH → STATUS`, whole."""
    error: str
    """A pattern of the judge's error, from its start: a place in the body, and what is wrong there."""
    what: str
    """What differs, for people."""
    full: str
    """What `full` does."""


_SITE: Final = r"/orgs/[^/]+/sites/[^/]+"
_ANY: Final = r"(request|answer) \w+ "
_UNEXPECTED: Final = r"[\w/()]*: Unevaluated properties are not allowed "

KNOWN: Final = (
    Disagreement(
        r"answer .*", r"([\w/]+/)?defaultContent: null ",
        "an organization without default content", "returns null",
    ),
    Disagreement(
        rf"{_ANY}{_SITE}/site-spaces/[^/]+/customization.*", r".*",
        "the customization of a site space",
        "accepts each key and null, and returns only what differs from the site",
    ),
    Disagreement(
        rf"{_ANY}{_SITE}/customization.*",
        r"\(body\): \"(pdf|git)\" is|pageActions: |announcement: |favicon: |header/links",
        "the customization of a site",
        "has no `pdf` and `git`, a list of page actions, announcements without a style, icons, nested links",
    ),
    Disagreement(
        rf"{_ANY}/integrations/[^/]+( → 20\d)?", rf"\(body\): |{_UNEXPECTED}|contentSources/\d+: ",
        "publishing an integration", "requires only a title",
    ),
    Disagreement(
        r"answer GET /integrations → 200", r"items/\d+/contentSources/\d+: ",
        "the content sources of an integration", "returns the published value",
    ),
    Disagreement(
        rf"request \w+ {_SITE}/external-links.*", r"there is no operation",
        "external links in a navigation", "has the operations of later versions",
    ),
    Disagreement(
        rf"answer \w+ {_SITE}/(structure|structure/sort).*", r"\(body\): \{\"structure\"",
        "external links in the navigation tree", "returns external links",
    ),
    Disagreement(
        rf"{_ANY}{_SITE}/redirects.*",
        rf"(items/\d+/)?destination: |{_UNEXPECTED}\('(permanent|draft|captureWildcard)'",
        "redirects to another site, permanent redirects, drafts, wildcard redirects",
        "accepts and returns such redirects, as later versions do",
    ),
    Disagreement(
        rf"request \w+ {_SITE}(/(sections|section-groups|site-spaces)(/[^/]+)?)?",
        rf"{_UNEXPECTED}\('(draft|hidden|pageId|localizedTitle|localizedDescription|defaultLevel)'",
        "drafts, hidden site spaces, first pages, translated titles, the default access level of a site",
        "accepts these keys, as later versions do",
    ),
    Disagreement(
        rf"request PATCH {_SITE}/publishing/auth", rf"{_UNEXPECTED}\('logoutURL'",
        "the sign-out URL", "accepts this key, as later versions do",
    ),
    Disagreement(
        rf"{_ANY}/orgs/[^/]+/sites(/[^/]+)?( → 200)?", r"(items/\d+/)?proxy(/origin)?: ",
        "the proxy of a site", "accepts a host without a dot, as the reference does",
    ),
    Disagreement(
        r"answer \w+ /orgs/[^/]+/openapi.*", r"(items/\d+/)?slug: ",
        "the slug of a specification", "accepts capital letters, as later versions do",
    ),
    Disagreement(
        r"answer \w+ /orgs/[^/]+/saml.*", r'(\(body\)|items/\d+): "ssoURL" is a required property',
        "a SAML provider without `ssoURL`",
        "returns no `ssoURL`, because an empty text is not a URL",
    ),
)  # fmt: skip


def known(edition: str, exchange: str, error: str) -> Disagreement | None:
    """Return the known disagreement that explains an error, or None if the error is a mistake."""
    if edition != EDITION:
        return None
    return next(
        (one for one in KNOWN if re.fullmatch(one.exchanges, exchange) and re.match(one.error, error)), None
    )


def table() -> str:
    """Return the rows for docs/api-versions.md, as Markdown."""
    rows = [f"| {one.what} | {one.full} |" for one in KNOWN]
    return "\n".join([f"| {EDITION} has another rule for | `full` |", "|---|---|", *rows])
