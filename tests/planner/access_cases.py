"""Organizations of the access oracle as the two sides of a plan, with all lists read or some hidden."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from dpsync.kinds.registry import build_registry
from dpsync.model.address import Address
from dpsync.model.values import LiveId
from dpsync.planner.sides import Sides

from .access_oracle import Place, World
from .stages import ACME, Case, Things

REGISTRIES = {"published": build_registry("published"), "full": build_registry("full")}


def things(world: World, *, live: bool) -> Things:
    """One side of a case."""

    def to(kind: str, key: str | None) -> Any:
        if key is None:
            return None
        return LiveId(f"{kind}-{key}") if live else Case({kind: {key: {}}}).ref(kind, key)

    of = {kind: [key for one, key in world.levels if one == kind] for kind in ("space", "collection", "site")}
    found: dict[str, dict[str, dict[str, Any]]] = {
        "member": {member: {"role": role} for member, role in world.members.items()},
        "team": {team: {"title": team} for team in world.teams},
        "team_member": {
            f"{team}/{one}": {"role": "member"} for team in world.teams for one in world.teams[team]
        },
        "collection": {
            key: {"title": key, "parent": to("collection", world.inside["collection", key])}
            for key in of["collection"]
        },
        "space": {
            key: {"title": key, "collection": to("collection", world.inside["space", key])}
            for key in of["space"]
        },
        "site": {key: {"title": key, "basename": key} for key in of["site"]},
        "site_space": {
            f"{site}/{space}": {"path": space, "space": to("space", space)}
            for site, space in sorted(world.links)
        },
        "member_permission": {},
        "team_permission": {},
    }
    for (kind, key), level in world.levels.items():
        found[kind][key]["defaultLevel"] = level
    for name, given in (("member_permission", world.people), ("team_permission", world.groups)):
        for (_, key), roles in given.items():
            found[name] |= {f"{key}/{who}": {"role": role} for who, role in roles.items()}
    return found


LISTS = {
    "people": ("permissions", "members"),
    "groups": ("permissions", "teams"),
    "structure": ("structure",),
}


def without(sides: Sides, hidden: set[tuple[str, Place]]) -> Sides:
    """Return the sides as they are read if the files do not declare these lists."""
    out = []
    for name, (kind, key) in hidden:
        at = ACME.child("teams", key, "members") if name == "members" else ACME.child(f"{kind}s", key)
        out.append(at if name == "members" else at.child(*LISTS[name]))

    def left(address: Address) -> bool:
        return not any(address.is_at_or_below(place) for place in out)

    snapshot, desired = sides.snapshot, sides.loaded
    gone = {one for place, items in snapshot.scopes.items() if not left(place) for one in items}
    objects = {key: item for key, item in snapshot.objects.items() if key not in gone}
    resources = {
        address: replace(item, children=tuple(filter(left, item.children)))
        for address, item in desired.entries.items()
        if left(address)
    }
    return replace(
        sides,
        loaded=replace(
            desired,
            entries=resources,
            scopes={place: scope for place, scope in desired.scopes.items() if left(place)},
        ),
        snapshot=replace(
            snapshot,
            objects=objects,
            matches={address: match for address, match in snapshot.matches.items() if left(address)},
            scopes={place: items for place, items in snapshot.scopes.items() if left(place)},
            sibling_order={
                key: tuple(one for one in items if one in objects)
                for key, items in snapshot.sibling_order.items()
                if key in objects
            },
        ),
    )


def sides(
    before: World,
    after: World,
    *,
    profile: str = "published",
    hidden: set[tuple[str, Place]] = frozenset(),  # type: ignore[assignment]
) -> Sides:
    """Return the sides of a plan that changes one organization into another, with all deletes confirmed."""
    case = Case(
        things(after, live=False),
        things(before, live=True),
        prune=["**"],
        registry=REGISTRIES[profile],
        confirm=["delete 9"],
    )
    return without(case.sides(), hidden)
