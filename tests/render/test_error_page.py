"""A section of the page of errors as it is printed: paragraphs without marks, and blocks as they are."""

from __future__ import annotations

import pytest

from dpsync.render.error_page import plain_section

BLOCK = ["```yaml", "teams:", "  a: {}", "```"]


@pytest.mark.parametrize(
    ("lines", "parts"),
    [
        (["A title", "is missing."], [("A title is missing.", False)]),
        (["One.", "", "Two."], [("One.", False), ("Two.", False)]),
        (["Say **so**:", "", *BLOCK], [("Say so:", False), ("teams:\n  a: {}", True)]),
        ([*BLOCK, "", "Or `not`."], [("teams:\n  a: {}", True), ("Or not.", False)]),
        (
            ["Do one:", "- Wait", "  here.", "- Go."],
            [("Do one:", False), ("- Wait here.", False), ("- Go.", False)],
        ),
        ([*BLOCK, *BLOCK], [("teams:\n  a: {}", True)] * 2),
        (["<!-- for the page alone -->", "See [there](x.md)."], [("See there.", False)]),
    ],
)
def test_error_explanation_section_is_split_into_paragraphs(
    lines: list[str], parts: list[tuple[str, bool]]
) -> None:
    assert list(plain_section(lines)) == parts
