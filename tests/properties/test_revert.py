"""After an apply and its revert, each GET response is as before, except for objects that the revert named.

Half of the applies are disturbed. After half of the applies, an object is edited by hand. A normal run has
50 rounds, a soak 1,000.
"""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path
from typing import Any

from dpsync.api import Options, Planned, Revert, Session, applied, reverting
from dpsync.apply.journal import FileJournal
from dpsync.apply.journal_reader import PastApply, read_journal
from dpsync.client.client import WriteClient
from dpsync.client.errors import ClientError
from dpsync.model.address import Address
from dpsync.model.plan import Plan
from tests.soak import examples

from . import others
from .faults import Break, Kill, Killed, Lose
from .get_responses import Values, changed_values, possible_ids, read_values
from .laws import discard_if, law, said
from .organizations import Draw
from .platform import Platform, case
from .rehearsals import staged
from .test_other_kinds import applied as applied_before

_ROUNDS = 4
"""How often a plan may ask for something more."""


def answers(plan: Plan) -> tuple[str, ...]:
    """All answers that a plan asks for."""
    flags = (way.add for one in plan.refusals for way in one.answers)
    return tuple(found[1] for flag in flags if (found := re.fullmatch('--confirm "(.*)"', flag)))


def agreed(revert: Revert, client: WriteClient) -> Planned:
    options = Options()
    for _ in range(_ROUNDS):
        planned = revert.plan(client, options)
        if not planned.plan.refusals:
            break
        options = Options((*options.confirm, *answers(planned.plan)))
    return planned


def apply_undisturbed(platform: Platform, session: Session, planned: Planned) -> PastApply:
    """Apply the plan without disturbance, and return the apply from its journal."""
    journal = FileJournal(platform.directory / "journal", "law")
    with platform.client() as client:
        session.apply(client, planned, secrets={}, journal=journal)
    journal.close()
    return read_journal(Path(str(journal.path)))


def apply_disturbed(platform: Platform, session: Session, planned: Planned, draw: Draw) -> PastApply:
    """Apply, mostly with a fault, and return the journal."""
    steps = sum(len(change.steps) for change in planned.plan.changes)
    fault, number, when = (
        draw.pick([Lose, Break, Kill]), draw.number(0, 2 * steps), draw.pick(["before", "after"])
    )  # fmt: skip
    journal = FileJournal(platform.directory / "journal", "law")
    with platform.client(lambda inner: fault(inner, number, when)) as client, suppress(Killed):
        session.apply(client, planned, secrets={}, journal=journal)
    journal.close()
    return read_journal(Path(str(journal.path)))


def ids_by_address(plan: Plan, planned: Planned) -> dict[str, set[str]]:
    """Return the ids of objects by address. An address may have several ids."""
    names = planned.sides.names
    found: dict[str, set[str]] = {}
    for at, id in planned.snapshot.outputs.items():
        found.setdefault(str(at), set()).update({id} if id else ())
    for identity, live in planned.snapshot.objects.items():
        found.setdefault(str(names.address(identity)), set()).update(live.id.split("/"))
    for address, id in (*plan.bindings.items(), *((one.address, one.id) for one in plan.changes if one.id)):
        found.setdefault(address, set()).update(id.split("/"))
    return found


def ids_in_notes(plan: Plan, *known: dict[str, set[str]]) -> set[str]:
    """Return the ids of the objects that the notes of a revert plan mention."""
    said = {item.address.split("#")[0] for item in (*plan.notes, *plan.blocked)}
    return {id for ids in known for address in said for id in ids.get(address, ())}


def with_former_ids(found: Values, ids: dict[str, str]) -> Values:
    """Return values in which each re-created object has its former id."""

    def former(text: Any) -> Any:
        for new, old in ids.items():
            if isinstance(text, str):
                text = re.sub(rf"(?<![\w-]){re.escape(new)}(?![\w-])", old, text)
        return tuple(map(former, text)) if isinstance(text, tuple) else text

    return {tuple(map(former, path)): former(value) for path, value in found.items()}


def edit_by_hand(platform: Platform, draw: Draw) -> None:
    """Change a random object by hand, independently of the apply."""
    (organization, *_) = platform.state()["organizations"]
    things = [
        (kind, one["id"]) for kind in ("teams", "spaces", "sites") for one in organization.get(kind, ())
    ]
    if not things:
        return
    kind, id = draw.pick(things)
    org = f"/orgs/{organization['id']}"
    edits: dict[str, list[tuple[str, str, Any]]] = {
        "teams": [
            ("PATCH", f"{org}/teams/{id}", {"title": "By hand"}),
            ("PUT", f"{org}/teams/{id}/members/u1", {}),
        ],
        "spaces": [("PATCH", f"/spaces/{id}", {"title": "By hand"})],
        "sites": [("PATCH", f"{org}/sites/{id}", {"title": "By hand"})],
    }
    spaces = [one["id"] for one in organization.get("spaces", ())]
    if spaces:
        edits["sites"].append(("POST", f"{org}/sites/{id}/site-spaces", {"spaceId": draw.pick(spaces)}))
    method, path, body = draw.pick(edits[kind])
    with platform.client() as client, suppress(ClientError):  # the API may refuse the edit
        client.send(method, path, body, repeatable=True)


def planned_with_answers(platform: Platform, session: Session) -> Planned:
    """Plan with every answer that the plan asks for."""
    return staged(platform, session).planned


def unrestored_values(platform: Platform, session: Session, planned: Planned, draw: Draw) -> list[str]:
    """Apply, edit by hand and revert. Return the values that are neither restored nor named by the revert."""
    before = read_values(platform)
    if draw.chance(0.5):
        past = apply_disturbed(platform, session, planned, draw)
    else:
        past = apply_undisturbed(platform, session, planned)
    left = read_values(platform)
    if draw.chance(0.5):
        edit_by_hand(platform, draw)
    edited = read_values(platform)
    by_hand = changed_values(left, edited)

    with platform.client() as client:
        revert = reverting(client, session, applied(past.plan, past.report))
        back = agreed(revert, client)
        discard_if(bool(back.plan.refusals), "a guard refuses it")
        report = revert.session.apply(client, back, secrets={})

    assert report.remaining is not None, said(report)
    assert report.remaining.empty, said(report)
    assert revert.target is not None
    new_ids = {
        outcome.id: revert.target.recreated[Address.parse(outcome.address)]
        for outcome in report.outcomes
        if outcome.verb == "create"
        and outcome.id
        and Address.parse(outcome.address) in revert.target.recreated
    }
    ids = [ids_by_address(past.plan, planned), ids_by_address(back.plan, back)]
    created = {
        one.change.address: {one.created_id}
        for one in applied(past.plan, past.report).changes
        if one.created_id
    }
    named = ids_in_notes(back.plan, *ids, created)
    after = with_former_ids(read_values(platform), new_ids)
    # An edit in an object that the apply created may be deleted with this object.
    kept = {path: now for path, (_, now) in by_hand.items() if path in before or path not in left}
    lost = [path for path, now in kept.items() if after.get(path) != now]
    wrong = {path: pair for path, pair in changed_values(before, after).items() if path not in by_hand}
    return [
        f"{'/'.join(path)}: {wrong.get(path, 'an edit by hand is lost')}"
        for path in (*wrong, *lost)
        if not (
            possible_ids(path)
            | {id for order in wrong.get(path, ()) if isinstance(order, tuple) for id in order}
        )
        & named
    ]


@law(examples(220, 250))
def test_revert_restores_every_get_response(platform: Platform, draw: Draw) -> None:
    made = case(draw, size=draw.number(1, 4))
    platform.start(made)
    session = platform.session(made.configuration)
    assert unrestored_values(platform, session, planned_with_answers(platform, session), draw) == []


@law(examples(110, 250))
def test_revert_restores_get_responses_on_reference_api_version(reference: Platform, draw: Draw) -> None:
    made = case(draw, size=draw.number(1, 4))
    reference.start(made)
    session = reference.session(made.configuration)
    assert unrestored_values(reference, session, planned_with_answers(reference, session), draw) == []


@law(examples(110, 250))
def test_revert_restores_get_responses_on_published_api_version(today: Platform, draw: Draw) -> None:
    made = case(draw, size=draw.number(1, 4))
    today.start(made)
    session = today.session(made.configuration)
    assert unrestored_values(today, session, planned_with_answers(today, session), draw) == []


@law(examples(110, 250))
def test_revert_restores_objects_of_every_kind(platform: Platform, draw: Draw) -> None:
    platform.server.reset(others.world())
    applied_before(platform, others.document(others.organization(draw)))
    platform.server.wait_for_jobs(include_abandoned=True)
    session = platform.session(others.document(others.organization(draw)))
    assert unrestored_values(platform, session, planned_with_answers(platform, session), draw) == []
