"""The laws that hold on one platform hold on all: on the edition of today, and on the documented one.

On the documented one what it has no operation for is blocked. There some hold as they are; the others have
their like in test_profiles.py.
"""

from __future__ import annotations

from typing import Any

import pytest

from dpsync.api import import_
from dpsync.importing.files import CachingClient
from dpsync.model.journal import SUCCESSFUL
from tests.direct import transport
from tests.soak import examples

from . import (
    others,
    test_convergence,
    test_keeping,
    test_order,
    test_other_kinds,
    test_public,
    test_renames,
    test_restructuring,
    test_stale,
)
from .configurations import TOKEN, world
from .laws import law, said
from .organizations import Draw, live_organization
from .platform import Platform

PROMISES: dict[str, Any] = {
    promise: getattr(module, name)
    for module, name, promise in (
        (
            test_convergence,
            "test_second_apply_sends_no_writes",
            "an apply converges",
        ),
        (test_convergence, "test_apply_produces_declared_platform_state", "what was wanted is there"),
        (
            test_convergence,
            "test_apply_sends_each_planned_step_once",
            "each step is sent once",
        ),
        (test_convergence, "test_apply_leaves_unplanned_objects_unchanged", "what is not named stays"),
        (
            test_renames,
            "test_random_renames_with_ids_file_plan_only_updates",
            "renames make and delete nothing",
        ),
        (test_renames, "test_interrupted_renames_are_finished_by_next_apply", "interrupted renames go on"),
        (
            test_restructuring,
            "test_confirmed_restructure_converges_in_two_applies",
            "navigations are built anew",
        ),
        (
            test_keeping,
            "test_apply_deletes_only_in_pruned_lists",
            "what is not pruned is kept",
        ),
        (
            test_order,
            "test_reordering_siblings_uses_fewest_moves",
            "a reordering is few moves",
        ),
        (
            test_other_kinds,
            "test_any_configuration_change_converges",
            "other kinds converge",
        ),
        (test_stale, "test_apply_refuses_plan_after_outside_change", "a stale plan is refused"),
    )
}
"""By what they promise, laws of other modules; there they hold on `full`."""


def inner(promise: str) -> Any:
    """Return the law as a function of one example."""
    return PROMISES[promise].hypothesis.inner_test


@pytest.mark.parametrize("promise", PROMISES)
@law(20)
def test_random_property_holds_on_published_api_version(today: Platform, draw: Draw, promise: str) -> None:
    inner(promise)(today, draw)


DOCUMENTED = (
    "each step is sent once",
    "renames make and delete nothing",
    "interrupted renames go on",
)
"""The laws that hold as they are where some things are blocked."""


@pytest.mark.parametrize("promise", DOCUMENTED)
@law(20)
def test_random_property_holds_on_reference_api_version(
    reference: Platform, draw: Draw, promise: str
) -> None:
    inner(promise)(reference, draw)


@law(20)
def test_restructure_on_reference_version_leaves_only_blocked_changes(
    reference: Platform, draw: Draw
) -> None:
    made, answers = test_restructuring.turned(draw)
    reference.start(made)
    session = reference.session(made.configuration)
    report = test_restructuring.apply(reference, session, answers)
    if not report.complete:
        report = test_restructuring.apply(reference, session, answers)
    assert report.remaining is not None
    assert report.complete or (report.remaining.changes, bool(report.remaining.blocked)) == ((), True)


@pytest.mark.parametrize("seed", range(examples(4, soak=60)))
def test_apply_on_published_version_has_no_transient_exposure(
    today: Platform, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    test_public.walk(test_public.Scene(today, seed), monkeypatch, seed, full=True)


@law(60)
def test_site_and_space_customizations_converge_together(today: Platform, draw: Draw) -> None:
    today.server.reset(others.world())
    for _ in range(3):
        wanted = others.document(others.looks_alone(draw))
        report = test_other_kinds.applied(today, wanted)
        assert report.count(*SUCCESSFUL) == len(report.outcomes), said(report)
        assert today.plan(today.session(wanted)).plan.changes == ()


@pytest.mark.parametrize("profile", ["today", "reference"])
@law(20)
def test_plan_after_import_is_empty(request: pytest.FixtureRequest, draw: Draw, profile: str) -> None:
    platform: Platform = request.getfixturevalue(profile)
    platform.server.reset(world([live_organization(draw, "acme", 4)]))
    inside = transport(platform.server, TOKEN)
    with CachingClient(platform.server.url, TOKEN, transport=inside) as client:
        made = import_(client, platform.registry)
    assert made.problems == ()
    assert made.plan is not None
    assert made.plan.changes == ()
    assert made.proven or made.plan.blocked
