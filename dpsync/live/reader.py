"""Read the configured organizations into a `Snapshot`.

`read_snapshot` reads only the lists that the configuration needs, and matches their objects with the entries.
Reads and matching alternate, because a site must be matched before its navigation can be read: the kinds are
read in the order of the registry. What the token may not read is recorded, and never counts as absent.
`read_organizations` finds organizations by id or natural key; dpsync never creates an organization.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from msgspec.structs import replace

from dpsync.client.client import PAGE_LIMIT, ReadClient
from dpsync.client.errors import ForbiddenError, NotFoundError
from dpsync.client.responses import Params
from dpsync.identity.candidates import History
from dpsync.identity.ids import NO_RECORDED_LINES
from dpsync.identity.keys import NaturalKeys
from dpsync.identity.match import MatchResult, match, unknown_id_error
from dpsync.identity.renames import unknown_earlier_names
from dpsync.kinds.kind import Field, Kind, SingleEntry
from dpsync.kinds.kind import TreeNode as NodeShape
from dpsync.kinds.registry import Registry
from dpsync.kinds.urls import fill_path_template, split_query
from dpsync.live.reading_state import (
    ForbiddenReads,
    ReadingState,
    forbidden_reason,
    note_recorded_lines,
    read_separate_parts,
    report_lines_of_other_kinds,
)
from dpsync.live.relations import NavigationPaths, check_references, find_transfers, read_orders, read_pages
from dpsync.live.sources import ReadObjects, ReadSource
from dpsync.model.address import Address
from dpsync.model.desired import NO_BASE, Base, Desired, Entry, Lookup, Scope
from dpsync.model.diagnostic import Diagnostic, Exit
from dpsync.model.ids import NO_IDS, IdsFile
from dpsync.model.snapshot import LiveObject, Match, MatchedBy, MissingObject, Snapshot
from dpsync.model.text import plural
from dpsync.model.values import LiveId


def read_organizations(reading: ReadingState) -> None:
    """Read each declared organization, and match it with its entry by `id:` or by its natural key.

    Raises DiagnosticError (exit code 1) if an organization does not exist or the token has no access to it.
    """
    root = reading.registry.root
    entries = reading.by_parent[root.name, None]
    if any(entry.pin is None for entry in entries) and root.search_list is not None:
        _match_organizations_by_key(reading, root, [entry for entry in entries if entry.pin is None])
    pinned = [entry for entry in entries if entry.pin]
    organizations = reading.sources.map_parallel(lambda entry: _read_by_id(reading, root, entry), pinned)
    for entry, live in zip(pinned, organizations, strict=True):
        _note_organization(reading, entry, live, MatchedBy.PIN)
    reading.raise_diagnostics(Exit.FAILED)


def first_request(registry: Registry, desired: Desired) -> tuple[str, Params | None]:
    """Return path and query parameters of the first GET that reading a configuration sends.

    `dpsync doctor` sends it to check the connection.
    """
    root = registry.root
    pins = [entry.pin for entry in desired.entries.values() if entry.parent is None]
    if root.search_list is not None and (not pins or None in pins):
        path, query = split_query(root.search_list.path)
        return path, {**(query or {}), "limit": PAGE_LIMIT}
    return split_query(fill_path_template(registry, root, root.read.path, str(pins[0]), ()))


def _read_by_id(reading: ReadingState, root: Kind, entry: Entry) -> LiveObject | None:
    """Return the organization with the id in `id:` of an entry, None if it does not exist."""
    url = fill_path_template(reading.registry, root, root.read.path, str(entry.pin), ())
    try:
        (live,) = reading.sources.read(ReadSource(url, root.name, None))
    except NotFoundError:
        return None
    return live


def _match_organizations_by_key(reading: ReadingState, root: Kind, entries: list[Entry]) -> None:
    """Match the organizations without `id:` by natural key, with one read of the list of organizations."""
    assert root.search_list is not None
    (key,) = root.natural_keys
    assert isinstance(key, str)
    # The list's items are whole, so nothing else is read for an organization that is found by its key.
    live = reading.sources.read_parentless_list(root, root.search_list.path)
    for entry in entries:
        value = entry.fields.get(key)
        organization = next((item for item in live if item.fields.get(key) == value), None)
        _note_organization(reading, entry, organization, MatchedBy.FIRST_NATURAL_KEY)


def _note_organization(
    reading: ReadingState, entry: Entry, live: LiveObject | None, matched_by: MatchedBy
) -> None:
    """Match an entry with a live organization, or add a diagnostic (DP310) if there is none."""
    if live is not None:
        reading.objects[live.identity] = live
        reading.matches[entry.address] = Match(live.id, matched_by)
        return
    (key,) = reading.registry.root.natural_keys
    name = entry.pin or entry.fields.get(str(key))
    reading.diagnostics.append(
        Diagnostic(
            "DP310",
            f'the organization "{name}" does not exist, or this token has no access to it',
            entry.field_span("id" if entry.pin else str(key)),
            str(entry.address),
            "check the id, the URL of the server, and the user of the token. "
            "dpsync never creates an organization",
        )
    )


def read_snapshot(
    client: ReadClient,
    registry: Registry,
    desired: Desired,
    parallelism: int,
    base: Base = NO_BASE,
    ids: IdsFile = NO_IDS,
) -> Snapshot:
    """Read the live objects and match them with the entries.

    Args:
        ids: The ids file of the working tree.

    Raises:
        ClientError: A read failed.
        DiagnosticError: A match needs an answer, or the configuration contradicts the platform.
    """
    reader = _Reader(ReadingState(client, registry, desired, parallelism, base, ids))
    read_organizations(reader.reading)
    note_recorded_lines(reader.reading)
    for kind in registry.in_dependency_order:
        if kind.parent is not None:
            reader.match_kind(kind)
    return reader.snapshot()


class _Reader:
    """One run of `read_snapshot`: reads lists, matches their objects with entries, and makes the snapshot."""

    def __init__(self, reading: ReadingState) -> None:
        """Collect the parents in which each kind must be read. Sends no request."""
        self.reading = reading
        desired = reading.desired
        self.scopes = {**desired.scopes, **(desired.watched_scopes if desired.reads_watched else {})}
        self.registry, self.desired, self.sources = reading.registry, reading.desired, reading.sources
        self.forbidden_reads = ForbiddenReads(reading)
        self._progress_at_last_fetch: tuple[int, int, int] | None = None
        self._matched: set[tuple[str, Address]] = set()
        self._matches_with_previously: dict[
            str, list[tuple[NaturalKeys, History, list[Entry], list[LiveObject]]]
        ] = defaultdict(list)
        """By kind, the arguments of each match whose entries have `previously`."""
        self._searched_for_outputs: set[str] = set()
        """URLs of the sources whose objects were searched for outputs."""
        self._lookups: dict[tuple[str, Address], list[Lookup]] = defaultdict(list)
        for lookup in self.desired.lookups.values():
            self._lookups[lookup.kind, lookup.parent].append(lookup)
        self._parents_by_kind: dict[str, set[Address]] = defaultdict(set)
        """By kind, the parents below which it is declared or looked up."""
        for name, parent in (*reading.by_parent, *self._lookups):
            if parent is not None:
                self._parents_by_kind[name].add(parent)
        for scope in self.scopes.values():
            for name in scope.kinds:
                self._parents_by_kind[name].add(scope.parent)

    def match_kind(self, kind: Kind) -> None:
        """Read the lists that are needed so far, then match the entries of a kind in each parent.

        Called once for each kind, parents first, because only the ids of matched parents tell which lists
        exist.
        """
        self._fetch()
        parents = [parent for parent in self._parents_by_kind[kind.name] if self.reading.is_live(parent)]
        for parent in sorted(parents):
            if (kind.name, parent) in self._matched:
                continue
            source = self.reading.source(kind, parent)
            if source.url in self.sources.forbidden:
                self.forbidden_reads.add_list(kind, parent, source.url)
            else:
                self._match(kind, parent, source)
        if kind.lifecycle.transfer is not None:
            find_transfers(self.reading, self.forbidden_reads, kind)
        self._check_earlier_names(kind)

    def _fetch(self) -> None:
        """Read the sources that are needed so far, unless nothing was matched since the last call.

        Outputs in the new objects are noted at once.
        """
        if self._progress() != self._progress_at_last_fetch:
            self.sources.fetch(self._needed_sources(), may_be_forbidden=True)
            self._note_outputs()
            self._progress_at_last_fetch = self._progress()

    def _progress(self) -> tuple[int, int, int]:
        """Return counts that grow whenever a match or a read may make more sources necessary."""
        return len(self.reading.matches), len(self.reading.transferred_entries), len(self.sources.objects)

    def _needed_sources(self) -> Iterable[ReadSource]:
        """Yield the lists to read: those that the files declare or look up, in parents matched by now.

        A lookup is an object that the files only name, such as a member, without an entry of its own.
        """
        for scope in self.scopes.values():
            if self.reading.is_live(scope.parent):
                yield self.reading.source(self.registry[scope.kinds[0]], scope.parent)
                for kind in self._kinds_with_outputs_in(scope):
                    yield self.reading.source(kind, scope.parent)
        for name, parent in self._lookups:
            if self.reading.is_live(parent):
                yield self.reading.source(self.registry[name], parent)

    # --- outputs: objects that the platform creates for another object --------------------------------

    def _kinds_with_outputs_in(self, scope: Scope) -> list[Kind]:
        """Return the kinds whose objects make the platform create outputs in a scope.

        An output is an object that the platform creates for another object. Until the other object is read,
        its output looks like an unmanaged object of the scope.
        """
        owner = self.reading.entry(scope.parent).kind
        return [
            kind
            for kind in self.registry.children(owner)
            if kind.platform_work.outputs and kind.platform_work.outputs.kind in scope.kinds
        ]

    def _note_outputs(self) -> None:
        """Record which objects are outputs: GitBook created them for another object, such as an import.

        Search the objects read since the last call. Call this before outputs are matched.
        """
        new_urls = [url for url in self.sources.objects if url not in self._searched_for_outputs]
        self._searched_for_outputs.update(new_urls)
        for kind in self.registry.in_dependency_order:
            if kind.platform_work.outputs is None:
                continue
            field = _output_field(kind)
            for item in (item for url in new_urls for item in self.sources.objects[url]):
                value = item.fields.get(field.name) if item.kind == kind.name else None
                if isinstance(value, LiveId):
                    self.reading.output_identities.add((kind.platform_work.outputs.kind, value.id))

    def _note_unknown_outputs(self) -> None:
        """Exclude lists from pruning if dpsync cannot tell which of their objects GitBook made by itself.

        GitBook creates some objects (outputs) for another object, such as the space of an import. They are
        unknown if the token may not read the other objects, or if one of them does not name its output.
        """
        for scope in self.scopes.values():
            if scope.parent not in self.reading.matches or scope.parent in self.reading.transferred_entries:
                continue
            for kind in self._kinds_with_outputs_in(scope):
                source = self.reading.source(kind, scope.parent)
                if source.url in self.sources.forbidden:
                    reason = (
                        f"dpsync cannot tell which objects the {plural(kind.noun)} created, "
                        f"because {forbidden_reason(source.url)}"
                    )
                    self.forbidden_reads.add_prune_unsafe(scope, reason)
                for item in self.sources.objects.get(source.url, ()):
                    if _lacks_output_id(kind, item):
                        reason = (
                            f"the response for the {kind.noun} {item.id} does not contain the id of "
                            f"the object that GitBook created for the {kind.noun}"
                        )
                        self.forbidden_reads.add_prune_unsafe(scope, reason)

    def _bind_outputs(self, kind: Kind, entries: list[Entry]) -> None:
        """Store the id of the output of each matched entry; None if its object has no output yet.

        An output is an object that GitBook creates for another object, such as a space for an import.
        """
        if kind.platform_work.outputs is None:
            return
        output_field = _output_field(kind)
        for entry in entries:
            match = self.reading.matches.get(entry.address)
            value = self.reading.objects[kind.name, match.id].fields.get(output_field.name) if match else None
            self.reading.outputs[entry.address] = value.id if isinstance(value, LiveId) else None

    # --- matching -------------------------------------------------------------------------------------

    def _match_now(self, kind: Kind, parent: Address) -> None:
        """Match the entries of a kind earlier than usual, unless the token may not read the objects.

        Used for sites, whose navigation tells spaces with the same title apart.
        """
        source = self.reading.source(kind, parent)
        self.sources.fetch([source], may_be_forbidden=True)
        if source.url not in self.sources.forbidden and (kind.name, parent) not in self._matched:
            self._match(kind, parent, source)

    def _match(self, kind: Kind, parent: Address, source: ReadSource) -> None:
        """Match the entries of a kind below one parent with the objects of a source that was read.

        Raises DiagnosticError if a match is ambiguous or contradicts the platform.
        """
        self._matched.add((kind.name, parent))
        owner = self.reading.identity(parent)
        listed = self.sources.objects_at(source.url)
        live = [
            item
            for item in listed.by_parent[kind.name, owner]
            if item.identity not in self.reading.output_identities
        ]
        entries = self.reading.by_parent[kind.name, parent]
        live += self._read_deleted(kind, parent, source, entries, live)
        self.reading.objects |= {item.identity: item for item in live}
        self._note_scope(kind, parent, source, listed)
        if isinstance(kind.shape, SingleEntry):
            self.reading.matches |= {
                resource.address: Match(item.id, MatchedBy.ONLY_OBJECT_IN_PLACE)
                for resource in entries
                for item in live
            }
        else:
            self._match_entries(kind, parent, entries, live, listed)
        deleted = {item.id for item in live if item.deleted}
        self.reading.deleted_entries |= {entry.address for entry in entries if entry.pin in deleted}
        self._match_lookups(kind, parent, live)
        self._bind_outputs(kind, entries)
        self.reading.raise_diagnostics(Exit.INVALID)

    def _match_entries(
        self, kind: Kind, parent: Address, entries: list[Entry], live: list[LiveObject], listed: ReadObjects
    ) -> None:
        """Match entries by `id:`, line of the ids file, earlier name or natural key, in this order.

        If candidates stay ambiguous, read the navigations that show them, and match once more with their
        paths.
        """
        reading = self.reading
        keys = NaturalKeys(
            kind, reading.live_id, reading.first_child, lambda item: listed.by_node[item.identity],
            has_environments=bool(self.desired.environments),
        )  # fmt: skip
        base_entries = reading.base_entries_by_parent.get((kind.name, parent), {})
        recorded = reading.recorded_lines if kind.has_ids_line else NO_RECORDED_LINES
        history = History(
            base_entries, reading.earlier_first_child, recorded, reading.base.earlier_configurations,
            ids_file_has_no_lines=reading.recorded_ids.has_no_lines(parent.organization),
        )  # fmt: skip
        result = match(keys, entries, live, history)
        if result.diagnostics and kind.owner_list is not None:
            paths = NavigationPaths(reading, kind, parent, self._match_now)
            if ids_by_path := paths.ids_by_entry(entries, result.diagnostics):
                result = match(replace(keys, ids_by_navigation_path=ids_by_path), entries, live, history)
            result.diagnostics = paths.with_shown_in(result.diagnostics)
        reading.matches |= result.matches
        if any(entry.has_earlier_name for entry in entries):
            self._matches_with_previously[kind.name].append((keys, history, entries, live))
        self._note_missing(kind, parent, result)
        reading.diagnostics += [
            item for item in result.diagnostics if not self.forbidden_reads.explains(item)
        ]

    def _check_earlier_names(self, kind: Kind) -> None:
        """Report each `previously` that names no object, once a kind and its transfers are matched."""
        checks = self._matches_with_previously.pop(kind.name, [])
        for keys, history, entries, live in checks:
            unmatched = [
                entry
                for entry in entries
                if entry.address not in self.reading.matches
                and entry.address not in self.forbidden_reads.entries
            ]
            if kind.lifecycle.transfer is not None:
                live = [item for item in self.reading.objects.values() if item.kind == kind.name]
            questions = unknown_earlier_names(keys, history, unmatched, live, self.desired.entries.keys())
            self.reading.diagnostics += [
                item for item in questions if not self.forbidden_reads.explains(item)
            ]
        if checks:
            self.reading.raise_diagnostics(Exit.INVALID)

    def _note_missing(self, kind: Kind, parent: Address, result: MatchResult) -> None:
        """Store the ids in the ids file that no live object has any more.

        For an entry with content that has no other match, one request finds out whether the object was
        deleted and can be restored.
        """
        if not result.missing_ids:
            return
        missing = {
            address: id
            for address, id in result.missing_ids.items()
            if address in self.reading.recorded_ids.lines
        }
        unmatched = {address: id for address, id in missing.items() if address not in result.matches}
        restorable: set[Address] = set()
        if kind.has_content and kind.lifecycle.restore is not None and unmatched:
            owner, chain = self.reading.identity(parent), self.reading.ancestor_ids(parent)
            url = self.reading.source(kind, parent).url
            deleted_objects = self.sources.map_parallel(
                lambda id: self.sources.read_deleted(kind, id, owner, chain, url), [*unmatched.values()]
            )
            restorable = {
                address for address, item in zip(unmatched, deleted_objects, strict=True) if item is not None
            }
        for address, id in missing.items():
            self.reading.missing_objects[address] = MissingObject(id, address in restorable)

    def _read_deleted(
        self, kind: Kind, parent: Address, source: ReadSource, entries: list[Entry], live: list[LiveObject]
    ) -> list[LiveObject]:
        """Return the objects that entries name by `id:` and that were deleted but can be restored.

        Each takes one request, because lists do not contain deleted objects.
        """
        if kind.lifecycle.restore is None:
            return []
        ids = {item.id for item in live}
        pins = sorted({entry.pin for entry in entries if entry.pin and entry.pin not in ids})
        owner, chain = self.reading.identity(parent), self.reading.ancestor_ids(parent)
        objects = self.sources.map_parallel(
            lambda pin: self.sources.read_deleted(kind, pin, owner, chain, source.url), pins
        )
        return [item for item in objects if item is not None]

    def _note_scope(self, kind: Kind, parent: Address, source: ReadSource, listed: ReadObjects) -> None:
        """Store the live objects of a list that the files declare, and the order of the nodes in a tree.

        Objects that GitBook created for another object (outputs) are left out: they need no entry.
        """
        scope = self.scopes.get(parent.child(*kind.key.split(".")))
        if scope is None:
            return
        scope_objects = self.reading.scopes.setdefault(scope.address, [])
        if scope_objects:
            return
        ordinary = [item for item in listed.objects if item.identity not in self.reading.output_identities]
        scope_objects += [item.identity for item in ordinary]
        self.reading.objects |= {item.identity: item for item in ordinary}
        if isinstance(kind.shape, NodeShape) and source.owner is not None:
            self.reading.sibling_order |= {
                holder or source.owner: tuple(item.identity for item in items)
                for holder, items in listed.by_node.items()
                if items
            }

    def _match_lookups(self, kind: Kind, parent: Address, live: list[LiveObject]) -> None:
        """Find the objects, such as members, that the files name by natural key without an entry (lookups).

        A lookup without an object is an error (DP304).
        """
        lookups = self._lookups.get((kind.name, parent), ())
        if kind.key_field is None or not lookups:
            return
        fold = kind.field(kind.key_field).type.fold_for_key
        # If several objects have the same key, the first one counts.
        by_key = {fold(item.fields.get(kind.key_field)): item for item in reversed(live)}
        for lookup in lookups:
            match = by_key.get(lookup.key)
            if match is not None:
                self.reading.matches[lookup.address] = Match(match.id, MatchedBy.FIRST_NATURAL_KEY)
                continue
            message = f'GitBook has no {kind.noun} "{lookup.key}"'
            hint = (
                f'invite this {kind.noun} in GitBook. If your files contain the list "{kind.key}", '
                f"the plan lists all missing {plural(kind.noun)}"
            )
            self.reading.diagnostics.append(
                Diagnostic("DP304", message, lookup.span, str(lookup.address), hint)
            )

    # --- the snapshot ---------------------------------------------------------------------------------

    def snapshot(self) -> Snapshot:
        """Read what needs all matches, check references, and return everything that was read.

        What needs all matches are the order of siblings, parts of values with requests of their own, and
        pages. Raises DiagnosticError for ids that no object has, for example.
        """
        reading = self.reading
        read_orders(reading, self.forbidden_reads)
        read_separate_parts(reading)
        self._note_unknown_outputs()
        self.forbidden_reads.add_consequences()
        report_lines_of_other_kinds(reading)
        self._report_unknown_pins()
        check_references(reading)
        reading.raise_diagnostics(Exit.INVALID)
        self._read_removed_scopes()
        return Snapshot(
            objects=reading.objects,
            matches=reading.matches,
            scopes={address: tuple(items) for address, items in reading.scopes.items()},
            sibling_order=reading.sibling_order,
            outputs=reading.outputs,
            output_identities=frozenset(reading.output_identities),
            transferred_entries=frozenset(reading.transferred_entries),
            token_user_id=self._read_user(),
            requests=reading.client.requests,
            not_readable=self.forbidden_reads.entries,
            not_readable_fields=self.forbidden_reads.fields,
            prune_unsafe=self.forbidden_reads.prune_unsafe,
            not_readable_watched=self.forbidden_reads.not_readable_watched,
            recorded_ids=reading.recorded_ids,
            missing_objects=reading.missing_objects,
            pages=read_pages(reading),
            platform=reading.client.url,
            trees_without_wrapper=frozenset(reading.sources.trees_without_wrapper),
        )

    def _report_unknown_pins(self) -> None:
        """Report each entry that pins an id without a live object: dpsync never creates such an entry.

        An exception is a kind whose create call adds an existing object by its id.
        """
        pinned = {address: entry for address, entry in self.desired.entries.items() if entry.pin is not None}
        for address, resource in sorted(pinned.items()):
            kind = self.registry[resource.kind]
            added = (
                resource.parent in self.reading.matches
                and kind.create_call(resource.pin, resource.fields) != kind.create
            )
            known = address in self.reading.matches or address in self.forbidden_reads.entries
            if not known and not added:
                self.reading.diagnostics.append(
                    unknown_id_error(kind, resource, bool(self.desired.environments))
                )

    def _read_removed_scopes(self) -> None:
        """Read the lists that only the git base declares, so that a plan can mention their objects.

        The git base is the configuration in the commit compared with. No decision depends on these objects,
        so lists that the token may not read are skipped.
        """
        earlier = self.reading.base.desired
        for scope in earlier.scopes.values() if earlier else ():
            kind = self.registry[scope.kinds[0]]
            is_parent_live = self.reading.is_live(scope.parent)
            if scope.address in self.desired.scopes or not is_parent_live or kind.exists_with_parent:
                continue
            source = self.reading.source(kind, scope.parent)
            try:
                self.sources.fetch([source])
            except (ForbiddenError, NotFoundError):
                continue
            for item in self.sources.objects.get(source.url, ()):
                if item.identity not in self.reading.output_identities:
                    self.reading.objects.setdefault(item.identity, item)

    def _read_user(self) -> str | None:
        """Return the id of the token's user if a declared kind may not take access from this user, else None.

        None without access to GET /user: the plan asks a question instead.
        """
        guarded = any(
            guard.protects_token_user
            for scope in self.desired.scopes.values()
            for guard in (self.registry[name].guard for name in scope.kinds)
            if guard is not None
        )
        if not guarded or not self.registry.profile.has_operation("GET", "/user"):
            return None
        try:
            return self.sources.read_id("/user")
        except ForbiddenError:
            return None  # the plan asks a question instead


def _output_field(kind: Kind) -> Field:
    """Return the field of a kind that holds the id of an object's output."""
    assert kind.platform_work.outputs is not None
    id_path = kind.platform_work.outputs.id_field
    return next(field for field in kind.fields if field.response_path == id_path)


def _lacks_output_id(kind: Kind, item: LiveObject) -> bool:
    """Return whether an object must have an output in its present state, but does not name its id."""
    assert kind.platform_work.outputs is not None
    condition = kind.platform_work.outputs.required_when
    has_output = condition is not None and item.fields.get(condition[0]) == condition[1]
    return has_output and not isinstance(item.fields.get(_output_field(kind).name), LiveId)
