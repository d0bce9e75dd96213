"""Compare two versions of the configuration files.

What became of a file that the configuration of an earlier commit read and that of now does not read.

A person deletes a file, or the file only seems to be gone: it was renamed, a sparse checkout leaves it out,
git ignores it, or nothing includes it. Only in the first case was what it declares removed.

From the configuration of a base and that of now to what the files say otherwise. No platform is in it.

Who is who is known by the files alone: the same address, else the same pin, else the same natural key at the
same place. What that does not tell is an entry that was removed and one that was added.
"""

from __future__ import annotations

import os
import posixpath
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

from msgspec import Struct, field

from dpsync.config.commits import Project
from dpsync.config.git_program import NoRepository
from dpsync.kinds.registry import Registry, SupportedKind
from dpsync.model.address import Address
from dpsync.model.desired import Desired, Entry
from dpsync.model.drift import Edit, EditedField
from dpsync.model.plan import Origin
from dpsync.model.values import Ref, Value, canonical, to_plain, transform


class MissingFiles(Struct, frozen=True):
    """Tells a deleted file from a file that only seems to be gone."""

    project: Project
    _known: dict[tuple[str, str], str] = field(default_factory=dict)

    def describe(self, commit: str, file: str) -> str:
        """Return "" if git shows a file as deleted since a commit; otherwise what became of the file."""
        if (commit, file) not in self._known:  # one file may have declared many objects
            self._known[commit, file] = self._described(commit, file)
        return self._known[commit, file]

    def _described(self, commit: str, file: str) -> str:
        if os.path.lexists(self.project.root.parent / file):
            return '"include" does not list this file any more'
        repository, path = self.project.repository, posixpath.join(self.project.directory, file)
        try:
            if (renamed := repository.renamed(commit).get(path)) is not None:
                return f"the file was renamed to {renamed}"
            state = repository.index_state(path)
            if state == "S":
                return "this sparse checkout does not contain the file"
            if not state and repository.ignores(path):
                return "git ignores the file now"
        except NoRepository as none:
            return str(none)
        return ""


def edits(registry: Registry, before: Desired, now: Desired) -> tuple[Edit, ...]:
    """The policy and the environment, then what was removed, then the rest in the order of the files."""
    return tuple(_Comparison(registry, before, now).found())


class _Comparison(Struct, frozen=True, dict=True):
    registry: Registry
    before: Desired
    now: Desired

    def found(self) -> Iterator[Edit]:
        yield from self._settings()
        yield from self._removed()
        for address, item in self.now.resources.items():
            old = self._olds.get(address)
            if old is None:
                yield self._edit(item, "added", fields=tuple(_fields({}, self._values(item))))
            else:
                yield from self._changed(self.before.resources[old], item)
        yield from self._places()

    # Who is who.

    @cached_property
    def _news(self) -> dict[Address, Address]:
        """The present address of every entry of the base that is still there."""
        found: dict[Address, Address] = {}
        levels: dict[int, list[Entry]] = defaultdict(list)
        for item in self.before.resources.values():
            levels[len(item.address.segments)].append(item)
        for _, level in sorted(levels.items()):  # what an entry is in was found before it
            for item in level:
                at = _translated(item, found)
                if at in self.now.resources and self.now.resources[at].kind == item.kind:
                    found[item.address] = at
            taken = set(found.values())
            left = [item for item in level if item.address not in found]
            free = [item for item in self.now.resources.values() if item.address not in taken]
            found |= self._renamed(left, free, found)
        return found

    @cached_property
    def _olds(self) -> dict[Address, Address]:
        return {new: old for old, new in self._news.items()}

    def _renamed(
        self, left: list[Entry], free: list[Entry], known: Mapping[Address, Address]
    ) -> dict[Address, Address]:
        """Entries whose key is another one: those that say the same of who they are, one on each side."""
        olds, news = self._by_key(left, known), self._by_key(free if left else [], {})
        found: dict[Address, Address] = {}
        for key, several in olds.items():
            match several, news.get(key):
                case [old], [new]:
                    found[old] = new
        return found

    def _by_key(self, items: list[Entry], known: Mapping[Address, Address]) -> dict[bytes, list[Address]]:
        found: dict[bytes, list[Address]] = defaultdict(list)
        for item in items:
            if (key := self._key(item, known)) is not None:
                found[key].append(item.address)
        return found

    def _key(self, item: Entry, known: Mapping[Address, Address]) -> bytes | None:
        if item.pin is not None:
            return canonical([item.kind, item.pin])
        kind = self._kind(item)
        if not kind.recorded:  # its key says who it is
            return None
        first = kind.identity[0]
        names = (first,) if isinstance(first, str) else first
        values = [item.fields.get(name) for name in names]
        if any(value is None for value in values):
            return None
        parent = known.get(item.parent, item.parent) if item.parent is not None else None
        return canonical([item.kind, str(parent), *(_renaming(value, known) for value in values)])

    # What is told of them.

    def _removed(self) -> Iterator[Edit]:
        removed = [item for item in self.before.resources.values() if item.address not in self._news]
        addresses = {item.address for item in removed}
        inside: dict[Address, int] = defaultdict(int)
        for item in removed:
            around = [one for one in item.address.upward() if one in addresses]
            inside[around[-1]] += len(around) > 1
        for item in removed:
            if item.address in inside:
                yield self._edit(item, "removed", inside=inside[item.address])

    def _changed(self, old: Entry, item: Entry) -> Iterator[Edit]:
        before = {name: _renaming(value, self._news) for name, value in self._values(old).items()}
        fields = list(_fields(before, self._values(item)))
        if order := self._order(item.address):
            fields.append(order)
        if _translated(old, self._news) != item.address:
            yield self._edit(item, "renamed", fields=tuple(fields), before=str(old.address))
        elif fields:
            yield self._edit(item, "changed", fields=tuple(fields))

    def _order(self, address: Address) -> EditedField | None:
        """The order of what is directly in an entry of a tree, where it is another one."""
        was, present = self._inside
        now = [one for one in present.get(address, ()) if one in self._olds]
        before = [self._news[one] for one in was.get(self._olds[address], ()) if one in self._news]
        both = set(now) & set(before)
        first, second = ([str(one) for one in side if one in both] for side in (before, now))
        return EditedField(field="order", before=first, after=second) if first != second else None

    @cached_property
    def _inside(self) -> tuple[dict[Address, list[Address]], dict[Address, list[Address]]]:
        """The nodes of trees by what they are directly in, on both sides, in their order."""
        return self._nodes(self.before), self._nodes(self.now)

    def _nodes(self, side: Desired) -> dict[Address, list[Address]]:
        nodes: dict[Address, list[Address]] = defaultdict(list)
        for item in side.resources.values():
            around = item.holder or item.parent
            if around is not None and self._kind(item).in_tree:
                nodes[around].append(item.address)
        return nodes

    def _places(self) -> Iterator[Edit]:
        """Mappings of entries that came or went although what they are in stayed."""
        before = {_moved(one.address, one.parent, self._news) for one in self.before.scopes.values()}
        for scope in self.now.scopes.values():
            known = scope.address in before or scope.address in self.now.resources
            if not known and scope.parent in self._olds:
                yield Edit(address=str(scope.address), what="added", kind="place", at=Origin.of(scope.span))
        for scope in self.before.scopes.values():
            at = _moved(scope.address, scope.parent, self._news)
            known = at in self.now.scopes or scope.address in self.before.resources
            if not known and scope.parent in self._news:
                yield Edit(address=str(at), what="removed", kind="place")

    def _settings(self) -> Iterator[Edit]:
        sides = [_policy(one) for one in (self.before, self.now)]
        if fields := tuple(_fields(*sides)):
            yield Edit(address="policy", what="changed", fields=fields)
        sides = [_environment(one) for one in (self.before, self.now)]
        if fields := tuple(_fields(*sides)):
            yield Edit(address="environment", what="changed", fields=fields)

    def _edit(self, item: Entry, what: Any, **more: Any) -> Edit:
        kind = self._kind(item)
        label = item.fields.get(kind.title)
        names = [one.field for one in more.get("fields", ())]
        span = item.value_span(names[0]) if names and what == "changed" else item.span
        return Edit(
            address=str(item.address), what=what, kind=kind.noun,
            at=None if what == "removed" else Origin.of(span),
            label=label if isinstance(label, str) else item.key, **more,
        )  # fmt: skip

    def _kind(self, item: Entry) -> SupportedKind:
        return self.registry[item.kind]

    def _values(self, item: Entry) -> dict[str, Value]:
        """What an entry says, in the order of its kind."""
        kind = self._kind(item)
        named = [field.name for field in kind.fields if field.name in item.fields]
        names = [name for name in named if name != kind.natural]  # that is its key
        found = {name: item.fields[name] for name in names}
        found |= {"id": item.pin} if item.pin is not None else {}
        earlier = [*map(dict, item.previously)] if item.previously else [*map(str, item.former)]
        found |= {"previously": earlier} if earlier else {}
        found |= {"new": True} if item.new else {}
        return found | ({"takeover": True} if item.takeover else {})


def _fields(before: Mapping[str, Value], now: Mapping[str, Value]) -> Iterator[EditedField]:
    for name in [*now, *(one for one in before if one not in now)]:
        first, second = to_plain(before.get(name)), to_plain(now.get(name))
        if name not in now:
            yield EditedField(field=name, before=first, declared="before")
        elif name not in before:
            yield EditedField(field=name, after=second, declared="after")
        elif canonical(first) != canonical(second):
            yield EditedField(field=name, before=first, after=second)


def _policy(desired: Desired) -> dict[str, Value]:
    policy = desired.policy
    found: dict[str, Value] = {
        name: sorted(one.text for one in getattr(policy, name))
        for name in ("prune", "removed", "ignore", "forget", "accept")
    }
    found["protect"] = sorted(
        f"{one.text} (skip)" if one in policy.skip else one.text for one in policy.protect
    )
    watched = (*policy.watch, *policy.watch_fields, *policy.watch_values)
    found["watch"] = sorted({one.written for one in watched})
    limits = policy.limits
    found["limits.deletes"], found["limits.percent"] = limits.deletes, limits.percent
    found["limits.exposures"] = limits.exposures
    return found


def _environment(desired: Desired) -> dict[str, Value]:
    chosen = desired.environment
    given = {"url": chosen.url, "token": chosen.token} if chosen is not None else {}
    return {name: value for name, value in given.items() if value is not None}


def _translated(item: Entry, known: Mapping[Address, Address]) -> Address:
    return _moved(item.address, item.parent, known)


def _moved(address: Address, parent: Address | None, known: Mapping[Address, Address]) -> Address:
    """The address that something has below what its parent is called now."""
    if parent is None or parent not in known:
        return address
    return Address((*known[parent].segments, *address.segments[len(parent.segments) :]))


def _renaming(value: Value, known: Mapping[Address, Address]) -> Value:
    """A value of the base with references to what its entries are called now."""

    def name(leaf: Any) -> Any:
        return Ref(known.get(leaf.address, leaf.address)) if isinstance(leaf, Ref) else leaf

    return transform(value, name)
