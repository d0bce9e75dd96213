"""Each promise of docs/promises.md, as something that can be seen after a step; or why no machine can see it.

A check is given what happened and raises AssertionError. `CHECKS` has them by the number of the promise,
`ELSEWHERE` says of each other promise why it has none here.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dpsync.apply.journal_reader import PastApply
from dpsync.model.journal import SUCCESSFUL
from tests.properties.organizations import Fields
from tests.properties.readers import Fact, seen

from .checkout import document
from .command import KILLED, Ran
from .edits import dicts
from .platforms import TOKEN, Entry

SECRETS = (TOKEN, "s3cret-canary-of-a-soak")
READING = {
    "plan",
    "rehearse",
    "drift",
    "validate",
    "show",
    "list",
    "doctor",
    "config",
    "import",
    "ids",
    "graph",
}
"""Commands that never write to a platform."""
KINDS = {"teams": "team", "collections": "collection", "spaces": "space", "sites": "site"}
PLACES = tuple(KINDS)
"""Kinds with content that are directly in an organization."""
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")


@dataclass
class Step:
    """One command, and what was to be seen of it."""

    ran: Ran
    before: Fields
    after: Fields
    requests: list[Entry]
    elsewhere: list[Entry]
    """What the platform of the other environment was asked meanwhile."""
    files: tuple[dict[str, bytes], dict[str, bytes]]
    """Every file of the checkout before and after, but for those of git."""
    canary: Path
    """A file that exists when something was run that the repository names."""
    disturbed: bool = False
    broken: str | None = None
    """What is wrong with the files, when they must be refused."""
    apply: Apply | None = None
    clean: bool = False
    """Whether git had every file as it was, and the last commit was the base."""
    locked: bool = False
    """Whether another dpsync was applying meanwhile."""
    again: Ran | None = None
    """The same command once more, with other parallelism: of one that only reads and was not disturbed."""
    undisturbed: Any = None
    """The plan of the same command without the fault."""
    imported: Any = None
    """The plan that an import's own files have."""

    @property
    def command(self) -> str:
        return self.ran.arguments[0]

    @property
    def writes(self) -> list[Entry]:
        return [one for one in self.requests if one[0] != "GET"]

    @property
    def reads(self) -> list[Entry]:
        return [one for one in self.requests if one[0] == "GET"]


@dataclass
class Apply:
    """What else is known of an apply or a revert."""

    past: PastApply | None
    """Its journal; None when there is none."""
    moments: list[set[Fact]]
    born: set[str]
    lines: dict[str, str]
    """The ids file before it: address → id."""
    declared: set[str]
    """The addresses of the files."""
    prune: list[str]
    named: int = 0
    """How many things with content may go, as somebody has answered."""
    shown_again: Ran | None = None
    """`show` of its journal."""
    second: tuple[Ran, list[Entry]] | None = None
    """The same apply once more, and its writes: when it has converged."""
    rehearsed: Any = None
    """What its rehearsal said, where the same plan was rehearsed right before."""
    kept_out: list[str] = field(default_factory=list)
    """Ids of what is protected."""
    took_back: Fields | None = None
    """Of a revert: what was before the apply, when nobody has done anything since."""
    first: Step | None = None
    """The apply that stopped in the middle, and that this one goes on with."""
    urls: dict[str, str | None] = field(default_factory=dict)
    """Where people see each declared site afterwards, by its address."""


CHECKS: dict[int, list[Callable[[Step], None]]] = defaultdict(list)


def promise(*numbers: int) -> Callable[[Callable[[Step], None]], Callable[[Step], None]]:
    def listed(check: Callable[[Step], None]) -> Callable[[Step], None]:
        for number in numbers:
            CHECKS[number].append(check)
        return check

    return listed


def check(step: Step) -> None:
    """Every promise. Raises AssertionError that names the promise."""
    for number, checks in sorted(CHECKS.items()):
        for one in checks:
            try:
                one(step)
            except AssertionError as broken:
                raise AssertionError(f"promise {number} ({one.__name__}): {broken}") from broken


# Every command.


@promise(1, 46)
def reading_commands_send_no_write(step: Step) -> None:
    if step.command in READING:
        assert step.writes == []
        assert step.before == step.after


@promise(10)
def a_failed_or_refused_command_has_sent_no_write(step: Step) -> None:
    if step.ran.code in (1, 4, 5):
        assert step.writes == [], (step.ran.code, step.writes)


@promise(10)
def every_exit_code_is_documented(step: Step) -> None:
    codes = {0, 1, 3, 4, 5} | ({2} if step.command in ("drift", "plan", "ids") else set())
    assert step.ran.code in codes or (step.disturbed and step.ran.code == KILLED), step.ran.code
    for word in ("mistake of its own", "internal error", "Traceback"):
        assert word not in step.ran.out + step.ran.err


@promise(21)
def no_secret_is_printed_or_saved(step: Step) -> None:
    for secret in SECRETS:
        assert secret not in step.ran.out + step.ran.err
        for name, content in step.files[1].items():
            assert secret.encode() not in content, name


@promise(22)
def no_hidden_character_is_printed(step: Step) -> None:
    found = _CONTROL.search(step.ran.out + step.ran.err)
    assert found is None, repr((step.ran.out + step.ran.err)[max(0, found.start() - 40) : found.end() + 40])
    if "json" in step.ran.arguments and step.ran.code != KILLED:
        assert document(step.ran) is not None, step.ran.out[-500:] + "#" + step.ran.err[-500:]


@promise(23, 29)
def reading_commands_change_no_file(step: Step) -> None:
    if step.command in READING - {"import", "ids"}:
        assert step.files[0] == step.files[1]


@promise(25, 26)
def the_local_server_has_no_internal_error(step: Step) -> None:
    assert [one for one in (*step.requests, *step.elsewhere) if one[2] >= 500 and one[2] != 501] == []


@promise(7)
def every_request_uses_an_operation_of_the_platform(step: Step) -> None:
    assert [one for one in step.requests if one[2] == 501] == []


@promise(38)
def no_program_of_the_repository_is_run(step: Step) -> None:
    assert not step.canary.exists()


@promise(39, 21)
def the_platform_of_another_environment_is_unchanged(step: Step) -> None:
    assert step.elsewhere == []


@promise(16)
def the_own_user_an_admin_and_team_owners_still_exist(step: Step) -> None:
    if not step.writes:
        return
    for was, now in zip(step.before["organizations"], step.after["organizations"], strict=True):
        admins = [{one["user"] for one in org["members"] if one["role"] == "admin"} for org in (was, now)]
        assert not admins[0] or admins[1], "no admin is left"
        assert "u0" not in admins[0] or "u0" in {one["user"] for one in now["members"]}, (
            "the own user is gone"
        )
        owned = [
            {team["id"] for team in org["teams"] if any(one["role"] == "owner" for one in team["members"])}
            for org in (was, now)
        ]
        there = {team["id"] for team in now["teams"]}
        assert owned[0] & there <= owned[1], "a team has lost its last owner"


@promise(17, 19, 20)
def wrong_files_are_refused_with_file_and_line(step: Step) -> None:
    if step.broken is None or step.command == "show":
        return
    assert step.ran.code == 5, f"{step.broken}: {step.ran.code}"
    assert step.requests == []
    found = (document(step.ran) or {"findings": []})["findings"]
    if "json" in step.ran.arguments:
        assert found, step.broken
        assert any(one["at"] is not None for one in found), found


# Plans.


def plan_in(step: Step) -> Any:
    """Return the plan that a command has printed as JSON, or None."""
    found = document(step.ran)
    if not isinstance(found, dict):
        return None
    found = found.get("plan", found)
    return found.get("plan") if isinstance(found, dict) and "changes" not in found else found


@promise(2)
def a_repeated_command_prints_the_same_plan(step: Step) -> None:
    if step.again is not None:
        assert step.again.out == step.ran.out


@promise(11)
def no_write_is_sent_during_another_apply(step: Step) -> None:
    if step.locked:
        assert step.writes == []


@promise(13)
def unreadable_objects_are_neither_created_nor_deleted(step: Step) -> None:
    """Check that a plan made with failed requests creates and deletes only what the whole plan does."""
    plan = plan_in(step)
    if step.undisturbed is None or not plan or "changes" not in plan:
        return
    whole = {(one["address"], one["action"]) for one in step.undisturbed["changes"]}
    risky = {(one["address"], one["action"]) for one in plan["changes"] if one["action"] != "update"}
    assert risky <= whole, risky - whole


@promise(27)
def the_plan_after_an_import_is_empty(step: Step) -> None:
    if step.imported is not None:
        assert step.imported["changes"] == []


@promise(28)
def an_update_changes_no_other_value(step: Step) -> None:
    """Files of places that were not asked for stay, and no line but one with a value changes."""
    if "--update" not in step.ran.arguments:
        return
    place = next(one for one in step.ran.arguments if "/" in one and not one.startswith("/")).split("/")[1]
    before, after = step.files
    for name, content in before.items():
        if name.endswith(".yaml") and not name.startswith((".dpsync", "dpsync.ids")):
            now = after.get(name)
            assert now is not None, name
            other = [path for path in PLACES if path != place and path in name]
            assert not other or now == content, name


@promise(32)
def no_label_names_an_edit_that_nobody_made(step: Step) -> None:
    plan = plan_in(step)
    if not step.clean or step.command != "plan" or not plan or "changes" not in plan:
        return
    for change in plan["changes"]:
        causes = {change["cause"], *(one["cause"] for one in change["differences"])}
        assert not causes & {"edited here", "both"}, (change["address"], causes)


@promise(3, 30)
def each_list_is_read_only_once(step: Step) -> None:
    """Where nothing is deleted: a deletion reads again what it rests on."""
    plan = plan_in(step)
    if step.command != "plan" or not plan or "changes" not in plan or step.disturbed:
        return
    if not any(change["action"] == "delete" for change in plan["changes"]):
        singles = [path for _, path, _ in step.reads if re.search(r"/(members|teams)/[^/]+$", path)]
        assert singles == []


@promise(4, 18, 31)
def each_line_of_the_ids_file_names_the_object_of_its_entry(step: Step) -> None:
    if step.apply is None or step.apply.past is None:
        return
    live = {one["id"] for one in dicts(step.before["organizations"]) if isinstance(one.get("id"), str)}
    lines = {at: id for at, id in step.apply.lines.items() if id in live}
    kept = {lines[at] for at in lines if at in step.apply.declared}
    for change in step.apply.past.plan.changes:
        if change.address in lines and change.action != "delete" and change.address in step.apply.declared:
            assert (change.action, change.id) == ("update", lines[change.address]), change
        if change.action == "delete":
            assert change.id not in kept, f"{change.address} is the object of another entry"


# Applies.


def of_apply(check: Callable[[Step, Apply, PastApply], None]) -> Callable[[Step], None]:
    """Return a check of steps that calls `check` for each step with a journal of an apply."""

    def checked(step: Step) -> None:
        if step.apply is not None and step.apply.past is not None:
            check(step, step.apply, step.apply.past)

    checked.__name__ = check.__name__
    return checked


def gone(step: Step) -> Iterator[tuple[str, Fields]]:
    """Place and thing of everything in `PLACES` that was live before and is not any more."""
    for was in step.before["organizations"]:
        there = [org for org in step.after["organizations"] if org["id"] == was["id"]]
        for place in PLACES:
            now = {one["id"] for org in there for one in org[place] if "deletedAt" not in one}
            yield from ((place, one) for one in was[place] if "deletedAt" not in one and one["id"] not in now)


@promise(6)
@of_apply
def every_write_is_a_step_of_the_plan(step: Step, _apply: Apply, past: PastApply) -> None:
    steps = Counter(one.method for change in past.plan.changes for one in change.steps)
    sent = Counter(method for method, _, status in step.writes if status < 400)
    if not step.disturbed:
        assert sent <= steps, (sent, steps)
    printed = plan_in(step)
    if printed and "changes" in printed:
        addresses = [change["address"] for change in printed["changes"]]
        assert addresses == [change.address for change in past.plan.changes]


@promise(6)
@of_apply
def objects_outside_the_plan_are_unchanged(step: Step, apply: Apply, past: PastApply) -> None:
    named = {one.address for change in past.plan.changes for one in (change, *change.effects)}
    ids = {change.id for change in past.plan.changes}
    addresses = {id: at for at, id in apply.lines.items()}
    was, now = things(step.before), things(step.after)
    for id, thing in was.items():
        at = addresses.get(id)
        if at is None or id in ids or any(one == at or one.startswith(f"{at}/") for one in named):
            continue
        assert thing == now.get(id), f"{at} ({id}): {thing} is {now.get(id)}"


FOLLOWS = {
    "auditEvents", "createdAt", "updatedAt", "joinedAt", "lastSeenAt", "position", "default",
    "defaultContent",
}  # fmt: skip
"""What the platform changes by itself when something else is changed."""


def things(state: Fields) -> dict[str, Fields]:
    """Everything live in `PLACES` by its id, without what follows from others."""

    def bare(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: bare(item) for name, item in value.items() if name not in FOLLOWS}
        return [bare(item) for item in value] if isinstance(value, list) else value

    return {
        one["id"]: bare(one) for org in state["organizations"] for place in PLACES for one in org[place]
        if "deletedAt" not in one
    }  # fmt: skip


@promise(7)
@of_apply
def a_second_apply_has_nothing_to_do(_step: Step, apply: Apply, _past: PastApply) -> None:
    if apply.second is not None:
        again, writes = apply.second
        assert again.code == 0, again
        assert writes == []
        assert (document(again) or {"report": 0})["report"] is None, "there was something left to do"


@promise(8, 9)
@of_apply
def no_object_is_created_twice(step: Step, apply: Apply, past: PastApply) -> None:
    begun = apply.first.apply.past if apply.first and apply.first.apply else None
    whole = past if begun is None or apply.first is None else begun
    start = step.before if whole is past or apply.first is None else apply.first.before
    planned = Counter(change.kind for change in whole.plan.changes if change.action == "create")
    for place, kind in KINDS.items():
        born = {one["id"] for org in start["organizations"] for one in org[place]}
        made = sum(one["id"] not in born for org in step.after["organizations"] for one in org[place])
        along = planned["translation"] if place == "spaces" else 0
        assert made <= planned[kind] + along, (place, made, planned)


@promise(9, 10)
@of_apply
def every_write_is_in_the_journal(step: Step, _apply: Apply, past: PastApply) -> None:
    sent = sum(outcome.sent for outcome in past.report.outcomes)
    assert len({path for _, path, _ in step.writes}) <= max(sent, past.report.writes), (step.writes, sent)
    good = sum(outcome.result in SUCCESSFUL for outcome in past.report.outcomes)
    done = sum(status < 300 for _, _, status in step.writes)
    already = past.report.count("already", "requested", "unknown")
    assert good <= done + already + (1 if step.disturbed else 0), "more is told as done than was done"


@promise(10)
@of_apply
def the_journal_gives_the_same_report(step: Step, apply: Apply, past: PastApply) -> None:
    told = document(step.ran)
    if told is None or step.ran.code == KILLED or not told.get("report"):
        return
    assert past.exit == step.ran.code
    assert past.report.model_dump(mode="json")["outcomes"] == told["report"]["outcomes"]
    if apply.shown_again is not None:
        assert apply.shown_again.code == step.ran.code, apply.shown_again
        assert document(apply.shown_again)["report"] == told["report"]


@promise(12)
@of_apply
def only_objects_that_prune_covers_are_deleted(step: Step, apply: Apply, _past: PastApply) -> None:
    if step.command == "revert":
        return
    for place, thing in gone(step):
        assert "--no-delete" not in step.ran.arguments, thing["id"]
        assert "**" in apply.prune or place in apply.prune, (place, thing["id"], apply.prune)


@promise(14)
@of_apply
def every_deleted_object_was_shown_in_the_plan(step: Step, _apply: Apply, past: PastApply) -> None:
    deleted = {change.id for change in past.plan.changes if change.action == "delete"}
    for place, thing in gone(step):
        assert thing["id"] in deleted, (place, thing["id"])


@promise(15)
@of_apply
def protected_objects_still_exist(step: Step, apply: Apply, _past: PastApply) -> None:
    for _, thing in gone(step):
        assert thing["id"] not in apply.kept_out, thing["id"]


@promise(41)
@of_apply
def content_is_deleted_only_after_a_decision(step: Step, apply: Apply, _past: PastApply) -> None:
    found = [thing["id"] for place, thing in gone(step) if not _holds_nothing(place, thing)]
    assert len(found) <= apply.named, found


def _holds_nothing(place: str, thing: Fields) -> bool:
    """Whether a thing may be deleted with the rest of a plan, if a person removed its entry."""
    return place in ("teams", "collections") and not thing.get("members") and not thing.get("permissions")


@promise(34)
@of_apply
def each_site_has_the_url_from_the_plan(step: Step, apply: Apply, past: PastApply) -> None:
    if step.ran.code != 0 or step.disturbed:
        return
    for one in past.plan.urls:
        if one.known and one.address in apply.urls:
            assert apply.urls[one.address] == one.after, one


@promise(43)
@of_apply
def a_revert_restores_the_previous_values(step: Step, apply: Apply, past: PastApply) -> None:
    if apply.took_back is None or step.ran.code != 0:
        return
    said = {one.address.split("#")[0] for one in (*past.plan.notes, *past.plan.blocked)}
    addresses = {id: at for at, id in apply.lines.items()}
    was, now = things(apply.took_back), things(step.after)
    for id, thing in was.items():
        at = addresses.get(id, "")
        if at and not any(one == at or one.startswith(f"{at}/") or at.startswith(f"{one}/") for one in said):
            assert thing == now.get(id), f"{at} ({id}): {thing} is {now.get(id)}"


@promise(33)
@of_apply
def every_new_exposure_was_listed(step: Step, apply: Apply, past: PastApply) -> None:
    opened = seen(step.after, apply.born) - seen(step.before, apply.born)
    sites = {fact[2] for fact in opened if fact[1] == "site" and fact[0] in ("visitor", "guest")}
    if sites & apply.born:
        assert past.plan.exposures, sites & apply.born


@promise(40)
@of_apply
def no_object_is_exposed_temporarily(step: Step, apply: Apply, past: PastApply) -> None:
    parts = [step] if apply.first is None else [apply.first, step]
    for part in parts:
        assert part.apply is not None
        plan = part.apply.past.plan if part.apply.past is not None else past.plan
        if any(one.moment for one in plan.exposures) or "restructure" in " ".join(part.ran.arguments):
            return
    if step.ran.code != 0 or step.disturbed or step.command == "revert":
        return
    allowed = seen(parts[0].before, apply.born) | seen(step.after, apply.born)
    for part in parts:
        for number, facts in enumerate(part.apply.moments if part.apply else ()):
            assert facts <= allowed, f"after write {number}: {sorted(facts - allowed)}"


@promise(46)
@of_apply
def an_apply_does_what_its_rehearsal_did(step: Step, apply: Apply, past: PastApply) -> None:
    if apply.rehearsed is None or step.disturbed:
        return
    assert apply.rehearsed["deviations"] == [], apply.rehearsed["deviations"]
    assert apply.rehearsed["done"] == past.report.count(*SUCCESSFUL), (
        apply.rehearsed["done"],
        past.report.outcomes,
    )


ELSEWHERE: dict[int, str] = {
    5: "tests/planner/test_order.py tries all orders of short lists.",
    24: "Developers add object types, so no run contains a new one: tests/kinds.",
    35: "tests/planner/test_urls.py compares the navigation before and after each generated plan.",
    36: "tests/github simulates the comments, pull requests and workflow runs of GitHub.",
    37: "tests/github checks the branch of the ids file.",
    42: "The local server has no Git Sync: tests/planner has a case for each state.",
    44: "tests/contract generates navigation files from GitBook's schema, and needs no platform.",
    45: "tests/importing/test_rows.py compares files of rows with YAML files.",
    47: "tests/rehearse/test_world_file.py saves generated copies.",
    48: "tests/distribution installs the built packages.",
}
"""Why a promise has no check here, and what looks at it instead."""
