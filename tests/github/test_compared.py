"""The plan of now beside what was reviewed, of which digests are left."""

from __future__ import annotations

import pytest

from dpsync.github.commits import compare
from dpsync.github.plan_comment import ShownChange, merge_shown_changes, shown_changes
from dpsync.model.change import Change, Difference, Exposure
from dpsync.model.plan import Plan


def plan(words: str) -> Plan:
    """`a1 b2`: what is done to a and b, and which content each gets."""
    return Plan(
        changes=tuple(
            Change(
                address=f"acme/teams/{word[0]}", kind="team", action="update",
                differences=(Difference(field="title", before="", after=word[1:]),),
            )
            for word in words.split()
        )
    )  # fmt: skip


def reviewed(*plans: str) -> frozenset[ShownChange]:
    """Return the latest state of each change that these plans have shown, in their order."""
    return merge_shown_changes(shown_changes(plan(words)) for words in plans)


@pytest.mark.parametrize(("before", "now", "said"), [
    ("a1 b1", "a1 b1", "2 of 2 reviewed changes are unchanged"),
    ("a1", "a1", "1 of 1 reviewed change is unchanged"),
    ("a1 b1", "b1", "1 of 2 reviewed changes is unchanged, 1 reviewed change is no longer needed"),
    ("a1 b1 c1", "", "0 of 3 reviewed changes are unchanged, 3 reviewed changes are no longer needed"),
    (
        "a1 b1", "a1 b2",
        "1 of 2 reviewed changes is unchanged, 1 change was reviewed with other values (acme/teams/b)",
    ),
    ("", "a1", "0 of 0 reviewed changes are unchanged, 1 change is new (acme/teams/a)"),
    (
        "a1 b1 c1 d1", "a1 b2 c2 e1",
        "1 of 4 reviewed changes is unchanged, 1 reviewed change is no longer needed, 2 changes were "
        "reviewed with other values (acme/teams/b, acme/teams/c), 1 change is new (acme/teams/e)",
    ),
])  # fmt: skip
def test_plan_comparison_summarizes_reviewed_changes(before: str, now: str, said: str) -> None:
    """Otherwise, a change with another content than was reviewed is applied.

    Otherwise, changes with another content than was reviewed are applied.
    """
    found = compare(reviewed(before), plan(now))
    assert str(found) == said
    assert found.unreviewed == ("other values" in said or "new" in said)


def test_plan_comparison_lists_ten_addresses_as_code() -> None:
    found = compare(reviewed(""), plan(" ".join(f"{letter}1" for letter in "`bcdefghijkl")))
    assert found.markdown() == (
        "- 0 of 0 reviewed changes are unchanged\n"
        "- 12 changes are new: `` acme/teams/` ``, "
        + ", ".join(f"`acme/teams/{letter}`" for letter in "bcdefghij")
        + " and 2 more"
    )


def test_plan_comparison_shortens_long_addresses() -> None:
    change = Change(address="a" * 100, kind="team", action="update")
    longer = change.model_copy(update={"address": "a" * 101})
    assert str(compare(None, Plan(changes=(change,)))) == f"1 change is new ({'a' * 100})"
    assert str(compare(None, Plan(changes=(longer,)))) == f"1 change is new ({'a' * 99}…)"


def test_all_changes_are_new_without_reviewed_plan() -> None:
    assert str(compare(None, plan("a1"))) == "1 change is new (acme/teams/a)"
    assert compare(None, plan("")).unreviewed is False


def test_exposure_from_combining_reviewed_changes_needs_review() -> None:
    """Otherwise, what becomes visible by changes that were reviewed one by one is applied unseen."""
    displayed = reviewed("a1", "b1")
    assert not compare(displayed, plan("a1 b1")).unreviewed
    exposed = plan("a1 b1").model_copy(
        update={"exposures": (Exposure(address="acme/sites/s", field="published", words="public"),)}
    )
    found = compare(displayed, exposed)
    assert found.unreviewed
    assert str(found).endswith("the new plan gives more access than the reviewed plan showed (acme/sites/s)")
    assert str(compare(shown_changes(exposed), exposed)) == "2 of 2 reviewed changes are unchanged"
