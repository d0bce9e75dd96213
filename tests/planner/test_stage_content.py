"""What holds content goes only where somebody named it. The sides are plain values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from msgspec.structs import force_setattr, replace

from dpsync.model.address import Address
from dpsync.model.desired import Base, FileNotIncluded, Limits
from dpsync.model.ids import RecordedLine
from dpsync.model.plan import DeleteDecision, Plan
from dpsync.model.question import Refusal
from dpsync.model.snapshot import Match, MatchedBy, RecordedIds
from dpsync.planner.plan import make_plan
from dpsync.planner.sides import Sides

from .stages import ACME, SPAN, Things
from .stages import Case as Staged

LIVE: Things = {"space": {"a": {"title": "A"}, "old": {"title": "Old"}}}
KEPT: Things = {"space": {"a": {"title": "A"}}}


@dataclass
class Case(Staged):
    """A case in which nobody agreed to anything."""

    wanted: Things = field(default_factory=lambda: KEPT)
    live: Things = field(default_factory=lambda: LIVE)
    prune: Sequence[str] = ("spaces",)
    agreed: bool = False

    read: Sequence[tuple[str, str]] = ()
    """Kind and path of objects whose lists were read, and all lists that could refer to them."""
    earlier_prune: Sequence[str] | None = None
    """The prune patterns of commits before the base; None: the same as now."""
    not_included: str = ""
    """A file of the project that has the removed entries and that nothing includes."""
    still_in: str = ""
    """A file whose own text still has them."""
    lost: str = ""
    """What became of the file since the base, if the configuration does not read it any more."""
    texts: tuple[str, str] = ("", "")
    """The text of the file in the base, and now."""
    kept: Sequence[tuple[str, str]] = ()
    """Kind and path of lines that an apply has marked."""
    shallow: bool = False
    reviewed: bool = False

    def sides(self) -> Sides:
        sides = super().sides()
        looked_at = frozenset((kind, f"{kind}-{path}") for kind, path in self.read)
        lines = {
            address: replace(line, kept=(line.id.split("-")[0], address.last_segment) in self.kept)
            for address, line in sides.snapshot.recorded_ids.lines.items()
        }
        snapshot = replace(
            sides.snapshot,
            delete_evidence=replace(sides.snapshot.delete_evidence, checked_objects=looked_at),
            recorded_ids=replace(
                sides.snapshot.recorded_ids,
                lines=lines,
                organizations_without_lines=frozenset() if lines else {ACME},
            ),
        )
        removed = frozenset({Address.parse("acme/teams/old")})
        others = [FileNotIncluded(self.not_included, removed)] if self.not_included else []
        now = replace(
            sides.loaded, not_included=others, texts={} if self.lost else {SPAN.file: self.texts[1]},
            addresses_declared_in=lambda file: removed if file == self.still_in else frozenset(),
        )  # fmt: skip
        base = replace(
            sides.base, is_shallow_clone=self.shallow, describe_missing_file=lambda _commit, _file: self.lost
        )
        if base.desired is not None:
            base = replace(base, desired=replace(base.desired, texts={SPAN.file: self.texts[0]}))
        if self.earlier_prune is not None:
            none = replace(now.policy, prune=self._patterns(self.earlier_prune))
            base = replace(
                base,
                earlier_configurations=tuple(
                    replace(then, policy=none) for then in base.earlier_configurations
                ),
            )
        options = replace(sides.options, reviewed=self.reviewed)
        return replace(sides, snapshot=snapshot, loaded=now, base=base, options=options)

    def plan(self) -> Plan:
        return make_plan(self.sides())


def refused(case: Case) -> Refusal | None:
    found = [item for item in case.plan().refusals if item.code == "content"]
    return found[0] if found else None


def notes(case: Case) -> list[str]:
    return [item.text for item in case.plan().notes if item.address.startswith("policy.removed")]


def flags(case: Case) -> list[str]:
    refusal = refused(case)
    return [] if refusal is None else [way.add for way in refusal.answers]


def test_unconfirmed_content_deletion_is_refused() -> None:
    """Otherwise, content is deleted that nobody has named."""
    refusal = refused(Case(limits=Limits(1000, 1000)))
    assert refusal is not None
    assert refusal.message.startswith(
        'Deleting space "Old" needs your confirmation: neither the ids file nor git has'
    )
    assert [way.add for way in refusal.answers] == [
        'removed: ["acme/spaces/[Old~space-old]"]',
        '--confirm "delete acme/spaces/[Old]"',
    ]
    assert all(way.add in refusal.way_out for way in refusal.answers)


TEAMS: Things = {"team": {"t": {"title": "T"}}, "member": {"bo": {"role": "read"}, "ed": {"role": "read"}}}
MEMBERS: Things = {"team_member": {"t/bo": {"role": "member"}, "t/ed": {"role": "owner"}}}


@pytest.mark.parametrize(
    ("kind", "live", "read", "found"),
    [
        ("space", LIVE, (), "a plan does not read pages and cannot tell whether a space is empty"),
        ("site", {"site": {"s": {"title": "S"}}}, (), "because the API cannot restore a deleted site"),
        ("team", {**TEAMS, **MEMBERS}, [("team", "t")], ": the team is in use: 2 memberships"),
        ("team", TEAMS, (), "dpsync has not read all objects that can be in the team or refer to the team"),
    ],
    ids=["space", "site", "team with members", "team that was not read"],
)
def test_deletion_refusal_describes_contents_of_object(
    kind: str, live: Things, read: Sequence[tuple[str, str]], found: str
) -> None:
    """Otherwise, a person who removes a new, empty object does not know what the question is about."""
    wanted = {**live, kind: {path: value for path, value in live[kind].items() if path == "a"}}
    case = Case({**wanted, "team_member": {}}, live, prune=[f"{kind}s"], base=live, read=read)
    refusal = refused(case)
    assert refusal is not None
    assert found in refusal.message


def test_deletion_refusal_lists_every_object() -> None:
    """Otherwise, a person copies a line with "…" into the policy and looks for the other names."""
    old = {f"old{number}": {"title": f"Old {number}"} for number in range(1, 8)}
    refusal = refused(Case(live={"space": KEPT["space"] | old}))
    assert refusal is not None
    names = [f'"acme/spaces/[Old {number}~space-old{number}]"' for number in range(1, 8)]
    line = f"removed: [{', '.join(names)}]"
    assert line in refusal.way_out
    assert line in [way.add for way in refusal.answers]
    assert all(f'--confirm "delete acme/spaces/[Old {number}]"' in refusal.way_out for number in range(1, 8))


# Removed in git.

TEAMS: Things = {"team": {"a": {"title": "A"}, "old": {"title": "Old"}}}
NO_TEAM: Things = {"team": {"a": {"title": "A"}}}
EMPTY: Mapping[str, Any] = {"wanted": NO_TEAM, "live": TEAMS, "prune": ["teams"], "read": [("team", "old")]}
"""A team without members, roles or anything that refers to it."""
REMOVED: Mapping[str, Mapping[str, Any]] = {
    "in this change": {"base": TEAMS},
    "in this change, by its line": {"base": TEAMS, "lines": [("team", "a"), ("team", "old")]},
    "in a commit before the base": {"base": NO_TEAM, "earlier": [NO_TEAM, TEAMS]},
    "in a commit before the base, by its line": {
        "base": NO_TEAM, "earlier": [NO_TEAM, TEAMS], "lines": [("team", "a"), ("team", "old")],
    },
}  # fmt: skip


@pytest.mark.parametrize("known", REMOVED)
def test_empty_team_removed_in_git_needs_no_confirmation(known: str) -> None:
    """Ordinary work: somebody removes the entry of a team that nobody uses."""
    case = Case(**EMPTY, **REMOVED[known])
    assert case.plan().can_apply
    assert [one.address for one in case.plan().changes] == ["acme/teams/[Old]"]
    assert case.plan().delete_decision == DeleteDecision()


@pytest.mark.parametrize("known", REMOVED)
def test_deleting_used_team_removed_in_git_needs_count(known: str) -> None:
    """Otherwise, one removed line takes the roles of a whole team away, and nobody has read that."""
    case = Case(**{**EMPTY, "read": ()}, **REMOVED[known])
    assert case.plan().delete_decision == DeleteDecision(number=1)
    assert flags(case) == ['--confirm "delete 1"']
    case.confirm = ["delete 1"]
    assert case.plan().can_apply


NOT_REMOVED: Mapping[str, tuple[Mapping[str, Any], str]] = {
    "it never had an entry": ({"base": NO_TEAM}, "neither the ids file nor git has an entry for the object"),
    "there is no git": ({}, "neither the ids file nor git has an entry for the object"),
    "its entry was in another place of the history than its line": (
        {"base": TEAMS, "lines": [("team", "a")]}, "neither the ids file nor git has an entry for the object",
    ),
    "no prune when it was removed": (
        {"base": NO_TEAM, "earlier": [NO_TEAM, TEAMS], "earlier_prune": ()},
        "no prune pattern covered the entry when the entry was removed",
    ),
    "its file is not included": (
        {"base": TEAMS, "not_included": "teams.yaml"}, "the entry is in teams.yaml, which no file includes",
    ),
    "an overlay takes it away": (
        {"base": TEAMS, "still_in": "dpsync.yaml"}, "the entry was in dpsync.yaml, and that file still has "
                                                    "the entry",
    ),
    "its file was renamed": (
        {"base": TEAMS, "lost": "it was renamed to people.yaml"},
        "the entry was in dpsync.yaml, and it was renamed to people.yaml",
    ),
    "its file was cut off": (
        {"base": TEAMS, "texts": ("teams: { a, old }\n", "teams: { a")}, (
            "and that file seems to be "
            "incomplete"
        ),
    ),
    "an apply kept it": (
        {"base": TEAMS, "lines": [("team", "a"), ("team", "old")], "kept": [("team", "old")]},
        "an apply kept the object after the entry was removed",
    ),
    "the clone lacks the commit": (
        {"base": NO_TEAM, "shallow": True}, "this clone lacks the commits",
    ),
}  # fmt: skip


@pytest.mark.parametrize("why", NOT_REMOVED)
def test_deleting_team_without_git_removal_needs_confirmed_address(why: str) -> None:
    """Otherwise, a lost file or include deletes a team, because it happens to be empty."""
    facts, reason = NOT_REMOVED[why]
    case = Case(**EMPTY, **facts)
    refusal = refused(case)
    assert refusal is not None
    assert reason in refusal.message
    assert case.plan().delete_decision == DeleteDecision(names=("acme/teams/[Old]",))
    case.confirm = ["delete 1"]
    assert not case.plan().can_apply
    case.confirm = ["delete acme/teams/[Old]"]
    assert case.plan().can_apply


def test_deletion_refusal_in_shallow_clone_suggests_full_history() -> None:
    refusal = refused(Case(**EMPTY, base=NO_TEAM, shallow=True))
    assert refusal is not None
    assert refusal.way_out.startswith(
        "fetch the whole history: set fetch-depth: 0 in actions/checkout; to delete"
    )


def test_deletion_refusal_suggests_including_omitted_file() -> None:
    refusal = refused(Case(**EMPTY, base=TEAMS, not_included="teams.yaml"))
    assert refusal is not None
    assert refusal.way_out.startswith("include teams.yaml again; to delete the object")
    assert refusal.answers[0].address == "include"


@pytest.mark.parametrize("policy", ["prune", "ignore", "forget"])
def test_entry_removal_with_new_prune_needs_confirmed_count(policy: str) -> None:
    """Otherwise, one change removes an entry and gets `prune`, and a reviewer reads only the entry."""
    before = {"prune": ()} if policy == "prune" else {policy: ["teams/old"]}
    case = Case(**EMPTY, base=TEAMS, base_policy=before)
    assert case.plan().delete_decision == DeleteDecision(number=1)
    refusal = refused(case)
    assert refusal is not None
    assert "the same commit removes the entry and adds a matching pattern to policy: prune" in refusal.message


def test_deletion_refusal_combines_count_and_addresses() -> None:
    """Otherwise, a person answers one refusal after the other."""
    live: Things = {"space": {**LIVE["space"], "strange": {"title": "Strange"}}}
    case = Case(live=live, base=LIVE)
    assert case.plan().delete_decision.answers == ("delete 2", "delete acme/spaces/[Strange]")
    refusal = refused(case)
    assert refusal is not None
    assert refusal.way_out.startswith(
        'to delete the objects, add --confirm "delete 2" --confirm "delete acme/spaces/[Strange]"'
    )
    assert len(case.plan().refusals) == 1
    case.confirm = case.plan().delete_decision.answers
    assert case.plan().can_apply
    assert case.plan().delete_decision == DeleteDecision()


def test_merged_pull_request_confirms_limited_deletions() -> None:
    """Ordinary work in the action: the plan in the pull request listed the delete."""
    case = Case(base=LIVE, reviewed=True)
    assert case.plan().can_apply
    case.limits = Limits(0, 100)
    assert [item.code for item in case.plan().refusals] == ["limits"]
    case.removed = ["spaces/old"]
    assert case.plan().can_apply


def test_merged_pull_request_cannot_confirm_unrecorded_content() -> None:
    """Otherwise, a merge deletes a space whose file was lost in it."""
    assert refused(Case(reviewed=True)) is not None


BY_ITS_ADDRESS: Mapping[str, Mapping[str, Any]] = {
    "by a line without entry": {"lines": [("space", "a"), ("space", "old")]},
    "by the git base": {"base": LIVE},
    "by a commit before it": {"base": KEPT, "earlier": [KEPT, LIVE]},
}


@pytest.mark.parametrize("known", BY_ITS_ADDRESS)
def test_former_address_in_removed_policy_confirms_deletion(known: str) -> None:
    """Otherwise, what the policy names is asked about all the same."""
    facts = BY_ITS_ADDRESS[known]
    assert refused(Case(removed=["spaces/old"], **facts)) is None
    assert refused(Case(removed=["acme/spaces/old"], **facts)) is None
    assert refused(Case(removed=["acme/spaces/other"], **facts)) is not None


def test_deletion_refusal_suggests_former_address_for_removed_policy() -> None:
    facts = BY_ITS_ADDRESS["by a line without entry"]
    assert flags(Case(**facts))[0] == "removed: [acme/spaces/old]"
    assert refused(Case(removed=["acme/spaces/old"], **facts)) is None


@pytest.mark.parametrize("name", ["[Old]", "[Old~space-old]"])
def test_title_in_removed_policy_confirms_deletion(name: str) -> None:
    assert refused(Case(removed=[f"spaces/{name}"])) is None


def test_wrong_title_in_removed_policy_confirms_no_deletion() -> None:
    assert refused(Case(removed=["spaces/[Older~space-old]"])) is not None


def test_shared_title_in_policy_confirms_no_deletion() -> None:
    twins: Things = {"space": {"a": {"title": "A"}, "x": {"title": "Old"}, "y": {"title": "Old"}}}
    case = Case(live=twins, removed=["spaces/[Old]"])
    refusal = refused(case)
    assert refusal is not None
    assert [way.add for way in refusal.answers[1:]] == [
        '--confirm "delete acme/spaces/[Old~space-x]"',
        '--confirm "delete acme/spaces/[Old~space-y]"',
    ]


BETA = Address.root("beta")


def in_two_organizations(pattern: str) -> list[str]:
    """Return the spaces that a `removed` pattern covers if two organizations had one at that address."""
    sides = Case(removed=[pattern], lines=[("space", "old")]).sides()
    place, (old, acme) = BETA.child("spaces"), (("space", "space-old"), ("organization", "acme"))
    objects, resources = sides.snapshot.objects, sides.desired.entries
    beta = replace(objects[acme], id="beta")
    other = replace(objects[old], id="space-other", parent=beta.identity)
    root = replace(resources[Address.root("acme")], address=BETA, key="beta")
    lines = (*sides.snapshot.recorded_ids.lines.values(), RecordedLine(place.child("old"), "space-other"))
    snapshot = replace(
        sides.snapshot,
        objects={**objects, beta.identity: beta, other.identity: other},
        matches={**sides.snapshot.matches, BETA: Match("beta", MatchedBy.PIN)},
        scopes={**sides.snapshot.scopes, place: (other.identity,)},
        recorded_ids=RecordedIds({line.address: line for line in lines}),
    )
    both = replace(sides, loaded=replace(sides.desired, entries={**resources, BETA: root}), snapshot=snapshot)
    return [id for kind, id in (old, other.identity) if both.policy.is_listed_as_removed((kind, id))]


def test_ambiguous_address_in_removed_policy_confirms_no_deletion() -> None:
    """Otherwise, a line that names two things lets both go."""
    assert in_two_organizations("spaces/old") == []
    assert in_two_organizations("acme/spaces/old") == ["space-old"]
    assert in_two_organizations("beta/spaces/old") == ["space-other"]


def test_removed_policy_address_refers_to_current_ids_line() -> None:
    """The address was another thing's in the base; what the file of now says counts."""
    live: Things = {"space": {"a": {"title": "A"}, "old": {"title": "Old"}, "new": {"title": "New"}}}
    case = Case(live=live, base={"space": {"old": {"title": "New"}}}, removed=["spaces/old"])
    case.lines = [("space", "old")]
    refusal = refused(case)
    assert refusal is not None
    assert refusal.message.startswith('Deleting space "New" needs your confirmation')


def test_missing_object_in_removed_policy_confirms_no_deletion() -> None:
    """Not what bears its name today."""
    case = Case(base=LIVE, removed=["spaces/old"], lines=[("space", "old")])
    case.live = {"space": {"a": {"title": "A"}, "again": {"title": "Old"}}}
    assert refused(case) is not None
    assert notes(case) == ["no object has this name: remove this line"]


def test_confirming_site_deletion_confirms_its_sections() -> None:
    """Otherwise, who names a thing is asked about each thing in it."""
    site = {"title": "Docs", "basename": "docs"}
    nodes = {"docs/g": {"title": "G", "path": "g"}}
    case = Case(
        {}, {"site": {"docs": site}, "section": nodes}, prune=["sites"], base={"site": {"docs": site}}
    )
    case.wanted = {"site": {}}
    assert refused(case) is not None
    case.removed = ["sites/docs"]
    assert refused(case) is None


def test_cascading_translation_deletion_needs_own_confirmation() -> None:
    case = Case(prune=["spaces", "translations"], base=LIVE, removed=["spaces/old"])
    case.live = {**LIVE, "translation": {"fr": {"language": "fr", "source": case.ref("space", "old")}}}
    case.wanted = {**KEPT, "translation": {}}
    going = [one.address for one in case.plan().changes if one.action == "delete"]
    assert "acme/spaces/[Old]" in going
    refusal = refused(case)
    assert refusal is not None
    assert refusal.address == "acme/translations/[fr]"


@pytest.mark.parametrize(("number", "agreed"), [(3, True), (1, False), (2, False), (4, False)])
def test_confirmed_count_must_equal_all_deletions(number: int, agreed: bool) -> None:
    """Otherwise, an answer for one thing lets all go."""
    live: Things = {
        "space": {"a": {"title": "A"}, "x": {"title": "X"}, "y": {"title": "Y"}, "z": {"title": "Z"}}
    }
    case = Case(live=live, base=live, removed=["spaces/[Z]"], confirm=[f"delete {number}"])
    assert (refused(case) is None) == agreed


def test_delete_count_is_asked_only_once() -> None:
    case = Case(base=LIVE, limits=Limits(0, 0))
    assert [item.code for item in case.plan().refusals] == ["limits"]
    case.confirm = ["delete 1"]
    assert case.plan().can_apply


def test_deletion_confirmed_by_address_ignores_limits() -> None:
    case = Case(limits=Limits(0, 0))
    assert case.plan().delete_decision.answers == ("delete 1", "delete acme/spaces/[Old]")
    case.confirm = ["delete acme/spaces/[Old]"]
    assert case.plan().can_apply


def test_member_deletion_needs_no_address() -> None:
    member = {"member": {"bo": {"role": "read"}}}
    case = Case({}, member, prune=["members"])
    assert refused(case) is None


@pytest.mark.parametrize(
    ("case", "note"),
    [
        (Case(live=KEPT, removed=["spaces/old"]), "no object has this name: remove this line"),
        (
            Case(removed=["spaces/[Old]"], prune=()),
            "dpsync does not delete this object, because no prune pattern covers the list that contains the "
            "object",
        ),
        (
            Case(
                {"space": {"new": {"title": "N", "id": "space-old"}}}, LIVE, removed=["spaces/old"], base=LIVE
            ),
            "",
        ),
    ],
)
def test_unneeded_line_in_removed_policy_is_noted(case: Case, note: str) -> None:
    """Otherwise, what lies in something that is gone counts as something that stays."""
    assert [text for text in notes(case) if text == note] == ([note] if note else [])


def test_git_history_is_read_only_for_deletions() -> None:
    class Unread:
        def __iter__(self) -> Any:
            raise AssertionError("nobody asked for it")

    sides = Case(live=KEPT, base=KEPT, protect=["spaces/a"]).sides()
    base: Base = sides.base
    force_setattr(base, "earlier_configurations", Unread())
    assert make_plan(sides).can_apply


RAISED = [
    (Limits(0, 100), Limits(9, 100), False),
    (Limits(9, 0), Limits(9, 100), False),
    (Limits(9, 100), Limits(0, 100), False),
    (Limits(9, 100), Limits(9, 100), True),
]


@pytest.mark.parametrize(("before", "now", "allowed"), RAISED)
def test_deletion_limits_raised_in_same_change_are_ignored(
    before: Limits, now: Limits, allowed: bool
) -> None:
    """Otherwise, who needs more deletes raises the limit in the same change.

    Otherwise, who needs more deletes raises the limit in the same change, also of the share.
    """
    more = {f"s{number}": {"title": f"S{number}"} for number in range(18)}
    live: Things = {"space": LIVE["space"] | more}
    wanted: Things = {"space": KEPT["space"] | more}
    case = Case(wanted, live, base=live, limits=now, base_limits=before)
    refusals = [item for item in case.plan().refusals if item.code == "limits"]
    assert (refusals == []) == allowed
    if not allowed and now != Limits(0, 100):
        assert (
            "(the lower limit in your files and in the base applies, because a change cannot raise its own "
            "limits)" in refusals[0].message
        )


def test_each_suggested_deletion_answer_allows_apply() -> None:
    """Otherwise, dpsync refuses the answer that it has printed, or calls it unneeded."""
    case = Case(limits=Limits(0, 0))
    (refusal,) = case.plan().refusals
    line = 'removed: ["acme/spaces/[Old~space-old]"]'
    assert f"or add {line} to policy; to keep the object, run" in refusal.way_out
    case.removed = ["acme/spaces/[Old~space-old]"]
    assert case.plan().can_apply
    case.removed, case.confirm = (), ["delete 1", "delete acme/spaces/[Old]"]
    assert case.plan().can_apply
    assert [note.address for note in case.plan().notes if note.address.startswith("--confirm")] == []
