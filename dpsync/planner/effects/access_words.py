"""Say in words who gains which access where: certain gains first, then what may be."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from typing import Any

from msgspec import Struct

from dpsync.kinds.shared.fields import GUEST_FIRST
from dpsync.model.address import Address
from dpsync.model.text import FEW, some
from dpsync.planner.effects.access import OWN, Doubt, Gain, Key, Range, Subject
from dpsync.planner.effects.access_worlds import AccessParts, Unlisted

_MOST_GROUPS = 3
"""Sentences about certain gains under one change."""
_MOST_REASONS = 2


class Finding(Struct, frozen=True):
    """What one subject gains in some places; without a gain it is unknown: the files lack `unread`."""

    subject: Subject
    gain: Gain | None
    places: tuple[Key, ...]
    unread: str = ""


class AccessWords(Struct, frozen=True):
    parts: AccessParts

    def all(self, address: Address, findings: list[Finding], role: Any = None) -> str:
        """Return one text for everything that the change at an address opens. `role`: the one it gives."""
        certain = [one for one in findings if one.gain is not None and one.gain.certain]
        possible = [one for one in findings if one.gain is not None and not one.gain.certain]
        somewhere = [one for one in findings if one.gain is None]
        return "; ".join(
            [*self._certain(address, certain), *self._possible(possible, role), *self._somewhere(somewhere)]
        )

    def missing(self, findings: list[Finding]) -> tuple[str, ...]:
        """Return what the files lack, so that the plan cannot tell who gains access."""
        found = {one.unread for one in findings if one.unread}
        for one in findings:
            doubts = one.gain.doubts if one.gain is not None and not one.gain.certain else ()
            for doubt in (doubt for doubt in doubts if doubt.unread):
                places = one.places if doubt.place == OWN else (doubt.place,)
                found.update(doubt.text.format(self._place(place) if place else "") for place in places)
        return tuple(sorted(found))

    def _certain(self, address: Address, findings: list[Finding]) -> Iterator[str]:
        by_gain: dict[tuple[str, str, Subject], dict[Key, None]] = defaultdict(dict)
        for one in findings:
            assert one.gain is not None
            before = _role(one.gain.before, one.subject.before, one.subject, "at most {}", last=True)
            after = _role(one.gain.after, one.subject.after, one.subject, "at least {}", last=False)
            by_gain[before, after, one.subject].update(dict.fromkeys(one.places))
        groups: dict[tuple[str, str, tuple[str, ...]], list[Subject]] = defaultdict(list)
        for (before, after, subject), places in by_gain.items():
            groups[before, after, self._places(places)].append(subject)
        sentences = sorted(
            f"{self._who(subjects)}: {before} → {after}{_where(address, places)}"
            for (before, after, places), subjects in groups.items()
        )
        yield from sentences[:_MOST_GROUPS]
        if len(sentences) > _MOST_GROUPS:
            yield f"and more access for {len(sentences) - _MOST_GROUPS} other groups of members"

    def _possible(self, findings: list[Finding], role: Any) -> Iterator[str]:
        if not findings:
            return
        places = self._places({place: None for one in findings for place in one.places})
        doubts = {doubt for one in findings if one.gain is not None for doubt in one.gain.doubts}
        who = self._who(list(dict.fromkeys(one.subject for one in findings)))
        lead = f"role {role} " if role is not None else ""
        yield f"{lead}may open {some(places)} to {who}{self._why(doubts)}"

    def _somewhere(self, findings: list[Finding]) -> Iterator[str]:
        if findings:
            who = self._who(list(dict.fromkeys(one.subject for one in findings)))
            yield f"may open more objects to {who}"

    def _why(self, doubts: Collection[Doubt]) -> str:
        """Return what the platform does not document; nothing if the files lack something (`missing`)."""
        if any(doubt.unread for doubt in doubts):
            return ""
        return f": {some(sorted(doubt.text for doubt in doubts), _MOST_REASONS)}"

    # Names.

    def _places(self, places: Iterable[Key]) -> tuple[str, ...]:
        return tuple(sorted(map(self._place, places)))

    def _place(self, place: Key) -> str:
        if isinstance(place, Unlisted):
            return f"the spaces of {self._place(place.place)} that your files do not list"
        if address := self.parts.address(place):
            return address
        title = self.parts.title(place)
        name = place[1] if title is None else f'"{title}"'
        return f"the {self.parts.noun(place)} {name}"

    def _who(self, subjects: list[Subject]) -> str:
        people = sorted(self._person(one.key) for one in subjects if one.kind == "person")
        groups = sorted(f"members of {self._place(one.key)}" for one in subjects if one.kind == "group")
        named = [*people, *groups]
        others = [one for one in subjects if one.kind == "others"]
        unlisted = any(one.kind == "unlisted" for one in subjects)
        said = [some(named)] if named else []
        said += [_others(others)] if others else []
        said += ["people whose role your files do not list"] if unlisted else []
        return ", ".join(said)

    def _person(self, key: Key) -> str:
        """Return the e-mail of a member, as people know it."""
        address = self.parts.address(key)
        if address is None and (title := self.parts.title(key)):
            return title
        if address is None:
            return f"the {self.parts.noun(key)} {key[1].rpartition('/')[2]}"
        return address.rpartition("/")[2].removeprefix("[").removesuffix("]")


def _where(address: Address, places: tuple[str, ...]) -> str:
    """Name the places, unless there is only the one that the change is in."""
    alone = len(places) == 1 and address.is_in(Address.parse(places[0]))
    return "" if alone else f" on {some(places)}"


def _role(role: Range, default: Range, subject: Subject, inexact: str, *, last: bool) -> str:
    if subject.kind == "others" and role == default:
        return "their own role"
    low, high = role
    word = GUEST_FIRST[high if last else low]
    return ("no access" if high == 0 else word) if low == high else inexact.format(word)


def _others(others: list[Subject]) -> str:
    """Name everybody else by their roles in the organization."""
    roles = [GUEST_FIRST[one.after[0]] for one in others if one.after[0] == one.after[1]]
    if len(roles) < len(others):
        return "all other members except guests"
    return f"other members with the role {some(roles, FEW + len(GUEST_FIRST))}"
