"""What a document or a struct does not say is nothing: no number, no truth, no text, but for these."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import NODEFAULT
from pydantic import BaseModel

from tests.model.test_frozen import CLASSES

TRUE = {
    "Difference.known", "Effect.counts", "FieldDrift.known", "NavigationChange.known", "Plan.deleting",
    "Base.has_all_overlays",
    "Renamed.likely", "UrlImpact.known",
    "LiveObject.has_unique_id", "GitHubText.open",
    "Inputs.summary", "Inputs.annotations", "Inputs.drift_issue",
    "IdsFileUpdate._is_certain",
}  # fmt: skip
"""Truths that hold unless something else is said."""
NUMBERS = {
    "Limits.deletes": 5, "Limits.percent": 20,
    "Marker.attempt": 1, "PlanMarker.attempt": 1, "FurtherMarker.attempt": 1,
    "FailingChecksMarker.attempt": 1,
    "DriftMarker.attempt": 1, "DriftMarker.checks": 1,
}  # fmt: skip
"""Numbers that docs/policies.md and the first run of a workflow say."""
PACKAGES = ("dpsync.model.", "dpsync.github.", "dpsync.cli.", "dpsync.render.json.")


def absent(one: type[Any]) -> dict[str, Any]:
    """Return the defaults of a class's fields, by class and field."""
    if issubclass(one, BaseModel):
        found = {name: field.default for name, field in one.model_fields.items()}
    elif hasattr(one, "__struct_fields__"):
        found = dict(zip(reversed(one.__struct_fields__), reversed(one.__struct_defaults__), strict=False))
    else:
        found = {}
    return {f"{one.__name__}.{name}": value for name, value in found.items() if value is not NODEFAULT}


ABSENT = {
    name: value
    for one in CLASSES
    if one.__module__.startswith(PACKAGES)
    for name, value in absent(one).items()
}


@pytest.mark.parametrize("name", [name for name, value in ABSENT.items() if type(value) is bool])
def test_plan_model_booleans_default_to_false_except_listed(name: str) -> None:
    assert ABSENT[name] is (name in TRUE)


@pytest.mark.parametrize("name", [name for name, value in ABSENT.items() if type(value) in (int, float)])
def test_plan_model_numbers_default_to_zero_except_listed(name: str) -> None:
    assert ABSENT[name] == NUMBERS.get(name, 0)
