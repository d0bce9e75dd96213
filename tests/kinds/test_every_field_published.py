"""Every field of every kind on the edition that the vendor publishes today: created, changed, cleared.

`make contract` holds each request that it makes against the vendor's document (tests/contract/witness.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from dpsync.kinds.kind import Field, Kind
from dpsync.kinds.registry import build_registry
from dpsync.server.http.app import build_companion
from dpsync.server.process.threaded_server import ThreadedServer
from dpsync.server.store import open_store
from tests.soak import slice_of

from .bench import TOOLS, Bench, changes, clears, creates, fields_of
from .samples import PLACES_TODAY, SAMPLES_TODAY

REGISTRY = build_registry("published")
PARAMETERS = fields_of(REGISTRY)
ELSEWHERE = {parameter.id for parameter in fields_of(build_registry())}
ALONE = [parameter for parameter in PARAMETERS if parameter.id not in ELSEWHERE]
"""Fields that only today's edition has."""
SLICE = 25
"""How many of the others a normal run looks at in each way: those of the other profile are looked at, too."""
CHOSEN = [*ALONE, *slice_of([parameter for parameter in PARAMETERS if parameter not in ALONE], SLICE)]


@pytest.fixture(scope="module")
def today() -> Iterator[ThreadedServer]:
    store = open_store(":memory:")
    with ThreadedServer(build_companion(store, profile="published")) as running:
        yield running
    store.close()


@pytest.fixture
def bench(today: ThreadedServer, tmp_path: Path) -> Bench:
    bench = Bench(today, tmp_path, REGISTRY, places=PLACES_TODAY, samples=SAMPLES_TODAY)
    topics = [{"id": "billing", "label": "Billing"}]  # only a world has any
    bench.holds(integrations=[TOOLS], sites=[{"id": "talk", "title": "Talk", "topics": topics}])
    return bench


@pytest.mark.parametrize(("kind", "field"), CHOSEN)
def test_created_field_leaves_empty_plan_on_published(bench: Bench, kind: Kind, field: Field) -> None:
    creates(bench, kind, field)


@pytest.mark.parametrize(("kind", "field"), CHOSEN)
def test_field_change_converges_on_published_api_version(bench: Bench, kind: Kind, field: Field) -> None:
    changes(bench, kind, field)


@pytest.mark.parametrize(("kind", "field"), CHOSEN)
def test_field_is_cleared_or_null_refused_on_published(bench: Bench, kind: Kind, field: Field) -> None:
    clears(bench, kind, field)


def test_agents_context_is_blocked_on_published_api_version(bench: Bench) -> None:
    bench.done({"sites": {"docs": {"title": "Docs"}}})
    assert bench.planned({"sites": {"docs": {"title": "Docs"}}}).plan.empty
    plan = bench.planned({"sites": {"docs": {"title": "Docs", "agentsContext": "excluded"}}}).plan
    assert plan.changes == ()
    (blocked,) = plan.blocked
    assert blocked.address == "acme/sites/docs#agentsContext"
    assert blocked.reason.startswith("the API version published has no operation for setting agentsContext")
