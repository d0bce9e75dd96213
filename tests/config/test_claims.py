"""Conditions of a site and the schema of its visitors' claims."""

from __future__ import annotations

from pathlib import Path

import pytest

from .loading import loaded, organization

SCHEMA = (
    "{ type: object, additionalProperties: false, "
    "properties: { isBeta: { type: boolean }, plan: { type: string }, "
    "unsigned: { type: object, additionalProperties: false, properties: { country: { type: string } } } } }"
)


def _hints(
    directory: Path, condition: str, schema: str = f"adaptiveSchema: {SCHEMA}"
) -> list[tuple[str, str | None]]:
    text = organization(
        "spaces: { guides: { title: Guides } }\nsites:\n  docs:\n    title: Docs\n"
        f"    {schema}\n    structure:\n      - type: section\n        key: g\n        title: Guides\n"
        f"        condition: {condition!r}\n        children: [{{ type: space, key: en, space: guides }}]\n"
    )
    return [(item.message, item.hint) for item in loaded(directory, text)[1] if item.code == "DP241"]


@pytest.mark.parametrize(
    ("condition", "claim", "hint"),
    [
        pytest.param("visitor.claims.isBetta", "isBetta", 'did you mean "isBeta"?', id="misspelt"),
        pytest.param("!visitor.claims.isbeta", "isbeta", 'did you mean "isBeta"?', id="in another case"),
        pytest.param('visitor.claims["isBetta"]', "isBetta", 'did you mean "isBeta"?', id="in brackets"),
        pytest.param(
            "visitor.claims.x",
            "x",
            "the schema defines: isBeta, plan, unsigned",
            id="unlike every defined claim",
        ),
        pytest.param(
            "visitor.claims.isBeta && visitor.claims.unsigned.contry",
            "unsigned.contry",
            'did you mean "country"?',
            id="below another claim",
        ),
    ],
)
def test_condition_with_claim_missing_from_visitor_schema_fails(
    tmp_path: Path, condition: str, claim: str, hint: str
) -> None:
    """A section with an unsatisfiable condition is invisible to all visitors, without any error."""
    assert _hints(tmp_path, condition) == [(f'the visitor schema does not define the claim "{claim}"', hint)]


@pytest.mark.parametrize(
    "condition",
    [
        pytest.param("visitor.claims.isBeta", id="a claim"),
        pytest.param(
            "visitor.claims.unsigned.country == 'visitor.claims.x'", id="text that looks like a claim"
        ),
        pytest.param("visitor.claims.plan.startsWith('pro')", id="a method of a text"),
        pytest.param("true", id="no claim"),
    ],
)
def test_condition_with_claim_of_visitor_schema_is_valid(tmp_path: Path, condition: str) -> None:
    assert _hints(tmp_path, condition) == []


def test_condition_claims_are_unchecked_without_visitor_schema(tmp_path: Path) -> None:
    """The schema may exist only on the platform."""
    assert _hints(tmp_path, "visitor.claims.x", schema="visibility: public") == []
