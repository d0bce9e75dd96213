"""One step from its check to its outcome: what is sent, looked up and waited for; with a client of values."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any, cast

import pytest

from dpsync.apply.attempt import ApplyContext, Attempt, _merge_over_live
from dpsync.apply.fresh_reads import FreshReads
from dpsync.apply.journal import InMemoryJournal, NullJournal
from dpsync.apply.task import Check, LiveIds, StaleStep, StepTask
from dpsync.client.client import WriteClient, WriteResult
from dpsync.client.errors import (
    ClientError,
    InterruptedRequestError,
    NotFoundError,
    NotSentError,
    StatusError,
    UnknownOutcomeError,
)
from dpsync.kinds.registry import build_registry
from dpsync.kinds.types import Json
from dpsync.model.address import Address
from dpsync.model.change import Change, Difference, Gives, Step
from dpsync.model.desired import Desired, Entry
from dpsync.model.diagnostic import Diagnostic, DiagnosticError, Exit
from dpsync.model.journal import Intended, Outcome, StepEnded
from dpsync.model.nodes import Span
from dpsync.model.plan import Origin
from dpsync.model.snapshot import LiveObject

REGISTRY = build_registry("published")
SPAN = Span("dpsync.yaml", 1, 1, 1, 2)
TEAM, ACME = Address.parse("acme/teams/t"), Address.root("acme")
MADE = LiveObject("team", "7", ("organization", "acme"), None, {"title": "T"}, "/orgs/acme/teams")


class Client:
    """Answers with what it was given, one after the other; an exception is raised."""

    def __init__(self, *answers: object) -> None:
        self.answers = list(answers)
        self.sent: list[tuple[str, str, object]] = []
        self.pauses: list[float] = []

    def send(self, method: str, path: str, body: object, **_: object) -> WriteResult:
        self.sent.append((method, path, body))
        return cast(WriteResult, self._next())

    def get(self, path: str) -> object:
        del path
        return self._next()

    def pause(self, seconds: float) -> None:
        self.pauses.append(seconds)

    def _next(self) -> object:
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer


class Reading:
    """The fresh reads of one place: what is found there, or what keeps it from being read."""

    def __init__(self, found: Sequence[LiveObject] | Exception = (), place: bool = True) -> None:
        self.found_there, self.place = found, place
        self.sources: Any = None

    def note_sending(self) -> None:
        """Ignore that a write is about to be sent."""

    def note_not_sent(self, task: StepTask) -> None:
        """Ignore that the write was not sent."""

    def source(self, _change: Change) -> object:
        return "a place" if self.place else None

    def read(self, _source: object) -> Mapping[object, LiveObject]:
        if isinstance(self.found_there, Exception):
            raise self.found_there
        return {item.identity: item for item in self.found_there}

    def possible_results(
        self, _resource: Entry, now: Mapping[object, LiveObject], id: str | None
    ) -> list[LiveObject]:
        del id
        return list(now.values())


def attempt(
    client: Client,
    step: Step,
    reading: Reading | None = None,
    checks: Sequence[Check] = (),
    kind: str = "team",
) -> tuple[Outcome, LiveIds]:
    change = Change(address=str(TEAM), kind=kind, action="create", steps=(step,))
    team = Entry("team", TEAM, "t", ACME, None, {"title": "T"}, SPAN, {})
    ids, secrets = LiveIds({ACME: "acme"}), {"KEY": "hush"}
    shared = ApplyContext(
        cast(WriteClient, client), REGISTRY, Desired({TEAM: team}, {}), NullJournal(), secrets, ids,
        cast(FreshReads, reading or Reading()), checks, threading.Event(),
    )  # fmt: skip
    return Attempt(shared, StepTask(change, step)).run(), ids


def step(verb: Any = "create", repeat: Any = "look_up", **more: Any) -> Step:
    gives = (Gives(address=str(TEAM), pointer="id"),) if verb == "create" else ()
    return Step(
        id=f"{TEAM} {verb}", method=more.pop("method", "PUT"), path=more.pop("path", "/orgs/acme/teams"),
        **{"verb": verb, "repeat": repeat, "gives": gives, "body": {"title": "T"}, **more},
    )  # fmt: skip


def answer(status: int = 200, **body: Any) -> WriteResult:
    return WriteResult(status, body)


LOST = UnknownOutcomeError("PUT", "/orgs/acme/teams", "reset")


def refused(status: int, *, after: bool = False) -> StatusError:
    kind = NotFoundError if status == 404 else StatusError
    error = kind("PUT", "/orgs/acme/teams", status)
    error.after_unknown = after
    return error


@pytest.mark.parametrize(
    ("answered", "of", "result", "sent"),
    [
        (answer(id="7"), step(), "done", True),
        (answer(202), step("delete", "safe"), "requested", True),
        (answer(202, id="7"), step(), "done", True),
        # The `object` that the call expects, or nothing was done.
        (answer(object="site"), step("update", "safe", answers="site"), "done", True),
        (answer(object="checkout"), step("update", "safe", answers="site"), "failed", True),
        (answer(), step("update", "safe", answers="site"), "failed", True),
        # What nobody answered may have been done, whether it may be repeated or not.
        (LOST, step("update", "safe"), "unknown", True),
        (LOST, step("update", "never"), "unknown", True),
        (LOST, step("delete", "safe"), "unknown", True),
        (LOST, step("act", "never"), "unknown", True),
        (LOST, step(), "unknown", True),
        (NotSentError("PUT", "/orgs/acme/teams", "refused"), step(), "failed", False),
        (InterruptedRequestError("PUT", "/orgs/acme/teams"), step(), "not-tried", False),
        # A refusal says that nothing was done, unless an earlier try may have been carried out.
        (refused(422), step("update", "safe"), "failed", True),
        (refused(422, after=True), step("update", "safe"), "unknown", True),
        (refused(404), step("update", "safe"), "failed", True),
        (refused(404), step("delete", "safe", method="DELETE"), "already", True),
        (refused(404), step("delete", "safe", method="PUT"), "already", True),
        (refused(404), step("update", "safe", method="DELETE"), "failed", True),
        (refused(404, after=True), step("update", "safe", method="DELETE"), "already", True),
        (refused(404, after=True), step("update", "safe", method="PUT"), "unknown", True),
        (refused(409), step("move", "safe"), "already", True),
        (refused(409), step("transfer", "safe"), "already", True),
        (refused(422), step("move", "safe"), "failed", True),
        (refused(400), step("update", "safe", phase="place"), "failed", True),
        (refused(409), step("update", "safe", phase="place"), "already", True),
        # A field that says where something is may be written twice: one that is refused was not written.
        (refused(409), step("update", "safe", phase="place", method="PATCH"), "failed", True),
        (refused(409, after=True), step("update", "safe", phase="place", method="PATCH"), "unknown", True),
        (refused(409), step("update", "safe", phase="link"), "failed", True),
        (refused(409), step("delete", "safe"), "failed", True),
        (KeyError("x"), step(), "unknown", True),
    ],
)
def test_apply_step_result_depends_on_response(answered: object, of: Step, result: str, sent: bool) -> None:
    """Otherwise, a change of what is not there counts as done.

    Otherwise, a conflict counts as done.
    Otherwise, a refused PATCH of a place counts as done.
    Otherwise, a write that may have been carried out is told as refused.
    Otherwise, a lost change of what is gone counts as done.
    Otherwise, what was never sent is told as sent.
    """
    client = Client(answered)
    outcome, _ = attempt(client, of)
    assert (outcome.result, outcome.sent) == (result, sent)
    assert len(client.sent) == 1


@pytest.mark.parametrize(
    ("reading", "repeat", "result"),
    [
        (Reading([MADE]), "look_up", "done"),
        (Reading([]), "look_up", "unknown"),
        (Reading([MADE, MADE, LiveObject("team", "8", None, None, {}, "")]), "look_up", "unknown"),
        (Reading(place=False), "look_up", "unknown"),
        (Reading([MADE]), "never", "unknown"),
        # A reading that fails proves nothing, either way.
        (Reading(InterruptedRequestError("GET", "/orgs/acme/teams")), "look_up", "unknown"),
        (Reading(NotSentError("GET", "/orgs/acme/teams", "refused")), "look_up", "unknown"),
    ],
)
def test_unanswered_create_is_done_when_object_is_found(reading: Reading, repeat: str, result: str) -> None:
    """Otherwise, what must never be repeated is looked for and told as made.

    Otherwise, of two new things the first is taken for ours.
    Otherwise, that it could not be looked for is told as a mistake of dpsync's.
    """
    outcome, ids = attempt(Client(LOST), step(repeat=repeat), reading)
    assert (outcome.result, outcome.sent) == (result, True)
    assert ids.get(TEAM) == ("7" if result == "done" else None)
    assert "internal error" not in (outcome.error or "")


@pytest.mark.parametrize("made", [[], [MADE]])
def test_unanswered_create_is_done_only_with_its_children(made: list[LiveObject]) -> None:
    """Otherwise, a half made thing counts as whole.

    Otherwise, what came along with a create is not known as ours, and counts as a stranger's.
    """
    with_child = step(gives=(Gives(address=str(TEAM), pointer="id"), Gives(address="acme/x", pointer="x")))
    inside = [LiveObject("member", "8", None, item.identity, {}, "") for item in made]

    class WithChildren(Reading):
        def possible_results(self, _resource: Entry, _now: Any, id: str | None) -> list[LiveObject]:
            del id
            return [MADE]

    outcome, ids = attempt(Client(LOST), with_child, WithChildren([MADE, *inside]))
    assert outcome.result == ("done" if made else "unknown")
    assert ids.get(Address.parse("acme/x")) == ("8" if made else None)


def test_created_id_is_available_to_later_steps() -> None:
    outcome, ids = attempt(Client(answer(id="7")), step())
    assert (outcome.result, outcome.id) == ("done", "7")
    assert ids.get(TEAM) == "7"


def test_id_known_before_create_is_recorded_after_create() -> None:
    """Otherwise, what needs a thing that was made fails, and what is in it is never made."""
    reference = {"dpsync:ref": str(ACME)}
    _, ids = attempt(Client(answer(id="another")), step(gives=(Gives(address=str(TEAM), id=reference),)))
    assert ids.get(TEAM) == "acme"


def test_create_response_without_id_is_unknown() -> None:
    """Otherwise, something whose id nobody knows counts as made."""
    outcome, ids = attempt(Client(answer(id=None)), step())
    assert (outcome.result, ids.get(TEAM)) == ("unknown", None)


def test_create_interrupted_by_signal_is_unknown() -> None:
    """Nothing is asked any more: the second signal ends what is waited for.

    Otherwise, after a second signal it is still asked what became of a write.
    """
    cut = UnknownOutcomeError("PUT", "/orgs/acme/teams", "interrupted")
    outcome, ids = attempt(Client(cut), step(), Reading([MADE]))
    assert (outcome.result, ids.get(TEAM)) == ("unknown", None)
    assert "The next plan shows whether the change was made" in (outcome.error or "")


@pytest.mark.parametrize("sent", [False, True])
def test_unsent_step_reports_not_sent_to_its_list(sent: bool) -> None:
    """Otherwise, the target of a step is not read again, although nothing was sent to it."""
    given_back: list[str] = []

    class Places(Reading):
        def note_not_sent(self, task: StepTask) -> None:
            given_back.append(task.step.id)

    outcome, _ = attempt(
        Client(answer(id="7") if sent else NotSentError("PUT", "/x", "refused")), step(), Places()
    )
    assert outcome.sent is sent
    assert given_back == ([] if sent else [f"{TEAM} create"])


def test_internal_error_before_request_fails_only_that_step() -> None:
    for wrong in (step(path="/orgs/{acme/nobody}/teams"), step(body={"x": {"dpsync:ref": "acme/nobody"}})):
        client = Client(answer(id="7"))
        outcome, _ = attempt(client, wrong)
        assert (outcome.result, outcome.sent, client.sent) == ("failed", False, [])
        assert outcome.error == "dpsync has an internal error (KeyError)"


def test_addresses_in_request_are_replaced_by_ids() -> None:
    client = Client(answer(id="7"))
    attempt(client, step(path=f"/orgs/{{{ACME}}}/teams", body={"x": {"dpsync:ref": str(ACME)}}))
    assert client.sent == [("PUT", "/orgs/acme/teams", {"x": "acme"})]


def test_journal_contains_known_object_id_before_write() -> None:
    """Otherwise, the journal does not say which object a write is about."""
    journal = InMemoryJournal(NullJournal())

    for known in (None, "7"):
        change = Change(address=str(TEAM), kind="team", action="update", steps=(step("update", "safe"),))
        ids = LiveIds({TEAM: known} if known else {})
        shared = ApplyContext(
            cast(WriteClient, Client(answer())), REGISTRY, Desired({}, {}), journal, {}, ids,
            cast(FreshReads, Reading()), (), threading.Event(),
        )  # fmt: skip
        Attempt(shared, StepTask(change, change.steps[0])).run()
    intents = [(one.address, one.id) for one in journal.events if isinstance(one, Intended)]
    assert intents == [(None, None), (str(TEAM), "7")]
    assert [one.outcome.result for one in journal.events if isinstance(one, StepEnded)] == ["done", "done"]


def objecting(found: StaleStep | Exception | None) -> Check:
    def check(_task: StepTask) -> StaleStep | None:
        if isinstance(found, Exception):
            raise found
        return found

    return check


@pytest.mark.parametrize(
    ("found", "result", "words"),
    [
        (None, "done", None),
        (StaleStep("stale", "this object was changed"), "stale", "this object was changed"),
        (InterruptedRequestError("GET", "/x"), "not-tried", "stopped"),
        (NotSentError("GET", "/x", "refused"), "failed", "the check before the request failed"),
        (RuntimeError("secret"), "failed", "dpsync has an internal error (RuntimeError)"),
        (
            DiagnosticError([Diagnostic("DP320", "moved")], Exit.FAILED),
            "failed",
            "the check before the request failed: moved",
        ),
    ],
)
def test_failed_safety_check_prevents_request(found: Any, result: str, words: str | None) -> None:
    """Otherwise, what a check objects to is sent.

    Otherwise, that a check could not be made is told as a mistake of dpsync's.
    """
    client = Client(answer(id="7"))
    outcome, _ = attempt(client, step(), checks=[objecting(None), objecting(found)])
    assert (outcome.result, outcome.sent, len(client.sent)) == (result, found is None, found is None)
    assert (outcome.error or "").startswith(words) if words else outcome.error is None


@pytest.mark.parametrize(
    ("status", "hinted"), [(400, False), (403, False), (404, True), (405, True), (406, False), (501, True)]
)
def test_unsupported_request_error_suggests_profile_flag(status: int, hinted: bool) -> None:
    outcome, _ = attempt(Client(refused(status)), step("update", "safe"))
    assert outcome.status == status
    assert ("set --profile to the API version" in (outcome.error or "")) is hinted


def test_step_duration_is_recorded_in_milliseconds() -> None:
    journal, clock = InMemoryJournal(NullJournal()), iter([10.0, 12.34567])
    change = Change(address=str(TEAM), kind="team", action="update", steps=(step("update", "safe"),))
    shared = ApplyContext(
        cast(WriteClient, Client(answer())), REGISTRY, Desired({}, {}), journal, {}, LiveIds({}),
        cast(FreshReads, Reading()), (), threading.Event(), clock=lambda: next(clock),
    )  # fmt: skip
    Attempt(shared, StepTask(change, change.steps[0])).run()
    assert [one.seconds for one in journal.events if isinstance(one, StepEnded)] == [2.346]


WAIT = step("await", "safe", method="GET", gives=(Gives(address="acme/teams/t/space", pointer="made.id"),))


def test_waiting_for_output_backs_off_and_times_out() -> None:
    client = Client({"made": None})
    outcome, _ = attempt(client, WAIT)
    assert (outcome.result, outcome.sent, client.sent) == ("not-tried", False, [])
    assert client.pauses[:7] == [0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 5.0]
    assert set(client.pauses[7:]) == {5.0}
    assert 60 <= sum(client.pauses) < 65


def test_signal_stops_waiting_for_platform_output() -> None:
    """Otherwise, a signal does not end the waiting for what the platform makes.

    Otherwise, what the platform has not made yet counts as made.
    """
    client, stop = Client({"made": None}), threading.Event()
    stop.set()
    change = Change(address=str(TEAM), kind="team", action="create", steps=(WAIT,))
    shared = ApplyContext(
        cast(WriteClient, client), REGISTRY, Desired({}, {}), NullJournal(), {}, LiveIds({}),
        cast(FreshReads, Reading()), (), stop,
    )  # fmt: skip
    assert Attempt(shared, StepTask(change, WAIT)).run().result == "not-tried"
    assert client.pauses == []


def test_internal_error_while_awaiting_output_fails_only_step() -> None:
    outcome, _ = attempt(Client(RuntimeError("x")), WAIT)
    assert (outcome.result, outcome.error) == ("failed", "dpsync has an internal error (RuntimeError)")


def test_step_waiting_for_output_records_its_id() -> None:
    client = Client({"made": None}, {"made": None}, {"made": {"id": "out"}})
    outcome, ids = attempt(client, WAIT)
    assert (outcome.result, client.pauses) == ("done", [0.1, 0.2])
    assert ids.get(Address.parse("acme/teams/t/space")) == "out"


def test_unreachable_platform_while_awaiting_output_fails_step() -> None:
    """Otherwise, a platform that cannot be asked for what it makes is told as a mistake of dpsync's."""
    error: ClientError = NotSentError("GET", "/x", "refused")
    outcome, _ = attempt(Client(error), WAIT)
    assert (outcome.result, outcome.sent) == ("failed", False)
    assert outcome.error == str(error)


def test_unanswered_create_is_looked_up_by_known_id() -> None:
    asked: list[str | None] = []

    class ById(Reading):
        def possible_results(self, _resource: Entry, _now: Any, id: str | None) -> list[LiveObject]:
            asked.append(id)
            return [MADE]

    for gives in ((Gives(address=str(TEAM), id="7"),), (Gives(address=str(TEAM), pointer="id"),), ()):
        assert attempt(Client(LOST), step(gives=gives), ById())[0].result == "done"
    assert asked == ["7", None, None]


@pytest.mark.parametrize("status", [404, 409])
def test_step_already_satisfied_keeps_http_status(status: int) -> None:
    verb = "delete" if status == 404 else "move"
    outcome, _ = attempt(Client(refused(status)), step(verb, "safe"))
    assert (outcome.result, outcome.status) == ("already", status)


@pytest.mark.parametrize(
    ("everything", "body"),
    [(True, {"a": 1, "b": {"c": 3, "d": 9}, "e": [1]}), (False, {"b": {"c": 3, "d": 9}, "e": [1]})],
)
def test_whole_object_update_merges_declared_over_live_value(everything: bool, body: Any) -> None:
    live = {"a": 1, "b": {"c": 2, "d": 9}, "e": [0]}
    types = {"b": Json(is_partial=True), "e": Json()}
    assert _merge_over_live(types, live, {"b": {"c": 3}, "e": [1]}, everything) == body


def test_whole_object_update_omits_read_only_fields() -> None:
    live = {"title": "Old", "emoji": "A", "urls": {"location": "…"}}
    assert _merge_over_live({"title": Json()}, live, {"title": "T"}, True, ("urls",)) == {
        "title": "T",
        "emoji": "A",
    }


@pytest.mark.parametrize(
    ("method", "whole", "sent"),
    [
        ("PUT", True, {"title": "T", "emoji": "A"}),
        ("PATCH", True, {"title": "T"}),
        ("POST", True, {"title": "T"}),
        ("PUT", False, {"title": "T"}),
    ],
)
def test_only_whole_object_put_includes_live_values(method: str, whole: bool, sent: Any) -> None:
    """Otherwise, a partial update sends unchanged live values and overwrites a concurrent change."""
    client, reading = Client(answer()), Reading()
    reading.sources = SimpleNamespace(read_body=lambda *_: {"title": "Old", "emoji": "A"})
    attempt(client, step("update", "safe", method=method, whole=whole), reading)
    assert [body for _, _, body in client.sent] == [sent]


def test_whole_object_update_omits_platform_managed_fields() -> None:
    client, reading = Client(answer()), Reading()
    live = {"scans": {"topics": "auto"}, "updatedAt": "2026-11-01T00:00:00Z", "urls": {"location": "…"}}
    reading.sources = SimpleNamespace(read_body=lambda *_: live)
    told = {"editing": {"customInstructions": "Be brief."}}
    attempt(client, step("update", "safe", whole=True, body=told), reading, kind="agent_settings")
    assert [body for _, _, body in client.sent] == [{"scans": {"topics": "auto"}, **told}]


@pytest.mark.parametrize(
    ("body", "words"), [({"key": {"dpsync:env": "KEY"}}, "not shown"), ({}, "status 422")]
)
def test_platform_error_is_hidden_when_secret_was_sent(body: Any, words: str) -> None:
    """Otherwise, a secret that the platform repeats gets into report and log."""
    client = Client(refused(422))
    outcome, _ = attempt(client, step("update", "safe", body=body))
    assert client.sent[0][2] == ({"key": "hush"} if body else {})
    assert words in (outcome.error or "")
    assert ("not shown" in (outcome.error or "")) is bool(body)


def test_lost_response_error_is_shown_despite_secret() -> None:
    """Otherwise, why nobody knows what became of a write is left out wherever it held a secret."""
    outcome, _ = attempt(Client(LOST), step("update", "safe", body={"key": {"dpsync:env": "KEY"}}))
    assert "not shown" not in (outcome.error or "")
    assert outcome.result == "unknown"


@pytest.mark.parametrize("live", [{"a": 1}, [0], None])
def test_declared_value_replaces_live_value_of_other_type(live: Any) -> None:
    """Otherwise, a value that has another form now cannot be written."""
    wanted: Any = [1] if isinstance(live, dict) else {"a": 2}
    assert _merge_over_live({}, live, wanted, keep_undeclared=True) == wanted


PLACES = {
    f"{TEAM}{part}": Origin(file="a.yaml", line=line, column=3) for part, line in (("", 1), ("#path", 2))
}


@pytest.mark.parametrize(
    ("answer", "field", "line"),
    [
        ("no", None, 1),
        ("path: must be lower case, unlike the title", "path", 2),
        # Only as a word of its own, and only what the step is about.
        ("the pathname is wrong", None, 1),
        ("sub-path", None, 1),
        ("role is wrong", None, 1),
        # A field that is written nowhere stands where its entry does.
        ("title is taken", "title", 1),
        (None, None, 1),
    ],
)
def test_refusal_is_located_at_field_from_response(answer: str | None, field: str | None, line: int) -> None:
    """Otherwise, a refusal is told at the line of a field that it is not about.

    Otherwise, a refusal is told at the line of the field that it names beside the wrong one.
    Otherwise, a refusal that names a field which is written nowhere has no line at all.
    Otherwise, a step that went well is told as a finding at its line.
    """
    fields = tuple(Difference(field=name) for name in ("title", "path"))
    task = StepTask(
        Change(address=str(TEAM), kind="team", action="update", differences=fields), step(), PLACES
    )
    outcome = task.outcome("failed", "status 422", answer=answer)
    assert (outcome.field, outcome.origin) == (field, Origin(file="a.yaml", line=line, column=3))
    assert task.outcome("done").origin is None


def test_step_outcome_takes_field_from_refusal() -> None:
    error = StatusError("PUT", "/orgs/acme/teams", 422, "path is taken")
    change = Change(
        address=str(TEAM),
        kind="team",
        action="create",
        differences=(Difference(field="path"),),
        steps=(step(),),
    )
    shared = ApplyContext(
        cast(WriteClient, Client(error)), REGISTRY, Desired({}, {}), NullJournal(), {}, LiveIds({}),
        cast(FreshReads, Reading()), (), threading.Event(),
    )  # fmt: skip
    assert Attempt(shared, StepTask(change, step(), PLACES)).run().field == "path"
