"""Read how live objects relate: references by id, transfers, sibling orders, navigation paths and pages.

`check_references` reports ids (`{id: …}`) that no completely read list contains. `find_transfers` matches
entries with objects below another parent. `read_orders` reads the order of siblings. `NavigationPaths` tells
spaces with the same title apart by the path at which a site shows them. `read_pages` reads page paths for
redirects.
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
from dpsync.kinds.address_patterns import (
    NavigationPath,
    declared_navigation_paths,
    live_container,
    live_navigation_paths,
)
from dpsync.kinds.kind import Field, Kind, ListOrder
from dpsync.kinds.page_references import page_references, space_id
from dpsync.kinds.types import List, Object, OneOf, Reference, Table, Type
from dpsync.kinds.urls import fill_path_template
from dpsync.live.delete_evidence import iterate_pages
from dpsync.live.reading_state import ForbiddenReads, ReadingState
from dpsync.model.address import Address
from dpsync.model.desired import Entry
from dpsync.model.diagnostic import Diagnostic
from dpsync.model.snapshot import Identity, LiveObject
from dpsync.model.values import LiveId, Value, leaves, live_ids


def check_references(reading: ReadingState) -> None:
    """Add a diagnostic (DP306) for each referenced id that no live and no restored object has.

    Sends no request. An id that the live field already contains is allowed: merge rules keep the id of a
    member who left.
    """
    present = _PossibleIds(reading)
    for address in sorted(reading.desired.entries):
        entry = reading.desired.entries[address]
        kind = reading.registry[entry.kind]
        for field in kind.reference_fields:
            value = entry.fields.get(field.name)
            if not live_ids(value) or reading.desired.policy.ignores(address, field.name):
                continue
            by_kinds: dict[tuple[str, ...], set[str]] = defaultdict(set)
            for kinds, id in _references_with_kinds(field.type, value):
                # A reference to an object with an output contains the id of the output.
                without_output = [
                    name
                    for name in dict.fromkeys(kinds)
                    if reading.registry[name].platform_work.outputs is None
                ]
                by_kinds[tuple(without_output)].add(id)
            live_values = _live_field_values(reading, address, field.name)
            for kinds, ids in by_kinds.items():
                unknown = ids - present.find(kinds, address, ids) - live_values
                reading.diagnostics += [
                    _unknown_id(reading, entry, field, kinds, id) for id in sorted(unknown)
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
        case List(item_type=item_type) if isinstance(value, list):
            for item in value:
                yield from _references_with_kinds(item_type, item)
        case Table(value_type=values) if isinstance(value, dict):
            for item in value.values():
                yield from _references_with_kinds(values, item)


def _live_field_values(reading: ReadingState, address: Address, field: str) -> set[Any]:
    """Return the ids and other values in a field of an entry's live object; set() without an object."""
    if address not in reading.matches:
        return set()
    entry = reading.entry(address)
    parent = reading.identity(entry.parent) if entry.parent is not None else None
    identity = reading.registry[entry.kind].identity_of(reading.matches[address].id, parent)
    value = reading.objects[identity].fields.get(field)
    return {leaf.id if isinstance(leaf, LiveId) else leaf for leaf in leaves(value)}


class _PossibleIds:
    """The ids that references may contain, according to the lists that were read."""

    def __init__(self, reading: ReadingState) -> None:
        self._reading = reading
        self._pins = {item.pin for item in reading.desired.entries.values()}

    def find(self, kinds: Iterable[str], address: Address, ids: Set[str]) -> Set[str]:
        """Return those of `ids` that an object of these kinds may have.

        These are all ids, unless every list of these kinds was read.
        """
        possible: set[str] = set()
        for name in kinds:
            urls = list(self._list_urls(name, address))
            if not urls or None in urls:
                return ids
            ids_per_list = [
                self._reading.sources.objects_at(url).ids_by_kind[name] for url in urls if url is not None
            ]
            possible |= {id for id in ids if any(id in ids_in_list for ids_in_list in ids_per_list)}
        return possible | (ids & self._pins)

    def _list_urls(self, name: str, address: Address) -> Iterator[str | None]:
        """Yield the URL of each list of a kind in an entry or its parents.

        None stands for a list that was not read.
        """
        reading, kind = self._reading, self._reading.registry[name]
        owners = reading.sources.owner_kinds(kind)
        ancestor: Address | None = address
        while ancestor is not None:
            holder = reading.desired.entries[ancestor]
            if holder.kind in owners:
                url = reading.source(kind, ancestor).url if ancestor in reading.matches else None
                yield url if url in reading.sources.objects else None
            ancestor = holder.parent


def _unknown_id(
    reading: ReadingState, entry: Entry, field: Field, kinds: Iterable[str], id: str
) -> Diagnostic:
    """Return the diagnostic for a reference to an id that no object has."""
    nouns = " or ".join(reading.registry[name].noun for name in kinds)
    return Diagnostic(
        "DP306",
        f'GitBook has no {nouns} with the id "{id}"',
        entry.field_span(field.name),
        str(entry.address),
        "correct the id, or refer to an entry in your files by its key",
        cause=f"{nouns} {id} in {entry.address.organization_key}",
    )


def find_transfers(reading: ReadingState, forbidden: ForbiddenReads, kind: Kind) -> None:
    """Match unmatched entries with objects in another parent, so that the plan transfers the objects.

    Each match needs evidence: `previously`, `id:`, the ids file, or an entry with the same key in another
    parent that was removed since the git base. If the token may not read a list that could contain the
    object, the entry is marked as unreadable in `forbidden`.
    """
    matched = [(address, reading.desired.entries.get(address)) for address in sorted(reading.matches)]
    parents = [address for address, entry in matched if entry is not None and entry.kind in kind.parents]
    if len(parents) < 2:
        return
    removed_entries: dict[tuple[str, str], list[Entry]] = defaultdict(list)
    for address, earlier in sorted(reading.base_entries.items()):
        if address not in reading.desired.entries:
            removed_entries[earlier.kind, earlier.key].append(earlier)
    unmatched = [
        (
            address,
            entry,
            [
                previous
                for previous in removed_entries[kind.name, entry.key]
                if previous.parent != entry.parent
            ],
        )
        for address, entry in sorted(reading.desired.entries.items())
        if entry.kind == kind.name and address not in reading.matches and entry.parent in reading.matches
    ]
    lines = reading.recorded_lines.lines
    transferable = [
        (address, entry, previous)
        for address, entry, previous in unmatched
        if entry.pin or entry.has_earlier_name or previous or address in lines
    ]
    if not transferable:
        return
    bound_ids = {
        reading.matches[address].id
        for address, entry in matched
        if entry is not None and entry.kind == kind.name
    }
    objects, forbidden_url = _objects_below_all(reading, kind, parents)
    free = [item for item in objects if item.id not in bound_ids]
    keys = NaturalKeys(kind, reading.live_id, reading.first_child, lambda _: [])
    for address, entry, previous in transferable:
        owner = reading.matches[address.owner_of_list(kind.key)].id
        elsewhere = [item for item in free if item.parent is not None and item.parent[1] != owner]
        match = match_below_other_parent(keys, entry, elsewhere, previous, lines.get(address))
        if match is not None:
            reading.matches[address] = match
            reading.transferred_entries.add(address)
            free = [item for item in free if item.id != match.id]
        elif forbidden_url is not None:
            forbidden.add_entry(entry, forbidden_url)


def _objects_below_all(
    reading: ReadingState, kind: Kind, parents: list[Address]
) -> tuple[list[LiveObject], str | None]:
    """Return the objects of a kind in all these parents, and the URL of a list that the token may not read.

    The URL is None if all lists were read. Outputs, which GitBook created for another object, are left out.
    """
    sources = [reading.source(kind, address) for address in parents]
    reading.sources.fetch(sources, may_be_forbidden=True)
    forbidden_url = next((source.url for source in sources if source.url in reading.sources.forbidden), None)
    objects = [
        item
        for source in sources
        for item in reading.sources.objects.get(source.url, ())
        if item.kind == kind.name and item.identity not in reading.output_identities
    ]
    for item in objects:
        reading.objects.setdefault(item.identity, item)
    return objects, forbidden_url


def read_orders(reading: ReadingState, forbidden: ForbiddenReads) -> None:
    """Store the live order of the children of each matched entry that declares an order for them.

    An order that the token may not read is stored as an unreadable field.
    """
    for kind in reading.registry.in_dependency_order:
        for order in kind.list_orders:
            holders = [
                entry
                for entry in reading.desired.entries.values()
                if entry.kind == kind.name and order.name in entry.fields and entry.address in reading.matches
            ]
            orders = (
                _read_orders_one_by_one(reading, kind, order, holders)
                if order.live_order_read is not None
                else _orders_in_lists(reading, order, holders)
            )
            for holder, url, siblings in orders:
                if siblings is None:
                    forbidden.add_field(holder, order.name, url)
                else:
                    parent = reading.identity(holder.address)
                    reading.sibling_order[parent] = (*reading.sibling_order.get(parent, ()), *siblings)


_Orders = Iterator[tuple[Entry, str, tuple[Identity, ...] | None]]
"""Entry, URL and order of each entry; the order is None if the token may not read it."""


def _read_orders_one_by_one(
    reading: ReadingState, kind: Kind, order: ListOrder, holders: list[Entry]
) -> _Orders:
    """Yield the live order of the children of each entry in `holders`, with one request for each entry.

    This is for kinds whose lists are not returned in order.
    """
    assert order.live_order_read is not None
    urls = []
    for holder in holders:
        (_, id), *ancestors = reading.ancestor_ids(holder.address)
        urls.append(fill_path_template(reading.registry, kind, order.live_order_read.path, id, ancestors))

    def read_order(url: str) -> tuple[Identity, ...] | None:
        """Return the objects in the order of a response, None if the token may not read it."""
        try:
            return tuple((order.item_kind, id) for id, _ in reading.sources.read_ids_and_bodies(url))
        except ForbiddenError:
            return None

    yield from zip(holders, urls, reading.sources.map_parallel(read_order, urls), strict=True)


def _orders_in_lists(reading: ReadingState, order: ListOrder, holders: Iterable[Entry]) -> _Orders:
    """Yield the live order of the children of each entry in `holders`, from lists that were read already."""
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
    """Tells live objects with the same title apart by the navigation paths at which sites show them.

    Holds the objects for the entries of one kind (spaces) and parent. The kind has a request that lists the
    owners, such as sites, that show an object (`shown_in`).
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
        """Return, by entry, the id of the live object that is at the entry's navigation paths.

        Entries whose paths show no object or several objects are left out. Only the navigations that the
        files declare for an ambiguous entry are read. `questions` are the diagnostics of ambiguous entries.
        """
        paths = declared_navigation_paths(self.reading.registry, self.reading.desired.entries)
        ambiguous = [
            Address.parse(question.address)
            for question in questions
            if question.address and question.candidates
        ]
        for owner in sorted({owner for address in ambiguous for owner, _ in paths.get(address, ())}):
            self._read_navigation(owner)
        ids_by_address = {
            entry.address: {
                self.ids_by_path[path] for path in paths.get(entry.address, ()) if path in self.ids_by_path
            }
            for entry in entries
        }
        return {address: id for address, ids in ids_by_address.items() if len(ids) == 1 for id in ids}

    def _read_navigation(self, owner: Address) -> None:
        """Match the entry of a site (the owner), and store which object each path of its navigation shows.

        Do nothing if the site has another parent or is not live, or if the token may not read the navigation.
        """
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
        """Return the questions with the sites and paths that show each candidate, to help a person choose."""
        questions = list(questions)
        by_id: dict[str, list[str]] = defaultdict(list)
        for (owner, path), id in self.ids_by_path.items():
            by_id[id].append(f"{owner} ({'/'.join(path)})")
        candidate_ids = {candidate.id for question in questions for candidate in question.candidates}
        for id in sorted(candidate_ids)[:MAX_NAVIGATIONS]:
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
        """Return the titles of the sites (owners) that show an object, with one request; [] if unreadable.

        Sites whose navigation was read are left out, because their paths are known.
        """
        reading = self.reading
        assert self.kind.owner_list is not None
        try:
            chain = reading.ancestor_ids(self.parent)
            url = fill_path_template(reading.registry, self.kind, self.kind.owner_list.path, id, chain)
            owners = reading.sources.read_ids_and_bodies(url)
        except (ForbiddenError, NotFoundError):
            return []
        return [
            f'"{body.get("title", owner_id)}"'
            for owner_id, body in owners
            if owner_id not in self.read_owners
        ]


_WITHOUT_CONTENT = ("group", "link")
"""Types of pages that have no URL. Their paths are replaced by an empty text."""


def read_pages(reading: ReadingState) -> Mapping[str, Mapping[str, str]]:
    """Return page paths by page id, for each space (by id) to whose pages an entry refers.

    Redirects refer to pages by path, but the platform stores page ids. Unreadable spaces are left out.
    """
    entries = reading.desired.entries
    ids = {
        space_id(reference.space, reading.live_id)
        for entry in entries.values()
        for reference in page_references(reading.registry, entry, entries, reading.objects)
        if not reading.desired.policy.ignores(entry.address, reference.field.name)
    }
    space_ids = sorted(id for id in ids if id is not None)
    space_kind = next(
        (kind for kind in reading.registry.in_dependency_order if kind.page_tree_path is not None), None
    )
    if space_kind is None:
        return {}
    paths = [
        fill_path_template(reading.registry, space_kind, space_kind.page_tree_path or "", id, ())
        for id in space_ids
    ]
    page_paths = reading.sources.map_parallel(lambda path: _read_page_paths(reading, path), paths)
    return {id: pages for id, pages in zip(space_ids, page_paths, strict=True) if pages is not None}


def _read_page_paths(reading: ReadingState, path: str) -> Mapping[str, str] | None:
    """Return page paths by page id, read from the page tree at a URL path; None for an unreadable space.

    Groups and links have no path of their own, so theirs is "".
    """
    try:
        body = reading.client.get(path)
    except (ForbiddenError, NotFoundError):
        return None
    pages = body.get("pages") if isinstance(body, dict) else None
    if not isinstance(pages, list):
        return None
    return {
        page["id"]: "" if page.get("type") in _WITHOUT_CONTENT else str(page.get("path") or "").strip("/")
        for page in iterate_pages(pages)
        if isinstance(page, dict) and isinstance(page.get("id"), str)
    }
