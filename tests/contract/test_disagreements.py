"""What is a known disagreement with a document, and what is a mistake all the same."""

from __future__ import annotations

import pytest

from .disagreements import EDITION, KNOWN, known

DRAFT = "(body): Unevaluated properties are not allowed ('draft' was unexpected)"
SECTIONS = "request POST /orgs/acme/sites/docs/sections"


def test_known_openapi_mismatch_is_accepted() -> None:
    assert known(EDITION, SECTIONS, DRAFT) in KNOWN


@pytest.mark.parametrize(
    ("edition", "exchange", "error"),
    [
        ("0.202.0", SECTIONS, DRAFT),
        (EDITION, "request POST /orgs/acme/teams", DRAFT),
        (EDITION, SECTIONS, DRAFT.replace("draft", "colour")),
        (EDITION, "answer POST /orgs/acme/sites/docs/sections → 201", DRAFT),
        (EDITION, SECTIONS, '(body): "title" is a required property'),
    ],
)
def test_unlisted_openapi_mismatch_is_an_error(edition: str, exchange: str, error: str) -> None:
    assert known(edition, exchange, error) is None
