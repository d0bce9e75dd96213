"""From the answers that a plan was made from to a world of the companion: the same things under the same ids.

A world is what the companion loads (docs/companion.md). Everything in it is from an answer. Where the
companion cannot hold one thing without another that was not read (the person behind a role, the space behind
a translation), that other one is made with nothing but its id, and named among what was `assumed`.

The way of each answer into the world is one row of `answers/rows.py`, by its path. Nothing secret is loaded:
tokens of share links, keys and scripts are in no row.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct, field

from dpsync.client.recording import RecordedAnswer
from dpsync.model.text import counted
from dpsync.rehearse.answers import integrations, navigation, people, rows, sites, spaces
from dpsync.rehearse.answers.assumed import assume, assume_collection
from dpsync.rehearse.answers.draft import ELSEWHERE, Json, OrganizationDraft, WorldDraft, without

_STEP = 2**32


class World(Struct):
    """`data` is what the companion loads.

    `assumed` are the things that it must have and that no answer showed, `unknown` the paths whose answers no
    world can hold.
    """

    data: Json = field(default_factory=dict)
    assumed: list[str] = field(default_factory=list)
    unknown: list[RecordedAnswer] = field(default_factory=list)
    token: str = ""
    spaces: int = 0
    """The number of spaces. No page text is loaded."""
    scripts: int = 0
    """How many published integrations there are: none of their scripts is loaded."""

    @property
    def holders(self) -> str:
        """What holds pages, counted in words."""
        return counted(self.spaces, "space")


def world_of(
    readings: Iterable[RecordedAnswer],
    token: str,
    spared: Iterable[str] = (),
    named: Iterable[tuple[str, str]] = (),
) -> World:
    """The world of the answers. `token` is that of an administrator in it, preferably none of `spared`.

    `named` are the paths of things that must be there, each with the id of its organization.
    """
    draft = WorldDraft()
    for reading in sorted(readings, key=lambda one: (one.path.count("/"), one.path, one.filters)):
        rows.take(draft, reading)
    for organization, path in named:
        assume(draft, organization, path)
    return _finished(draft, token, frozenset(spared))


def _finished(draft: WorldDraft, token: str, spared: frozenset[str]) -> World:
    """The world of a draft to which nothing is added any more."""
    for at, lists in draft.lists.items():
        navigation.join_lists(draft, lists, *at)
    for target, id, to, items in draft.grants:
        people.give_roles(draft, target, id, to, items)
    for level, installation, items in draft.placed:
        integrations.put_on(draft, level, installation, items)
    navigation.dress(draft)
    sites.mark_styleguides(draft)
    spaces.add_pages_to_spaces(draft)
    navigation.keep_loose_redirects(draft)
    caller = _administrator(draft, spared)
    data = {
        "users": [{"id": id, **fields} for id, fields in draft.users.items()],
        "tokens": {token: caller},
        "organizations": [_organization(draft, one) for one in draft.organizations.values()],
        "records": draft.records,
    }
    number = sum(len(one.spaces) for one in draft.organizations.values())
    return World(data, draft.assumed, draft.unknown, token, number, len(draft.published))


def _administrator(draft: WorldDraft, spared: frozenset[str]) -> str:
    """Somebody who may do everything: whose token it is, else another admin, else nobody who exists."""
    read = [one for one in draft.organizations.values() if one.members_read]
    admins = [
        {user for user, member in one.members.items()
         if member.get("role") == "admin" and not member.get("disabled")}
        for one in read
    ]  # fmt: skip
    every = set.intersection(*admins) if admins else set()
    among = sorted(every - spared or every)
    caller = draft.caller if draft.caller in among or not read else None
    chosen = caller or (among[0] if among else f"rehearsal-{len(draft.users)}")
    draft.users.setdefault(chosen, {"displayName": "the rehearsal"})
    for one in draft.organizations.values():
        if one.id != ELSEWHERE and (not one.members_read or not among):
            one.members[chosen] = {**one.members.get(chosen, {"user": chosen}), "role": "admin"}
    return chosen


def _organization(draft: WorldDraft, one: OrganizationDraft) -> Json:
    """One organization as a world has it."""
    published = [item for item in draft.published.values() if item["owner"] == one.id]
    made = {
        "id": one.id,
        **one.fields,
        "members": list(one.members.values()),
        "teams": list(one.teams.values()),
        "collections": list(one.collections.values()),
        "spaces": _in_order(draft, one),
        "sites": list(one.sites.values()),
    }
    for index, collection in enumerate(made["collections"], 1):  # in their order, before the spaces
        collection["position"] = _STEP * index
    made["integrations"] = [without(item, "owner") for item in published]
    made["installations"] = list(one.installations.values())
    made |= one.parts
    return {name: value for name, value in made.items() if value not in ([], {})}


def _in_order(draft: WorldDraft, one: OrganizationDraft) -> list[Json]:
    """The spaces as they were listed; where each stands in its collection is a position."""
    at = {space: index for order in draft.orders.values() for index, space in enumerate(order)}
    found = []
    for index, space in enumerate(one.spaces.values()):
        if space.get("parent"):
            assume_collection(draft, one.id, space["parent"])
        position = at.get(space["id"], index)
        found.append({**space, "position": _STEP * (len(one.collections) + 1 + position)})
    return found
