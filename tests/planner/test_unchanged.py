"""What a plan costs in which nothing changes: calls are counted, never seconds.

Nearly every plan is mostly of this sort. Each test names work that such a plan does not need.
"""

from __future__ import annotations

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
from dpsync.cli.output import as_output
from dpsync.client.client import ReadClient
from dpsync.render.json_conversion import plan_document
from dpsync.server.http.app import build
from dpsync.server.process.thread import ThreadedServer
from dpsync.server.store import open_store

ENTRIES = 240
PACKAGE = str(Path(dpsync.__file__).parent)

Calls = Counter[str]


def calls(work: Callable[[], object]) -> Calls:
    """How often each function of dpsync was called in this thread, by its qualified name."""
    found: Calls = Counter()

    def note(frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(PACKAGE):
            found[frame.f_code.co_qualname] += 1

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(before)
    return found


@pytest.fixture(scope="module")
def counted(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Calls]:
    """The calls of each stage of `dpsync plan`, one request in flight: all of them are in this thread."""
    root = tmp_path_factory.mktemp("unchanged") / "dpsync.yaml"
    root.write_text(configuration(ENTRIES), encoding="utf-8")
    made: dict[str, Any] = {}
    with ThreadedServer(build(open_store(":memory:"))) as server:
        server.reset(world(ENTRIES))
        with ReadClient(server.url, TOKEN) as client:
            load(root, {})  # what is made once for a process is made by now
            loading = calls(lambda: made.update(desired=load(root, {})))
            session = Session(made["desired"], load_registry(), parallelism=1)
            session.plan(client)
            planning = calls(lambda: made.update(plan=session.plan(client).plan))
    assert made["plan"].empty
    out = as_output("text", "never")
    out.mask.add([TOKEN])
    showing = calls(lambda: out.show(plan_document(made["plan"])))
    return {"load": loading, "plan": planning, "show": showing}


def test_where_things_are_written_is_looked_up_only_for_what_is_shown(counted: dict[str, Calls]) -> None:
    assert counted["plan"]["Origin.of"] == counted["show"]["Origin.of"] == 0
    assert counted["show"]["_origins"] == 0


def test_recognising_and_comparing_need_no_canonical_text(counted: dict[str, Calls]) -> None:
    """What is a text on both sides is compared as it is."""
    assert counted["plan"]["canonical"] == 0


def test_who_is_who_is_asked_in_one_round_where_each_name_is_borne_once(counted: dict[str, Calls]) -> None:
    assert counted["plan"]["match"] > 0
    assert counted["plan"]["_proposals"] == counted["plan"]["_later_keys"] == 0


def test_a_later_natural_key_is_held_against_the_one_object_only(counted: dict[str, Calls]) -> None:
    """No index of a place is made by it: there is one of the first key for each place with entries."""
    places = counted["plan"]["_match_by_first_key"]
    assert 0 < counted["plan"]["Index._build_index"] <= places


def test_an_entry_in_its_normal_form_is_taken_as_it_is(counted: dict[str, Calls]) -> None:
    assert counted["plan"]["Sides.resources.<locals>.<dictcomp>"] == 0


def test_fields_with_one_value_on_both_sides_are_not_brought_into_a_normal_form(
    counted: dict[str, Calls],
) -> None:
    """Only what may be an id on one side and an address on the other is."""
    assert counted["plan"]["Values.normal"] < 2 * ENTRIES
    assert counted["plan"]["Type.same"] < ENTRIES


def test_nothing_is_asked_of_values_that_are_always_given_back(counted: dict[str, Calls]) -> None:
    assert counted["plan"]["not_known"] < 2 * ENTRIES


def test_where_nothing_is_written_no_list_is_put_in_order(counted: dict[str, Calls]) -> None:
    assert counted["plan"]["_Lanes._order_after_creates"] == counted["plan"]["moves"] == 0


def test_where_nothing_is_written_no_value_is_settled(counted: dict[str, Calls]) -> None:
    assert counted["plan"]["_Unique.settle"] == 0


def test_a_file_is_decoded_and_looked_through_once(counted: dict[str, Calls]) -> None:
    assert counted["load"]["decode"] == counted["load"]["_is_visible"] == 1


def test_entries_are_told_apart_without_a_canonical_text(counted: dict[str, Calls]) -> None:
    assert counted["load"]["canonical"] == 0
