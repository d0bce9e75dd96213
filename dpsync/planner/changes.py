"""Build the changes of a plan from decisions (what happens to each object) and steps (requests).

Output: `build_changes` returns one `Change` for each object. Also here: `git_sync_notes` and
`git_sync_blocks` (an entry that differs from the repository that GitBook syncs it with is blocked, because
the next sync would overwrite the change), `watched_values` (undeclared objects compared with `policy:
watch`), and `page_paths` (a plan shows a page by its path, not by its id).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from dpsync.kinds.page_references import page_references, space_id
from dpsync.kinds.types import INVALID
from dpsync.kinds.watch_patterns import format_value, parse_value
from dpsync.model.address import Address, Pattern
from dpsync.model.change import Blocked, Cause, Change, Difference, Effect, Note, Removed
from dpsync.model.desired import Entry
from dpsync.model.drift import Drifted, FieldDrift
from dpsync.model.plan import Origin
from dpsync.model.snapshot import Identity, LiveObject, MatchedBy
from dpsync.model.text import format_count, shorten_list
from dpsync.model.values import Ref, reference_text
from dpsync.planner.compare import FieldChange, changed_fields, object_digest
from dpsync.planner.decide import Decisions, transfer_difference
from dpsync.planner.deletions import delete_effects
from dpsync.planner.labels import Labels
from dpsync.planner.names import Hierarchy
from dpsync.planner.notes import pattern_key
from dpsync.planner.policy import GitSyncedEntry, git_synced_entries
from dpsync.planner.sides import Sides
from dpsync.planner.stepset import PlannedSteps


def page_paths(sides: Sides, changes: Iterable[Change]) -> dict[str, dict[str, str]]:
    """Return the paths of the pages that changed objects refer to, because a plan shows pages by path.

    The first key is the address or id of the site space that shows a page, the second the page's id. Pages in
    spaces that were not read are left out.
    """
    paths: dict[str, dict[str, str]] = defaultdict(dict)
    for change in changes if sides.snapshot.pages else ():
        entry, live = sides.entries.get(change.location), sides.live(change.location)
        sources: list[Entry | LiveObject] = [*([entry] if entry else []), *([live] if live else [])]
        for source in sources:
            for reference in page_references(sides.registry, source, sides.entries, sides.snapshot.objects):
                pages = sides.snapshot.pages.get(space_id(reference.space, sides.values.live_id) or "", {})
                if path := pages.get(reference.page):
                    value = sides.values.to_display(
                        reference.field, source.fields[reference.field.name], source
                    )
                    paths[reference_text(value[reference.site_space_part])][reference.page] = path
    return dict(paths)


_SYNCED_TODO = (
    "change the values in the repository and remove the fields from your files, or add takeover: true to the "
    "entry"
)
_NEXT_SYNC = "the next sync overwrites the values that dpsync writes, unless you turn Git Sync off"


def git_sync_blocks(sides: Sides) -> Iterator[Blocked]:
    """Yield a block for each entry whose values differ from those of its Git Sync repository.

    dpsync does not write such values, because the next sync would overwrite the change.
    """
    taken_over: Sides | None = None
    for synced in _decided_by_repository(sides):
        if taken_over is None:
            # Without `takeover: true`, a comparison would skip the fields and nodes of the repository.
            entries = {
                address: replace(entry, takeover=True) if sides.registry[entry.kind].git_sync else entry
                for address, entry in sides.desired.entries.items()
            }
            taken_over = replace(sides, loaded=replace(sides.desired, entries=entries))
        if differing := tuple(_differing_parts(taken_over, synced)):
            reason = f"Git Sync connects this object to {synced.repository.name}, which has other values: "
            reason += shorten_list(differing)
            yield Blocked(address=str(synced.entry.address), reason=reason, todo=_SYNCED_TODO)


def git_sync_notes(sides: Sides, deleted: Iterable[Identity]) -> Iterator[Note]:
    """Yield notes about objects that Git Sync connects to a repository.

    The notes say which objects the plan deletes, which fields and navigations dpsync does not change because
    the repository sets them, and for which objects `takeover: true` is a risk or is not needed. The notes
    about fields are combined by kind.
    """
    for identity in deleted:
        if (repository := sides.snapshot.objects[identity].synced_repository) is not None:
            text = f"Git Sync connects this object to {repository.name}, and the plan deletes the object"
            yield Note(address=str(sides.names.address(identity)), text=text, severity="warning")
    by_kind: dict[tuple[Address, str], list[GitSyncedEntry]] = defaultdict(list)
    blocked = {block.address for block in git_sync_blocks(sides)}
    for synced in _decided_by_repository(sides):
        if str(synced.entry.address) in blocked:
            continue
        if synced.tree is None:
            by_kind[synced.entry.address.organization, synced.entry.kind].append(synced)
            continue
        words = " and ".join([*synced.fields, synced.tree.last_segment])
        text = f"Git Sync sets {words} from {synced.repository.name}, so dpsync does not change {words}"
        yield Note(address=str(synced.entry.address), text=text)
    for (organization, kind), entries in by_kind.items():
        names = [f"{synced.entry.key} ({synced.repository.name})" for synced in entries]
        fields = " and ".join(sorted({name for synced in entries for name in synced.fields}))
        objects = format_count(len(entries), sides.registry[kind].noun)
        text = f"Git Sync connects {objects} to repositories, so dpsync does not change {fields}: "
        yield Note(address=str(organization), text=text + shorten_list(names), permanent=True)
    for synced in git_synced_entries(sides.registry, sides.desired, sides.snapshot):
        if synced.entry.takeover and not sides.policy.is_ignored(synced.entry.address):
            text = f"Git Sync connects this object to {synced.repository.name}: {_NEXT_SYNC}"
            yield Note(address=str(synced.entry.address.field("takeover")), text=text, severity="warning")
    for address, entry in sides.desired.entries.items():
        live = sides.live(address) if entry.takeover else None
        if live is not None and live.synced_repository is None:
            text = "Git Sync does not connect this object to a repository: remove takeover from the entry"
            yield Note(address=str(address.field("takeover")), text=text)


def _decided_by_repository(sides: Sides) -> Iterator[GitSyncedEntry]:
    """Yield the managed entries whose fields or navigation Git Sync sets from a repository.

    Entries with `takeover: true` are left out, because dpsync writes them anyway.
    """
    for synced in git_synced_entries(sides.registry, sides.desired, sides.snapshot):
        if not synced.entry.takeover and not sides.policy.is_ignored(synced.entry.address):
            yield synced


def _differing_parts(taken_over: Sides, synced: GitSyncedEntry) -> Iterator[str]:
    """Yield the fields and navigation nodes of an entry whose live values differ from the files.

    Nodes are paths below the entry. In `taken_over`, the entries have `takeover: true`, so that fields and
    nodes that the Git Sync repository sets are compared, too.
    """
    entry_address = synced.entry.address
    for field_change in changed_fields(taken_over, taken_over.entries[entry_address], synced.live):
        if field_change.field.name in synced.fields:
            yield field_change.field.name
    for address in taken_over.hierarchy.subtree(synced.tree) if synced.tree is not None else ():
        entry = taken_over.entries[address]
        if not taken_over.kind(entry).is_node or taken_over.policy.is_ignored(address):
            continue
        live = taken_over.live(address)
        if live is None or changed_fields(taken_over, entry, live):
            yield "/".join(address.segments[len(entry_address.segments) :])


class WatchedValues(Struct, frozen=True):
    """Undeclared objects whose values differ from `policy: watch` patterns."""

    drifted: tuple[Drifted, ...]
    origins: Mapping[str, Origin]
    """By address of such an object: the file and line of the pattern."""


def watched_values(
    sides: Sides, origins: Mapping[str, Origin], is_selected: Callable[[Address], bool]
) -> WatchedValues:
    """Return the selected, undeclared objects that differ from a `policy: watch` pattern with a value.

    `origins` contains the file and line of each pattern.
    """
    fields: dict[Identity, dict[str, FieldDrift]] = defaultdict(dict)
    origins_by_object: dict[str, Origin] = {}
    for pattern in sides.desired.policy.watch_values:
        for identity in sides.names.undeclared_matching(pattern):
            drift = _pattern_drift(sides, pattern, identity)
            if drift is None or not is_selected(sides.names.address(identity)):
                continue
            fields[identity][drift.field] = drift
            origin = origins.get(pattern_key("watch", pattern))
            if origin is not None:
                origins_by_object.setdefault(str(sides.names.address(identity)), origin)
    drifted = []
    for identity, differences in sorted(fields.items()):
        live = sides.snapshot.objects[identity]
        drifted.append(
            Drifted(
                address=str(sides.names.address(identity)),
                kind=live.kind,
                what="different",
                label=sides.names.label(live),
                id=live.id,
                fields=tuple(differences.values()),
                kept=True,
            )
        )
    return WatchedValues(tuple(drifted), origins_by_object)


def _pattern_drift(sides: Sides, pattern: Pattern, identity: Identity) -> FieldDrift | None:
    """Return how the field of a live object differs from the value in a `policy: watch` pattern.

    Return None if the field has the value or is ignored. The cause is "edited here" if the pattern is new in
    the files, compared with the git base.
    """
    live, name = sides.snapshot.objects[identity], pattern.field or ""
    address = sides.names.address(identity)
    field = next((field for field in sides.kind(live).fields if field.name == name), None)
    left_alone = sides.policy.is_ignored(address, name) or sides.policy.is_forgotten(identity)
    if field is None or left_alone:
        return None
    value, expected = live.fields.get(name), parse_value(field, pattern.value or "")
    if expected is INVALID or format_value(field, value) == format_value(field, expected):
        return None
    compared = sides.label_commits.compared_commit
    is_in_base = compared is None or any(
        watch_pattern.text == pattern.text for watch_pattern in compared.desired.policy.watch_values
    )
    return FieldDrift(field=name, live=value, file=expected, cause=None if is_in_base else "edited here")


_UNREPORTED_MATCHES: Final = frozenset(
    {MatchedBy.IDS_LINE, MatchedBy.FIRST_NATURAL_KEY, MatchedBy.ONLY_OBJECT_IN_PLACE}
)


def build_changes(decisions: Decisions, steps: PlannedSteps) -> list[Change]:
    """Return the changes of the plan, one for each object, in the order of the files, deletes last."""
    moving = frozenset(
        address
        for address in steps.drafts.by_address
        if any(step.verb == "move" for step in steps.steps_of(address))
    )
    builder = _ChangeBuilder(decisions, steps, Labels(decisions.sides, moving))
    addresses = sorted(builder.addresses(), key=ConfigurationOrder(decisions.sides.hierarchy).sort_key)
    return sorted(map(builder.build_change, addresses), key=lambda change: change.action == "delete")


class _ChangeBuilder(Struct, frozen=True):
    """Build the changes of one plan: for each address what changes, why, and with which steps."""

    decisions: Decisions
    steps: PlannedSteps
    labels: Labels

    def addresses(self) -> set[Address]:
        """Return the addresses of all changes.

        These are the addresses with steps, and the children that the create request of their parent creates.
        """
        decisions = self.decisions.entries
        return self.steps.drafts.by_address.keys() | {
            address
            for address in self.decisions.created_with_parent
            if address in decisions and (decisions[address].live is None or decisions[address].display)
        }

    def build_change(self, address: Address) -> Change:
        """Return the change of the object at an address: a create or update of an entry, or a delete."""
        sides = self.decisions.sides
        entry = sides.entries.get(address)
        if entry is None:
            return self._build_delete(address)
        live, steps = sides.live(address), self.steps.steps_of(address)
        match = sides.snapshot.matches.get(address)
        if match is not None and match.by in _UNREPORTED_MATCHES:
            match = None
        decision = self.decisions.entries.get(address)
        display = decision.display if decision else ()
        moves = [step for step in steps if step.verb == "move"]
        cause = None
        if live is None or any(step.verb == "restore" for step in steps):
            cause = self.labels.create_label(address)
        elif address in self.labels.moving_addresses:
            cause = self.labels.position_label(entry)
        # The navigation node that contains a new entry, unless the entry's address already begins with it.
        node = entry.holder if live is None else None
        if node is not None and entry.address.is_at_or_below(node):
            node = None
        differences = [
            self._difference(entry, field_change, live, cause)
            for field_change in display
            if live is not None or not field_change.field.is_parent_reference or node is not None
        ]
        if address in sides.snapshot.transferred_entries:
            parent_cause = self.labels.parent_label(entry)
            differences.append(transfer_difference(sides.names, address, parent_cause))
        return Change(
            address=str(address),
            kind=entry.kind,
            action="create" if live is None else "update",
            label=sides.names.label(entry),
            id=live.id if live else None,
            matched=match.by if match else None,
            matched_detail=match.detail if match else "",
            digest=object_digest(live, entry.fields) if live else None,
            watched=tuple(sorted(entry.fields)) if live else (),
            inside=str(node) if node is not None else None,
            differences=tuple(differences),
            cause=cause,
            effects=tuple(self._cleared_field_effects(entry, live, display)),
            moved=moves[0].summary if moves else None,
            steps=steps,
        )

    def _difference(
        self, entry: Entry, field_change: FieldChange, live: LiveObject | None, created: Cause | None
    ) -> Difference:
        """Return a changed field as the plan shows it, with its cause.

        A field of a new object has the cause of the create (`created`). A value that an entry inherited so
        far has the cause of the change of the inherited value. If the field is a flag that only one object
        can have, the difference names the object that loses the flag.
        """
        cause = created if live is None else None
        if field_change.inherited_from is not None:
            source = self.decisions.entries.get(field_change.inherited_from)
            assert source is not None
            changes = source.display
            change = next(change for change in changes if change.field.name == field_change.field.name)
            cause = self.labels.field_label(source.entry, change)
        elif live is not None:
            cause = self.labels.field_label(entry, field_change)
        difference = field_change.difference(self.decisions.sides.values, entry, cause)
        if field_change.field.exclusive_within is None or field_change.after is not True:
            return difference
        return difference.model_copy(
            update={"taken_from": self.decisions.exclusive.live_holder_id(entry, field_change.field)}
        )

    def _cleared_field_effects(
        self, entry: Entry, live: LiveObject | None, display: tuple[FieldChange, ...]
    ) -> Iterator[Effect]:
        """Yield an effect for each live field that the platform clears because another field gets a value.

        The platform does that for two fields of which an object can have only one.
        """
        kind, displayed = self.decisions.sides.kind(entry), {change.field.name for change in display}
        for field_change in display if live is not None else ():
            name = field_change.field.mutually_exclusive_with
            if live is None or name is None or name in displayed or field_change.after is None:
                continue
            if (cleared := live.fields.get(name)) is not None:
                text = (
                    f"the {name} ({cleared}) is removed, because {kind.noun_with_article} can have "
                    f"only one of {name} and {field_change.field.name}"
                )
                yield Effect(address=str(entry.address.field(name)), what=text, counts=False)

    def _deleted_values(self, live: LiveObject) -> Iterator[Difference]:
        """Yield the values of a deleted object that somebody needs to create the object again.

        Secrets, the parent and the position among siblings are left out.
        """
        sides, kind = self.decisions.sides, self.decisions.sides.kind(live)
        order_fields = {order.name for order in kind.list_orders}
        for field in kind.writable_fields:
            value = live.fields.get(field.name)
            field_type = field.type_for(live.fields.get(field.form_selector or ""))
            is_left_out = field.is_parent_reference or field.name in order_fields
            if value is None or field_type.may_be_secret or is_left_out:
                continue
            yield Difference(field=field.name, before=sides.values.to_display(field, value, live))

    def _build_delete(self, address: Address) -> Change:
        """Return the change that deletes an object, with its values and all effects of the delete.

        `removed` is the newest entry that git has for the object. In a revert it is None, because a revert
        deletes only objects that the reverted apply created.
        """
        sides, deletions = self.decisions.sides, self.decisions.deletions
        identity = deletions.addresses[address]
        live = deletions.roots[identity]
        lost_effects = delete_effects(sides.names, deletions.cascade, identity)
        cascaded = [lost for lost, name in deletions.cascade.losses_by_root.get(identity, ()) if not name]
        is_revert = sides.desired.policy.deletable_ids is not None
        removed_entry = None if is_revert else sides.removals.newest_entry(identity)
        return Change(
            address=str(address),
            kind=live.kind,
            action="delete",
            label=sides.names.label(live),
            id=live.id,
            digest=object_digest(live, sides.kind(live).lasting_fields),
            watched=tuple(sorted(sides.kind(live).lasting_fields)),
            cause=self.labels.delete_label(identity),
            effects=lost_effects + self.decisions.exclusive.platform_choice_effects([identity, *cascaded]),
            was=tuple(self._deleted_values(live)),
            removed=Removed(address=str(removed_entry.address), file=removed_entry.span.file)
            if removed_entry is not None
            else None,
            steps=self.steps.steps_of(address),
        )


SortKey = tuple[tuple[str, int, str], ...]
Segments = tuple[str, ...]


class ConfigurationOrder(Struct, frozen=True, dict=True):
    """Sort the changes of a plan: siblings in the order of the configuration, otherwise by address."""

    hierarchy: Hierarchy

    @cached_property
    def _positions(self) -> Mapping[Segments, tuple[str, int]]:
        """Return the positions of the entries that a list field or a navigation orders.

        The key contains the segments of an entry's address. The value is a name and a number: entries that a
        list field orders are sorted together, at the position of the first of them by name, and by their
        index in the list. The nodes of a navigation come before all siblings with a name.
        """
        positions: dict[Segments, tuple[str, int]] = {}
        for kind in self.hierarchy.registry.in_dependency_order:
            for order in kind.list_orders:
                for parent in self.hierarchy.desired.entries.values():
                    if parent.kind != kind.name:
                        continue
                    items = parent.fields.get(order.name) or ()
                    addresses = [item.address for item in items if isinstance(item, Ref)]
                    first_name = min(addresses).last_segment if addresses else ""
                    for number, address in enumerate(addresses):
                        positions[address.segments] = (first_name, number)
        for scope in self.hierarchy.desired.scopes.values():
            if self.hierarchy.registry[scope.kinds[0]].is_node:
                children = self.hierarchy.desired.entries[scope.parent].children
                for number, address in enumerate(self.hierarchy.preorder(children)):
                    positions[address.segments] = ("", number)
        return positions

    def sort_key(self, address: Address) -> SortKey:
        """Return the sort key of a change: a position or the name for each segment of its address."""
        segments = address.segments
        return tuple(
            (*self._positions.get(segments[: depth + 1], (segment, 0)), segment)
            for depth, segment in enumerate(segments)
        )
