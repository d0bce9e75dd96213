"""What an apply learns about ids, from plain values: which lines follow, and when they are written."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest
from msgspec.structs import replace

from dpsync.apply.ids_on_disk import IdsWriteError
from dpsync.apply.ids_recorder import IdsRecorder
from dpsync.apply.task import StepTask
from dpsync.model.address import Address
from dpsync.model.change import Blocked, Change, Gives, Step
from dpsync.model.ids import NO_IDS, IdsEdits, IdsFile, RecordedLine
from dpsync.model.journal import Outcome
from dpsync.planner.plan import make_plan
from dpsync.planner.sides import Sides
from tests.planner.stages import REGISTRY, Case

from .test_file import HERE, ids_of, line

ORG = "acme"
NO_ROOM = IdsWriteError("no room")


def at(text: str) -> Address:
    return Address.parse(text)


@dataclass
class Kept:
    """A store that remembers what it was given, and fails while it is `broken`, by that."""

    written: list[IdsEdits] = field(default_factory=list)
    broken: Exception | None = None

    def edit(self, platform: str, edits: IdsEdits) -> None:
        assert platform == HERE
        if self.broken is not None:
            raise self.broken
        self.written.append(edits)

    @property
    def last(self) -> dict[str, str | None]:
        """The lines of the last writing, by address."""
        return {str(address): line and line.id for (_, address), line in sorted(self.written[-1].items())}


@dataclass
class Clock:
    now: float = 100.0

    def __call__(self) -> float:
        return self.now


CASE = Case(
    wanted={"team": {"a": {"title": "A"}, "b": {"title": "B"}}, "member": {}},
    live={"team": {"a": {"title": "A"}, "old": {"title": "Old"}}},
)


@dataclass
class Apply:
    """An apply of the case, as far as the recorder sees it."""

    store: Kept = field(default_factory=Kept)
    clock: Clock = field(default_factory=Clock)
    known: IdsFile = NO_IDS
    sides: Sides = field(default_factory=CASE.sides)
    chosen: frozenset[Address] | None = None

    def __post_init__(self) -> None:
        self.plan = make_plan(self.sides)
        self.recorder = IdsRecorder(
            self.store, HERE, self.known, REGISTRY, self.sides.desired, self.chosen, self.clock
        )

    def begins(self, blocked: str = "") -> Apply:
        plan = self.plan.model_copy(update={"blocked": (Blocked(address=blocked, reason="so"),)})
        self.recorder.record_matches(self.sides.snapshot, plan if blocked else self.plan)
        return self

    def ends(self, verb: str, address: str, result: str = "done", **more: Any) -> None:
        """Settle a step. `id`: that of a deleted object; `gives`: the ids of created objects by address."""
        gives: dict[str, str] = more.get("gives", {})
        step = Step(
            id="step", verb=verb, method="POST", path="/", repeat="safe",
            gives=tuple(Gives(address=name, pointer="id") for name in gives),
        )  # fmt: skip
        change = Change(
            address=address, kind=more.get("kind", "team"), action="update", id=more.get("id"), steps=(step,)
        )
        outcome = Outcome(step="step", address=address, verb=verb, result=result)
        self.recorder.record_outcome(StepTask(change, step), outcome, lambda one: gives.get(str(one)))

    def writes(self) -> dict[str, str | None]:
        self.recorder.close()
        return self.store.last if self.store.written else {}


def test_recorder_records_matched_ids_at_start() -> None:
    assert Apply().begins().writes() == {"acme/teams/a": "team-a"}


def test_recorder_skips_already_recorded_ids() -> None:
    """Otherwise, each apply writes the file, though nothing new is known."""
    first = Apply().begins()
    again = Apply(known=first.recorder.current_ids).begins()

    assert again.recorder.seconds_to_next_write is None
    assert again.writes() == {}


def test_recorder_removes_line_of_renamed_key() -> None:
    old = (
        Apply()
        .begins()
        .recorder.current_ids.with_edits(
            HERE, {("acme", at("acme/teams/z")): RecordedLine(at("acme/teams/z"), "team-a")}
        )
    )
    apply = Apply(known=old).begins()

    assert apply.writes() == {"acme/teams/z": None}


def test_recorder_keeps_lines_of_unrelated_objects() -> None:
    """Otherwise, the line of a thing of another kind with the same id goes."""
    lines = {"acme/spaces/z": "team-a", "acme/teams/y": "old"}
    edits = {("acme", at(address)): RecordedLine(at(address), id) for address, id in lines.items()}
    apply = Apply(known=Apply().begins().recorder.current_ids.with_edits(HERE, edits)).begins()

    assert apply.writes() == {}


def test_recorder_skips_blocked_entries() -> None:
    """Otherwise, what cannot be recognised gets a line with a wrong id."""
    assert Apply().begins(blocked="acme/teams/a").writes() == {}


def test_recorder_skips_entries_outside_selection() -> None:
    """Otherwise, lines outside of the selected part change."""
    assert Apply(chosen=frozenset({at("acme/teams/b")})).begins().writes() == {}


def test_recorder_adds_line_after_create() -> None:
    apply = Apply().begins()
    apply.ends("create", "acme/teams/b", gives={"acme/teams/b": "t9"})

    assert apply.writes() == {"acme/teams/a": "team-a", "acme/teams/b": "t9"}


@pytest.mark.parametrize("id", ["t 9", "t\n9", "", "t" * 501])
def test_recorder_skips_unsafe_ids(id: str) -> None:
    """One such line would make the whole file unreadable.

    Otherwise, an id that no line can hold makes the whole file unreadable.
    """
    apply = Apply().begins()
    apply.ends("create", "acme/teams/b", gives={"acme/teams/b": id})

    assert apply.writes() == {"acme/teams/a": "team-a"}


@pytest.mark.parametrize("result", ["failed", "stale", "unknown", "not-tried", "requested"])
def test_recorder_ignores_unsuccessful_steps(result: str) -> None:
    apply = Apply().begins()
    apply.ends("create", "acme/teams/b", result, gives={"acme/teams/b": "t9"})
    apply.ends("delete", "acme/teams/a", result, id="team-a")

    assert apply.writes() == {"acme/teams/a": "team-a"}


def known(*lines: RecordedLine, organization: str = ORG) -> IdsFile:
    return ids_of(*lines, organization=organization)


def test_recorder_removes_lines_of_deleted_object_and_children() -> None:
    """Otherwise, an entry loses its line because another one is the same person.

    Otherwise, the line of a thing of another kind with the same id goes.
    """
    lines = (
        line("acme/sites/old", "s1"),
        line("acme/sites/old/structure/news", "section-1"),
        line("acme/sites/old-too", "s2"),
        line("acme/teams/s1", "s1"),
    )
    apply = Apply(known=known(*lines)).begins()
    apply.ends("delete", "acme/sites/[Old]", id="s1", kind="site")

    assert apply.writes() == {
        "acme/sites/old": None, "acme/sites/old/structure/news": None, "acme/teams/a": "team-a",
    }  # fmt: skip


def test_recorder_uses_new_id_after_recreation() -> None:
    apply = Apply(known=known(line("acme/teams/a", "team-a"))).begins()
    apply.ends("delete", "acme/teams/a", id="team-a")
    apply.ends("create", "acme/teams/a", gives={"acme/teams/a": "t2"})

    assert apply.writes() == {"acme/teams/a": "t2"}


def test_recorder_removes_line_of_already_deleted_object() -> None:
    apply = Apply(known=known(line("acme/teams/a", "team-a"))).begins()
    apply.ends("delete", "acme/teams/a", "already", id="team-a")

    assert apply.writes() == {"acme/teams/a": None}


def test_recorder_stores_section_with_its_site_space() -> None:
    case = Case(
        wanted={
            "site": {"docs": {"title": "Docs"}},
            "section": {"docs/news": {"title": "News", "path": "news"}},
            "site_space": {"docs/news/one": {"path": "one"}},
        },
        live={"site": {"docs": {"title": "Docs"}}},
    )
    apply = Apply(sides=case.sides()).begins()
    news = "acme/sites/docs/structure/news"
    apply.ends("create", news, kind="section", gives={news: "section-1", f"{news}/one": "place-1"})
    apply.recorder.close()

    assert apply.store.written[-1][ORG, at(news)] == line(news, "section-1", "place-1")
    assert apply.store.last[f"{news}/one"] == "place-1"


# Transfers.

TWO = Case(wanted={"space": {"x": {"title": "X"}}}, live={"space": {"x": {"title": "X"}}})


def given() -> Sides:
    """Return sides whose space is still in another organization."""
    sides = TWO.sides()
    return replace(
        sides, snapshot=replace(sides.snapshot, transferred_entries=frozenset({at("acme/spaces/x")}))
    )


BEFORE = known(line("globex/spaces/x", "space-x"), line("globex/spaces/y", "y"), organization="globex")


def test_recorder_keeps_line_before_transfer() -> None:
    """Otherwise, a line moves to another organization before its object does."""
    assert Apply(sides=given(), known=BEFORE).begins().writes() == {}


def test_recorder_moves_line_after_transfer() -> None:
    apply = Apply(sides=given(), known=BEFORE).begins()
    apply.ends("transfer", "acme/spaces/x", kind="space")
    apply.recorder.close()

    assert apply.store.written[-1] == {
        (ORG, at("acme/spaces/x")): line("acme/spaces/x", "space-x"),
        ("globex", at("globex/spaces/x")): None,
    }


def test_recorder_keeps_line_after_unknown_transfer() -> None:
    """Otherwise, what was not done, or nobody knows, gets a line."""
    apply = Apply(sides=given(), known=BEFORE).begins()
    apply.ends("transfer", "acme/spaces/x", "unknown", kind="space")

    assert apply.writes() == {}


# When it is written.


def made(apply: Apply, key: str) -> None:
    apply.ends("create", f"acme/teams/{key}", gives={f"acme/teams/{key}": f"t-{key}"})


def test_recorder_writes_once_per_second_at_most() -> None:
    apply = Apply().begins()
    apply.recorder.flush()
    made(apply, "b")
    apply.recorder.flush()
    apply.clock.now += 0.9
    apply.recorder.flush()
    early = len(apply.store.written)
    left = apply.recorder.seconds_to_next_write
    apply.clock.now += 0.2
    apply.recorder.flush()

    assert (early, len(apply.store.written)) == (1, 2)
    assert left == pytest.approx(0.1)


def test_recorder_skips_write_without_new_ids() -> None:
    """Otherwise, the file is written after each of thousands of steps."""
    apply = Apply()
    apply.recorder.flush()
    apply.recorder.close()

    assert apply.store.written == []


@pytest.mark.parametrize(
    ("broken", "told"),
    [
        (NO_ROOM, "no room"),
        (KeyError("x"), "the ids file cannot be written: dpsync has an internal error (KeyError)"),
    ],
)
def test_recorder_retries_failed_write_before_reporting(broken: Exception, told: str) -> None:
    """Otherwise, a file that cannot be written stops an apply in the middle.

    Otherwise, what could not be written once is never written.
    """
    apply = Apply(store=Kept(broken=broken)).begins()
    apply.recorder.flush()
    failing = apply.recorder.trouble
    apply.store.broken = None
    apply.recorder.close()

    assert failing == told
    assert apply.recorder.trouble is None
    assert apply.store.last == {"acme/teams/a": "team-a"}


def test_recorder_reports_permanently_failed_write() -> None:
    apply = Apply(store=Kept(broken=NO_ROOM)).begins()
    apply.recorder.close()

    assert apply.recorder.trouble == "no room"


def test_recorder_internal_error_does_not_stop_apply(monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise, a mistake of dpsync's about lines stops an apply in the middle."""
    apply = Apply().begins()
    monkeypatch.setattr(apply.recorder, "_record_created", None)
    made(apply, "b")
    apply.recorder.close()

    assert "an internal error (TypeError)" in str(apply.recorder.trouble)
    assert apply.store.last == {"acme/teams/a": "team-a"}
