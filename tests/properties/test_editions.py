"""The laws that hold on one platform hold on all: on the edition of today, and on the documented one.

On the documented one what it has no operation for is blocked. There some hold as they are; the others have
their like in test_profiles.py.
"""

from __future__ import annotations

from typing import Any

import pytest

from dpsync.api import import_
from dpsync.importing.files import RememberingClient
from dpsync.model.journal import GOOD
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
            "test_after_an_apply_the_plan_is_empty_and_a_second_apply_sends_no_write",
            "an apply converges",
        ),
        (test_convergence, "test_the_platform_is_what_was_wanted", "what was wanted is there"),
        (
            test_convergence,
            "test_every_write_is_a_step_of_the_plan_and_each_step_is_sent_once",
            "each step is sent once",
        ),
        (test_convergence, "test_what_the_plan_does_not_name_is_as_it_was", "what is not named stays"),
        (test_renames, "test_names_dealt_anew_make_and_delete_nothing", "renames make and delete nothing"),
        (test_renames, "test_interrupted_renames_are_gone_on_with", "interrupted renames go on"),
        (
            test_restructuring,
            "test_with_the_answer_every_navigation_becomes_what_is_declared",
            "navigations are built anew",
        ),
        (
            test_keeping,
            "test_where_only_some_places_are_pruned_the_rest_is_kept",
            "what is not pruned is kept",
        ),
        (
            test_order,
            "test_a_reordering_is_as_few_moves_as_possible_and_nothing_else",
            "a reordering is few moves",
        ),
        (
            test_other_kinds,
            "test_from_one_configuration_to_another_and_then_nothing",
            "other kinds converge",
        ),
        (test_stale, "test_a_plan_that_rests_on_something_changed_is_refused", "a stale plan is refused"),
    )
}
"""By what they promise, laws of other modules; there they hold on `full`."""


def inner(promise: str) -> Any:
    """The law for one example."""
    return PROMISES[promise].hypothesis.inner_test


@pytest.mark.parametrize("promise", PROMISES)
@law(20)
def test_it_holds_on_the_edition_of_today(today: Platform, draw: Draw, promise: str) -> None:
    inner(promise)(today, draw)


DOCUMENTED = (
    "each step is sent once",
    "renames make and delete nothing",
    "interrupted renames go on",
)
"""The laws that hold as they are where some things are blocked."""


@pytest.mark.parametrize("promise", DOCUMENTED)
@law(20)
def test_it_holds_on_the_documented_platform(reference: Platform, draw: Draw, promise: str) -> None:
    inner(promise)(reference, draw)


@law(20)
def test_of_a_navigation_that_is_built_anew_there_nothing_is_left_but_what_is_blocked(
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
def test_at_no_moment_is_anything_public_there_that_is_public_neither_before_nor_after(
    today: Platform, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    test_public.walk(test_public.Scene(today, seed), monkeypatch, seed, full=True)


@law(60)
def test_looks_of_a_site_and_of_its_spaces_converge_together(today: Platform, draw: Draw) -> None:
    today.server.reset(others.world())
    for _ in range(3):
        wanted = others.document(others.looks_alone(draw))
        report = test_other_kinds.applied(today, wanted)
        assert report.count(*GOOD) == len(report.outcomes), said(report)
        assert today.plan(today.session(wanted)).plan.changes == ()


@pytest.mark.parametrize("profile", ["today", "reference"])
@law(20)
def test_after_an_import_the_plan_is_empty(request: pytest.FixtureRequest, draw: Draw, profile: str) -> None:
    platform: Platform = request.getfixturevalue(profile)
    platform.server.reset(world([live_organization(draw, "acme", 4)]))
    inside = transport(platform.server, TOKEN)
    with RememberingClient(platform.server.url, TOKEN, transport=inside) as client:
        made = import_(client, platform.registry)
    assert made.problems == ()
    assert made.plan is not None
    assert made.plan.changes == ()
    assert made.proven or made.plan.blocked
