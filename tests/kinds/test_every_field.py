"""Every field of every kind, against the companion: created, left as it is, changed, cleared."""

from __future__ import annotations

from pathlib import Path

import pytest

from dpsync.kinds.kind import Field, Kind
from dpsync.server.process.threaded_server import ThreadedServer
from tests.planner.lab import REGISTRY
from tests.soak import slice_of

from .bench import TOOLS, Bench, changes, clears, creates, fields_of, kinds_of
from .samples import PLACES, SAMPLES

KINDS = kinds_of(REGISTRY)
PARAMETERS = fields_of(REGISTRY)
CREATED = 60
"""How many fields a normal run looks at here: what is changed or cleared is created first, too."""
CLEARED = 100
"""How many fields a normal run clears."""


@pytest.fixture
def bench(server: ThreadedServer, tmp_path: Path) -> Bench:
    bench = Bench(server, tmp_path)
    bench.holds(integrations=[TOOLS])
    return bench


def test_every_field_has_sample() -> None:
    declared = {
        name: {field.name for field in kind.fields if not field.is_parent_reference}
        for name, kind in REGISTRY.with_all_kinds.kinds.items()
        if not kind.is_part_of_output
    }
    assert {name: set(samples) for name, samples in SAMPLES.items()} == declared
    assert set(PLACES) == set(declared)


@pytest.mark.parametrize(("kind", "field"), slice_of(PARAMETERS, CREATED))
def test_plan_is_empty_after_creating_object_with_field(bench: Bench, kind: Kind, field: Field) -> None:
    creates(bench, kind, field)


@pytest.mark.parametrize(("kind", "field"), PARAMETERS)
def test_plan_is_empty_after_changing_field(bench: Bench, kind: Kind, field: Field) -> None:
    """Otherwise, what no update takes is sent with one."""
    changes(bench, kind, field)


@pytest.mark.parametrize(("kind", "field"), slice_of(PARAMETERS, CLEARED))
def test_null_clears_field_or_is_refused(bench: Bench, kind: Kind, field: Field) -> None:
    clears(bench, kind, field)
