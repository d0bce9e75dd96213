"""A plan as text: nothing foreign breaks out, deletes stand last, colour only repeats what words say."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpsync.model.change import Change, Difference, Effect, Exposure, Kept, Note, Removed, Step
from dpsync.model.plan import Organization, Origin, Plan
from dpsync.render.names import Names
from dpsync.render.paint import Paint
from dpsync.render.shown_values import format_value
from dpsync.render.view_text import render_plan

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


def test_plan_lists_deletes_last_with_cascade() -> None:
    plan = Plan(changes=(delete("acme/teams/[A]", "acme/x", "acme/y"), change("acme/teams/z", "create")))
    assert render_plan(plan, PLAIN).splitlines() == [
        '+ team z "Label"',
        '- team [A] "Label"',
        "    also removes 2 objects",
        "",
        "Plan: 1 to create, 3 to delete (1 team, 2 objects).",
    ]


def test_removed_entry_shows_its_key_and_file() -> None:
    lost = Effect(address="acme/saml/[Okta]#defaultTeam", what="", counts=False, kind="saml", label="Okta")
    removed = Removed(address="acme/teams/old", file="teams.yaml")
    plan = Plan(changes=(change("acme/teams/[A]", "delete", "A", effects=(lost,), removed=removed),))
    assert render_plan(plan, PLAIN).splitlines()[:2] == [
        '- team old "A"                                       removed from teams.yaml',
        '    SAML provider "Okta" loses its default team',
    ]


def test_plan_counts_only_writing_steps_as_writes() -> None:
    made = change(
        "acme/translations/guides-fr",
        "create",
        steps=(
            Step(id="made", verb="create", method="POST", path="/translations", repeat="look_up"),
            Step(id="ready", verb="await", method="GET", path="/translations/x", repeat="safe"),
        ),
    )
    assert "1 to write in 2 steps" in render_plan(Plan(changes=(made,)), PLAIN, verbose=1)
    text = render_plan(Plan(changes=(delete("acme/teams/[A]"),)), PLAIN, verbose=1)
    assert "0 requests to read, 1 to write" in text.splitlines()


@pytest.mark.parametrize(
    ("kind", "address", "title"),
    [
        ("organization", "acme", "organization acme"),
        ("team", "acme/teams/docs", "team docs"),
        ("team", "acme/teams/[Old%2Fnew]", "team [Old/new]"),
        ("team", "acme/teams/a b", "team a b"),
        ("team_member", "acme/teams/docs/members/a@x", "team member a@x in docs"),
        ("team_permission", "acme/spaces/s/permissions/teams/docs", "team permission docs in s"),
        ("agent_instructions", "acme/agentInstructions", "agent instructions"),
        ("adaptive_schema", "acme/sites/d/adaptiveSchema", "adaptive schema in d"),
        ("redirect", "acme/sites/d/redirects/%2Fa", "redirect /a in d"),
        ("section", "acme/sites/d/structure/api", "section api"),
        ("site_space", "acme/sites/d/structure/api/main", "site space main in api"),
        ("section", "acme/sites/e/structure/twice", "section acme/sites/e/structure/twice"),
        ("team", "beta/teams/shared", "team beta/teams/shared"),
        ("no_such_kind", "acme/x/y", "no such kind y"),
    ],
)
def test_object_title_is_short_and_unambiguous(kind: str, address: str, title: str) -> None:
    others = [
        "acme/sites/d/structure/twice",
        "acme/teams/shared",
        "acme/members/a@x",
        "acme/teams/x/members/a@x",
    ]
    assert Names([address, *others]).title(kind, address) == title


def test_object_title_uses_address_with_several_organizations() -> None:
    names = Names(["acme/teams/docs"], several_organizations=True)
    assert names.title("team", "acme/teams/docs", "Docs") == 'team acme/teams/docs "Docs"'
    assert names.with_keys({"dpsync:ref": "acme/teams/docs"}) == {"dpsync:ref": "acme/teams/docs"}


@pytest.mark.parametrize(
    ("before", "after", "line"),
    [
        ("Docs", "Guides", 'title  "Docs" → "Guides"'),
        (None, "Guides", 'title  (nothing) → "Guides"'),
    ],
)
def test_changed_title_is_printed_in_quotes(before: str | None, after: str, line: str) -> None:
    item = Difference(field="title", before=before, after=after)
    assert f"    {line}" in render_plan(Plan(changes=(change("a", differences=(item,)),)), PLAIN).splitlines()


@pytest.mark.parametrize(
    ("before", "after", "line"),
    [
        ("a", "b", "path  a → b"),
        ("a", "b c", 'path  "a" → "b c"'),
        ("true", "a", 'path  "true" → "a"'),
        (True, False, "path  true → false"),
        ({"dpsync:ref": "acme/teams/a"}, {"dpsync:ref": "acme/teams/b"}, "path  a → b"),
    ],
)
def test_single_word_values_are_printed_without_quotes(before: object, after: object, line: str) -> None:
    item = Difference(field="path", before=before, after=after)
    assert f"    {line}" in render_plan(Plan(changes=(change("a", differences=(item,)),)), PLAIN).splitlines()


def test_access_widening_changes_are_marked_in_plan() -> None:
    fields = (Difference(field="role", before="read", after="admin"),)
    exposures = (
        Exposure(address="acme/teams/a", field="role", words="role raised: read → admin"),
        Exposure(address="acme/teams/b", words="a new team"),
        Exposure(address="acme/teams/c", field="team", words="kim: read → edit"),
    )
    changes = (
        change("acme/teams/a", differences=fields),
        change("acme/teams/b", "create"),
        change("acme/teams/c"),
    )
    assert render_plan(Plan(changes=changes, exposures=exposures), PLAIN).splitlines() == [
        '+ team b "Label"',
        "    a new team                                       opens access",
        "~ team a",
        "    role  read → admin                               opens access",
        "~ team c",
        "    kim: read → edit                                 opens access",
        "",
        "Plan: 1 to create, 2 to change. 3 changes open access.",
    ]


def test_old_value_is_red_and_new_green() -> None:
    item = Difference(field="path", before="a", after="b")
    text = render_plan(Plan(changes=(change("acme/teams/a", differences=(item,)),)), COLOURED)
    assert "\x1b[31ma\x1b[0m → \x1b[32mb\x1b[0m" in text


def test_large_value_shows_only_changed_parts() -> None:
    before = {"properties": {f"p{number}": {"type": "boolean"} for number in range(9)}}
    after = {"properties": {**before["properties"], "p3": {"type": "string"}, "new": {"type": "number"}}}
    item = Difference(field="jsonSchema", before=before, after=after)
    text = render_plan(Plan(changes=(change("a", differences=(item,)),)), PLAIN)
    assert '~ properties.p3.type: "boolean" → "string"' in text
    assert "+ properties.new" in text
    assert "p7" not in text


def test_multiline_text_shows_only_changed_lines() -> None:
    item = Difference(
        field="instructions", before="# How\n\nBriefly.\n", after="# How\n\nAt length.\nAlways.\n"
    )
    text = render_plan(Plan(changes=(change("a", differences=(item,)),)), PLAIN)
    assert [line.strip() for line in text.splitlines()[-5:-2]] == ["- Briefly.", "+ At length.", "+ Always."]
    assert "# How" not in text


def test_long_text_difference_is_cut_to_twenty_lines() -> None:
    item = Difference(field="instructions", before="", after="line\n" * 100)
    text = render_plan(Plan(changes=(change("a", differences=(item,)),)), PLAIN)
    assert "… 80 more lines" in text
    assert text.count("+ line") == 20


HOSTILE = st.text(
    alphabet=st.sampled_from("\x1b[2J\n\r\t\x07\u202e\u200babc]0;\x9b31m"), min_size=1, max_size=20
)


@given(HOSTILE, HOSTILE, HOSTILE)
def test_hostile_text_cannot_break_plan_output(title: str, before: str, after: str) -> None:
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
def test_plan_color_changes_only_escape_codes(title: str) -> None:
    plan = Plan(changes=(change("acme/teams/t", label=title), delete("acme/teams/[x]")))
    coloured = render_plan(plan, COLOURED)
    assert re.sub(r"\x1b\[[\d;]*m", "", coloured) == render_plan(plan, PLAIN)


def test_printed_values_are_human_readable() -> None:
    assert format_value(None) == "(nothing)"
    assert format_value(True) == "true"
    assert format_value({"dpsync:ref": "acme/spaces/x"}) == "acme/spaces/x"
    assert format_value({"dpsync:env": "NAME"}) == "(secret from NAME)"
    assert format_value({"a": [1, "b"]}) == '{ a: [1, "b"] }'
    assert len(format_value("x" * 1000)) <= 122


def test_plan_warning_shows_its_file_position() -> None:
    about = 'policy.protect "teams/old"'
    plan = Plan(
        notes=(Note(address=about, text="it matches nothing", severity="warning"),),
        origins={about: Origin(file="dpsync.yaml", line=3, column=9)},
    )
    assert 'warning: policy.protect "teams/old": it matches nothing  dpsync.yaml:3' in render_plan(
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
def test_verbose_plan_names_platform_and_organization(
    organizations: list[tuple[str, str]], line: str
) -> None:
    found = tuple(Organization(address=address, id=id) for address, id in organizations)
    plan = Plan(platform="https://x", organizations=found, environment="prod")
    assert f"{line}\nenvironment: prod" in render_plan(plan, PLAIN, verbose=1)


def test_plan_digest_ignores_port_of_local_platform() -> None:
    """A plan for staging does not approve production."""
    assert Plan(platform="https://x").digest != Plan(platform="https://y").digest
    one, other = (Plan(organizations=(Organization(address="acme", id=id),)) for id in ("1", "2"))
    assert one.digest != other.digest
    assert Plan(platform="http://127.0.0.1:1").digest == Plan(platform="http://localhost:2").digest


def test_unmanaged_objects_heading_shows_count() -> None:
    plan = Plan(kept=(Kept(place="acme/teams", addresses=("acme/teams/[A]", "acme/teams/[B]")),))
    assert render_plan(plan, Paint(False), verbose=1).startswith(
        "Objects without an entry, which dpsync keeps: 2\nacme/teams: "
    )
