"""Markers, inputs, places and decisions: values in, values out."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings

from dpsync.github.api import GitHubText, Review
from dpsync.github.issues import FailingChecksIssue, Issues, drift_digest
from dpsync.github.plan_comment import (
    MAX_FURTHER_COMMENTS,
    MAX_SHOWN_IN_FIRST_MARKER,
    MAX_SHOWN_IN_FURTHER_MARKER,
    DriftMarker,
    FailingChecksMarker,
    FoundComment,
    FurtherMarker,
    Marker,
    PlanMarker,
    ShownChange,
    base64url,
    changed_plan_warning,
    comment_footer,
    configuration_heading,
    decide_comment,
    decode_name,
    find_rewritable_comment,
    further_comment_body,
    marker_line,
    merge_approvals,
    parse_shown_changes,
    plan_comments_with_key,
    plan_comments_with_name,
    read_marker,
    read_marker_values,
    shown_changes,
    shown_changes_of,
    split_into_marker_values,
    without_marker,
)
from dpsync.github.runner import INPUT_NAMES, Inputs, InvalidInputError, read_inputs
from dpsync.github.transport import number_at, text_at
from dpsync.github.workspace import WorkflowRun, branch_key, find_workflow_run, make_key, plan_key
from dpsync.model.change import Change, Difference, Effect, Exposure, Step
from dpsync.model.drift import Drift, Drifted, FieldDrift
from dpsync.model.mask import Mask
from dpsync.model.plan import APPROVED_DIGEST_DIGITS, Organization, Plan
from dpsync.model.snapshot import MatchedBy
from dpsync.render.markdown import MAX_COMMENT_UNITS
from tests.render.hostile import TEXT

SHA = "a" * 40
MARKER = PlanMarker(key="12", name="ab", run=5, digest="ab" * 32)


def text(number: int, body: str = "", author: str = "bot", updated: str = "t5") -> GitHubText:
    return GitHubText(number, body, author, f"https://x/{number}", updated)


def found(marker: PlanMarker = MARKER, number: int = 1, updated: str = "t5") -> FoundComment:
    return FoundComment(text(number, marker_line(marker) + "text", updated=updated), marker)


# Markers.


@pytest.mark.parametrize(
    "marker", [MARKER, MARKER.model_copy(update={"approved": {"QQ": "ab"}, "displayed": "Zz-_"})]
)
def test_comment_marker_survives_write_and_read(marker: PlanMarker) -> None:
    assert read_marker(f"{marker_line(marker)}words", PlanMarker) == marker


@pytest.mark.parametrize("body", [
    "", "words", f" {marker_line(MARKER)}", f"\n{marker_line(MARKER)}", f"> {marker_line(MARKER)}",
    marker_line(MARKER).replace('"run":5', '"run":-5'), marker_line(MARKER).replace('"run":5', '"run":"5"'),
    marker_line(MARKER).replace('"key":"12"', '"key":"x"'), marker_line(MARKER).replace(":1 {", ":2 {"),
    marker_line(MARKER).replace('"state":"plan"', '"state":"fine"'),
    marker_line(MARKER).replace("} -->", "}"),
    marker_line(MARKER).replace('"run":5', '"run":5,"more":1'), marker_line(DriftMarker(key="12", run=5)),
    marker_line(FailingChecksMarker(key="12", run=5)),
    "<!-- dpsync:plan:1 {} -->\n", "<!-- dpsync:plan:1 {] -->\n",
])  # fmt: skip
def test_malformed_comment_marker_is_ignored(body: str) -> None:
    """Otherwise, the marker of a drift issue counts as one of a plan.

    Otherwise, a marker that is quoted in a comment counts as ours.
    Otherwise, a damaged marker ends every run for that pull request.
    """
    assert read_marker(body, PlanMarker) is None


PART = FurtherMarker(key="12", run=5, part=1, displayed="")
DRIFT = DriftMarker(key="12", run=5)


@pytest.mark.parametrize(("marker", "more", "least", "most"), [
    (MARKER, "run", 0, 2**63 - 1), (MARKER, "attempt", 0, 2**31 - 1), (PART, "part", 1, 20),
    (DRIFT, "since", 0, 2**40 - 1), (DRIFT, "checks", 1, 2**31 - 1),
])  # fmt: skip
def test_comment_marker_number_range_is_checked(marker: Marker, more: str, least: int, most: int) -> None:
    def read(number: int) -> Marker | None:
        return read_marker(marker_line(marker.model_copy(update={more: number})), type(marker))

    assert [read(number) is not None for number in (least - 1, least, most, most + 1)] == [
        False, True, True, False,
    ]  # fmt: skip


@pytest.mark.parametrize(("longest", "longer"), [
    ({"key": "a" * 64}, {"key": "a" * 65}),
    ({"displayed": "A" * 57_000}, {"displayed": "A" * 57_001}),
    ({"approved": {f"{at}": "" for at in range(50)}}, {"approved": {f"{at}": "" for at in range(51)}}),
], ids=["digits", "displayed", "approvals"])  # fmt: skip
def test_overlong_comment_marker_is_ignored(longest: dict[str, Any], longer: dict[str, Any]) -> None:
    assert read_marker(marker_line(MARKER.model_copy(update=longest)), PlanMarker) is not None
    assert read_marker(marker_line(MARKER.model_copy(update=longer)), PlanMarker) is None


def test_drift_marker_has_default_attempt_and_checks() -> None:
    read = read_marker('<!-- dpsync:drift:1 {"key":"12","run":5} -->\n', DriftMarker)
    assert read is not None
    assert (read.age, read.since, read.checks) == ((5, 1), 0, 1)


def test_only_leading_marker_is_removed() -> None:
    line = marker_line(MARKER)
    assert without_marker(f"{line}{line}words") == f"{line}words"
    assert without_marker(f"words\n{line}") == f"words\n{line}"


@settings(max_examples=30)
@given(TEXT)
def test_hostile_name_cannot_end_comment_marker(name: str) -> None:
    encoded = base64url(name.encode("utf-8", "replace"))
    line = marker_line(MARKER.model_copy(update={"approved": {encoded: ""}}))
    assert line.count("-->") == line.count("<!--") == line.count("\n") == 1
    assert decode_name(encoded) == name.encode("utf-8", "replace").decode()


@pytest.mark.parametrize("name", ["", "a", "ab", "abc", "abcd", "abcde"])
def test_marker_name_of_any_length_is_decoded(name: str) -> None:
    assert decode_name(base64url(name.encode())) == name


STEP = Step(id="1", verb="update", method="PATCH", path="/x", repeat="safe")
CHANGE = Change(address="acme/teams/a", kind="team", action="update", id="1", steps=(STEP,))
OTHERS: list[dict[str, Any]] = [
    {"address": "acme/teams/b"}, {"action": "delete"}, {"id": "2"}, {"moved": "after b"}, {"inside": "c"},
    {"differences": (Difference(field="title", before=1, after=2),)},
    {"effects": (Effect(address="x", what="gone"),)},
    {"steps": (STEP, STEP.model_copy(update={"verb": "act"}))},
]  # fmt: skip


@pytest.mark.parametrize("other", OTHERS, ids=lambda other: next(iter(other)))
def test_approval_does_not_include_different_change(other: dict[str, Any]) -> None:
    displayed = shown_changes(Plan(changes=(CHANGE,)))
    now = CHANGE.model_copy(update=other)
    assert not set(displayed) & set(shown_changes_of(now, Plan(changes=(now,))))


def test_changed_masked_password_needs_new_approval() -> None:
    plans = [
        Plan(changes=(CHANGE.model_copy(update={"differences": (Difference(field="url", before=before),)}),))
        for before in ("https://a:first@x.example", "https://a:other@x.example")
    ]
    first, other = (shown_changes(Mask().mask_model(plan)) for plan in plans)
    assert not set(first) & set(other)
    assert first == shown_changes(Mask().mask_model(plans[0]))


@pytest.mark.parametrize("more", [
    {"moved": "after b"}, {"effects": (Effect(address="x", what="gone"),)},
    {"steps": (STEP, STEP.model_copy(update={"verb": "act"}))},
], ids=lambda more: next(iter(more)))  # fmt: skip
def test_additional_effects_of_update_need_new_approval(more: dict[str, Any]) -> None:
    """Otherwise, a move that nobody has seen is approved.

    Otherwise, what goes along unseen is approved.
    Otherwise, a step of another sort that nobody has seen is approved.
    """
    fields = (Difference(field="title", before=1, after=2),)
    then, now = (CHANGE.model_copy(update={"differences": fields, **also}) for also in ({}, more))
    assert set(shown_changes(Plan(changes=(then,)))) < set(shown_changes(Plan(changes=(now,))))


@pytest.mark.parametrize("target", [
    {"platform": "https://other"}, {"organizations": (Organization(address="acme", id="2"),)},
], ids=["platform", "organization"])  # fmt: skip
def test_approval_is_limited_to_platform_and_organization(
    target: dict[str, Any],
) -> None:
    """Otherwise, what was shown for one platform approves the same for another one."""
    plan = Plan(platform="https://x", organizations=(Organization(address="acme", id="1"),))
    exposure = Exposure(address="acme/teams/a", words="x")
    plan = plan.model_copy(update={"changes": (CHANGE,), "exposures": (exposure,)})
    assert not set(shown_changes(plan)) & set(shown_changes(plan.model_copy(update=target)))
    assert plan_key("name", plan) != plan_key("name", plan.model_copy(update=target))


@pytest.mark.parametrize("same", [
    {"steps": (STEP.model_copy(update={"id": "9", "path": "/y", "body": 1, "needs": ("3",)}),)},
    {"cause": "edited here", "label": "words", "digest": "ab", "matched": MatchedBy.FIRST_NATURAL_KEY},
], ids=["steps", "words"])  # fmt: skip
def test_approval_ignores_cosmetic_plan_differences(same: dict[str, Any]) -> None:
    displayed = shown_changes(Plan(changes=(CHANGE.model_copy(update={"address": "z"}), CHANGE)))
    (now,) = shown_changes(Plan(changes=(CHANGE.model_copy(update=same),)))
    assert now in displayed
    (text,) = split_into_marker_values(displayed)
    assert read_marker_values([text]) == displayed
    assert now in read_marker_values([text[:-1], text])
    assert now not in read_marker_values([f"A{text}"])  # only whole ones count


def fields(first: int) -> ShownChange:
    """Something about a field whose digest begins with this byte."""
    return ShownChange(b"a" * 11, bytes([first, 1, 2]), b"c" * 16)


def test_first_digest_bit_marks_exposure_in_approval_data() -> None:
    """The first bit tells the two apart, and nothing else of the field is lost."""
    changes, exposures = map(fields, range(128)), map(fields, range(128, 256))
    for change, exposure in zip(changes, exposures, strict=True):
        assert (change.exposes, exposure.exposes) == (False, True)
        assert change.field_without_mark == exposure.field_without_mark == change.field


@pytest.mark.parametrize("field", [None, "", "visibility", "title", "a", "b", "c", "d"])
def test_exposure_and_change_of_field_share_approval_digest(field: str | None) -> None:
    """Two plans that tell of the same thing replace each other: a change of a field and what it exposes."""
    changed = (Difference(field=field, before=1, after=2),) if field else ()
    change = CHANGE.model_copy(update={"differences": changed, "action": "update" if changed else "create"})
    exposure = Exposure(address=CHANGE.address, field=field or "", words="x")
    one, other = shown_changes(Plan(changes=(change,), exposures=(exposure,)))
    assert (one.field_without_mark, one.exposes, other.exposes) == (other.field_without_mark, False, True)


@pytest.mark.parametrize(
    "number",
    [
        0,
        1,
        MAX_SHOWN_IN_FIRST_MARKER,
        MAX_SHOWN_IN_FIRST_MARKER + 1,
        1_001,
        MAX_SHOWN_IN_FIRST_MARKER + MAX_SHOWN_IN_FURTHER_MARKER,
        MAX_SHOWN_IN_FIRST_MARKER + MAX_SHOWN_IN_FURTHER_MARKER + 1,
        5_000,
    ],
)
def test_large_plan_approval_data_is_split_into_comments(number: int) -> None:
    displayed = tuple(ShownChange(b"a" * 11, b"b" * 3, at.to_bytes(16)) for at in range(number))
    parts = split_into_marker_values(displayed)
    assert read_marker_values(parts) == displayed
    first, *rest = (PlanMarker(key="1", run=1, displayed=part) for part in parts or [""])
    assert len(marker_line(first)) < MAX_COMMENT_UNITS // 2
    assert all(
        len(further_comment_body(first, at, part.displayed or "")) < MAX_COMMENT_UNITS
        for at, part in enumerate(rest, 1)
    )
    assert not rest or first.is_full


def test_plan_comment_and_continuations_have_fixed_capacity() -> None:
    parts = split_into_marker_values(tuple(fields(0) for _ in range(500 + 20 * 1_400)))
    assert [len(read_marker_values([part])) for part in parts] == [500, *[1_400] * 20]


def test_oversized_plan_keeps_no_partial_approval_data() -> None:
    """Otherwise, a very large plan writes comments without end."""
    one = ShownChange(b"a" * 11, b"b" * 3, b"c" * 16)
    assert (
        len(
            split_into_marker_values(
                (one,) * (MAX_SHOWN_IN_FIRST_MARKER + MAX_FURTHER_COMMENTS * MAX_SHOWN_IN_FURTHER_MARKER)
            )
        )
        == 1 + MAX_FURTHER_COMMENTS
    )
    assert (
        split_into_marker_values(
            (one,) * (MAX_SHOWN_IN_FIRST_MARKER + MAX_FURTHER_COMMENTS * MAX_SHOWN_IN_FURTHER_MARKER + 1)
        )
        == []
    )


def test_damaged_approval_data_counts_only_complete_entries() -> None:
    """Otherwise, the rest of a damaged part counts as something that was shown.

    Otherwise, a damaged part ends every run for that pull request.
    """
    one = ShownChange(b"a" * 11, b"b" * 3, b"c" * 16)
    assert parse_shown_changes(bytes(one) + b"left over") == (one,)
    assert read_marker_values(["A", base64url(bytes(one))]) == (one,)


def test_approval_ignores_key_order_in_values() -> None:
    """Otherwise, what was approved is refused as something that nobody has seen."""
    first, second = (
        CHANGE.model_copy(update={"differences": (Difference(field="title", before=before, after=2),)})
        for before in ({"a": [{"x": 1, "y": 2}], "b": 2}, {"b": 2, "a": [{"y": 2, "x": 1}]})
    )
    assert shown_changes(Plan(changes=(first,))) == shown_changes(Plan(changes=(second,)))


def test_approval_digest_has_128_bits() -> None:
    (one,) = shown_changes(Plan(changes=(CHANGE,)))
    assert len(one.content) * 8 == APPROVED_DIGEST_DIGITS * 4 == 128


@pytest.mark.parametrize(
    "found", [None, [], "x", 7, {"a": None}, {"a": []}, {"a": {"b": []}}, {"a": {"b": True}}]
)
def test_json_path_lookup_tolerates_unexpected_types(found: Any) -> None:
    """Otherwise, an answer or event of another form ends the run.

    Otherwise, what is no text is taken for the name of a branch or a person.
    Otherwise, a yes is taken for pull request number 1.
    """
    assert (text_at(found, "a", "b"), number_at(found, "a", "b")) == ("", None)
    assert (text_at({"a": {"b": "x"}}, "a", "b"), number_at({"a": 7}, "a")) == ("x", 7)


# Whose comment it is, and what becomes of it.


def test_plan_comments_require_leading_marker_with_name() -> None:
    line = marker_line(MARKER)
    texts = [text(1, line), text(3, f"x{line}"), text(4, line.replace('"name":"ab"', '"name":"34"'))]
    assert [one.text.number for one in plan_comments_with_name(texts, "ab")] == [1]


@pytest.mark.parametrize(("keys", "key", "meant"), [
    ("12 34", "12", "12"), ("12 34", "", "12 34"), ("34", "12", ""), ("- 12", "12", "- 12"),
])  # fmt: skip
def test_plan_comments_are_filtered_by_platform_key(keys: str, key: str, meant: str) -> None:
    """Otherwise, the plan of one platform is written over that of another."""
    all_ = [found(MARKER.model_copy(update={"key": one.strip("-")})) for one in keys.split()]
    assert [one.marker.key or "-" for one in plan_comments_with_key(all_, key)] == meant.split()


@pytest.mark.parametrize(("states", "rewritten"), [
    ("", None), ("p", 0), ("pp", 0), ("a", None), ("ap", 1), ("r", None), ("c", None), ("par", 0),
])  # fmt: skip
def test_first_unapplied_plan_comment_is_rewritable(states: str, rewritten: int | None) -> None:
    """Otherwise, what an apply has told is written over."""
    names: dict[str, Any] = {"p": "plan", "a": "applied", "r": "refused", "c": "converged"}
    all_ = [found(MARKER.model_copy(update={"state": names[one]}), at) for at, one in enumerate(states)]
    first = find_rewritable_comment(all_)
    assert (first and first.text.number) == rewritten


@pytest.mark.parametrize(("present", "age", "body", "worth_it", "what"), [
    (None, (5, 1), "x", True, "new"),
    (None, (5, 1), "x", False, "leave"),
    (found(), (5, 1), "x", False, "edit"),
    (found(), (6, 1), "x", True, "edit"),
    (found(), (4, 9), "x", True, "leave"),
    (found(MARKER.model_copy(update={"attempt": 2})), (5, 1), "x", True, "leave"),
    (found(), (5, 1), f"{marker_line(MARKER)}text", True, "leave"),
])  # fmt: skip
def test_comment_update_decision_depends_on_age_and_content(
    present: FoundComment | None, age: tuple[int, int], body: str, worth_it: bool, what: str
) -> None:
    """Otherwise, an older run writes its plan over that of a newer one."""
    assert decide_comment(present, age, body, worth_it).action == what


@pytest.mark.parametrize(("at", "known", "told"), [
    ("t6", {}, {"YWRh": MARKER.digest}),
    ("t5", {}, {"YWRh": ""}),
    ("t4", {"YWRh": "cd"}, {"YWRh": "cd"}),
    ("t6", {"YWRh": "cd"}, {"YWRh": MARKER.digest}),
    ("t4", {"bGlu": "cd"}, {"YWRh": ""}),
])  # fmt: skip
def test_approval_belongs_to_plan_shown_at_approval_time(
    at: str, known: dict[str, str], told: dict[str, str]
) -> None:
    """Otherwise, an approval of an earlier plan is told as one of this plan."""
    present = found(MARKER.model_copy(update={"approved": known}))
    assert merge_approvals(present, [Review("ada", at)]) == told


def test_approval_of_deleted_comment_has_unknown_plan() -> None:
    assert merge_approvals(None, [Review("ada", "t1")]) == {"YWRh": ""}
    said = changed_plan_warning({"YWRh": ""}, "ab")
    assert said.startswith(
        "> [!WARNING]\n> **The plan changed after** `ada` approved a plan that this comment no longer shows"
    )


def test_approver_names_are_escaped_in_warning() -> None:
    assert changed_plan_warning({base64url(b"ada"): "ab"}, "ab") == ""
    said = changed_plan_warning(
        {base64url(name.encode()): "ab" for name in ("@a`b", "c", "d", "e", "f", "g")}, "cd"
    )
    assert "`` @a`b `` approved `ab`" in said or "``@a`b`` approved `ab`" in said
    assert "and 1 more" in said
    assert said.count("\n") == 1


def test_approver_list_is_limited_in_warning() -> None:
    names = [f"{number:02}{'x' * 48}" for number in range(6)]
    said = changed_plan_warning({base64url(name.encode()): "ab" for name in names}, "cd")
    assert [name in said for name in names] == [True] * 5 + [False]
    longer = changed_plan_warning({base64url(f"{names[0]}x".encode()): "ab"}, "cd")
    assert f"`{names[0][:49]}…`" in longer
    assert len(merge_approvals(None, [Review(str(number), "t1") for number in range(51)])) == 50


def test_comment_heading_limits_labels() -> None:
    assert (
        configuration_heading(["a", "b", "c", "d", "e", "f"]) == "dpsync plan · `a` · `b` · `c` · `d` · `e`"
    )
    assert configuration_heading(["x" * 100]) == f"dpsync plan · `{'x' * 100}`"
    assert configuration_heading(["x" * 101]) == f"dpsync plan · `{'x' * 99}…`"


def test_names_stored_on_github_stay_stable() -> None:
    key = make_key("dpsync.yaml", "main")
    assert (key, branch_key("main")) == (
        "54a027a01ea04edec8a7e045f2157844", "7be1749796ee78286d8cacbc64ef0c9f",
    )  # fmt: skip
    assert FailingChecksIssue(Issues(None, key, None, FailingChecksMarker)).label == "dpsync-54a027a01ea0"  # type: ignore[arg-type]
    assert comment_footer(WorkflowRun("acme/docs", 7, 1, "push", SHA, SHA, "https://x")).startswith(
        f"<sub>commit `{'a' * 12}`, [run 7]("
    )


# Drift.


def test_drift_digest_depends_on_values_only() -> None:
    field = FieldDrift(field="title", live="a", file="b")
    one = Drifted(address="acme", kind="organization", what="different", fields=(field,))
    told = one.model_copy(update={"label": "x", "fields": (field.model_copy(update={"cause": "both"}),)})
    other = one.model_copy(update={"fields": (field.model_copy(update={"live": "c"}),)})
    assert drift_digest(Drift(found=(one,))) == drift_digest(Drift(found=(told,), requests=9, base="x"))
    assert drift_digest(Drift(found=(one,))) != drift_digest(Drift(found=(other,)))
    assert drift_digest(Drift(found=(one,))) != drift_digest(Drift())


# Inputs.


def test_action_inputs_default_to_plan() -> None:
    assert read_inputs("{}") == Inputs() == read_inputs(json.dumps(dict.fromkeys(INPUT_NAMES, "")))


def test_action_inputs_are_split_by_line() -> None:
    given = {
        "command": " drift ",
        "config": "a.yaml\n\n b c.yaml ",
        "select": "acme/*\n#x",
        "comment": "never",
    }
    read = read_inputs(json.dumps({**given, "summary": "False", "extra-args": "--confirm\ndelete 6"}))
    assert (read.command, read.config, read.select) == ("drift", ("a.yaml", "b c.yaml"), ("acme/*", "#x"))
    assert (read.comment, read.summary, read.arguments) == ("never", False, ("--confirm", "delete 6"))


@pytest.mark.parametrize("directory", ["docs", "./docs", "docs/", "docs/.", "docs//", "x/../docs"])
@pytest.mark.parametrize(
    "config", ["env/prod.yaml", "./env/prod.yaml", "env//prod.yaml", "x/../env/prod.yaml"]
)
def test_equivalent_paths_have_the_same_approval_key(directory: str, config: str) -> None:
    """Otherwise an apply would not find the approval of a plan that spelled the path differently."""
    found, same = (Inputs(directory=path, config=(file,)) for path, file in
                   ((directory, config), ("docs", "env/prod.yaml")))  # fmt: skip
    assert (found.key, found.name) == (same.key, same.name)


@pytest.mark.parametrize("directory", ["docs/..", "../docs", "/docs", "docs/a", "Docs"])
def test_different_paths_have_different_approval_keys(directory: str) -> None:
    assert Inputs(directory=directory).key != Inputs(directory="docs").key


def test_action_inputs_repr_hides_tokens() -> None:
    assert "secret" not in repr(read_inputs('{"api-token": "secret", "github-token": "secret"}'))


@pytest.mark.parametrize(("given", "why"), [
    ("", "must be a JSON object"), ("[]", "must be a JSON object"), ('{"summary": true}', "must be a string"),
    ('{"comand": "plan"}', 'Did you mean "command"'), ('{"command": "pla"}', 'Did you mean "plan"'),
    ('{"command": "destroy"}', "these values: plan, apply, drift, validate"),
    ('{"summary": "yes"}', '"true" or "false"'),
    ('{"approval": "abc"}', "32 or more digits"), ('{"environment": "a\\nb"}', "more than one line"),
    ('{"extra-args": "--format=text"}', "the action sets this flag"), ('{"select": "a\\u0000b"}', "null"),
])  # fmt: skip
def test_invalid_action_input_is_explained(given: str, why: str) -> None:
    """Otherwise, an argument overrides what the action says itself: another directory, another format.

    Otherwise, a word that is no digest counts as an approval.
    Otherwise, a misspelt input is passed over, and something else is done than asked for.
    Otherwise, a misspelt command is taken for none.
    Otherwise, a word that is neither switches off what it was to switch on.
    """
    with pytest.raises(InvalidInputError, match=why):
        read_inputs(given)


# Places.

ENV = {"GITHUB_REPOSITORY": "acme/docs", "GITHUB_RUN_ID": "7", "GITHUB_SHA": SHA}


@pytest.mark.parametrize(("name", "event", "fork", "privileged"), [
    ("push", {}, False, False),
    ("pull_request", {"pull_request": {"head": {"repo": {"full_name": "acme/docs"}}}}, False, False),
    ("pull_request", {"pull_request": {"head": {"repo": {"full_name": "eve/docs"}}}}, True, False),
    ("pull_request_target", {"pull_request": {"head": {"repo": {"full_name": "acme/docs"}}}}, False, True),
    ("pull_request_target", {"pull_request": {"head": {"repo": {"full_name": "eve/docs"}}}}, True, True),
    ("pull_request_target", {"pull_request": {"head": {"repo": None}}}, True, True),
    ("workflow_run", {"workflow_run": {"head_repository": {"full_name": "eve/docs"}}}, True, True),
    ("workflow_run", {}, True, True),
])  # fmt: skip
def test_workflow_event_determines_fork_and_privileges(
    name: str, event: Any, fork: bool, privileged: bool
) -> None:
    """Otherwise, a fork's change counts as one of the repository.

    Otherwise, a run with secrets, caused by a fork, counts as harmless.
    """
    place = find_workflow_run({**ENV, "GITHUB_EVENT_NAME": name}, event)
    assert (place.is_from_fork, place.is_privileged) == (fork, privileged)


def test_invalid_workflow_environment_is_refused_or_ignored() -> None:
    """Otherwise, what the environment calls a repository leads requests to another place of the API.

    Otherwise, a text that is no commit counts as one.
    Otherwise, what the environment calls a server makes links to anywhere.
    """
    for name in ("GITHUB_REPOSITORY", "GITHUB_RUN_ID"):
        with pytest.raises(ValueError, match="do not identify a workflow run"):
            find_workflow_run({**ENV, name: "acme/.." if "REPO" in name else "x"}, {})
    event = {"pull_request": {"number": "7", "head": {"sha": "evil -->"}}}
    place = find_workflow_run({**ENV, "GITHUB_SERVER_URL": "javascript:x"}, event)
    assert (place.number, place.sha, place.server) == (None, SHA, "https://github.com")
    place = find_workflow_run({**ENV, "GITHUB_SHA": "evil -->", "GITHUB_RUN_ATTEMPT": "x"}, {})
    assert (place.sha, place.github_sha, place.attempt) == ("", "", 1)


def test_approval_key_distinguishes_part_boundaries() -> None:
    keys = {make_key(*parts) for parts in (("a", "b"), ("ab", ""), ("", "ab"), ("a", "", "b"), ("b", "a"))}
    assert len(keys) == 5


def test_dependabot_run_has_no_secrets() -> None:
    """Otherwise, a run of dependabot's, which gets no secrets, fails instead of checking the files."""
    env = {"GITHUB_REPOSITORY": "acme/docs", "GITHUB_RUN_ID": "1"}
    assert find_workflow_run({**env, "GITHUB_ACTOR": "dependabot[bot]"}, {}).lacks_secrets
    assert not find_workflow_run({**env, "GITHUB_ACTOR": "ada"}, {}).lacks_secrets
