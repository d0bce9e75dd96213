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
def test_it_goes_on_afterwards(work: Callable[[], object]) -> None:
    work()
    assert gc.isenabled()


@pytest.mark.parametrize("work", PAUSING)
@pytest.mark.usefixtures("off")
def test_it_is_not_begun_where_it_was_not_going_on(work: Callable[[], object]) -> None:
    work()
    assert not gc.isenabled()


def test_a_plan_is_made_while_it_is_paused(monkeypatch: pytest.MonkeyPatch) -> None:
    states = []

    def noting(sides: Sides) -> Plan:
        states.append(gc.isenabled())
        return make_plan(sides)

    monkeypatch.setattr("dpsync.workflows.session.make_plan", noting)
    plans()
    assert states == [False]


def test_it_goes_on_after_a_failure() -> None:
    with pytest.raises(ValueError, match="no"), collector_paused(), collector_paused():
        raise ValueError("no")
    assert gc.isenabled()


def test_what_takes_long_inside_of_a_pause_is_looked_through() -> None:
    with collector_paused():
        with collector_running():
            assert gc.isenabled()
        assert not gc.isenabled()
    gc.unfreeze()


def test_what_is_running_goes_on() -> None:
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
