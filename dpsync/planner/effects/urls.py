"""Which public URLs change when a plan is carried out, told from the URLs that the platform shows now.

The declarations say what a URL is made of. Where that does not explain the URLs of a site as they are, or the
platform chooses, it is said that nobody can tell.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from dpsync.kinds.kind import Kind, Url
from dpsync.kinds.kind import Node as NodeShape
from dpsync.kinds.types import as_segment
from dpsync.model.entries.address import Address
from dpsync.model.plans.impact import UrlImpact
from dpsync.planner.decide.compare import Changed
from dpsync.planner.decide.decisions import Decisions
from dpsync.planner.effects.redirects import OldUrls
from dpsync.planner.effects.tree import UNKNOWN, Branch, NavigationTree

Place = Any
"""A URL, None where nobody sees anything, or UNKNOWN."""
_CHOSEN = "the platform chooses a part of it"
_ELSEWHERE = "nothing that was read tells at which host it will be"
_OTHERWISE = "its URLs are not made up as those of other sites are"
_RESTRUCTURED = "the platform decides what becomes of what is at the root now"


def url_impacts(decided: Decisions, trees: Iterable[NavigationTree]) -> tuple[UrlImpact, ...]:
    """Every URL that changes, by address."""
    moved = [
        _Impacts(decided, tree)
        for tree in trees
        if tree.kind.url is not None and (tree.touched or _Owner(decided, tree).relabelled)
    ]
    if not moved:
        return ()
    old_urls = OldUrls(decided, tuple((one.tree, one.places.will) for one in moved))
    found = [impact for one in moved for impact in one.all(old_urls)]
    return tuple(sorted(found, key=lambda item: item.address))


def _made_of(one: Branch | NavigationTree) -> Url:
    assert one.kind.url is not None
    return one.kind.url


# What is in a tree, below the URL of its owner.


def _below(owner: Branch, base: Place) -> dict[Address, Place]:
    """Where people see everything in a tree."""
    found: dict[Address, Place] = {owner.address: base}

    def walk(one: Branch, around: Place) -> None:
        for inside in one.inside:
            here = _node(inside, around)
            if inside.kind.url is not None:
                found[inside.address] = here
            walk(inside, here)

    walk(owner, base)
    return found


def _node(one: Branch, around: Place) -> Place:
    """Where a node is seen; of one without a URL, where what is in it is."""
    seen, url = _seen(one), one.kind.url
    if around is None or seen is False:
        return None
    if url is None:
        return around if seen is True else UNKNOWN
    bare, segment = one.fields.get(url.bare or ""), one.fields.get(url.part)
    if around is UNKNOWN or seen is UNKNOWN or bare is UNKNOWN:
        return UNKNOWN
    if bare is True:
        return around
    return f"{around}{as_segment(segment)}/" if isinstance(segment, str) else UNKNOWN


def _seen(one: Branch) -> Any:
    """Whether people see it, as far as its own fields go."""
    values = [(one.fields.get(name), right) for name, right in one.kind.seen.items()]
    if any(value is not UNKNOWN and value not in right for value, right in values):
        return False
    return UNKNOWN if any(value is UNKNOWN for value, _ in values) else True


# Its owner.


def _own_host(one: Branch) -> str | None:
    """What one is seen at in place of a host and its segment."""
    values = (one.fields.get(name) for name in _made_of(one).hosts)
    return next((f"https://{value}/" for value in values if isinstance(value, str) and value), None)


def _host(one: Branch) -> str | None:
    """The host of one that is seen now, where its segment comes behind that."""
    segment = one.fields.get(_made_of(one).part)
    if one.url is None or not isinstance(segment, str) or _own_host(one) is not None:
        return None
    last = f"{as_segment(segment)}/"
    return one.url.removesuffix(last) if one.url.endswith(f"/{last}") else None


@dataclass(frozen=True)
class _Owner:
    """Where the owner of a tree is seen, before and afterwards."""

    decided: Decisions
    tree: NavigationTree

    def then(self) -> tuple[Place, str]:
        """Where it will be seen; or why nobody can tell."""
        before, after = self.tree.before, self.tree.after
        if after is None:
            return None, ""
        seen, own = _seen(after), _own_host(after)
        if seen is False:
            return None, ""
        if seen is UNKNOWN:
            return UNKNOWN, _CHOSEN
        if own is not None:
            return own, ""
        segment = after.fields.get(_made_of(after).part)
        if not isinstance(segment, str):
            return UNKNOWN, _CHOSEN
        if before is not None and before.url is not None and _own_host(before) is None:
            if (host := _host(before)) is None:
                return before.url, ""  # at a host of its own: the segment is in no URL
        else:
            host = self._beside(after)
        host = self._with_label(host) if host is not None else None
        return (f"{host}{as_segment(segment)}/", "") if host is not None else (UNKNOWN, _ELSEWHERE)

    def _beside(self, one: Branch) -> str | None:
        """The host of others of the kind in the same place, when all that are seen have one."""
        sides, kind = self.decided.sides, one.kind
        found = set()
        for identity, live in sides.snapshot.objects.items():
            if live.kind == kind.name and live.url is not None:
                address = sides.names.address(identity)
                if address.segments[:-1] == one.address.segments[:-1]:
                    fields = {item.name: live.fields.get(item.name) for item in kind.fields}
                    found.add(_host(Branch(address, kind, fields, url=live.url)))
        found.discard(None)
        return found.pop() if len(found) == 1 else None

    @property
    def relabelled(self) -> Changed | None:
        """How the name changes that its host begins with."""
        around = self.decided.entries.get(Address(self.tree.owner.segments[:1]))
        written = around.written if around is not None else ()
        return next((item for item in written if item.field.name == _made_of(self.tree).label), None)

    def _with_label(self, host: str) -> str | None:
        """The host when what it is in gets another name."""
        item = self.relabelled
        if item is None:
            return host
        scheme, _, rest = host.partition("://")
        label, _, domain = rest.partition(".")
        known = label == item.before and isinstance(item.after, str)
        return f"{scheme}://{item.after}.{domain}" if known else None


# What is said about one tree.


@dataclass(frozen=True)
class _Places:
    """Where people see what is in a tree, before and afterwards; and why nobody can tell some of that."""

    was: dict[Address, Place]
    will: dict[Address, Place]
    why: str


@dataclass(frozen=True)
class _Impacts:
    decided: Decisions
    tree: NavigationTree

    @cached_property
    def places(self) -> _Places:
        before, after = self.tree.before, self.tree.after
        was: dict[Address, Place] = {}
        explained = True
        if before is not None:
            was = {one.address: one.url for one, _ in before.walk() if one.kind.url is not None}
            explained = was == _below(before, before.url) or not self.tree.read
        base, why = _Owner(self.decided, self.tree).then()
        will = _below(after, base) if after is not None else {}
        if after is not None and base is not None and not (explained and self.tree.certain):
            will = dict.fromkeys(will.keys() | was.keys(), UNKNOWN)
            why = _OTHERWISE if self.tree.certain else _RESTRUCTURED
        return _Places(was, will, why)

    def all(self, old_urls: OldUrls) -> Iterator[UrlImpact]:
        was, will = self.places.was, self.places.will
        for address in self._leaves(was, will):
            old, new = was.get(address), will.get(address)
            if new is UNKNOWN:
                why = self.places.why or _CHOSEN
                yield UrlImpact(address=str(address), before=old, known=False, why=why)
            elif old != new:
                impact = UrlImpact(address=str(address), before=old, after=new)
                yield old_urls.led_on(impact, self.tree) if old is not None else impact

    def _leaves(self, was: Iterable[Address], will: Iterable[Address]) -> list[Address]:
        """What people read: nodes that hold nothing. Where those are not known, the owner stands for them."""
        known = {one.address: one.kind for one, _ in self.tree.everything()}
        found = dict.fromkeys([*was, *will])
        if not self.tree.read:
            return [address for address in found if address == self.tree.owner]
        return [address for address in found if _holds_nothing(known[address])]


def _holds_nothing(kind: Kind) -> bool:
    return isinstance(kind.shape, NodeShape) and not kind.shape.holds and kind.url is not None
