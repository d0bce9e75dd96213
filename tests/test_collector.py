"""The garbage collector is left as it was by whatever pauses it."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator

import pytest

from benchmarks.shapes import SHAPES
from benchmarks.slopes import planning
from dpsync.cli.main import main
from dpsync.collector import collector_paused, collector_running
from dpsync.config.yaml_reader import read
from dpsync.model.plan import Plan
from dpsync.planner.plan import make_plan
from dpsync.planner.sides import Sides


def reads_a_file() -> object:
    return read("a: [", "f.yaml")


def plans() -> object:
    return planning(SHAPES["teams, unchanged"](3))()


PAUSING = [reads_a_file, plans]


@pytest.fixture
def off() -> Iterator[None]:
    gc.disable()
    yield
    gc.enable()


@pytest.mark.parametrize("work", PAUSING)
def test_garbage_collector_is_enabled_after_work(work: Callable[[], object]) -> None:
    work()
    assert gc.isenabled()


@pytest.mark.parametrize("work", PAUSING)
@pytest.mark.usefixtures("off")
def test_disabled_garbage_collector_stays_disabled_after_work(work: Callable[[], object]) -> None:
    work()
    assert not gc.isenabled()


def test_garbage_collector_is_paused_during_planning(monkeypatch: pytest.MonkeyPatch) -> None:
    states = []

    def noting(sides: Sides) -> Plan:
        states.append(gc.isenabled())
        return make_plan(sides)

    monkeypatch.setattr("dpsync.workflows.session.make_plan", noting)
    plans()
    assert states == [False]


def test_garbage_collector_is_enabled_after_exception() -> None:
    with pytest.raises(ValueError, match="no"), collector_paused(), collector_paused():
        raise ValueError("no")
    assert gc.isenabled()


def test_garbage_collector_can_run_inside_a_pause() -> None:
    with collector_paused():
        with collector_running():
            assert gc.isenabled()
        assert not gc.isenabled()
    gc.unfreeze()


def test_enabled_garbage_collector_stays_enabled() -> None:
    with collector_running():
        assert gc.isenabled()
    assert gc.isenabled()


def test_what_a_command_has_made_is_not_looked_through_when_it_ends(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit):
        main(["--version"])
    assert gc.get_freeze_count() > 0
    assert gc.isenabled()
    gc.unfreeze()
    assert "dpsync" in capsys.readouterr().out
