"""What a token may not read (403) is blocked; the rest is planned, and nothing is made or deleted by it."""

from __future__ import annotations

import pytest

from dpsync.api import Imported, import_
from dpsync.client.errors import ForbiddenError
from dpsync.importing.files import CachingClient
from dpsync.model.plan import Plan
from tests.kinds.bench import Bench
from tests.kinds.test_every_field import KINDS
from tests.planner.lab import REGISTRY
from tests.soak import slice_of

from .answers import Tape
from .test_malformed import Subject, path_of

REFUSED = 12
"""How many of the paths of an import a normal run refuses, one at a time."""


def acts(plan: Plan) -> set[tuple[str, str]]:
    return {(change.action, change.address) for change in plan.changes}


@pytest.mark.parametrize("name", sorted(KINDS))
def test_forbidden_read_blocks_only_affected_plan_entries(bench: Bench, name: str) -> None:
    """Wanted is another value for each entry, and everything that is not declared is to be deleted.

    Otherwise, what is made below something new is sent to no place.
    """
    subject = Subject(bench, REGISTRY[name])
    for path in sorted({path_of(one) for one in subject.tape.answers}):
        subject.tape.refused = {path}
        if path == "/orgs/acme":
            with pytest.raises(ForbiddenError):
                subject.planned()
            continue
        plan = subject.planned().plan
        assert acts(plan) <= acts(subject.base), path
        if path != "/user":
            assert plan.blocked or acts(plan) == acts(subject.base), path
        assert all("403)" in item.reason or item.because for item in plan.blocked), path
        assert {item.address for item in plan.blocked} <= plan.origins.keys() | unmanaged(plan), path


def unmanaged(plan: Plan) -> set[str]:
    return {item.address for item in plan.blocked if "[" in item.address}


def test_import_skips_and_reports_forbidden_objects(bench: Bench) -> None:
    bench.server.reset()
    tape = Tape(bench.server.url, "ada-token")

    def imported() -> Imported:
        with CachingClient(tape.url, "ada-token", transport=tape) as client:
            return import_(client, REGISTRY, ["acme"])

    assert imported().proven
    paths = sorted({path_of(one) for one in tape.answers} - {"/orgs", "/orgs/acme", "/user"})
    for path in slice_of(paths, REFUSED):
        tape.refused = {path}
        found = imported()
        assert found.problems == (), path
        assert found.plan is not None, path
        assert acts(found.plan) == set(), path
        assert any("no read permission" in item.why for item in found.made.left_out), path
