"""What a plan tells of what the platform itself syncs with a repository (Git Sync).

Where the files say the same, or nothing, that is a note. Where they say something else it is blocked: the
file's line is wanted, and the repository decides.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from dpsync.model.address import Address
from dpsync.model.change import Blocked, Note
from dpsync.model.snapshot import Identity
from dpsync.model.text import counted, some
from dpsync.planner.decide.compare import changed
from dpsync.planner.inputs.sides import Sides
from dpsync.planner.inputs.synced import SyncedEntry, synced_entries

_WAY_OUT = (
    "change the values in the repository and remove the fields from your files, or add takeover: true to the "
    "entry"
)
_AGAIN = "the next sync overwrites the values that dpsync writes, unless you turn Git Sync off"


def synced_blocks(sides: Sides) -> Iterator[Blocked]:
    """Every entry that says something else than the repository that decides it."""
    free: Sides | None = None
    for one in _theirs(sides):
        free = free or _taken_over(sides)
        if others := tuple(_otherwise(free, one)):
            reason = f"Git Sync connects this object to {one.repository.name}, which has other values: "
            reason += some(others)
            yield Blocked(address=str(one.entry.address), reason=reason, todo=_WAY_OUT)


def synced_notes(sides: Sides, deleted: Iterable[Identity]) -> Iterator[Note]:
    """What is left alone, and what is written or deleted although a repository decides it."""
    for identity in deleted:
        if (repository := sides.snapshot.objects[identity].synced) is not None:
            text = f"Git Sync connects this object to {repository.name}, and the plan deletes the object"
            yield Note(address=str(sides.names.address(identity)), text=text, severity="warning")
    together: dict[tuple[Address, str], list[SyncedEntry]] = defaultdict(list)
    blocked = {item.address for item in synced_blocks(sides)}
    for one in _theirs(sides):
        if str(one.entry.address) in blocked:
            continue
        if one.tree is None:
            together[one.entry.address.top, one.entry.kind].append(one)
            continue
        words = " and ".join([*one.fields, one.tree.last])
        text = f"Git Sync sets {words} from {one.repository.name}, so dpsync does not change {words}"
        yield Note(address=str(one.entry.address), text=text)
    for (organization, kind), entries in together.items():
        names = [f"{one.entry.key} ({one.repository.name})" for one in entries]
        fields = " and ".join(sorted({name for one in entries for name in one.fields}))
        whose = counted(len(entries), sides.registry[kind].noun)
        text = f"Git Sync connects {whose} to repositories, so dpsync does not change {fields}: "
        yield Note(address=str(organization), text=text + some(names), permanent=True)
    for one in synced_entries(sides.registry, sides.desired, sides.snapshot):
        if one.entry.takeover and not sides.policy.ignored(one.entry.address):
            text = f"Git Sync connects this object to {one.repository.name}: {_AGAIN}"
            yield Note(address=str(one.entry.address.field("takeover")), text=text, severity="warning")
    yield from _needless(sides)


def _theirs(sides: Sides) -> Iterator[SyncedEntry]:
    """What a repository decides of the entries that are planned."""
    for one in synced_entries(sides.registry, sides.desired, sides.snapshot):
        if not one.entry.takeover and not sides.policy.ignored(one.entry.address):
            yield one


def _needless(sides: Sides) -> Iterator[Note]:
    for address, entry in sides.desired.resources.items():
        live = sides.live(address) if entry.takeover else None
        if live is not None and live.synced is None:
            text = "Git Sync does not connect this object to a repository: remove takeover from the entry"
            yield Note(address=str(address.field("takeover")), text=text)


def _taken_over(sides: Sides) -> Sides:
    """The same sides, as if every such entry were taken over."""
    entries = {
        address: replace(entry, takeover=True) if sides.registry[entry.kind].synced else entry
        for address, entry in sides.desired.resources.items()
    }
    return replace(sides, declared=replace(sides.desired, resources=entries))


def _otherwise(free: Sides, one: SyncedEntry) -> Iterator[str]:
    """The fields and nodes of an entry that are not as the files have them."""
    mine = one.entry.address
    for item in changed(free, free.resources[mine], one.live):
        if item.field.name in one.fields:
            yield item.field.name
    for address in free.lineage.below(one.tree) if one.tree is not None else ():
        resource = free.resources[address]
        if not free.kind(resource).in_tree or free.policy.ignored(address):
            continue
        live = free.live(address)
        if live is None or changed(free, resource, live):
            yield "/".join(address.segments[len(mine.segments) :])
