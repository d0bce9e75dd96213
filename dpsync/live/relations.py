"""Read how objects relate: references by id, transfers, sibling orders, navigation paths and pages.

- `check_references`: without any request, report ids (`{id: …}`) that no fully read list contains.
- `find_transfers`: match entries with objects that are still below another declared parent.
- `read_orders`: read sibling orders, with one request per entry or from a list that was read.
- `NavigationPaths`: distinguish spaces with the same title by the navigation path at which a site shows them.
- `read_pages`: read page paths for redirects, one request per space; unreadable spaces are left out.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from typing import Any, Final

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from dpsync.client.errors import ForbiddenError, NotFoundError
from dpsync.identity.keys import NaturalKeys, match_below_other_parent
from dpsync.kinds.kind import Field, Kind, ListOrder, ListRead
from dpsync.kinds.page_references import page_references, space_id
from dpsync.kinds.places import (
    NavigationPath,
    declared_navigation_paths,
    live_container,
    live_navigation_paths,
)
from dpsync.kinds.types import List, Object, OneOf, Reference, Table, Type
from dpsync.kinds.urls import fill_path_template
from dpsync.live.delete_evidence import iterate_pages
from dpsync.live.reading import ForbiddenReads, ReadingState
from dpsync.model.address import Address
from dpsync.model.desired import Entry
from dpsync.model.diagnostic import Diagnostic
from dpsync.model.snapshot import Identity, LiveObject
from dpsync.model.values import LiveId, Value, leaves, live_ids


def check_references(reading: ReadingState) -> None:
    """Add a diagnostic for each id that no live and no restored object has.

    An id that the live field already contains is allowed: merge rules keep the id of a member who left.
    """
    present = _PossibleIds(reading)
    for address in sorted(reading.desired.entries):
        resource = reading.desired.entries[address]
        kind = reading.registry[resource.kind]
        for field in kind.reference_fields:
            value = resource.fields.get(field.name)
            if not live_ids(value) or reading.desired.policy.ignores(address, field.name):
                continue
            by_kinds: dict[tuple[str, ...], set[str]] = defaultdict(set)
            for kinds, id in _references_with_kinds(field.type, value):
                by_kinds[_referable_kinds(reading, kinds)].add(id)
            known = _live_field_values(reading, address, field.name)
            for kinds, ids in by_kinds.items():
                unknown = ids - present.find(kinds, address, ids) - known
                reading.diagnostics += [
                    _unknown_id(reading, resource, field, kinds, id) for id in sorted(unknown)
                ]


def _references_with_kinds(type_: Type, value: Value) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield each id in a value, with the kinds to which that part of the value may refer."""
    match type_:
        case Reference() if isinstance(value, LiveId):
            yield type_.referenced_kinds, value.id
        case Object(parts=parts) if isinstance(value, dict):
            for name, part in parts.items():
                yield from _references_with_kinds(part, value.get(name))
        case OneOf(tag=tag, forms=forms) if isinstance(value, dict) and value.get(tag) in forms:
            yield from _references_with_kinds(forms[value[tag]], value)
        case List(item_type=of) if isinstance(value, list):
            for item in value:
                yield from _references_with_kinds(of, item)
        case Table(value_type=values) if isinstance(value, dict):
            for item in value.values():
                yield from _references_with_kinds(values, item)


def _live_field_values(reading: ReadingState, address: Address, field: str) -> set[Any]:
    """Return the ids and other values that a field of the live object contains."""
    if address not in reading.matches:
        return set()
    resource = reading.entry(address)
    parent = reading.identity(resource.parent) if resource.parent is not None else None
    identity = reading.registry[resource.kind].identity_of(reading.matches[address].id, parent)
    value = reading.objects[identity].fields.get(field)
    return {leaf.id if isinstance(leaf, LiveId) else leaf for leaf in leaves(value)}


class _PossibleIds:
    """The ids that may exist according to the lists that were read."""

    def __init__(self, reading: ReadingState) -> None:
        self._reading = reading
        self._pins = {item.pin for item in reading.desired.entries.values()}

    def find(self, kinds: Iterable[str], address: Address, ids: Set[str]) -> Set[str]:
        """Return the ids that may exist: all `ids`, unless every list of these kinds was read."""
        found: set[str] = set()
        for name in kinds:
            lists = list(self._list_urls(name, address))
            if not lists or None in lists:
                return ids
            known = [
                self._reading.sources.objects_at(url).ids_by_kind[name] for url in lists if url is not None
            ]
            found |= {id for id in ids if any(id in those for those in known)}
        return found | (ids & self._pins)

    def _list_urls(self, name: str, address: Address) -> Iterator[str | None]:
        """Yield the URL of each list of a kind below an entry or its parents; None for an unread list."""
        reading, kind = self._reading, self._reading.registry[name]
        owners = reading.sources.owner_kinds(kind)
        around: Address | None = address
        while around is not None:
            holder = reading.desired.entries[around]
            if holder.kind in owners:
                url = reading.source(kind, around).url if around in reading.matches else None
                yield url if url in reading.sources.objects else None
            around = holder.parent


def _referable_kinds(reading: ReadingState, kinds: Iterable[str]) -> tuple[str, ...]:
    """Return the kinds whose ids a reference may contain.

    Kinds that produce an output are left out: a reference to them contains the id of the output.
    """
    names = dict.fromkeys(kinds)
    return tuple(name for name in names if reading.registry[name].platform_work.outputs is None)


def _unknown_id(
    reading: ReadingState, entry: Entry, field: Field, kinds: Iterable[str], id: str
) -> Diagnostic:
    nouns = " or ".join(reading.registry[name].noun for name in kinds)
    return Diagnostic(
        "DP306",
        f'GitBook has no {nouns} with the id "{id}"',
        entry.field_span(field.name),
        str(entry.address),
        "correct the id, or refer to an entry in your files by its key",
        cause=f"{nouns} {id} in {entry.address.organization_key}",
    )


def find_transfers(reading: ReadingState, unread: ForbiddenReads, kind: Kind) -> None:
    """Match entries with objects below another parent, so that the plan transfers the objects.

    Needs a reason: `previously`, a pin, the git base or the ids file.
    """
    holders = [address for address in sorted(reading.matches) if _can_contain(reading, address, kind)]
    if len(holders) < 2:
        return
    before: dict[tuple[str, str], list[Entry]] = defaultdict(list)
    for address, earlier in sorted(reading.base_entries.items()):
        if address not in reading.desired.entries:
            before[earlier.kind, earlier.key].append(earlier)
    asking = [
        (
            address,
            resource,
            [item for item in before[kind.name, resource.key] if item.parent != resource.parent],
        )
        for address, resource in sorted(reading.desired.entries.items())
        if resource.kind == kind.name
        and address not in reading.matches
        and resource.parent in reading.matches
    ]
    lines = reading.recorded_lines.lines
    asking = [
        (address, resource, was)
        for address, resource, was in asking
        if resource.pin or resource.has_earlier_name or was or address in lines
    ]
    if not asking:
        return
    bound = {match.id for address, match in reading.matches.items() if _is_of_kind(reading, address, kind)}
    everywhere, refused = _objects_below_all(reading, kind, holders)
    free = [item for item in everywhere if item.id not in bound]
    view = NaturalKeys(kind, reading.live_id, reading.first_child, lambda _: [])
    for address, resource, was in asking:
        owner = reading.matches[address.owner_of_list(kind.key)].id
        others = [item for item in free if item.parent is not None and item.parent[1] != owner]
        found = match_below_other_parent(view, resource, others, was, lines.get(address))
        if found is not None:
            reading.matches[address] = found
            reading.transferred_entries.add(address)
            free = [item for item in free if item.id != found.id]
        elif refused is not None:
            unread.add_entry(resource, refused)


def _objects_below_all(
    reading: ReadingState, kind: Kind, holders: list[Address]
) -> tuple[list[LiveObject], str | None]:
    """Return the objects of a kind below each parent, and the URL of one list that the token may not read."""
    sources = [reading.source(kind, address) for address in holders]
    reading.sources.fetch(sources, may_be_forbidden=True)
    refused = next((source.url for source in sources if source.url in reading.sources.forbidden), None)
    found = [item for source in sources for item in reading.sources.objects.get(source.url, ())]
    found = [
        item for item in found if item.kind == kind.name and item.identity not in reading.output_identities
    ]
    for item in found:
        reading.objects.setdefault(item.identity, item)
    return found, refused


def _can_contain(reading: ReadingState, address: Address, kind: Kind) -> bool:
    """Return whether the entry's kind is a parent of `kind`."""
    resource = reading.desired.entries.get(address)
    return resource is not None and resource.kind in kind.parents


def _is_of_kind(reading: ReadingState, address: Address, kind: Kind) -> bool:
    resource = reading.desired.entries.get(address)
    return resource is not None and resource.kind == kind.name


def read_orders(reading: ReadingState, unread: ForbiddenReads) -> None:
    """Note the live order in each matched entry that declares an order."""
    for kind in reading.registry.in_dependency_order:
        for order in kind.list_orders:
            holders = [
                resource
                for resource in reading.desired.entries.values()
                if resource.kind == kind.name
                and order.name in resource.fields
                and resource.address in reading.matches
            ]
            asked = order.live_order_read is not None
            orders = (
                _read_orders_one_by_one(reading, kind, order, holders)
                if asked
                else _orders_in_lists(reading, order, holders)
            )
            for holder, url, found in orders:
                if found is None:
                    unread.add_field(holder, order.name, url)
                else:
                    lane = reading.identity(holder.address)
                    reading.sibling_order[lane] = (*reading.sibling_order.get(lane, ()), *found)


_Orders = Iterator[tuple[Entry, str, tuple[Identity, ...] | None]]
"""Entry, URL and order of each entry; the order is None if the token may not read it."""


def _read_orders_one_by_one(
    reading: ReadingState, kind: Kind, order: ListOrder, holders: list[Entry]
) -> _Orders:
    """Yield the orders that need one request for each entry."""
    assert order.live_order_read is not None
    urls = [_order_url(reading, kind, holder, order.live_order_read) for holder in holders]
    lists = reading.sources.map_parallel(lambda url: _read_ids(reading, url), urls)
    for holder, url, ids in zip(holders, urls, lists, strict=True):
        yield holder, url, tuple((order.item_kind, id) for id in ids) if ids is not None else None


def _order_url(reading: ReadingState, kind: Kind, holder: Entry, present: ListRead) -> str:
    (_, own), *above = reading.ancestor_ids(holder.address)
    return fill_path_template(reading.registry, kind, present.path, own, above)


def _read_ids(reading: ReadingState, url: str) -> list[str] | None:
    """Return the ids in a list; None if the token may not read the list."""
    try:
        return [id for id, _ in reading.sources.read_ids_and_bodies(url)]
    except ForbiddenError:
        return None


def _orders_in_lists(reading: ReadingState, order: ListOrder, holders: Iterable[Entry]) -> _Orders:
    """Yield the orders that follow from lists which were read already."""
    kind = reading.registry[order.item_kind]
    by_place: dict[Address, dict[Identity | None, list[Identity]]] = {}
    for holder in holders:
        owner = holder.address if holder.kind in kind.parents else holder.parent
        assert owner is not None
        url = reading.source(kind, owner).url
        if url in reading.sources.forbidden:
            yield holder, url, None
            continue
        if owner not in by_place:
            by_place[owner] = defaultdict(list)
            for item in reading.sources.objects.get(url, ()):
                by_place[owner][live_container(kind, order.place_field, item)].append(item.identity)
        yield holder, url, tuple(by_place[owner][reading.identity(holder.address)])


MAX_NAVIGATIONS: Final = 20
"""Maximum number of candidates whose sites are read, with one request for each candidate."""


class NavigationPaths(Struct):
    """The live objects at the navigation paths of the entries of one kind and parent.

    The kind has a request that lists the owners, such as sites, that show an object (`shown_in`).
    """

    reading: ReadingState
    kind: Kind
    parent: Address
    match_kind_now: Callable[[Kind, Address], None]
    """Matches the entries of a kind earlier than usual."""
    ids_by_path: dict[NavigationPath, str] = msgspec.field(default_factory=dict)
    """The id of the live object at each navigation path."""
    read_owners: set[str] = msgspec.field(default_factory=set)
    """The ids of the owners, such as sites, whose navigation was read."""

    def ids_by_entry(
        self, entries: Iterable[Entry], questions: Iterable[Diagnostic]
    ) -> Mapping[Address, str]:
        """Return, by entry, the id of the live object at the entry's navigation paths, if there is only one.

        Only the navigations that show an ambiguous entry are read.
        """
        places = declared_navigation_paths(self.reading.registry, self.reading.desired.entries)
        asked = [Address.parse(one.address) for one in questions if one.address and one.candidates]
        for owner in sorted({owner for address in asked for owner, _ in places.get(address, ())}):
            self._read_navigation(owner)
        found = {
            entry.address: {
                self.ids_by_path[place]
                for place in places.get(entry.address, ())
                if place in self.ids_by_path
            }
            for entry in entries
        }
        return {address: id for address, ids in found.items() if len(ids) == 1 for id in ids}

    def _read_navigation(self, owner: Address) -> None:
        """Match the entry of the owner, and read the owner's navigation."""
        reading, registry = self.reading, self.reading.registry
        entry = reading.entry(owner)
        if entry.parent != self.parent:
            return
        self.match_kind_now(registry[entry.kind], self.parent)
        node = next((registry[reading.entry(child).kind] for child in entry.children), None)
        if node is None or not reading.is_live(owner):
            return
        source = reading.source(node, owner)
        reading.sources.fetch([source], may_be_forbidden=True)
        if source.url in reading.sources.forbidden:
            return
        self.read_owners.add(reading.matches[owner].id)
        for id, path in live_navigation_paths(registry, reading.sources.objects[source.url]):
            self.ids_by_path[owner, path] = id

    def with_shown_in(self, questions: Iterable[Diagnostic]) -> list[Diagnostic]:
        """Return the questions with the sites and paths that show each candidate."""
        questions = list(questions)
        by_id: dict[str, list[str]] = defaultdict(list)
        for (owner, path), id in self.ids_by_path.items():
            by_id[id].append(f"{owner} ({'/'.join(path)})")
        asked = {candidate.id for question in questions for candidate in question.candidates}
        for id in sorted(asked)[:MAX_NAVIGATIONS]:
            by_id[id] += self._owner_titles(id)
        return [
            replace(
                question,
                candidates=tuple(
                    one.model_copy(update={"shown_in": tuple(by_id[one.id])}) for one in question.candidates
                ),
            )
            for question in questions
        ]

    def _owner_titles(self, id: str) -> list[str]:
        """Return the titles of the owners that show an object, without owners whose navigation was read."""
        reading = self.reading
        assert self.kind.owner_list is not None
        try:
            chain = reading.ancestor_ids(self.parent)
            url = fill_path_template(reading.registry, self.kind, self.kind.owner_list.path, id, chain)
            found = reading.sources.read_ids_and_bodies(url)
        except (ForbiddenError, NotFoundError):
            return []
        return [f'"{body.get("title", own)}"' for own, body in found if own not in self.read_owners]


_WITHOUT_CONTENT = ("group", "link")
"""Types of pages that have no URL. Their paths are replaced by an empty text."""


def read_pages(reading: ReadingState) -> Mapping[str, Mapping[str, str]]:
    """Return page paths by page id, for each space (by id) to whose pages an entry refers."""
    entries = reading.desired.entries
    ids = {
        space_id(found.space, reading.live_id)
        for entry in entries.values()
        for found in page_references(reading.registry, entry, entries, reading.objects)
        if not reading.desired.policy.ignores(entry.address, found.field.name)
    }
    named = sorted(id for id in ids if id is not None)
    holding = next(
        (kind for kind in reading.registry.in_dependency_order if kind.page_tree_path is not None), None
    )
    if holding is None:
        return {}
    paths = [
        fill_path_template(reading.registry, holding, holding.page_tree_path or "", id, ()) for id in named
    ]
    found = reading.sources.map_parallel(lambda path: _read_page_paths(reading, path), paths)
    return {id: pages for id, pages in zip(named, found, strict=True) if pages is not None}


def _read_page_paths(reading: ReadingState, path: str) -> Mapping[str, str] | None:
    """Return page paths by page id; None if the token may not read the space."""
    try:
        body = reading.client.get(path)
    except (ForbiddenError, NotFoundError):
        return None
    pages = body.get("pages") if isinstance(body, dict) else None
    return _paths_by_id(iterate_pages(pages)) if isinstance(pages, list) else None


def _paths_by_id(pages: Iterable[Any]) -> Mapping[str, str]:
    named = (page for page in pages if isinstance(page, dict) and isinstance(page.get("id"), str))
    return {
        page["id"]: "" if page.get("type") in _WITHOUT_CONTENT else str(page.get("path") or "").strip("/")
        for page in named
    }
