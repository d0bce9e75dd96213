"""Parts of values that have a request of their own: read for the entries that declare them.

While the platform is processing an object, such a part is older than the value that was sent last, so it is
not read. If processing failed, the part is the value that the platform still has.
"""

from __future__ import annotations

from msgspec.structs import replace

from dpsync.kinds.kind import Kind
from dpsync.kinds.registry import Registry
from dpsync.kinds.urls import Chain, expand
from dpsync.live.reading import ReadingState
from dpsync.live.sources import Sources
from dpsync.model.desired import Entry
from dpsync.model.snapshot import LiveObject


def has_parts(kind: Kind, resource: Entry) -> bool:
    """Whether an entry declares a part that is read by a request of its own."""
    return bool(kind.own_read_fields) and any(_declared(kind, resource))


def read_parts(reading: ReadingState) -> None:
    """Read such parts for all recognised entries, and put them into their live objects."""
    asking = [
        resource
        for address, resource in reading.desired.resources.items()
        if address in reading.matches and has_parts(reading.registry[resource.kind], resource)
    ]
    found = reading.sources.map(lambda resource: _part_of(reading, resource), asking)
    reading.objects |= {item.identity: item for item in found}


def _part_of(reading: ReadingState, resource: Entry) -> LiveObject:
    (name, id), *above = reading.chain(resource.address)
    identity = reading.registry[name].identity_of(id, above[0] if above else None)
    return with_parts(reading.sources, reading.registry, resource, reading.objects[identity], above)


def with_parts(
    sources: Sources, registry: Registry, resource: Entry, live: LiveObject, above: Chain
) -> LiveObject:
    """The live object of an entry with such parts in its fields; those that cannot be read are left out.

    `above` is what it hangs below. Raises ClientError as other reads do.
    """
    kind = registry[resource.kind]
    if kind.is_busy(live.fields):
        return live
    fields = dict(live.fields)
    for name, part, path in _declared(kind, resource):
        found = sources.text(expand(registry, kind, path, live.id, above))
        if found is not None:
            fields[name] = {**(fields.get(name) or {}), part: found}
    return replace(live, fields=fields)


def _declared(kind: Kind, resource: Entry) -> list[tuple[str, str, str]]:
    """Field, part and path of each."""
    found = []
    for field in kind.own_read_fields:
        value = resource.fields.get(field.name)
        if isinstance(value, dict):
            found += [(field.name, part, path) for part, path in field.own_read.items() if part in value]
    return found
