"""Places that the policy watches and no file declares: read for drift alone; nothing is changed there."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from dpsync.kinds.kind import Single
from dpsync.kinds.registry import Registry
from dpsync.model.entries.address import Address, Pattern
from dpsync.model.entries.desired import Resource, Scope


def watched(
    registry: Registry,
    resources: Iterable[Resource],
    declared: Collection[Address],
    patterns: tuple[Pattern, ...],
) -> Mapping[Address, Scope]:
    """The lists below entries that a pattern names, without those that the files declare.

    What there is one of is no such place: nothing can appear there.
    """
    found: dict[Address, Scope] = {}
    for resource in resources if patterns else ():
        for word, kinds in registry.places(resource.kind).items():
            address = resource.address.child(*word.split("."))
            if isinstance(kinds[0].shape, Single) or address in declared:
                continue
            pattern = next((one for one in patterns if one.matches(address)), None)
            if pattern is not None:
                names = tuple(kind.name for kind in kinds)
                found[address] = Scope(address, resource.address, names, pattern.span or resource.span)
    return found
