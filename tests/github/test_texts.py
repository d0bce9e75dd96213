"""Markers, inputs, places and decisions: values in, values out."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings

from dpsync.github.api import Review, Text
from dpsync.github.drift_issue import drift_digest
from dpsync.github.inputs import NAMES, Inputs, WrongInput, read_inputs
from dpsync.github.marker import (
    LISTED,
    DriftMarker,
    PlanMarker,
    base64url,
    change_digests,
    first_line,
    listed,
    name_of,
    read_marker,
)
from dpsync.github.place import find_place, make_key
from dpsync.github.plan_comment import (
    Found,
    changed_since,
    decide,
    latest_reviewed,
    ours,
    remembered,
    rewritable,
)
from dpsync.model.change import Change, Difference, Effect
from dpsync.model.drift import Drift, Drifted, FieldDrift
from dpsync.model.plan import Plan
from dpsync.model.step import Step
from tests.render.hostile import TEXT

SHA = "a" * 40
MARKER = PlanMarker(key="12", run=5, digest="ab" * 32)


def text(number: int, body: str = "", author: str = "bot", updated: str = "t5") -> Text:
    return Text(number, body, author, f"https://x/{number}", updated)


def found(marker: PlanMarker = MARKER, number: int = 1, updated: str = "t5") -> Found:
    return Found(text(number, first_line(marker) + "text", updated=updated), marker)


# Markers.


@pytest.mark.parametrize(
    "marker", [MARKER, MARKER.model_copy(update={"approved": {"QQ": "ab"}, "changes": "Zz-_"})]
)
def test_a_marker_is_read_as_it_was_written(marker: PlanMarker) -> None:
    assert read_marker(f"{first_line(marker)}words", PlanMarker) == marker


@pytest.mark.parametrize("body", [
    "", "words", f" {first_line(MARKER)}", f"\n{first_line(MARKER)}", f"> {first_line(MARKER)}",
    first_line(MARKER).replace('"run":5', '"run":-5'), first_line(MARKER).replace('"run":5', '"run":"5"'),
    first_line(MARKER).replace('"key":"12"', '"key":"x"'), first_line(MARKER).replace(":1 {", ":2 {"),
    first_line(MARKER).replace('"state":"plan"', '"state":"fine"'), first_line(MARKER).replace("} -->", "}"),
    first_line(MARKER).replace('"run":5', '"run":5,"more":1'), first_line(DriftMarker(key="12", run=5)),
    "<!-- dpsync:plan:1 {} -->\n", "<!-- dpsync:plan:1 {] -->\n",
])  # fmt: skip
def test_what_is_not_quite_a_marker_is_none(body: str) -> None:
    assert read_marker(body, PlanMarker) is None


@settings(max_examples=30)
@given(TEXT)
def test_a_name_in_a_marker_is_the_name_and_ends_nothing(name: str) -> None:
    encoded = base64url(name.encode("utf-8", "replace"))
    line = first_line(MARKER.model_copy(update={"approved": {encoded: ""}}))
    assert line.count("-->") == line.count("<!--") == line.count("\n") == 1
    assert name_of(encoded) == name.encode("utf-8", "replace").decode()


def known(changes: str) -> dict[str, str]:
    return MARKER.model_copy(update={"changes": changes}).known or {}


STEP = Step(id="1", verb="update", method="PATCH", path="/x", repeat="safe")
CHANGE = Change(address="acme/teams/a", kind="team", action="update", id="1", steps=(STEP,))
OTHERS: list[dict[str, Any]] = [
    {"address": "acme/teams/b"}, {"action": "delete"}, {"id": "2"}, {"moved": "after b"}, {"inside": "c"},
    {"differences": (Difference(field="title", before=1, after=2),)},
    {"effects": (Effect(address="x", what="gone"),)},
    {"steps": (STEP, STEP.model_copy(update={"verb": "act"}))},
]  # fmt: skip


@pytest.mark.parametrize("other", OTHERS, ids=lambda other: next(iter(other)))
def test_a_change_that_does_something_else_was_not_approved(other: dict[str, Any]) -> None:
    changes = listed(Plan(changes=(CHANGE,)))
    assert changes is not None
    (digest,) = change_digests(Plan(changes=(CHANGE.model_copy(update=other),)))
    assert digest not in known(changes)


@pytest.mark.parametrize("same", [
    {"steps": (STEP.model_copy(update={"id": "9", "path": "/y", "body": 1, "needs": ("3",)}),)},
    {"cause": "edited here", "label": "words", "digest": "ab", "matched": "title"},
], ids=["steps", "words"])  # fmt: skip
def test_the_same_change_told_or_sent_otherwise_was_approved(same: dict[str, Any]) -> None:
    changes = listed(Plan(changes=(CHANGE.model_copy(update={"address": "z"}), CHANGE)))
    (digest,) = change_digests(Plan(changes=(CHANGE.model_copy(update=same),)))
    assert changes is not None
    assert digest in known(changes)
    assert digest[1:] + digest[0] not in known(changes + digest)  # only whole digests count


def test_the_changes_of_a_large_plan_are_not_listed() -> None:
    changes = tuple(CHANGE.model_copy(update={"address": str(number)}) for number in range(LISTED + 1))
    assert listed(Plan(changes=changes)) is None
    assert len(first_line(MARKER.model_copy(update={"changes": listed(Plan(changes=changes[1:]))}))) < 19_000


# Whose comment it is, and what becomes of it.


def test_only_texts_of_ours_with_the_key_at_their_beginning_are_ours() -> None:
    line = first_line(MARKER)
    texts = [text(1, line), text(2, line, "eve"), text(3, f"x{line}"), text(4, line.replace('"12"', '"34"'))]
    assert [one.text.number for one in ours(texts, "bot", "12")] == [1]


@pytest.mark.parametrize(("states", "rewritten", "looked_at"), [
    ("", None, None), ("p", 0, 0), ("pp", 0, 1), ("a", None, 0), ("ap", 1, 1), ("r", None, None),
    ("par", 0, 1),
])  # fmt: skip
def test_which_comment_is_meant(states: str, rewritten: int | None, looked_at: int | None) -> None:
    names: dict[str, Any] = {"p": "plan", "a": "applied", "r": "refused"}
    all_ = [found(MARKER.model_copy(update={"state": names[one]}), at) for at, one in enumerate(states)]
    first, last = rewritable(all_), latest_reviewed(all_)
    assert (first and first.text.number, last and last.text.number) == (rewritten, looked_at)


def test_the_plan_of_the_latest_run_was_reviewed_wherever_it_stands() -> None:
    newer = MARKER.model_copy(update={"run": 6})
    assert latest_reviewed([found(newer, 1), found(MARKER, 2)]) == found(newer, 1)


@pytest.mark.parametrize(("present", "age", "body", "worth_it", "what"), [
    (None, (5, 1), "x", True, "new"),
    (None, (5, 1), "x", False, "leave"),
    (found(), (5, 1), "x", False, "edit"),
    (found(), (6, 1), "x", True, "edit"),
    (found(), (4, 9), "x", True, "leave"),
    (found(MARKER.model_copy(update={"attempt": 2})), (5, 1), "x", True, "leave"),
    (found(), (5, 1), f"{first_line(MARKER)}text", True, "leave"),
])  # fmt: skip
def test_what_becomes_of_a_comment(
    present: Found | None, age: tuple[int, int], body: str, worth_it: bool, what: str
) -> None:
    assert decide(present, age, body, worth_it).what == what


@pytest.mark.parametrize(("at", "known", "told"), [
    ("t6", {}, {"YWRh": MARKER.digest}),
    ("t5", {}, {}),
    ("t4", {"YWRh": "cd"}, {"YWRh": "cd"}),
    ("t6", {"YWRh": "cd"}, {"YWRh": MARKER.digest}),
    ("t4", {"bGlu": "cd"}, {}),
])  # fmt: skip
def test_an_approval_is_for_the_plan_that_stood_there(
    at: str, known: dict[str, str], told: dict[str, str]
) -> None:
    present = found(MARKER.model_copy(update={"approved": known}))
    assert remembered(present, [Review("ada", at)]) == told


def test_who_has_approved_another_plan_is_named_as_text() -> None:
    assert changed_since({base64url(b"ada"): "ab"}, "ab") == ""
    said = changed_since({base64url(name.encode()): "ab" for name in ("@a`b", "c", "d", "e", "f", "g")}, "cd")
    assert "`` @a`b `` approved `ab`" in said or "``@a`b`` approved `ab`" in said
    assert "and 1 more" in said
    assert said.count("\n") == 1


# Drift.


def test_drift_is_the_same_whoever_caused_it_and_another_with_another_value() -> None:
    field = FieldDrift(field="title", live="a", file="b")
    one = Drifted(address="acme", kind="organization", what="different", fields=(field,))
    told = one.model_copy(update={"label": "x", "fields": (field.model_copy(update={"cause": "both"}),)})
    other = one.model_copy(update={"fields": (field.model_copy(update={"live": "c"}),)})
    assert drift_digest(Drift(found=(one,))) == drift_digest(Drift(found=(told,), requests=9, base="x"))
    assert drift_digest(Drift(found=(one,))) != drift_digest(Drift(found=(other,)))
    assert drift_digest(Drift(found=(one,))) != drift_digest(Drift())


# Inputs.


def test_without_inputs_it_plans() -> None:
    assert read_inputs("{}") == Inputs() == read_inputs(json.dumps(dict.fromkeys(NAMES, "")))


def test_inputs_are_read_line_by_line() -> None:
    given = {
        "command": " drift ",
        "config": "a.yaml\n\n b c.yaml ",
        "select": "acme/*\n#x",
        "comment": "never",
    }
    read = read_inputs(json.dumps({**given, "summary": "False", "extra-args": "--confirm\ndelete 6"}))
    assert (read.command, read.config, read.select) == ("drift", ("a.yaml", "b c.yaml"), ("acme/*", "#x"))
    assert (read.comment, read.summary, read.arguments) == ("never", False, ("--confirm", "delete 6"))


def test_tokens_are_in_no_repr() -> None:
    assert "secret" not in repr(read_inputs('{"api-token": "secret", "github-token": "secret"}'))


@pytest.mark.parametrize(("given", "why"), [
    ("", "no JSON object"), ("[]", "no JSON object"), ('{"summary": true}', "no text"),
    ('{"comand": "plan"}', 'did you mean "command"'), ('{"command": "pla"}', 'did you mean "plan"'),
    ('{"command": "destroy"}', "one of plan, apply, drift, validate"),
    ('{"summary": "yes"}', "true or false"),
    ('{"approval": "abc"}', "32 digits or more"), ('{"environment": "a\\nb"}', "more than one line"),
    ('{"extra-args": "--format=text"}', "the action says that itself"), ('{"select": "a\\u0000b"}', "null"),
])  # fmt: skip
def test_a_wrong_input_says_what_is_wrong(given: str, why: str) -> None:
    with pytest.raises(WrongInput, match=why):
        read_inputs(given)


# Places.

ENV = {"GITHUB_REPOSITORY": "acme/docs", "GITHUB_RUN_ID": "7", "GITHUB_SHA": SHA}


@pytest.mark.parametrize(("name", "event", "fork", "untrusted"), [
    ("push", {}, False, False),
    ("pull_request", {"pull_request": {"head": {"repo": {"full_name": "acme/docs"}}}}, False, False),
    ("pull_request", {"pull_request": {"head": {"repo": {"full_name": "eve/docs"}}}}, True, False),
    ("pull_request_target", {"pull_request": {"head": {"repo": {"full_name": "acme/docs"}}}}, False, False),
    ("pull_request_target", {"pull_request": {"head": {"repo": {"full_name": "eve/docs"}}}}, True, True),
    ("pull_request_target", {"pull_request": {"head": {"repo": None}}}, True, True),
    ("workflow_run", {"workflow_run": {"head_repository": {"full_name": "eve/docs"}}}, True, True),
    ("workflow_run", {}, True, True),
])  # fmt: skip
def test_whose_change_a_run_is_about(name: str, event: Any, fork: bool, untrusted: bool) -> None:
    place = find_place({**ENV, "GITHUB_EVENT_NAME": name}, event)
    assert (place.fork, place.untrusted) == (fork, untrusted)


def test_what_is_no_run_of_a_workflow_is_an_error_and_odd_texts_are_left_out() -> None:
    for name in ("GITHUB_REPOSITORY", "GITHUB_RUN_ID"):
        with pytest.raises(ValueError, match="which run"):
            find_place({**ENV, name: "acme/.." if "REPO" in name else "x"}, {})
    event = {"pull_request": {"number": "7", "head": {"sha": "evil -->"}}}
    place = find_place({**ENV, "GITHUB_SERVER_URL": "javascript:x"}, event)
    assert (place.number, place.sha, place.server) == (None, SHA, "https://github.com")


def test_a_key_tells_every_part_from_every_other() -> None:
    keys = {make_key(*parts) for parts in (("a", "b"), ("ab", ""), ("", "ab"), ("a", "", "b"), ("b", "a"))}
    assert len(keys) == 5
