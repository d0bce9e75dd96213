"""Read the live objects and return `Sides` (the files and the live objects), in as many rounds as necessary.

A restructured navigation is matched only after a first reading. dpsync then reads the objects that deletes
would also delete or change, until a round finds no further objects.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct
from msgspec.structs import replace

from dpsync.client.client import ReadClient
from dpsync.kinds.page_references import with_page_ids
from dpsync.kinds.registry import Registry
from dpsync.live.delete_evidence import DeleteEvidenceReader
from dpsync.live.reader import read_snapshot
from dpsync.model.desired import NO_LABELS, ApplyTarget, Base, Desired, LabelCommits
from dpsync.model.ids import NO_IDS, IdsFile
from dpsync.model.snapshot import Snapshot
from dpsync.planner.answers import parse_answers
from dpsync.planner.decide import find_transfers
from dpsync.planner.deletions import decide_deletions
from dpsync.planner.rebound_ids import objects_to_check_for_contents
from dpsync.planner.restructuring import decide_restructuring, with_content_matches, with_pins
from dpsync.planner.selection import find_selection, parse_patterns
from dpsync.planner.sides import Options, Sides


class SidesReader(Struct, frozen=True):
    """Reads the live objects of one configuration and compares them with the git base and the ids file."""

    client: ReadClient
    registry: Registry
    parallelism: int
    base: Base
    ids: IdsFile = NO_IDS
    labels: LabelCommits = NO_LABELS

    def sides(self, desired: Desired, options: Options) -> Sides:
        """Return both sides of a plan: the files, and the live objects that the plan must know.

        Raises ClientError if reading failed, and DiagnosticError if an answer or a pattern matches nothing or
        the configuration does not fit the live objects.
        """
        parse_answers(options.confirm, self.registry)  # before anything is read
        parse_patterns(self.registry, desired, (*options.select, *options.exclude))
        sides = self._make_sides(desired, self.snapshot(desired), options)
        pins = decide_restructuring(sides).recognized_ids
        if pins:
            desired = with_pins(desired, pins)
            sides = self._make_sides(desired, with_content_matches(self.snapshot(desired), pins), options)
        selection = find_selection(sides)
        chosen = replace(sides, selected_addresses=selection.addresses) if selection else sides
        snapshot = self._with_related_objects(chosen)
        # What the sides have worked out by now is worked out once, where nothing more was read.
        return sides if snapshot is sides.snapshot else replace(sides, snapshot=snapshot)

    def _make_sides(self, desired: Desired, snapshot: Snapshot, options: Options) -> Sides:
        """Return both sides of a plan: the files, and the live objects in `snapshot`.

        Page paths in the files and in earlier commits are replaced by the page ids that the platform has.
        """
        base, base_desired, labels = self.base, self.base.desired, self.labels
        if base_desired is not None and snapshot.pages:
            earlier = _EarlierWithPageIds(self.registry, snapshot, base.earlier_configurations)
            base = replace(
                base,
                desired=with_page_ids(self.registry, base_desired, snapshot),
                earlier_configurations=earlier,
            )
        if snapshot.pages:
            labels = labels.map_configurations(
                lambda earlier_desired: with_page_ids(self.registry, earlier_desired, snapshot)
            )
        matches = snapshot.matches.items()
        organizations = frozenset(match.id for address, match in matches if address == address.organization)
        labels = labels.for_target(ApplyTarget(self.client.platform, self.client.url, organizations))
        declared = with_page_ids(self.registry, desired, snapshot)
        return Sides(self.registry, declared, snapshot, options, base, label_commits=labels)

    def snapshot(self, desired: Desired) -> Snapshot:
        """Read the live objects of a configuration, and match them with its entries.

        Raises as `sides` does.
        """
        return read_snapshot(self.client, self.registry, desired, self.parallelism, self.base, self.ids)

    def _with_related_objects(self, sides: Sides) -> Snapshot:
        """Read further live objects, those that deletes affect and that questions are about.

        These are the objects that deletes would also delete or change, the objects that show transferred
        objects, and the content of candidates in questions. An object read may be deleted, too, and other
        objects may refer to it, so reading repeats until there is nothing new. Return the full snapshot.
        """
        to_delete = decide_deletions(sides, decide_restructuring(sides))
        transferred = find_transfers(sides).all_transferred
        candidates = objects_to_check_for_contents(sides)
        if not to_delete.roots and not transferred and not candidates:
            return sides.snapshot
        evidence = DeleteEvidenceReader(self.client, self.registry, sides.snapshot, self.parallelism)
        evidence.check_lists_unchanged([*to_delete.roots, *transferred])
        evidence.read_transferred(transferred)
        while evidence.read_dependents(to_delete.all_deleted):
            current = replace(sides, snapshot=evidence.snapshot)
            to_delete = decide_deletions(current, decide_restructuring(current))
            evidence.check_lists_unchanged(to_delete.roots)
        evidence.read_dependents(candidates)
        return evidence.snapshot


class _EarlierWithPageIds(Struct, frozen=True):
    """The configurations of earlier commits, read lazily, with page ids in place of page paths."""

    registry: Registry
    snapshot: Snapshot
    earlier: Iterable[Desired]

    def __iter__(self) -> Iterator[Desired]:
        return (with_page_ids(self.registry, desired, self.snapshot) for desired in self.earlier)
