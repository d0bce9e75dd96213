"""Causes as text: behind what they are about, whole on any terminal, silent where nobody can tell."""

from __future__ import annotations

import re

import pytest

from dpsync.model.findings.question import Refusal
from dpsync.model.plans.cause import Cause
from dpsync.model.plans.change import Action, Change, Difference
from dpsync.model.plans.drift import Drift, Drifted, FieldDrift
from dpsync.model.plans.plan import Plan
from dpsync.render.checks.junit import as_junit
from dpsync.render.json.conversion import plan_document
from dpsync.render.layout.views import view
from dpsync.render.options import FormatOptions
from dpsync.render.pages.markdown import render_markdown
from dpsync.render.terminal.paint import Paint
from dpsync.render.terminal.plan_text import render_plan
from dpsync.render.terminal.view_text import COLUMNS
from tests.render.drift_text import render_drift

PLAIN, COLOURED = Paint(on=False), Paint(on=True)
COMMIT = "0" * 40


def change(
    address: str,
    action: Action = "update",
    cause: Cause | None = None,
    moved: str | None = None,
    **fields: Cause,
) -> Change:
    found = tuple(Difference(field=name, before="a", after="b", cause=why) for name, why in fields.items())
    return Change(
        address=address, kind="team", action=action, label="L", cause=cause, moved=moved, differences=found
    )


PLAN = Plan(
    base=COMMIT,
    base_from="HEAD",
    same_edit_twice=tuple(f"acme/teams/x#f{number}" for number in range(5)),
    changes=(
        change("acme/spaces/s", cause="changed outside", moved="after t", title="edited here", icon="both"),
        change("acme/teams/n", "create", "changed outside", title="changed outside"),
        change("acme/teams/[g]", "delete", "edited here"),
    ),
)


def block(text: str, title: str) -> list[str]:
    """The lines below a title, up to the next one."""
    lines = text.splitlines()
    start = lines.index(f"{title}:") + 1
    after = (at for at in range(start, len(lines)) if re.match(r"[A-Z]", lines[at]))
    return [line for line in lines[start : next(after)] if line]


def test_each_part_has_its_title_and_of_a_thing_in_both_only_its_own() -> None:
    text = render_plan(PLAN, PLAIN)
    assert block(text, "What this change does") == [
        "~ acme/spaces/s",
        '    title  "a" → "b"  (edited here)',
        '    icon   "a" → "b"  (both)',
        '- acme/teams/[g]  DELETE team "L"  (removed here)',
    ]
    assert block(text, "Drift that was there already") == [
        "~ acme/spaces/s",
        "    moved after t  (moved outside)",
        "+ acme/teams/n  (deleted outside)",
        '    title  "b"',
    ]
    assert '  - acme/teams/[g]  team "L"  (removed here)' in text
    assert "  What this change does: 1 to change, 1 to delete" in text
    assert "  Drift that was there already: 1 to create, 1 to move" in text


def test_in_markdown_a_delete_of_this_change_stands_with_it_and_is_announced_once() -> None:
    seen = view(plan_document(PLAN))
    text = render_markdown(seen)
    _, _, mine = text.partition("#### What this change does: 2")
    assert '- `-` `acme/teams/[g]` DELETE team "L" (removed here)' in mine.partition("####")[0]
    assert [entry.address for _, entry in seen.calls].count("acme/teams/[g]") == 1
    assert as_junit(seen, FormatOptions()).count("<testcase") == 4


REFUSED = Refusal(address="acme/teams/x", code="DP999", message="who is it", way_out="say so")


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ((), "1 reason: acme/teams/x: who is it (DP999)."),
        ((REFUSED,), "2 reasons: acme/teams/x: who is it (DP999), and 1 more."),
    ],
)
def test_a_plan_without_changes_that_is_refused_says_why_in_the_same_line(
    more: tuple[Refusal, ...], why: str
) -> None:
    plan = Plan(refusals=(REFUSED, *more))
    said = f"No changes. REFUSED, for {why}"
    assert said in render_plan(plan, PLAIN)
    assert view(plan_document(plan)).title == said


def test_a_tree_names_what_this_change_does_not_do_alone_and_a_summary_names_all() -> None:
    tree = render_plan(PLAN, PLAIN).split("\n\n")[0]
    assert "~ s  title, icon, moved after t  (edited here, both, moved outside)" in tree
    assert '+ n  new team "L"  (deleted outside)' in tree
    assert "removed here" not in tree
    summary = render_plan(PLAN, PLAIN, summary=True)
    assert '- acme/teams/[g]  DELETE team "L"  (removed here)' in summary


def test_what_is_live_already_is_counted_and_listed_with_v() -> None:
    said = "same edit twice: 5 fields live already as edited here: acme/teams/x#f0, acme/teams/x#f1"
    assert f"{said}, acme/teams/x#f2 and 2 more" in render_plan(PLAN, PLAIN)
    assert "acme/teams/x#f4" in render_plan(PLAN, PLAIN, verbose=1)


@pytest.mark.parametrize("cause", ["edited here", "changed outside"])
def test_where_all_of_it_is_this_change_no_title_is_needed(cause: Cause) -> None:
    plan = Plan(base=COMMIT, base_from="HEAD", changes=(change("acme/teams/t", title=cause),))
    text = render_plan(plan, PLAIN)
    assert ("Drift that was there already" in text) == (cause == "changed outside")
    assert "What this change does" not in text
    assert f"({cause})" in text


def test_without_a_base_it_is_said_once() -> None:
    plan = Plan(
        base_from="not in a git repository", changes=(change("acme/teams/t", title="origin unknown"),)
    )
    assert render_plan(plan, PLAIN).count("unknown") == 1
    assert "base: none (not in a git repository): origin unknown" in render_plan(plan, PLAIN)
    assert "unknown" not in render_plan(plan.model_copy(update={"changes": ()}), PLAIN)
    one = plan.model_copy(update={"base": COMMIT})
    assert '"b"  (origin unknown)' in render_plan(one, PLAIN)


@pytest.mark.parametrize("paint", [PLAIN, COLOURED])
@pytest.mark.parametrize("length", range(20, 40))
def test_a_cause_is_never_beyond_the_edge_of_a_terminal(length: int, paint: Paint) -> None:
    item = Difference(field="title", before="a" * length, after="b" * length, cause="changed outside")
    plan = Plan(base=COMMIT, changes=(change("a").model_copy(update={"differences": (item,)}),))
    lines = re.sub(r"\x1b\[[0-9;]*m", "", render_plan(plan, paint)).splitlines()
    (line,) = (line for line in lines if line.endswith("(changed outside)") and "~" not in line)
    assert len(line) <= COLUMNS == 80
    assert line.strip() == "(changed outside)" or line.startswith('    title  "a')
    part = FieldDrift(field="title", live="a" * length, file="b" * length, cause="changed outside")
    drift = Drift(base=COMMIT, found=(Drifted(address="a", kind="team", what="different", fields=(part,)),))
    (line,) = (
        line
        for line in re.sub(r"\x1b\[[0-9;]*m", "", render_drift(drift, paint)).splitlines()
        if line.endswith("(changed outside)")
    )
    assert len(line) <= COLUMNS


def test_drift_tells_what_was_there_already_first() -> None:
    fields = (
        FieldDrift(field="title", live="x", file="y", cause="changed outside"),
        FieldDrift(field="icon", live="x", file="y", cause="edited here"),
    )
    found = (Drifted(address="acme/teams/t", kind="team", what="different", fields=fields),)
    drift = Drift(base=COMMIT, base_from="HEAD", found=found, same_edit_twice=("acme/teams/x#f",))
    text = render_drift(drift, PLAIN)
    first, _, then = text.partition("What this change does:")
    assert first.startswith("Drift that was there already:")
    assert 'title  live: "x", file: "y"  (changed outside)' in first
    assert 'icon  live: "x", file: "y"  (edited here)' in then
    assert "same edit twice: 1 field live already as edited here: acme/teams/x#f" in text
    line = "~ acme/teams/t  title, icon  (changed outside, edited here)"
    assert line in render_drift(drift, PLAIN, summary=True)
