"""What a plan costs in which nothing changes: calls are counted, never seconds.

Nearly every plan is mostly of this sort. Each test names work that such a plan does not need.
"""

from __future__ import annotations

import ast
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import dpsync
from benchmarks.organization import TOKEN, configuration, world
from dpsync.api import Session, load, load_registry
from dpsync.cli.output import make_output
from dpsync.client.client import ReadClient
from dpsync.render.json_conversion import plan_document
from dpsync.server.http.app import build_companion
from dpsync.server.process.threaded_server import ThreadedServer
from dpsync.server.store import open_store

ENTRIES = 240
PACKAGE = str(Path(dpsync.__file__).parent)

FUNCTIONS = {
    node.name
    for path in Path(PACKAGE).rglob("*.py")
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    if isinstance(node, ast.FunctionDef)
}


class Calls(Counter[str]):
    """How often each function was called. A name that dpsync does not have would always count zero."""

    def __missing__(self, name: str) -> int:
        assert name.partition(".<locals>")[0].rpartition(".")[2] in FUNCTIONS, name
        return 0


def calls(work: Callable[[], object]) -> Calls:
    """How often each function of dpsync was called in this thread, by its qualified name."""
    found: Counter[str] = Counter()

    def note(frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(PACKAGE):
            found[frame.f_code.co_qualname] += 1

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(before)
    return Calls(found)


@pytest.fixture(scope="module")
def counted(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Calls]:
    """Return the calls of each stage of `dpsync plan`. With one request in flight, all are in this thread."""
    root = tmp_path_factory.mktemp("unchanged") / "dpsync.yaml"
    root.write_text(configuration(ENTRIES), encoding="utf-8")
    made: dict[str, Any] = {}
    with ThreadedServer(build_companion(open_store(":memory:"))) as server:
        server.reset(world(ENTRIES))
        with ReadClient(server.url, TOKEN) as client:
            load(root, {})  # what is made once for a process is made by now
            loading = calls(lambda: made.update(desired=load(root, {})))
            session = Session(made["desired"], load_registry(), parallelism=1)
            session.plan(client)
            planning = calls(lambda: made.update(plan=session.plan(client).plan))
    assert made["plan"].empty
    out = make_output("text", "never")
    out.mask.add([TOKEN])
    showing = calls(lambda: out.print_document(plan_document(made["plan"])))
    return {"load": loading, "plan": planning, "show": showing}


def test_planning_without_changes_looks_up_no_source_positions(counted: dict[str, Calls]) -> None:
    assert counted["plan"]["Origin.of"] == counted["show"]["Origin.of"] == 0
    assert counted["show"]["_origins"] == 0


def test_planning_without_changes_creates_no_canonical_json(counted: dict[str, Calls]) -> None:
    """What is a text on both sides is compared as it is."""
    assert counted["plan"]["canonical_json"] == 0


def test_matching_unique_names_takes_one_round(counted: dict[str, Calls]) -> None:
    assert counted["plan"]["match"] > 0
    assert counted["plan"]["_proposals"] == counted["plan"]["_match_by_later_keys"] == 0


def test_matching_by_first_key_builds_no_extra_index(counted: dict[str, Calls]) -> None:
    """No index of a place is made by it: there is one of the first key for each place with entries."""
    places = counted["plan"]["_match_by_first_key"]
    assert 0 < counted["plan"]["KeyIndex._build_index"] <= places


def test_normalized_entries_are_not_copied(counted: dict[str, Calls]) -> None:
    assert counted["plan"]["Sides.entries.<locals>.<dictcomp>"] == 0


def test_planning_does_not_normalize_equal_fields(
    counted: dict[str, Calls],
) -> None:
    """Only what may be an id on one side and an address on the other is."""
    assert counted["plan"]["ValueConverter.with_references"] < 2 * ENTRIES
    assert counted["plan"]["Type.equals"] < ENTRIES


def test_planning_checks_each_known_value_once(counted: dict[str, Calls]) -> None:
    assert counted["plan"]["unreadable_part"] < 2 * ENTRIES


def test_planning_without_changes_orders_no_lists(counted: dict[str, Calls]) -> None:
    assert counted["plan"]["_SiblingMoveFinder._order_after_creates"] == counted["plan"]["fewest_moves"] == 0


def test_planning_without_changes_orders_no_unique_values(counted: dict[str, Calls]) -> None:
    assert counted["plan"]["_UniqueValueFinder.order_field"] == 0


def test_configuration_loading_decodes_each_file_once(counted: dict[str, Calls]) -> None:
    assert counted["load"]["decode"] == counted["load"]["_is_visible"] == 1


def test_configuration_loading_compares_entries_without_canonical_json(counted: dict[str, Calls]) -> None:
    assert counted["load"]["canonical_json"] == 0
