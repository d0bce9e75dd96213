"""The part of a configuration that can be read; the rest is noted, to be told as blocked.

What a server has no operation for is taken out before anything is read, what a token may not read afterwards.
"""

from __future__ import annotations

from msgspec.structs import replace

from dpsync.kinds.registry import Registry
from dpsync.model.address import Address
from dpsync.model.desired import Desired, Unserved


def supported(desired: Desired, registry: Registry) -> Desired:
    """The configuration without what the registry's profile cannot read; that is in `unserved`, with why."""
    why = {
        name: registry.profile.lacks(f"reading {kind.one}")
        for name, kind in registry.declared.items()
        if name not in registry
    }
    if not why:
        return desired
    out = {
        address: Unserved(why[item.kind], item.span)
        for address, item in desired.resources.items()
        if item.kind in why
    }
    empty: dict[Address, Unserved] = {}
    scopes = {}
    for address, scope in desired.scopes.items():
        kinds = tuple(name for name in scope.kinds if name in registry)
        if kinds:
            scopes[address] = replace(scope, kinds=kinds)
        elif not any(other.is_in(address) for other in out):
            empty[address] = Unserved(why[scope.kinds[0]], scope.span)
    watched = {
        address: replace(scope, kinds=kinds)
        for address, scope in desired.watched.items()
        if (kinds := tuple(name for name in scope.kinds if name in registry))
    }
    return replace(replace(desired, watched=watched).without({**out, **empty}), scopes=scopes)
