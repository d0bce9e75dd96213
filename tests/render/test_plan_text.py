"""A plan as text: nothing foreign breaks out, deletes stand last, colour only repeats what words say."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpsync.model.findings.question import Refusal
from dpsync.model.plans.change import Change, Difference, Effect
from dpsync.model.plans.plan import Organization, Origin, Plan
from dpsync.model.plans.remark import Kept, Note
from dpsync.model.plans.step import Step
from dpsync.render.terminal.paint import Paint
from dpsync.render.terminal.plan_text import render_plan
from dpsync.render.words.plan import gist
from dpsync.render.words.values import show

PLAIN, COLOURED = Paint(on=False), Paint(on=True)


def change(address: str, action: str = "update", label: str = "Label", **more: object) -> Change:
    return Change(address=address, kind="team", action=action, label=label, **more)


def delete(address: str, *effects: str) -> Change:
    step = Step(id=f"{address} delete", verb="delete", method="DELETE", path="/x", repeat="safe")
    return change(
        address,
        "delete",
        effects=tuple(Effect(address=item, what="goes with it") for item in effects),
        steps=(step,),
    )


def step(verb: str, **more: object) -> Step:
    return Step(id=f"a {verb}", verb=verb, method="PATCH", path="/x", repeat="safe", **more)


def test_deletes_stand_last_with_what_goes_along_and_the_count_of_both() -> None:
    plan = Plan(changes=(delete("acme/teams/[A]", "acme/x", "acme/y"), change("acme/teams/z", "create")))
    text = render_plan(plan, PLAIN)
    assert "DELETES: 3 things will be gone (1, and 2 that go with it)" in text
    assert text.index("+ acme/teams/z") < text.index("DELETES")
    assert text.index("acme/x: goes with it") > text.index("DELETES")
    assert "3 TO DELETE (1, and 2 that go with it)" in text.splitlines()[-2]


def test_a_refused_plan_says_why_and_the_way_out() -> None:
    refusal = Refusal(code="limits", address="acme", message="too many", way_out='say --confirm "delete 9"')
    text = render_plan(Plan(refusals=(refusal,)), PLAIN)
    assert "This plan may not be applied:" in text
    assert "too many (limits)" in text
    assert 'way out: say --confirm "delete 9"' in text


def test_kept_things_are_counted_and_named_with_v() -> None:
    names = tuple(f"acme/teams/[T{number}]" for number in range(5))
    plan = Plan(kept=(Kept(place="acme/teams", addresses=names),))
    assert "acme/teams: 5 unmanaged, kept: [T0], [T1], [T2] and 2 more" in render_plan(plan, PLAIN)
    assert "[T4]" in render_plan(plan, PLAIN, verbose=1)


def test_steps_that_write_nothing_are_told_apart_from_writes() -> None:
    made = change(
        "acme/translations/guides-fr",
        "create",
        steps=(
            Step(id="made", verb="create", method="POST", path="/translations", repeat="look_up"),
            Step(id="ready", verb="await", method="GET", path="/translations/x", repeat="safe"),
        ),
    )
    assert "1 to write in 2 steps)" in render_plan(Plan(changes=(made,)), PLAIN)
    assert "1 to write)" in render_plan(Plan(changes=(delete("acme/teams/[A]"),)), PLAIN)


def test_a_tree_indents_each_address_below_what_it_belongs_to() -> None:
    plan = Plan(
        changes=(change("a"), change("a/sites/d"), change("a/sites/d/structure/s"), change("a/teams/t"))
    )
    tree = render_plan(plan, PLAIN).split("\n\n")[0].splitlines()
    assert [line.rstrip() for line in tree] == [
        "~ a",
        "    sites",
        "    ~ d",
        "        structure",
        "        ~ s",
        "    teams",
        "    ~ t",
    ]


def test_what_differs_inside_a_large_value_is_shown_alone() -> None:
    before = {"properties": {f"p{number}": {"type": "boolean"} for number in range(9)}}
    after = {"properties": {**before["properties"], "p3": {"type": "string"}, "new": {"type": "number"}}}
    item = Difference(field="jsonSchema", before=before, after=after)
    text = render_plan(Plan(changes=(change("a", differences=(item,)),)), PLAIN)
    assert '~ properties.p3.type: "boolean" → "string"' in text
    assert "+ properties.new" in text
    assert "p7" not in text


def test_of_a_text_the_lines_that_go_and_come_are_shown() -> None:
    item = Difference(
        field="instructions", before="# How\n\nBriefly.\n", after="# How\n\nAt length.\nAlways.\n"
    )
    text = render_plan(Plan(changes=(change("a", differences=(item,)),)), PLAIN)
    assert [line.strip() for line in text.splitlines()[-6:-3]] == ["- Briefly.", "+ At length.", "+ Always."]
    assert "# How" not in text


def test_of_a_long_text_not_every_line_is_shown() -> None:
    item = Difference(field="instructions", before="", after="line\n" * 100)
    text = render_plan(Plan(changes=(change("a", differences=(item,)),)), PLAIN)
    assert "… 80 more lines" in text
    assert text.count("+ line") == 20


HOSTILE = st.text(
    alphabet=st.sampled_from("\x1b[2J\n\r\t\x07\u202e\u200babc]0;\x9b31m"), min_size=1, max_size=20
)


@given(HOSTILE, HOSTILE, HOSTILE)
def test_no_text_of_the_platform_breaks_out_of_the_terminal(title: str, before: str, after: str) -> None:
    item = Difference(field="title", before=before, after={"x": [after]})
    text = Difference(field="text", before=f"{before}\n\n{title}", after=f"{after}\n\n.")
    plan = Plan(
        changes=(
            change(f"acme/teams/[{title}]", label=title, differences=(item, text)),
            delete(f"x/{title}", title),
        )
    )
    for line in render_plan(plan, PLAIN).split("\n"):
        assert not re.search(r"[\x00-\x1f\x7f-\x9f\u202e\u200b]", line)


@given(HOSTILE)
def test_colour_adds_nothing_but_colour(title: str) -> None:
    plan = Plan(changes=(change("acme/teams/t", label=title), delete("acme/teams/[x]")))
    coloured = render_plan(plan, COLOURED)
    assert re.sub(r"\x1b\[[\d;]*m", "", coloured) == render_plan(plan, PLAIN)


def test_values_are_shown_as_people_write_them() -> None:
    assert show(None) == "(nothing)"
    assert show(True) == "true"
    assert show({"dpsync:ref": "acme/spaces/x"}) == "acme/spaces/x"
    assert show({"dpsync:env": "NAME"}) == "(secret from NAME)"
    assert show({"a": [1, "b"]}) == '{ a: [1, "b"] }'
    assert len(show("x" * 1000)) <= 122


def test_a_warning_is_told_with_its_place() -> None:
    about = 'policy.protect "teams/old"'
    plan = Plan(
        notes=(Note(address=about, text="it matches nothing", severity="warning"),),
        origins={about: Origin(file="dpsync.yaml", line=3, column=9)},
    )
    assert 'warning: policy.protect "teams/old": it matches nothing  dpsync.yaml:3:9' in render_plan(
        plan, PLAIN
    )


@pytest.mark.parametrize(
    ("organizations", "line"),
    [
        ([("acme", "acme")], "platform: https://x, organization: acme"),
        ([("acme", "org-7")], "platform: https://x, organization: acme (id org-7)"),
        ([("a", "a"), ("b", "2")], "platform: https://x, organizations: a, b (id 2)"),
    ],
)
def test_the_first_line_names_platform_and_organization(
    organizations: list[tuple[str, str]], line: str
) -> None:
    found = tuple(Organization(address=address, id=id) for address, id in organizations)
    plan = Plan(platform="https://x", organizations=found, environment="prod")
    assert render_plan(plan, PLAIN).splitlines()[:2] == [line, "environment: prod"]


def test_a_digest_names_platform_and_organization_ids_but_not_the_port_of_what_is_on_this_machine() -> None:
    """A plan for staging does not approve production."""
    assert Plan(platform="https://x").digest != Plan(platform="https://y").digest
    one, other = (Plan(organizations=(Organization(address="acme", id=id),)) for id in ("1", "2"))
    assert one.digest != other.digest
    assert Plan(platform="http://127.0.0.1:1").digest == Plan(platform="http://localhost:2").digest


@pytest.mark.parametrize(
    ("one", "line"),
    [
        (change("acme/teams/a", "create", inside="acme/spaces/guides"), 'new team "Label" in guides'),
        (change("acme/teams/a", "create"), 'new team "Label"'),
        (delete("acme/teams/a"), 'DELETE team "Label"'),
        (change("acme/teams/a", differences=(Difference(field="title", before="A", after="B"),)), "title"),
        (
            change("acme/teams/a", moved="before b", differences=(Difference(field="title", before="A"),)),
            "title, moved before b",
        ),
        (change("acme/spaces/a", steps=(step("restore"),)), "brought back"),
        (
            change(
                "acme/spaces/a",
                steps=(step("restore"),),
                differences=tuple(Difference(field=name, before="A") for name in ("title", "emoji")),
            ),
            "brought back, title, emoji",
        ),
        (change("acme/spaces/a", steps=(step("update", phase="free"),)), "steps aside"),
        (change("acme/spaces/a", steps=(step("act", summary="published anew"),)), "published anew"),
    ],
)
def test_in_one_line_it_is_told_what_becomes_of_something(one: Change, line: str) -> None:
    assert gist(one) == line
