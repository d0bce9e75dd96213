"""The words that few kinds need: several parents, dotted places, outputs, whole bodies, secrets, guards."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from jsonschema import Draft7Validator

from dpsync.config.schema import configuration_schema
from dpsync.kinds.registry import Registry
from dpsync.model.diagnostic import DiagnosticError
from dpsync.model.journal import Report
from dpsync.render.paint import Paint
from dpsync.render.view_text import render_plan, render_report

from .pipeline import Pipeline
from .studio import Studio, toy_kinds
from .toy_http import pick, serving

SECRET = "correct horse battery staple"


@pytest.fixture
def studio() -> Studio:
    return Studio()


@pytest.fixture
def toy(studio: Studio, tmp_path: Path) -> Iterator[Pipeline]:
    with serving(studio) as url:
        yield Pipeline(url, Registry(toy_kinds()), tmp_path)


def config(body: str, policy: str = "{}") -> str:
    return f"dpsync: 1\npolicy: {policy}\norganizations:\n  st:\n    id: st\n{body}"


def refused(found: Report | None, studio: Studio) -> None:
    assert studio.refused == []
    assert found is not None
    assert found.converged, found


GRANTS = config(
    "    crews: { red: { title: Red }, blue: { title: Blue } }\n"
    "    papers: { a4: { title: A4, permissions: { crews: { red: write, blue: { role: look } } } } }\n"
    "    boxes: { big: { title: Big, permissions: { crews: { red: look } } } }\n"
)


def test_kind_with_two_parents_converges_under_dotted_key(toy: Pipeline, studio: Studio) -> None:
    refused(toy.apply(GRANTS), studio)
    levels = {
        place: {grant["crew"]["title"]: grant["level"] for grant in grants}
        for place, grants in studio.grants.items()
    }
    assert levels == {
        ("papers", "x0"): {"Red": "write", "Blue": "look"},
        ("boxes", "x0"): {"Red": "look"},
    }
    assert toy.plan(GRANTS).empty


def test_body_template_wraps_fields(toy: Pipeline, studio: Studio) -> None:
    toy.apply(GRANTS)
    bodies = [body for method, path, body in studio.log if path.endswith("/permissions")]
    crew = {item["title"]: item["id"] for item in studio.crews}
    assert {"crews": [crew["Red"]], "role": "write"} in bodies
    assert len(bodies) == 3


def test_addresses_contain_dotted_kind_keys(toy: Pipeline) -> None:
    assert {change.address for change in toy.plan(GRANTS).changes if change.kind == "grant"} == {
        "st/papers/a4/permissions/crews/red",
        "st/papers/a4/permissions/crews/blue",
        "st/boxes/big/permissions/crews/red",
    }


def test_prune_of_dotted_list_affects_only_one_parent(toy: Pipeline, studio: Studio) -> None:
    toy.apply(GRANTS)
    less = GRANTS.replace("red: write, blue: { role: look }", "blue: write").replace(
        "{ red: look }", "{ blue: look }"
    )
    policy = "{ prune: [papers/*/permissions/crews], limits: { percent: 100 } }"
    plan = toy.plan(less.replace("policy: {}", f"policy: {policy}"))
    deletes = [change.address for change in plan.changes if change.action == "delete"]
    assert deletes == ["st/papers/a4/permissions/crews/[red]"]
    assert [kept.place for kept in plan.kept] == ["st/boxes/big/permissions/crews"]
    refused(toy.apply(less.replace("policy: {}", f"policy: {policy}")), studio)


def test_unknown_key_in_dotted_list_gets_suggestion(toy: Pipeline) -> None:
    with pytest.raises(DiagnosticError) as found:
        toy.plan(
            GRANTS.replace("permissions: { crews: { red: look } }", "permissions: { crew: { red: look } }")
        )
    (wrong,) = found.value.diagnostics
    assert (wrong.code, wrong.hint) == ("DP201", 'did you mean "crews"?')


def test_schema_nests_dotted_keys(toy: Pipeline) -> None:
    schema = configuration_schema(toy.registry)
    Draft7Validator.check_schema(schema)
    for name in ("paper", "box"):
        permissions = schema["definitions"][name]["properties"]["permissions"]
        assert list(permissions["properties"]) == ["crews"]
        assert permissions["additionalProperties"] is False


# What a kind puts out.

PRUNED = "{ prune: [papers] }"
COPIES = config(
    "    papers: { a4: { title: A4 }, a5: { title: A5, beside: red } }\n"
    "    copies: { red: { of: a4, colour: red } }\n",
    PRUNED,
)


def test_field_referring_to_missing_output_is_blocked(toy: Pipeline, studio: Studio) -> None:
    report = toy.apply(COPIES)
    assert studio.refused == []
    assert report.converged
    assert not report.complete
    assert report.remaining is not None
    (blocked,) = report.remaining.blocked
    assert blocked.address == "st/papers/a5#beside"
    assert "run `dpsync apply`" in blocked.todo


def test_platform_created_output_is_referable_and_never_pruned(toy: Pipeline, studio: Studio) -> None:
    """It has the title of another paper and is declared nowhere: it is neither matched nor pruned."""
    toy.apply(COPIES)
    studio.work()
    report = toy.apply(COPIES)
    assert studio.refused == []
    assert report.complete, report
    result = studio.copies[0]["made"]["id"]
    assert pick(studio.papers, result)["title"] == "A4"
    assert next(paper for paper in studio.papers if paper["title"] == "A5")["beside"] == result
    assert toy.plan(COPIES).empty
    assert toy.plan(COPIES).kept == ()


def test_output_object_of_undeclared_producer_is_unmanaged(toy: Pipeline, studio: Studio) -> None:
    toy.apply(COPIES)
    studio.work()
    only = config("    papers: { a4: { title: A4 }, a5: { title: A5 } }\n", PRUNED)
    assert toy.plan(only).empty


def test_entry_key_conflicts_with_producer_key(toy: Pipeline) -> None:
    with pytest.raises(DiagnosticError) as found:
        toy.plan(COPIES.replace("a5: { title: A5, beside: red }", "red: { title: Red }"))
    (wrong,) = found.value.diagnostics
    assert wrong.code == "DP213"
    assert wrong.related


# Singles, whole bodies, what cannot be read.


def test_whole_body_update_keeps_undeclared_values(toy: Pipeline, studio: Studio) -> None:
    text = config("    style: { ink: red }\n")
    assert [item.field for change in toy.plan(text).changes for item in change.differences] == ["ink"]
    refused(toy.apply(text), studio)
    assert studio.style == {"ink": "red", "thin": True, "smell": "roses"}


def test_whole_body_update_keeps_concurrent_outside_change(toy: Pipeline, studio: Studio) -> None:
    session = toy.session(config("    style: { ink: red }\n"))
    planned = toy.planned(config("    style: { ink: red }\n"))
    studio.style["smell"] = "coffee"
    from dpsync.client.client import WriteClient

    with WriteClient(toy.url, "token") as client:
        assert session.apply(client, planned, secrets={}).converged
    assert studio.style["smell"] == "coffee"


DOOR = config("    door: { colour: green, code: { env: DOOR_CODE }, key: brass }\n")


def test_missing_single_object_is_created_then_compared(toy: Pipeline, studio: Studio) -> None:
    """Otherwise, what has no id of its own has none in the plan either, and nothing in it can be written."""
    toy.secrets["DOOR_CODE"] = SECRET
    refused(toy.apply(DOOR), studio)
    assert (studio.door, studio.code) == ({"colour": "green"}, SECRET)
    assert toy.plan(DOOR).empty
    assert [change.action for change in toy.plan(DOOR.replace("green", "red")).changes] == ["update"]


@pytest.mark.usefixtures("studio")
def test_unreadable_value_is_noted_in_plan(toy: Pipeline) -> None:
    toy.secrets["DOOR_CODE"] = SECRET
    toy.apply(DOOR)
    notes = {note.address: note.text for note in toy.plan(DOOR).notes}
    assert set(notes) == {"st/door#code", "st/door#key"}
    assert all("GitBook does not return this value" in text for text in notes.values())


def test_literal_secret_in_file_fails(toy: Pipeline) -> None:
    for literal in ('"1234"', "${DOOR}", "{ env: 5 }", "{ file: code.txt }", "[1]"):
        with pytest.raises(DiagnosticError) as found:
            toy.plan(DOOR.replace("{ env: DOOR_CODE }", literal).replace("${DOOR}", "x"))
        assert [item.code for item in found.value.diagnostics] == ["DP205"]


def test_sent_secret_is_absent_from_plan_and_journal(toy: Pipeline, studio: Studio) -> None:
    plan = toy.plan(DOOR)
    assert SECRET not in plan.canonical_json().decode()
    assert "DOOR_CODE" in plan.canonical_json().decode()
    toy.secrets["DOOR_CODE"] = SECRET
    report = toy.apply(DOOR)
    assert studio.code == SECRET
    for kept in (
        report.model_dump_json(),
        toy.journals(),
        render_plan(plan, Paint(False), 2),
        render_report(plan, report, Paint(False), 2),
    ):
        assert SECRET not in str(kept)


def test_unset_secret_stops_apply_before_first_write(toy: Pipeline, studio: Studio) -> None:
    with pytest.raises(DiagnosticError, match="DOOR_CODE"):
        toy.apply(DOOR)
    assert studio.log == []


@pytest.mark.parametrize("said", [SECRET, SECRET[::-1]], ids=["as it is", "in a form that no mask knows"])
def test_secret_repeated_in_api_error_is_masked(said: str, toy: Pipeline, studio: Studio) -> None:
    studio.complaint = f"the code {said} is too simple"
    toy.secrets["DOOR_CODE"] = SECRET
    report = toy.apply(DOOR)
    assert report.count("failed") == 1
    assert said not in report.model_dump_json()
    assert said not in toy.journals()


# Guards, and what only people can do.

ARTISTS = config(
    "    artists: { ada@studio.example: boss, bo@studio.example: hand }\n",
    "{ prune: [artists], limits: { percent: 100 } }",
)


def codes(toy: Pipeline, text: str) -> list[str]:
    plan = toy.plan(text)
    assert plan.can_apply is (not plan.refusals)
    return sorted(item.code for item in plan.refusals)


@pytest.mark.parametrize(
    ("artists", "refusals"),
    [
        ("{ ada@studio.example: boss }", []),
        ("{ ada@studio.example: boss, bo@studio.example: boss }", []),
        ("{ ada@studio.example: hand, bo@studio.example: hand }", ["last-boss", "own-user"]),
        ("{ ada@studio.example: hand, bo@studio.example: boss }", ["own-user"]),
        ("{ bo@studio.example: boss }", ["own-user"]),
        ("{ bo@studio.example: hand }", ["last-boss", "own-user"]),
        ("{ bo@studio.example: hand, cy@studio.example: boss }", ["last-boss", "own-user"]),
    ],
)  # fmt: skip
def test_plan_refuses_removing_last_boss_or_token_user(
    toy: Pipeline, artists: str, refusals: list[str]
) -> None:
    text = config(f"    artists: {artists}\n", "{ prune: [artists], limits: { percent: 100 } }")
    assert codes(toy, text) == refusals


def test_role_promotion_is_sent_before_demotion(toy: Pipeline, studio: Studio) -> None:
    studio.artists.append({"id": "a0", "email": "al@studio.example", "role": "boss"})
    text = config(
        "    artists: { ada@studio.example: boss, al@studio.example: hand, bo@studio.example: boss }\n"
    )
    refused(toy.apply(text), studio)
    assert [path.rpartition("/")[2] for _, path, _ in studio.log] == ["a2", "a0"]


def test_manual_creation_is_blocked_with_kind_instructions(toy: Pipeline, studio: Studio) -> None:
    text = config(
        "    artists: { ada@studio.example: boss, bo@studio.example: hand, cy@studio.example: hand }\n"
        "    crews: { red: { title: Red, lead: cy@studio.example }, blue: { title: Blue } }\n"
        "    papers: { a4: { title: A4, permissions: { crews: { red: look, blue: look } } } }\n"
    )
    report = toy.apply(text)
    assert studio.refused == []
    assert (report.converged, report.complete) == (True, False)
    assert report.remaining is not None
    blocked = {item.address: item for item in report.remaining.blocked}
    assert list(blocked) == [
        "st/artists/cy@studio.example",
        "st/crews/red",
        "st/papers/a4/permissions/crews/red",
    ]
    assert blocked["st/artists/cy@studio.example"].todo == "ask cy@studio.example to come"
    assert {item.because for item in blocked.values()} == {None, "st/artists/cy@studio.example"}
    assert [crew["title"] for crew in studio.crews] == ["Blue"]
    assert [grant["crew"]["title"] for grant in studio.grants["papers", "x0"]] == ["Blue"]


def test_output_object_is_deleted_with_pruned_producer(toy: Pipeline, studio: Studio) -> None:
    toy.apply(COPIES)
    studio.work()
    toy.apply(COPIES)
    less = "    papers: { a4: { title: A4 } }\n    copies: {}\n"
    kept = toy.plan(config(less, "{ prune: [copies], limits: { percent: 100 } }"))
    assert [(item.place, item.addresses) for item in kept.kept] == [
        ("st/papers", ("st/papers/[A4]", "st/papers/[A5]"))
    ]
    both = config(less, "{ prune: [copies, papers], limits: { percent: 100 } }")
    refused(toy.apply(both), studio)
    assert [paper["title"] for paper in studio.papers] == ["A4"]
    assert studio.copies == []
