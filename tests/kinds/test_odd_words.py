"""Check the declarations that only one or two kinds need.

These are ids of several parts, keys as values, parts in different places, one request for many objects, jobs
of the platform, and operations that run only on request.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from dpsync.api import Options, load
from dpsync.client.client import ReadClient
from dpsync.kinds.registry import Registry
from dpsync.model.desired import Base
from dpsync.model.diagnostic import DiagnosticError
from dpsync.model.journal import Report

from .pipeline import Impatient, Pipeline
from .toy_http import serving
from .workshop import Workshop, workshop_kinds


@pytest.fixture
def workshop() -> Workshop:
    return Workshop()


@pytest.fixture
def toy(workshop: Workshop, tmp_path: Path) -> Iterator[Pipeline]:
    with serving(workshop) as url:
        yield Pipeline(url, Registry(workshop_kinds()), tmp_path)


def config(body: str, policy: str = "{}") -> str:
    return f"dpsync: 1\npolicy: {policy}\norganizations:\n  sh:\n    id: sh\n    {body}\n"


def done(report: Report, workshop: Workshop) -> None:
    assert workshop.refused == []
    assert report.converged, report.remaining


# Ids of several parts.


def test_object_id_may_span_several_url_segments(toy: Pipeline, workshop: Workshop) -> None:
    text = config("tools: { acme: { settings: { colour: red }, sign: keep off } }")
    done(toy.apply(text), workshop)
    assert workshop.signs == {"tool1": {"text": "keep off"}}
    assert toy.plan(text).bindings["sh/tools/acme"] == "acme/tools/tool1"
    less = config("tools: {}", "{ prune: [tools], limits: { percent: 100 } }")
    done(toy.apply(less), workshop)
    assert workshop.writes[-1] == "DELETE /brands/acme/tools/tool1"


def test_request_body_may_contain_key_of_parent_entry(toy: Pipeline, workshop: Workshop) -> None:
    toy.apply(config("tools: { acme: {} }"))
    assert workshop.log[0][2] == {"shop": "sh"}


def test_object_created_along_with_parent_is_updated_afterwards(toy: Pipeline, workshop: Workshop) -> None:
    done(toy.apply(config("tools: { acme: { sign: keep off } }")), workshop)
    assert workshop.writes == ["POST /brands/acme/tools", "PUT /brands/acme/tools/tool1/sign"]


# Parts of a value.


def test_undeclared_nested_members_are_kept_on_update(toy: Pipeline, workshop: Workshop) -> None:
    text = config("tools: { acme: { settings: { speed: { most: 5 } } } }")
    toy.apply(config("tools: { acme: {} }"))
    workshop.tools["acme"][0]["settings"]["note"] = "by hand"
    done(toy.apply(text), workshop)
    assert workshop.tools["acme"][0]["settings"] == {"speed": {"least": 1, "most": 5}, "note": "by hand"}
    workshop.tools["acme"][0]["settings"]["note"] = "by another hand"
    assert toy.plan(text).empty


def test_plan_hides_unmanaged_members_and_secrets(toy: Pipeline, workshop: Workshop) -> None:
    toy.apply(config("tools: { acme: {} }"))
    workshop.tools["acme"][0]["settings"] |= {"token": "hunter2", "key": "hunter3"}
    plan = toy.plan(config("tools: { acme: { settings: { speed: { most: 5 }, token: { env: TOKEN } } } }"))
    assert "TOKEN" in plan.canonical_json().decode()
    assert "hunter" not in plan.canonical_json().decode()


def test_value_may_be_read_from_separate_response_fields(toy: Pipeline, workshop: Workshop) -> None:
    text = config("posters: { p1: { source: { url: 'https://a.example' } } }")
    done(toy.apply(text), workshop)
    assert workshop.posters["p1"]["sourceURL"] == "https://a.example"
    assert toy.plan(text).empty
    assert not toy.plan(text.replace("a.example", "b.example")).empty


def test_one_of_value_requires_exactly_one_member(toy: Pipeline) -> None:
    for source in ("{}", "{ url: u, text: t }"):
        with pytest.raises(DiagnosticError) as found:
            toy.plan(config(f"posters: {{ p1: {{ source: {source} }} }}"))
        assert [item.code for item in found.value.diagnostics] == ["DP206"]


def test_whole_body_update_keeps_undeclared_values(toy: Pipeline, workshop: Workshop) -> None:
    """Otherwise, what is sent whole loses what no file declares."""
    toy.apply(config("posters: { p1: { colour: red, source: { url: u } } }"))
    done(toy.apply(config("posters: { p1: { colour: blue } }")), workshop)
    assert workshop.posters["p1"] == {"code": "p1", "colour": "blue", "sourceURL": "u"}


# Keys.


def test_configuration_key_of_entry_supplies_field_value(toy: Pipeline, workshop: Workshop) -> None:
    done(toy.apply(config("posters: { p1: {}, second: { code: p2 } }")), workshop)
    assert set(workshop.posters) == {"p1", "p2"}


def test_configuration_key_invalid_as_field_value_fails(toy: Pipeline) -> None:
    with pytest.raises(DiagnosticError) as found:
        toy.plan(config("posters: { much-too-long: {} }"))
    assert [item.code for item in found.value.diagnostics] == ["DP203"]


# One request for many, without names.


def test_term_is_matched_by_any_language(toy: Pipeline, workshop: Workshop) -> None:
    done(toy.apply(config("words: { rod: { en: rod, de: Stab }, core: { en: core } }")), workshop)
    assert len(workshop.words) == 2
    done(toy.apply(config("words: { rod: { en: bar, de: Stab }, core: { en: core } }")), workshop)
    assert [word["terms"] for word in workshop.words if word["terms"].get("de")] == [
        {"en": "bar", "de": "Stab"}
    ]
    assert len(workshop.words) == 2
    less = config("words: { core: { en: core } }", "{ prune: [words], limits: { percent: 100 } }")
    done(toy.apply(less), workshop)
    assert [word["terms"] for word in workshop.words] == [{"en": "core"}]


# Work of the platform, and what is only done when asked.


def test_plan_lists_processing_object_with_unchanged_digest(toy: Pipeline, workshop: Workshop) -> None:
    text = config("tools: { acme: { settings: { speed: { most: 9 } } } }")
    toy.apply(text)
    before = toy.plan(text)
    assert before.waiting == ()
    workshop.tools["acme"][0]["state"] = "warming"
    after = toy.plan(text)
    assert [item.address for item in after.waiting] == ["sh/tools/acme"]
    assert after.empty
    assert after.digest == before.digest


def test_confirmed_user_action_runs_once_after_changes(toy: Pipeline, workshop: Workshop) -> None:
    toy.apply(config("tools: { acme: {} }"))
    text = config("tools: { acme: { settings: { speed: { most: 5 } } } }")
    assert not any(step.verb == "act" for change in toy.plan(text).changes for step in change.steps)
    done(toy.apply(text, "test sh/tools/acme"), workshop)
    assert workshop.tested == ["acme at 5"]
    assert toy.plan(text).empty


ORDERED = config("orders: { big: { title: Big } }\n    tools: { acme: { poster: big } }")


def test_apply_waits_for_platform_output_needed_by_step(toy: Pipeline, workshop: Workshop) -> None:
    (waits,) = (step for change in toy.plan(ORDERED).changes for step in change.steps if step.verb == "await")
    assert (waits.method, waits.needs) == ("GET", ("sh/orders/big create",))
    done(toy.apply(ORDERED), workshop)
    assert workshop.tools["acme"][0]["poster"] == workshop.orders[0]["made"]["code"]
    assert toy.plan(ORDERED).empty


def test_apply_skips_waiting_for_unneeded_platform_output(toy: Pipeline, workshop: Workshop) -> None:
    text = config("orders: { big: { title: Big } }")
    done(toy.apply(text), workshop)
    assert workshop.patience == 3
    assert [item.what for item in toy.plan(text).waiting] == [
        "GitBook is still processing this object (working)"
    ]


def test_next_apply_continues_after_platform_output_timeout(toy: Pipeline, workshop: Workshop) -> None:
    workshop.patience = -1  # it is never done
    toy.clock = Impatient()
    report = toy.apply(ORDERED)
    assert workshop.refused == []
    ended = {outcome.step: outcome for outcome in report.outcomes if outcome.result != "done"}
    assert ended["sh/orders/big await"].result == "not-tried"
    assert "apply again" in str(ended["sh/orders/big await"].error)
    assert "poster" not in workshop.tools["acme"][0]
    workshop.patience = 1
    done(toy.apply(ORDERED), workshop)


# What cannot be read back.

POSTER = config("posters: { p1: { source: { text: %s } } }")


def against(toy: Pipeline, text: str, base: str | None) -> bool:
    """Whether there is something to do, with another configuration as the git base."""
    session = toy.session(text)
    if base is not None:
        (toy.project / "base.yaml").write_text(base, encoding="utf-8")
        session = replace(
            session, base=Base("HEAD", "c0ffee", load(toy.project / "base.yaml", {}, toy.registry))
        )
    with ReadClient(toy.url, "token") as client:
        return not session.plan(client, Options()).plan.empty


def test_unreadable_value_is_compared_with_git_base(toy: Pipeline, workshop: Workshop) -> None:
    done(toy.apply(POSTER % "one"), workshop)
    assert workshop.posters["p1"]["text"] == "one"
    assert not against(toy, POSTER % "two", None)
    assert not against(toy, POSTER % "one", POSTER % "one")
    assert against(toy, POSTER % "two", POSTER % "one")
    assert against(toy, POSTER % "two", config("posters: { p1: {} }"))


def test_unreadable_value_is_resent_when_confirmed(toy: Pipeline, workshop: Workshop) -> None:
    toy.apply(POSTER % "one")
    (note,) = toy.plan(POSTER % "two").notes
    assert '--confirm "send sh/posters/p1#source"' in note.text
    done(toy.apply(POSTER % "two", "send sh/posters/p1#source"), workshop)
    assert workshop.posters["p1"]["text"] == "two"


def test_changed_readable_member_is_difference(toy: Pipeline, workshop: Workshop) -> None:
    toy.apply(config("posters: { p1: { source: { url: u } } }"))
    done(toy.apply(POSTER % "one"), workshop)
    assert workshop.posters["p1"] == {"code": "p1", "colour": "white", "text": "one"}
