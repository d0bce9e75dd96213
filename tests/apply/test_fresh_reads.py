"""What is read again before a write, how often, and what it is held against: a platform of plain values."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any, cast

import pytest
from msgspec.structs import replace

from dpsync.apply.delete_checks import DeleteChecks
from dpsync.apply.fresh_reads import FreshReads
from dpsync.apply.task import LiveIds, StepTask
from dpsync.client.client import ReadClient
from dpsync.client.observer import NullObserver
from dpsync.kinds.registry import Registry
from dpsync.kinds.registry import build_registry as load_registry
from dpsync.live.sources import ReadSource
from dpsync.model.plan import Plan
from dpsync.model.snapshot import DeleteEvidence, Identity, LiveObject, SyncedRepository
from dpsync.model.values import LiveId
from dpsync.planner.deletions import find_cascade
from dpsync.planner.plan import make_plan
from dpsync.planner.sides import Sides
from tests.planner.lab import REGISTRY
from tests.planner.stages import Case, Things

NOBODY = cast(ReadClient, SimpleNamespace(observer=NullObserver()))
"""Nothing is asked of a client here."""
ORGANIZATION = ("organization", "acme")


class Platform(FreshReads):
    """Fresh reads of what is in `now`. `read_from` has the address of each reading."""

    def __init__(self, sides: Sides, plan: Plan) -> None:
        ids = LiveIds({address: match.id for address, match in sides.snapshot.matches.items()})
        super().__init__(NOBODY, sides.registry, sides.desired, sides.snapshot, ids, plan.changes, 1)
        self.now = dict(sides.snapshot.objects)
        self.read_from: list[str] = []

    def read(self, source: ReadSource) -> dict[Identity, LiveObject]:
        self.read_from.append(source.url)
        return {identity: item for identity, item in self.now.items() if item.kind == source.kind}


def tasks(plan: Plan) -> dict[str, StepTask]:
    return {step.id: StepTask(change, step) for change in plan.changes for step in change.steps}


CASE = Case(
    {"team": {"one": {"title": "Uno"}, "two": {"title": "Two"}}, "collection": {"c": {"title": "C"}}},
    {"team": {"one": {"title": "One"}, "old": {"title": "Old"}}},
    prune=["teams"],
)
UPDATE, CREATE, DELETE = "acme/teams/one update", "acme/teams/two create", "acme/teams/[Old] delete"
OTHER = "acme/collections/c create"


def started() -> tuple[Platform, dict[str, StepTask]]:
    plan = make_plan(sides := CASE.sides())
    return Platform(sides, plan), tasks(plan)


def team(id: str, title: str) -> dict[Identity, LiveObject]:
    return {("team", id): LiveObject("team", id, ORGANIZATION, None, {"title": title}, "/orgs/acme/teams")}


@pytest.mark.parametrize(
    ("gone", "there", "stale"),
    [
        ([], {}, {}),
        ([], team("team-one", "Changed"), {UPDATE: "this object was changed"}),
        ([], team("team-old", "Changed"), {DELETE: "this object was changed"}),
        (["team-one"], {}, {UPDATE: "this object was deleted"}),
        (["team-old"], {}, {}),
        ([], team("new", "Two"), {CREATE: "somebody else created this object"}),
        ([], team("new", "Other"), {}),
        ([], team("new", "Uno"), {}),
    ],
)
def test_write_is_stale_when_object_changed_since_plan(
    gone: list[str], there: Mapping[Identity, LiveObject], stale: dict[str, str]
) -> None:
    """Otherwise, what somebody else has made meanwhile is made a second time.

    Otherwise, a delete whose object is gone already stops everything.
    Otherwise, what somebody has changed since the plan is overwritten.
    """
    for first in (UPDATE, CREATE, DELETE):
        platform, steps = started()
        platform.now = {identity: item for identity, item in platform.now.items() if item.id not in gone}
        platform.now |= there
        order = [first, *(id for id in (UPDATE, CREATE, DELETE) if id != first)]
        objections = {id: platform.check(steps[id]) for id in order}
        found = {id: objection.reason for id, objection in objections.items() if objection is not None}
        assert found.keys() == stale.keys()
        assert all(found[id].startswith(stale[id]) for id in stale)
        assert {objection.result for objection in objections.values() if objection} <= {"stale"}


def test_preflight_compares_every_affected_list() -> None:
    platform, _ = started()
    platform.now |= team("team-one", "Changed")
    assert platform.find_stale_changes() == {
        "acme/teams/one": "this object was changed after the plan was made"
    }
    assert platform.read_from == ["/orgs/acme/collections", "/orgs/acme/teams"]


def test_list_is_reread_once_before_its_first_write() -> None:
    """Otherwise, our own writes make what follows them stale."""
    platform, steps = started()
    for id in (UPDATE, CREATE):
        assert platform.check(steps[id]) is None
        platform.note_sending()
        platform.now |= team("team-one", "Uno") | team("new", "Two")  # our own doing
    assert platform.read_from == ["/orgs/acme/teams"]


def test_list_is_locked_while_being_compared() -> None:
    """Else the write of one step could be taken for somebody else's by another one, or be missed.

    Otherwise, the write of one step is taken for somebody else's by another one, or somebody else's is
    missed.
    """
    platform, steps = started()
    free: list[bool] = []

    def read(source: ReadSource) -> dict[Identity, LiveObject]:
        free.append(platform._targets_by_url[source.url].lock.acquire(blocking=False))
        return platform.now

    platform.read = read
    assert platform.check(steps[UPDATE]) is None
    assert free == [False]


def test_write_counter_is_thread_safe() -> None:
    """Two that were counted as one would make an old reading look like a new one.

    Otherwise, two writes count as one, and an old reading as a new one.
    """
    platform, _ = started()
    with platform._lock:
        sending = threading.Thread(target=platform.note_sending)
        sending.start()
        sending.join(0.02)
        assert platform._write_count == 0
    sending.join()
    assert platform._write_count == 1


def test_list_is_reread_after_write_to_another_list() -> None:
    """Otherwise, what somebody did while other steps were sent is overwritten."""
    platform, steps = started()
    platform.find_stale_changes()
    assert platform.check(steps[UPDATE]) is None
    assert platform.read_from == ["/orgs/acme/collections", "/orgs/acme/teams"]  # nothing was sent meanwhile
    platform.note_sending()
    there = LiveObject("collection", "new", ORGANIZATION, None, {"title": "C"}, "/orgs/acme/collections")
    platform.now[there.identity] = there
    objection = platform.check(steps[OTHER])
    assert objection is not None
    assert objection.result == "stale"
    assert platform.read_from[2:] == ["/orgs/acme/collections"]


def test_list_is_reread_after_step_was_not_sent() -> None:
    """Refused for what is stale itself, by another check, or because nothing could be sent.

    Otherwise, a step that was not sent keeps its place from being read again.
    """
    for objected in (DELETE, UPDATE):
        platform, steps = started()
        if objected == DELETE:
            platform.now |= team("team-old", "Renamed meanwhile")
            assert platform.check(steps[DELETE]) is not None
        else:
            assert platform.check(steps[UPDATE]) is None
        platform.note_not_sent(steps[objected])
        platform.note_sending()  # to another place
        platform.now |= team("new", "Two")
        objection = platform.check(steps[CREATE])
        assert objection is not None
        assert objection.reason == "somebody else created this object after the plan was made"


def test_object_of_another_entry_is_no_create_result() -> None:
    """Otherwise, what came along with our own create counts as a stranger's."""
    platform, steps = started()
    platform.now |= team("new", "Two")
    two = next(address for address in platform.desired.entries if str(address) == "acme/teams/two")
    (found,) = platform.possible_results(platform.desired.entries[two], platform.now)
    assert found.id == "new"
    platform.ids.set(two, "new")
    assert platform.possible_results(platform.desired.entries[two], platform.now) == []
    assert platform.check(steps[CREATE]) is None


def test_organization_member_can_be_new_team_member() -> None:
    """The id of a member is that of a person: also of the entry that they are in the organization.

    Otherwise, a person who is known elsewhere counts as one who has not joined here, and is added twice.
    """
    people: dict[str, Any] = {"member": {"ada": {"role": "read"}}, "team": {"t": {"title": "T"}}}
    case = Case({**people, "team_member": {"t/ada": {"role": "owner"}}}, people)
    plan = make_plan(sides := case.sides())
    platform, steps = Platform(sides, plan), tasks(plan)
    joined = LiveObject(
        "team_member",
        "member-ada",
        ("team", "team-t"),
        None,
        {"user": LiveId("member-ada")},
        "",
        has_unique_id=False,
    )
    platform.now[joined.identity] = joined
    objection = platform.check(steps["acme/teams/t/members/ada create"])
    assert objection is not None
    assert "somebody else created this object" in objection.reason


def test_site_space_of_translation_matches_by_output_space() -> None:
    case = Case()
    source = {"source": {"space": case.ref("space", "s"), "language": "en"}, "language": "fr"}
    there: dict[str, Any] = {
        "space": {"s": {"title": "S"}}, "site": {"docs": {"title": "Docs"}}, "translation": {"fr": source},
    }  # fmt: skip
    translated = case.ref("translation", "fr")
    case.wanted, case.live = {**there, "site_space": {"docs/fr": {"space": translated}}}, there
    sides = case.sides()
    made = replace(sides.snapshot, outputs={translated.address: "out"})
    plan = make_plan(sides := replace(sides, snapshot=made))
    for shown, stale in [("out", True), ("other", False)]:
        platform, steps = Platform(sides, plan), tasks(plan)
        place = LiveObject(
            "site_space", "new", ("site", "site-docs"), None, {"space": LiveId(shown), "path": "p"}, ""
        )
        platform.now[place.identity] = place
        platform.read = lambda _source, now=platform.now: now
        objection = platform.check(steps["acme/sites/docs/structure/fr create"])
        assert (objection is not None) is stale


def test_child_of_uncreated_object_needs_no_list_read() -> None:
    """Otherwise, what lies in something that this apply makes fails as a mistake of dpsync's."""
    live: dict[str, Any] = {"member": {"ada": {"role": "read"}}}
    case = Case({**live, "team": {"t": {"title": "T"}}, "team_member": {"t/ada": {"role": "owner"}}}, live)
    plan = make_plan(sides := case.sides())
    platform, steps = Platform(sides, plan), tasks(plan)
    joining = steps["acme/teams/t/members/ada create"]
    assert platform.check(joining) is None
    platform.ids.set(case.address("team", "t"), "7")  # it was made just now, and nobody else can be in it
    assert platform.check(joining) is None
    assert platform.read_from == []


def test_list_is_reread_after_stale_step_was_rejected() -> None:
    """Otherwise, after a step that is not sent its place is not looked at any more."""
    platform, steps = started()
    platform.now |= team("team-old", "Renamed meanwhile")
    assert platform.check(steps[DELETE]) is not None
    platform.note_sending()  # another step, before this one is given back
    platform.now |= team("new", "Two")
    assert platform.check(steps[CREATE]) is not None


def test_change_without_requests_cannot_be_stale() -> None:
    """Otherwise, an entry without planned requests blocks all other entries as soon as it differs."""
    plan = make_plan(sides := CASE.sides())
    left = tuple(change.model_copy(update={"steps": ()}) for change in plan.changes)
    platform = Platform(sides, plan.model_copy(update={"changes": left}))
    platform.now |= team("team-one", "Changed")
    assert platform.find_stale_changes() == {}
    assert platform.read_from == []


def test_planned_namesake_does_not_block_create() -> None:
    """The entry is said to be new, beside something of its name.

    Otherwise, what is said to be new beside a namesake is refused as somebody else's.
    """
    case = Case({"team": {"two": {"title": "Two", "new": True}}}, {"team": {"other": {"title": "Two"}}})
    plan = make_plan(sides := case.sides())
    platform, steps = Platform(sides, plan), tasks(plan)
    assert platform.check(steps[CREATE]) is None


def test_preflight_compares_fields_read_by_extra_request() -> None:
    """Else it would count as changed as soon as such a part is declared.

    Otherwise, a text that is read by a request of its own counts as changed, and is never applied.
    """
    source = {"type": "text", "text": "openapi: 3.1.0"}
    things: Things = {"openapi": {"pets": {"source": source, "visibility": "private"}}}
    wanted: Things = {"openapi": {"pets": {"source": source, "visibility": "public"}}}
    plan = make_plan(sides := Case(wanted, things).sides())
    (change,) = plan.changes
    for text, stale in [("openapi: 3.1.0", False), ("openapi: 3.0.0", True)]:
        platform = Platform(sides, plan)
        bare = {
            identity: replace(item, fields={**item.fields, "source": {"type": "text"}})
            for identity, item in platform.now.items() if item.kind == "openapi"
        }  # fmt: skip
        platform.now |= bare
        platform.sources.read_response_text = lambda _url, text=text: text  # type: ignore[method-assign, misc]
        assert bool(platform.find_stale_changes()) is stale, change


SAME: dict[str, Any] = {"title": "Same"}


def twins(kind: str, first: str, second: str, more: Things) -> tuple[Platform, list[Any]]:
    """Two entries that look alike and are not made yet, and their resources."""
    case = Case({**more, kind: {first: SAME, second: SAME}}, more)
    sides = case.sides()
    platform = Platform(sides, Plan())
    return platform, [sides.entries[case.address(kind, path)] for path in (first, second)]


def test_create_lookup_is_ambiguous_until_twin_is_created() -> None:
    """Otherwise, what was certainly made is told as unknown, because of an entry that is made already."""
    platform, (first, second) = twins("space", "a", "b", {})
    made = LiveObject("space", "new", ORGANIZATION, None, {"title": "Same"}, "/orgs/acme/spaces")
    now = {**platform.now, made.identity: made}
    assert len(platform.possible_results(first, now)) == 2
    platform.ids.set(second.address, "of its own")
    assert [item.id for item in platform.possible_results(first, now)] == ["new"]


SITES: Things = {"site": {key: {"title": key} for key in ("one", "two")}}


def test_create_lookup_ignores_equal_entry_in_another_site() -> None:
    platform, (first, _) = twins("section_group", "one/s", "two/s", SITES)
    made = LiveObject("section_group", "new", ("site", "site-one"), None, SAME, "/structure")
    assert [item.id for item in platform.possible_results(first, {made.identity: made})] == ["new"]


@pytest.mark.parametrize(
    ("kind", "site", "found"),
    [("section_group", "one", True), ("section_group", "two", False), ("external_link", "one", False)],
)
def test_create_lookup_requires_same_kind_and_parent(kind: str, site: str, found: bool) -> None:
    """Otherwise, a group counts as the section of its name, which is then never made.

    Otherwise, what somebody has made in another place counts as the entry, which is then never made.
    """
    platform, (first, _) = twins("section_group", "one/s", "two/s", SITES)
    item = LiveObject(kind, "new", ("site", f"site-{site}"), None, SAME, "/structure")
    assert platform.possible_results(first, {item.identity: item}) == ([item] if found else [])


# What a delete takes along.


class Shared(DeleteChecks):
    """Counts how often the lists that deletes share are read. One reading is good for one delete."""

    def __init__(self, sides: Sides, plan: Plan, stale: Mapping[str, str] | None = None) -> None:
        super().__init__(NOBODY, sides.registry, sides.desired, sides.snapshot, plan, 1)
        self.readings, self.meanwhile, self.different = 0, list[StepTask](), dict(stale or {})
        self.inside: dict[str, dict[Identity, LiveObject]] = {}

    def _read_shared_lists(self) -> dict[Identity, str]:
        self.readings += 1
        self._deletes_until_next_read = 1
        return {("team", id): reason for id, reason in self.different.items()}

    def _read_contents(self, _root: Identity) -> dict[str, dict[Identity, LiveObject]]:
        """Another delete is checked while the lists of this one are read."""
        if self.meanwhile:
            assert self.check(self.meanwhile.pop()) is None
        return self.inside


def deleting(*keys: str, **more: Any) -> tuple[Shared, list[StepTask]]:
    case = Case(
        {"team": more.pop("kept", {})}, {"team": {key: {"title": key} for key in keys}}, prune=["teams"]
    )
    plan = make_plan(sides := case.sides())
    return Shared(sides, plan, **more), list(tasks(plan).values())


def test_parallel_deletes_do_not_extend_delete_check_validity() -> None:
    """Both are checked with one reading; every one after them needs another.

    Otherwise, one reading lets any number of deletes pass.
    """
    shared, (first, second, third, fourth) = deleting("a", "b", "c", "d")
    shared.meanwhile = [second]
    assert shared.check(first) is None
    assert shared.readings == 1
    for number, task in enumerate((third, fourth), 2):
        assert shared.check(task) is None
        assert shared.readings == number


def test_deletes_reread_lists_after_writes_except_expose_steps() -> None:
    """Otherwise, a reading from before other writes lets a delete pass."""
    shared, (first, second) = deleting("a", "b", kept={})
    for phase, readings in [(None, 2), ("expose", 2)]:
        shared.check(first)
        shared._deletes_until_next_read = 9
        step = first.step.model_copy(update={"verb": "update", "phase": phase})
        assert shared.check(replace(second, step=step)) is None
        shared.check(second)
        assert shared.readings == readings
        shared._deletes_until_next_read = 9


def test_stale_object_blocks_only_its_own_delete() -> None:
    """Otherwise, what is different from what was shown stops no delete."""
    shared, steps = deleting("a", "b", stale={"team-a": "the entry is another object"})
    shared._deletes_until_next_read = 9
    objections = [shared.check(task) for task in steps]
    assert [item.reason if item else None for item in objections] == ["the entry is another object", None]


MORE = "would also be deleted, but the plan does not list this object"
LESS = "would now be kept, but the plan lists this object as deleted"
OTHERWISE = "would also be deleted, but was changed after the plan was made"
MEMBER = LiveObject(
    "team_member", "ada", ("team", "team-a"), None, {"role": "owner"}, "/members", has_unique_id=False
)
MEMBER_READS = replace(MEMBER, fields={"role": "read"})


@pytest.mark.parametrize(
    ("before", "now", "reason"),
    [
        ([MEMBER], [MEMBER], None),
        ([], [], None),
        ([], [MEMBER], MORE),
        ([MEMBER], [], LESS),
        ([MEMBER], [MEMBER_READS], OTHERWISE),
    ],
)
def test_delete_cascade_must_match_plan(
    before: list[LiveObject], now: list[LiveObject], reason: str | None
) -> None:
    """Otherwise, whoever joins a team right before it is deleted goes with it, unseen.

    Otherwise, what came after the plan goes along, unseen.
    Otherwise, what goes along is another thing by now, and is deleted.
    """
    sides = Case({"team": {}}, {"team": {"a": {"title": "A"}}}, prune=["teams"]).sides()
    objects = {**sides.snapshot.objects, **{item.identity: item for item in before}}
    sides = replace(sides, snapshot=replace(sides.snapshot, objects=objects))
    plan = make_plan(sides)
    shared, (task,) = Shared(sides, plan), tasks(plan).values()
    shared.inside = {"/members": {item.identity: item for item in now}}
    objection = shared.check(task)
    assert (objection.reason if objection else None) == (reason and f"acme/teams/[A]/members/[ada] {reason}")


def test_platform_output_objects_do_not_block_delete() -> None:
    """Otherwise, what something has put out counts as a stranger's, and its delete is refused."""
    sides = Case({"team": {}}, {"team": {"a": {"title": "A"}}}, prune=["teams"]).sides()
    snapshot = replace(sides.snapshot, output_identities=frozenset({MEMBER.identity}))
    plan = make_plan(sides := replace(sides, snapshot=snapshot))
    shared, (task,) = Shared(sides, plan), tasks(plan).values()
    shared.inside = {"/members": {MEMBER.identity: MEMBER}}
    assert shared.check(task) is None


def deleted(
    *spaces: str,
    before: Sequence[LiveObject] = (),
    now: Sequence[LiveObject] = (),
    unseen: Identity | None = None,
    gone: bool = False,
    sent: Sequence[Identity] = (),
) -> dict[str, str]:
    """By kind what is different of the delete of a collection and of a team, with this live meanwhile."""
    live: Things = {"collection": {"c": {"title": "C"}}, "team": {"a": {"title": "A"}}}
    keep: Things = {"space": {"keep": {"title": "Keep"}}}
    wanted: Things = {"collection": {}, "team": {}, **keep}
    sides = with_objects(Case(wanted, {**live, **keep}, prune=["collections", "teams"]).sides(), before)
    inside = {key: {"title": key, "collection": LiveId("collection-c")} for key in spaces}
    things: Things = {"team": live["team"]} if gone else {**live, "space": inside}
    late = with_objects(Case(wanted, things).sides(), now)
    evidence = DeleteEvidence(unreadable_dependents={unseen: "/x"} if unseen else {})
    late = replace(late, snapshot=replace(late.snapshot, delete_evidence=evidence))
    roots = [("collection", "collection-c"), ("team", "team-a")]
    found = find_cascade(late.names, roots, lambda *_: False, lambda _: False)
    shared = Shared(sides, make_plan(sides))
    shared._sent_deletes |= {*sent}
    return {identity[0]: reason for identity, reason in shared._stale_deletes(late.snapshot, found).items()}


def with_objects(sides: Sides, more: Sequence[LiveObject]) -> Sides:
    objects = {**sides.snapshot.objects, **{item.identity: item for item in more}}
    return replace(sides, snapshot=replace(sides.snapshot, objects=objects))


IN_BOTH = LiveObject("team_member", "bo", ("team", "team-a"), None, {}, "/members", has_unique_id=False)
SENT, ADA = ("space", "space-one"), "acme/teams/[A]/members/[ada]"
UNSEEN = "this token can no longer read the objects that GitBook would also delete: GET /x is not allowed"


@pytest.mark.parametrize(
    ("spaces", "more", "reasons"),
    [
        ([], {}, {}),
        (
            ["two", "one"],
            {},
            {"collection": "this object is not empty: acme/spaces/[one], acme/spaces/[two]"},
        ),
        (["one"], {"sent": [SENT]}, {}),
        (["one", "two"], {"sent": [SENT]}, {"collection": "this object is not empty: acme/spaces/[two]"}),
        ([], {"unseen": ("team", "team-a")}, {"team": UNSEEN}),
        ([], {"before": [MEMBER], "now": [MEMBER], "unseen": MEMBER.identity}, {"team": UNSEEN}),
        ([], {"unseen": ("team", "another")}, {}),
        ([], {"gone": True, "before": [MEMBER]}, {"team": f"{ADA} {LESS}"}),
        ([], {"before": [MEMBER, IN_BOTH], "now": [MEMBER, IN_BOTH]}, {}),
        ([], {"before": [IN_BOTH], "now": [MEMBER, IN_BOTH]}, {"team": f"{ADA} {MORE}"}),
        ([], {"before": [MEMBER, IN_BOTH], "now": [IN_BOTH]}, {"team": f"{ADA} {LESS}"}),
        ([], {"before": [MEMBER], "sent": [MEMBER.identity]}, {}),
        ([], {"before": [MEMBER], "now": [MEMBER_READS]}, {"team": f"{ADA} {OTHERWISE}"}),
        ([], {"before": [MEMBER], "sent": [("team", "team-a")]}, {}),
    ],
)
def test_each_delete_is_blocked_by_own_differences(
    spaces: list[str], more: dict[str, Any], reasons: dict[str, str]
) -> None:
    """Otherwise, what came after the plan goes along, unseen.

    Otherwise, that something has left, which was shown to go, is told by nobody.
    Otherwise, what an earlier delete of this apply has taken along stops the next one.
    Otherwise, something is deleted although nobody can see any more what goes along.
    Otherwise, a collection that this apply has emptied counts as full.
    Otherwise, a collection is deleted with what somebody has moved into it.
    Otherwise, where only a part of what goes along cannot be seen any more, it is deleted all the same.
    """
    assert deleted(*spaces, **more) == reasons


@pytest.mark.parametrize("prepared", [False, True])
def test_own_preparation_before_delete_is_no_foreign_change(prepared: bool) -> None:
    """A flag that is taken off it first, for instance.

    Otherwise, what this apply does to a thing before it deletes it counts as somebody else's.
    """
    sides = Case({"team": {}}, {"team": {"a": {"title": "A"}}}, prune=["teams"]).sides()
    plan = make_plan(sides)
    (change,) = plan.changes
    first = change.steps[0].model_copy(update={"id": "first", "verb": "update"})
    steps = (first, *change.steps) if prepared else change.steps
    plan = plan.model_copy(update={"changes": (change.model_copy(update={"steps": steps}),)})
    live = sides.snapshot.objects["team", "team-a"]
    assert Shared(sides, plan)._is_changed_since_plan(replace(live, fields={"title": "B"})) is not prepared


def test_delete_checks_treat_only_planned_deletes_as_roots() -> None:
    """Else what goes along with it would count as deleted itself, and nothing as gone unseen.

    Otherwise, all that is changed counts as deleted itself, so that nothing goes along unseen.
    """
    plan = make_plan(sides := CASE.sides())
    assert Shared(sides, plan)._roots == {"acme/teams/[Old]": ("team", "team-old")}


def test_update_by_same_apply_makes_object_not_stale() -> None:
    """Otherwise, what this apply has written itself counts as somebody else's change."""
    plan = make_plan(sides := CASE.sides())
    shared = Shared(sides, plan)
    for id, another in [("team-one", False), ("team-old", True)]:
        live = sides.snapshot.objects["team", id]
        assert shared._is_changed_since_plan(replace(live, fields={"title": "Uno"})) is another


def test_separately_loaded_parts_do_not_block_delete() -> None:
    """Otherwise, a text that is read by a request of its own counts as changed, and its delete is refused."""
    live: Things = {"openapi": {"pets": {"source": {"type": "text", "text": "openapi: 3.1.0"}}}}
    plan = make_plan(sides := Case({"openapi": {}}, live, prune=["openapi"]).sides())
    item = next(item for item in sides.snapshot.objects.values() if item.kind == "openapi")
    fields = {**item.fields, "source": {"type": "text"}}
    assert not Shared(sides, plan)._is_changed_since_plan(replace(item, fields=fields))


def test_default_flag_moved_away_does_not_block_delete() -> None:
    """Otherwise, a flag that another entry has by now stops the delete of the one that had it."""
    live: Things = {
        "site": {"docs": {"title": "Docs"}},
        "section": {"docs/a": {"title": "A", "path": "a", "default": True}},
    }
    plan = make_plan(sides := Case({"site": live["site"]}, live, prune=["sites/*/structure"]).sides())
    item = sides.snapshot.objects["section", "section-docs-a"]
    shared = Shared(sides, plan)
    for changed, another in [({"default": False}, False), ({"title": "B"}, True)]:
        assert shared._is_changed_since_plan(replace(item, fields={**item.fields, **changed})) is another


@pytest.mark.parametrize("sent", [False, True])
def test_reference_to_deleted_object_does_not_block_delete(sent: bool) -> None:
    """Otherwise, the name of what this apply has deleted stops the delete of what bore it."""
    live: Things = {
        "team": {"a": {"title": "A"}}, "saml": {"sso": {"label": "sso", "defaultTeam": LiveId("team-a")}},
    }  # fmt: skip
    plan = make_plan(sides := Case({"team": {}, "saml": {}}, live, prune=["teams", "saml"]).sides())
    shared = Shared(sides, plan)
    shared._sent_deletes |= {("team", "team-a")} if sent else set()
    item = next(item for item in sides.snapshot.objects.values() if item.kind == "saml")
    assert (
        shared._is_changed_since_plan(replace(item, fields={**item.fields, "defaultTeam": None})) is not sent
    )


@pytest.mark.parametrize("early", [False, True])
def test_delete_checks_expect_only_effects_of_pending_writes(early: bool) -> None:
    """Only where deletes make room for other writes is something still to be written then.

    Otherwise, what this apply has written already counts as still to come, and a value that somebody put
    there is lost unseen.
    """
    plan = make_plan(sides := CASE.sides())
    phase = {"phase": "clear" if early else None}
    changes = tuple(
        change.model_copy(update={"steps": tuple(step.model_copy(update=phase) for step in change.steps)})
        for change in plan.changes
    )
    shared = Shared(sides, plan.model_copy(update={"changes": changes}))
    title = REGISTRY["team"].field("title")
    written = [shared._may_still_be_written(sides.snapshot.objects["team", id], title)
               for id in ("team-one", "team-old")]  # fmt: skip
    assert written == [early, False]


def test_section_receiving_new_site_space_is_not_cascaded() -> None:
    """One that gets none goes with the last place in it.

    Otherwise, a section that goes along counts as one that stays, and its delete is refused.
    Otherwise, a section that gets a new place counts as one that goes, and its delete is refused.
    """
    case = Case()
    places: Things = {
        "site_space": {f"docs/{key}/old": {"space": LiveId("space-old"), "path": "old"} for key in "ab"},
    }
    kept: Things = {
        "site": {"docs": {"title": "Docs"}},
        "section": {f"docs/{key}": {"title": key, "path": key} for key in "ab"},
    }
    case.live = {"space": {"old": {"title": "Old"}, "new": {"title": "New"}}, **kept, **places}
    case.wanted = {
        "space": {"new": {"title": "New"}}, **kept,
        "site_space": {"docs/a/new": {"space": case.ref("space", "new"), "path": "new"}},
    }  # fmt: skip
    case.prune = ["spaces", "sites/*/structure"]
    plan = make_plan(sides := case.sides())
    deletes = [
        change for change in plan.changes
        if change.action == "create" or (change.action, change.kind) == ("delete", "space")
    ]  # fmt: skip
    along = Shared(sides, plan.model_copy(update={"changes": tuple(deletes)}))._cascade.objects
    assert ("section", "section-docs-a") not in along
    assert ("section", "section-docs-b") in along


def test_delete_checks_reread_only_unrestorable_children() -> None:
    """What lies in a space comes back with it; the members of a team do not. What loses a value stays.

    Otherwise, what comes back with a space is read once more for each of many spaces.
    Otherwise, what joins a thing that only loses a value stops a delete.
    """
    live: Things = {
        "space": {"s": {"title": "S"}}, "team": {"a": {"title": "A"}},
        "saml": {"sso": {"label": "sso", "defaultTeam": LiveId("team-a")}},
    }  # fmt: skip
    sides = Case({"space": {}, "team": {}}, live, prune=["spaces", "teams"]).sides()
    along = DeleteChecks(NOBODY, sides.registry, sides.desired, sides.snapshot, make_plan(sides), 1)
    asked: list[Identity] = []
    along._evidence_reader = cast(
        Any, SimpleNamespace(content_sources=lambda item: asked.append(item.identity) or [])
    )
    for root in [("space", "space-s"), ("team", "team-a")]:
        assert along._read_contents(root) == {}
    assert asked == [("team", "team-a")]


def test_object_with_known_id_is_found_by_id() -> None:
    """Otherwise, a thing whose id is known is looked for by its name, and another one taken for it."""
    sides = CASE.sides()
    platform = Platform(sides, make_plan(sides))
    now = {**team("x", "Two"), **team("y", "Other")}
    entry = sides.entries[CASE.address("team", "two")]
    assert [item.id for item in platform.possible_results(entry, now)] == ["x"]
    assert [item.id for item in platform.possible_results(entry, now, "y")] == ["y"]
    assert platform.possible_results(entry, now, "z") == []


SYNCED = SyncedRepository("the repository acme/docs (github)")
TODAY = load_registry("published")


def of_a_site(registry: Registry) -> tuple[Platform, dict[str, StepTask]]:
    """Return the platform and the tasks of a site that becomes unlisted and a section with a new title."""

    def things(visibility: str, title: str) -> Things:
        return {
            "site": {"docs": {"title": "Docs", "basename": "docs", "visibility": visibility}},
            "section": {"docs/news": {"title": title, "path": "news"}},
        }

    case = Case(things("unlisted", "News"), things("public", "Old"), registry=registry)
    plan = make_plan(sides := case.sides())
    return Platform(sides, plan), tasks(plan)


@pytest.mark.parametrize("kind", ["site", "section"])
def test_write_is_stale_after_git_sync_was_enabled(kind: str) -> None:
    """Git Sync was turned on in between: from then on the site, and each node of it, has another owner.

    Otherwise, Git Sync that was turned on since the plan was made is not seen, and both write one navigation.
    """
    platform, steps = of_a_site(TODAY)
    site = platform.now["site", "site-docs"]
    platform.now[site.identity] = replace(site, synced_repository=SYNCED)
    [task] = [task for task in steps.values() if task.change.kind == kind]
    objection = platform.check(task)
    assert objection is not None
    reason = "somebody connected this object to a repository (Git Sync) after the plan was made"
    assert (objection.result, objection.reason) == ("stale", reason)


@pytest.mark.parametrize(
    ("registry", "read"),
    [
        (TODAY, [str(ORGANIZATION), "/orgs/acme/sites/site-docs/structure"]),
        (REGISTRY, ["/orgs/acme/sites/site-docs/structure"]),
    ],
    ids=["where it may begin", "where no site is synced"],
)
def test_structure_owner_is_read_once_between_writes(registry: Registry, read: list[str]) -> None:
    platform, steps = of_a_site(registry)
    [task] = [task for task in steps.values() if task.change.kind == "section"]
    assert platform.check(task) is None
    assert platform.check(task) is None
    assert sorted(platform.read_from) == read
