"""What is protected stays so, whatever is removed from the files or committed. The sides are plain values."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest
from msgspec.structs import replace

from dpsync.model.plan import Plan
from dpsync.planner.plan import make_plan
from dpsync.planner.sides import Sides

from .stages import Case as Staged
from .stages import Things

BOTH: Things = {"space": {"a": {"title": "A"}, "safe": {"title": "Safe"}}}
REMOVED: Things = {"space": {"a": {"title": "A"}}}
PROTECTED = ("protected", "acme/spaces/[Safe]")
UNKNOWN = ("protected", "spaces/safe")


@dataclass
class Case(Staged):
    """A space that is protected by its key, and whose entry is gone."""

    wanted: Things = field(default_factory=lambda: REMOVED)
    live: Things = field(default_factory=lambda: BOTH)
    prune: Any = ("spaces",)
    protect: Any = ("spaces/safe",)

    def plan(self) -> Plan:
        return make_plan(self.sides())

    def refused(self) -> list[tuple[str, str]]:
        return [(item.code, item.address) for item in self.plan().refusals]


@pytest.mark.parametrize(
    "known",
    [
        {"lines": [("space", "a"), ("space", "safe")]},
        {"lines": [("space", "safe")], "base": REMOVED},
        {"base": BOTH},
        {"base": REMOVED, "earlier": [REMOVED, BOTH]},
    ],
    ids=["a line without entry", "with a base that has no entry", "the base", "a commit before the base"],
)
def test_object_stays_protected_after_committed_entry_removal(known: dict[str, Any]) -> None:
    assert Case(**known).refused() == [PROTECTED]


def test_object_stays_protected_by_ids_line_after_rename() -> None:
    live: Things = {"space": {"a": {"title": "A"}, "safe": {"title": "Quite another"}}}
    assert Case(live=live, lines=[("space", "a"), ("space", "safe")]).refused() == [
        ("protected", "acme/spaces/[Quite another]")
    ]


@pytest.mark.parametrize("base", [None, REMOVED])
def test_unresolvable_protect_pattern_prevents_deletions(base: Things | None) -> None:
    case = Case(base=base)
    assert case.refused() == [UNKNOWN]
    assert "acme/spaces/[Safe]" in case.plan().refusals[0].message


def test_protection_refusal_lists_all_possible_objects() -> None:
    """The person picks one of these titles: with some names left out, that is a guess."""
    names = [f"acme/spaces/[Gone {number}]" for number in range(1, 8)]
    gone = {f"g{number}": {"title": f"Gone {number}"} for number in range(1, 8)}
    (refusal,) = Case(live={"space": {"a": {"title": "A"}, **gone}}).plan().refusals
    assert ", ".join(names) in refusal.message


def test_protect_pattern_of_missing_object_allows_other_deletions() -> None:
    live: Things = {"space": {"a": {"title": "A"}, "other": {"title": "Other"}}}
    assert Case(live=live, lines=[("space", "a"), ("space", "safe")]).refused() == []


@pytest.mark.parametrize("protect", ["spaces/*", "**"])
def test_wildcard_protect_pattern_without_match_allows_deletions(protect: str) -> None:
    live: Things = {"space": {"a": {"title": "A"}}, "member": {"bo": {"role": "read"}}}
    case = Case({}, live, protect=[protect], prune=["members"])
    assert UNKNOWN not in case.refused()


def test_unresolvable_protect_pattern_blocks_deletions_of_one_kind() -> None:
    live: Things = {**REMOVED, "member": {"bo": {"role": "read"}}}
    case = Case({**REMOVED, "member": {"ada": {"role": "admin"}}}, live, prune=["members"])
    assert [item for item in case.refused() if item[0] == "protected"] == []


def test_unresolvable_nested_protect_pattern_blocks_site_deletion() -> None:
    """Otherwise, what is protected under a name that nobody knows any more is deleted."""
    site = {"title": "Docs", "basename": "docs"}
    case = Case({}, {"site": {"docs": site}}, prune=["sites"], protect=["sites/old/structure/guides"])
    case.wanted = {"site": {"other": {"title": "Other", "basename": "other"}}}
    assert ("protected", "sites/old/structure/guides") in case.refused()


@pytest.mark.parametrize(("in_base", "refused"), [(True, [("protected", "spaces/[Was]")]), (False, [])])
def test_protected_title_without_match_blocks_deletions(
    in_base: bool, refused: list[tuple[str, str]]
) -> None:
    """Otherwise, what is protected under a name that nobody knows any more is deleted."""
    case = Case(base=BOTH if in_base else None, protect=["spaces/[Was]"])
    assert case.refused() == refused


def test_protect_pattern_with_missing_id_blocks_no_deletion() -> None:
    """Otherwise, a protection that is written for later stops every delete."""
    assert Case(base=BOTH, protect=["spaces/[Was~gone]"]).refused() == []


def test_protected_member_is_matched_by_email_key() -> None:
    live: Things = {"member": {"bo": {"role": "read"}, "ada": {"role": "admin"}}}
    case = Case({"member": {"ada": {"role": "admin"}}}, live, prune=["members"], protect=["members/bo"])
    assert [code for code, _ in case.refused()] == ["protected"]


@dataclass
class Skipping(Case):
    """A case whose protected things are kept while the rest goes on."""

    def sides(self) -> Sides:
        sides = super().sides()
        policy = replace(sides.loaded.policy, skip=sides.loaded.policy.protect)
        return replace(sides, loaded=replace(sides.loaded, policy=policy))


THREE: Things = {"space": {**BOTH["space"], "other": {"title": "Other"}}}


def test_skip_protected_setting_deletes_only_unprotected_objects() -> None:
    """Ordinary work: one protected space does not stop every other delete."""
    lines = [("space", key) for key in THREE["space"]]
    plan = Skipping(live=THREE, base=THREE, lines=lines, confirm=["delete 1"], agreed=False).plan()
    assert plan.refusals == ()
    assert [(one.address, one.action) for one in plan.changes] == [("acme/spaces/[Other]", "delete")]
    assert [(note.address, note.text) for note in plan.notes if "protected" in note.text] == [
        ("acme/spaces/[Safe]", "kept: the object is protected")
    ]
    assert plan.kept[0].addresses == ("acme/spaces/[Safe]",)


def test_skip_protected_setting_keeps_parent_of_protected_object() -> None:
    """Otherwise, a protected section is deleted with its site."""
    site = {"title": "Docs", "basename": "docs"}
    live: Things = {
        "site": {"docs": site, "old": {"title": "Old", "basename": "old"}},
        "section": {"docs/safe": {"title": "Safe", "path": "safe"}},
    }
    plan = Skipping({"site": {}}, live, prune=["sites"], protect=["sites/*/structure/[Safe]"]).plan()
    assert plan.refusals == ()
    assert [one.address for one in plan.changes] == ["acme/sites/[Old]"]
    assert [note.text for note in plan.notes if note.address == "acme/sites/[Docs]"] == [
        "kept: acme/sites/[Docs]/structure/[Safe] is protected and would also be deleted"
    ]


def test_protection_still_applies_in_change_removing_it() -> None:
    """Otherwise, the change that removes a line from `protect` also deletes what it protected."""
    sides = Case(base=BOTH, protect=(), base_policy={"protect": ["spaces/safe"]}).sides()
    assert [item.code for item in make_plan(sides).refusals] == ["protected"]
