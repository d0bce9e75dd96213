"""Where the profile `full` follows the reference, and the vendor's document 0.146.0 says otherwise.

Each row is a disagreement that is known, with the side that `full` is on. What a row covers is counted apart
by the witness; everything else that the document would refuse is an error. docs/platforms.md shows the rows.
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
        "an organization without content to begin with", "answers null",
    ),
    Disagreement(
        rf"{_ANY}{_SITE}/site-spaces/[^/]+/customization.*", r".*",
        "the looks of a space in a site",
        "takes each member and null, and answers what the space has of its own",
    ),
    Disagreement(
        rf"{_ANY}{_SITE}/customization.*",
        r"\(body\): \"(pdf|git)\" is|pageActions: |announcement: |favicon: |header/links",
        "the looks of a site",
        "has no `pdf` and `git`, a list of page actions, announcements without a style, icons, nested links",
    ),
    Disagreement(
        rf"{_ANY}/integrations/[^/]+( → 20\d)?", rf"\(body\): |{_UNEXPECTED}|contentSources/\d+: ",
        "publishing an integration", "requires a title alone, and takes what belongs to it by its name",
    ),
    Disagreement(
        r"answer GET /integrations → 200", r"items/\d+/contentSources/\d+: ",
        "the content sources of an integration", "answers what was published",
    ),
    Disagreement(
        rf"request \w+ {_SITE}/external-links.*", r"there is no operation",
        "external links in a navigation", "has the operations, which later editions have",
    ),
    Disagreement(
        rf"answer \w+ {_SITE}/(structure|structure/sort).*", r"\(body\): \{\"structure\"",
        "external links in the tree of a navigation", "answers them",
    ),
    Disagreement(
        rf"{_ANY}{_SITE}/redirects.*",
        rf"(items/\d+/)?destination: |{_UNEXPECTED}\('(permanent|draft|captureWildcard)'",
        "redirects to another site, permanent ones, drafts, those of all below a path",
        "takes and answers them, as later editions do",
    ),
    Disagreement(
        rf"request \w+ {_SITE}(/(sections|section-groups|site-spaces)(/[^/]+)?)?",
        rf"{_UNEXPECTED}\('(draft|hidden|pageId|localizedTitle|localizedDescription|defaultLevel)'",
        "drafts, hidden places, first pages, titles in languages, the level of a site",
        "takes the members, as later editions do",
    ),
    Disagreement(
        rf"request PATCH {_SITE}/publishing/auth", rf"{_UNEXPECTED}\('logoutURL'",
        "the address after signing out", "takes it, as later editions do",
    ),
    Disagreement(
        rf"{_ANY}/orgs/[^/]+/sites(/[^/]+)?( → 200)?", r"(items/\d+/)?proxy(/origin)?: ",
        "the proxy of a site", "takes a host without a dot, as the reference does",
    ),
    Disagreement(
        r"answer \w+ /orgs/[^/]+/openapi.*", r"(items/\d+/)?slug: ",
        "the slug of a specification", "takes capital letters, as later editions do",
    ),
    Disagreement(
        r"answer \w+ /orgs/[^/]+/saml.*", r'(\(body\)|items/\d+): "ssoURL" is a required property',
        "a SAML provider without `ssoURL`",
        "answers without that property, because an empty text is no URL",
    ),
)  # fmt: skip


def known(edition: str, exchange: str, error: str) -> Disagreement | None:
    """The disagreement that an error of an exchange with an edition is, None for what is a mistake."""
    if edition != EDITION:
        return None
    return next(
        (one for one in KNOWN if re.fullmatch(one.exchanges, exchange) and re.match(one.error, error)), None
    )


def table() -> str:
    """The rows for docs/platforms.md, as Markdown."""
    rows = [f"| {one.what} | {one.full} |" for one in KNOWN]
    return "\n".join([f"| in {EDITION} there is another rule for | `full` |", "|---|---|", *rows])
