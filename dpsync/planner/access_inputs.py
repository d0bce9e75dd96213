"""Collect what access depends on: members, roles, levels and places, before and after the plan.

Input: decisions (what happens to each object). Output: two `AccessState`s (access_roles.py). A place is a
space, collection or site. Only lists that were read for declared places or for a delete count. Other objects
of the snapshot, which were read only because the git base (the commit compared with) declares them, are left
out: the access in a plan must not depend on the base.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from dpsync.kinds.kind import Field, Kind
from dpsync.kinds.shared.fields import ROLES_ASCENDING_WITH_GUEST
from dpsync.model.address import Address
from dpsync.model.change import Change
from dpsync.model.desired import Entry
from dpsync.model.snapshot import Identity, LiveObject
from dpsync.model.values import LiveId, Ref, Value
from dpsync.planner.access_roles import ANY_ROLE, NO_ROLE, AccessPlace, AccessState, Key, RoleRange
from dpsync.planner.decide import Decisions

_INHERIT = "inherit"


class UnlistedSpaces(Struct, frozen=True):
    """A key for the spaces on a site or in a collection (`place`) that no list of the files contains."""

    place: Key


class AccessObject(Struct, frozen=True):
    """An object that affects access, with its fields as they are before or after the plan."""

    key: Key
    kind: Kind
    source: Entry | LiveObject
    fields: Mapping[str, Value]


class AccessInputs(Struct, frozen=True, dict=True):
    """The objects of one organization that affect access, before and after the plan.

    A field affects access by its access word (`Field.access_meaning`): `who` refers to a member or team,
    `role` is a role, `level` a default level, `inside` refers to a collection, and `shows` to a space.
    """

    decisions: Decisions
    changes: tuple[Change, ...]
    organization: Address

    # Names.

    def key(self, address: Address) -> Key:
        """Return the key of the object at an address: its identity, or the address before it is created.

        An object that the platform creates as the output of an entry has the identity of the output.
        """
        sides = self.decisions.sides
        entry = sides.entries.get(address)
        if address in sides.snapshot.outputs and entry is not None:
            outputs = sides.kind(entry).platform_work.outputs
            id = sides.snapshot.outputs[address]
            return (outputs.kind, id) if outputs is not None and id is not None else address
        if entry is not None and sides.kind(entry).is_part_of_output and entry.parent is not None:
            return self.key(entry.parent)
        if (identity := sides.names.identities.get(address)) is not None:
            return identity
        lookup = sides.desired.lookups.get(address)
        return (sides.names.identity(address, lookup) if lookup is not None else None) or address

    def live_key(self, identity: Identity) -> Key:
        """Return the key of a live object; the key of an output for the object that holds its access."""
        registry = self.decisions.sides.registry
        kind = registry[identity[0]]
        outputs = registry[kind.parents[0]].platform_work.outputs if kind.is_part_of_output else None
        return (outputs.kind, identity[1]) if outputs is not None else identity

    def referenced_key(self, field: Field, value: Value, source: Entry | LiveObject) -> Key | None:
        """Return the key of the object to which the value of a reference field refers, None for other values.

        If the field can refer to several kinds, prefer one with an object that was read.
        """
        if isinstance(value, Ref):
            return self.key(value.address)
        if not isinstance(value, LiveId):
            return None
        sides = self.decisions.sides
        candidates = [
            sides.names.referenced_object(source, kind, value.id) for kind in field.type.referenced_kinds
        ]
        return next(
            (identity for identity in candidates if identity in sides.snapshot.objects), candidates[0]
        )

    def address(self, key: Key) -> str | None:
        """Return the address of the object with a key, None if no object in this plan has the key."""
        sides = self.decisions.sides
        if isinstance(key, Address):
            return str(key)
        if key in sides.snapshot.objects:
            return str(sides.names.address(key))
        return next((str(address) for address, id in sides.snapshot.outputs.items() if id == key[1]), None)

    def title(self, key: Key) -> str | None:
        """Return the title of an object that was not read, taken from an object that refers to it."""
        return self.decisions.sides.names.referenced_titles.get(key)

    # Both sides.

    @cached_property
    def created_objects(self) -> tuple[AccessObject, ...]:
        """Return the objects that the plan creates and that affect access, without blocked fields."""
        created = []
        is_field_blocked = self.decisions.blocking.is_field_blocked
        for change in self.changes:
            decision = self.decisions.entries.get(change.location)
            if decision is None or decision.live is not None:
                continue
            entry, kind = decision.entry, self.decisions.sides.kind(decision.entry)
            if kind.access_fields:
                fields = {
                    name: value
                    for name, value in entry.fields.items()
                    if not is_field_blocked(entry.address, kind.field(name))
                }
                created.append(AccessObject(self.key(entry.address), kind, entry, fields))
        return tuple(created)

    @cached_property
    def live_objects(self) -> tuple[AccessObject, ...]:
        """Return the live objects of the organization that affect access, with their fields before the plan.

        Objects that were read only because the git base declares them are left out.
        """
        sides = self.decisions.sides
        organization = sides.names.identities.get(self.organization)
        live_objects = []
        for identity, live in sides.snapshot.objects.items():
            kind = sides.kind(live)
            if (
                kind.access_fields
                and (ancestors := sides.snapshot.ancestors(live))
                and ancestors[-1] == organization
                and self._is_read_without_base(live, kind)
            ):
                live_objects.append(AccessObject(self.live_key(identity), kind, live, live.fields))
        return tuple(live_objects)

    def _is_read_without_base(self, live: LiveObject, kind: Kind) -> bool:
        """Return whether dpsync would also read a live object if there were no git base.

        That is so for a role or membership if the whole list was read, or if the member or team is deleted:
        before a delete, all objects that refer to the deleted object are read (live/delete_evidence.py).
        """
        if "who" not in kind.access_fields or live.parent is None:
            return True
        referenced = self.referenced_key(
            kind.access_fields["who"], live.fields.get(kind.access_fields["who"].name), live
        )
        is_deleted = referenced is not None and self.decisions.deletions.deletes(referenced)
        return is_deleted or self.is_list_read(live.parent, kind)

    def is_list_read(self, place: Identity, kind: Kind) -> bool:
        """Return whether the list of all objects of a kind in a live object was read.

        The objects in a deleted object were read, because the plan lists them (live/delete_evidence.py).
        """
        sides = self.decisions.sides
        return place in sides.snapshot.objects and (
            self.decisions.deletions.deletes(place)
            or sides.names.address(place).child(*kind.key.split(".")) in sides.snapshot.scopes
        )

    @cached_property
    def kept_objects(self) -> tuple[AccessObject, ...]:
        """Return the live objects that affect access and that the plan keeps, with their planned fields."""
        kept_objects = []
        for live_object in self.live_objects:
            source = live_object.source
            if not isinstance(source, LiveObject) or self.decisions.deletions.deletes(source.identity):
                continue
            address = self.decisions.sides.names.declared.get(source.identity)
            decision = self.decisions.entries.get(address) if address is not None else None
            written = decision.separately_written if decision is not None else ()
            new_values = {difference.field.name: difference.after for difference in written}
            kept_objects.append(replace(live_object, fields={**live_object.fields, **new_values}))
        return tuple(kept_objects)

    # The access before and after.

    @cached_property
    def before(self) -> AccessState:
        """Return the access before the plan.

        A space, collection or site that the plan creates counts as already there, without roles or a default
        level, so that each role on it counts as a gain.
        """
        current = self._access_state(self.live_objects)
        new = {created.key for created in self.created_objects if "level" in created.kind.access_fields}
        after = self.after

        def with_new(current: Mapping[Key, Any], later: Mapping[Key, Any]) -> dict[Key, Any]:
            """Return `current`, with the values of new places from `later`."""
            return {**current, **{key: later[key] for key in new if key in later}}

        return AccessState(
            members=current.members,
            teams=current.teams,
            member_roles=current.member_roles,
            team_roles=current.team_roles,
            fully_read_places=current.fully_read_places | new,
            levels={**current.levels, **dict.fromkeys(new)},
            collection_of=with_new(current.collection_of, after.collection_of),
            sites_showing=with_new(current.sites_showing, after.sites_showing),
            sites_read=current.sites_read,
            unread_levels=current.unread_levels,
        )

    @cached_property
    def after(self) -> AccessState:
        """Return the access after the apply."""
        return self._access_state((*self.kept_objects, *self.created_objects))

    def _access_state(self, access_objects: Iterable[AccessObject]) -> AccessState:
        """Return the access that these objects result in: all members, teams, roles, levels and places.

        Spaces that no read list contains are represented by `UnlistedSpaces`, one for each site or collection
        that may have such spaces.
        """
        access_objects = tuple(access_objects)
        members: dict[Key, RoleRange] = {}
        member_roles: dict[Key, dict[Key, RoleRange]] = {}
        team_roles: dict[Key, dict[Key, RoleRange]] = {}
        teams: dict[Key, set[Key]] = {key: set() for key in self._teams_read}
        levels: dict[Key, RoleRange | None] = {}
        collection_of: dict[Key, Key | None] = {}
        sites_showing: dict[Key, set[Key]] = {}
        for access_object in access_objects:
            access = access_object.kind.access_fields
            grantee = self.key_in_access_field(access_object, "who")
            if "who" in access and "role" in access:
                roles = team_roles if access_object.kind.name in self._team_role_kinds else member_roles
                if (role := _role_range(access_object.fields.get(access["role"].name))) != NO_ROLE:
                    roles.setdefault(self.parent_key(access_object), {})[grantee] = role
            elif "who" in access:
                teams.setdefault(self.parent_key(access_object), set()).add(grantee)
            elif "role" in access:
                members[access_object.key] = _role_range(access_object.fields.get(access["role"].name))
            if "level" in access:
                # An entry without the field inherits the level. So does a live object without the field, if
                # the platform's value for that is None.
                is_entry, field = isinstance(access_object.source, Entry), access["level"]
                level = access_object.fields.get(field.name, _INHERIT if is_entry else None)
                level = field.value_when_absent if level is None else level
                levels[access_object.key] = None if level in (None, _INHERIT) else _role_range(level)
            if "inside" in access:
                collection_of[access_object.key] = self.key_in_access_field(access_object, "inside")
            if "shows" in access and (space := self.key_in_access_field(access_object, "shows")) is not None:
                sites_showing.setdefault(space, set()).add(self.site_key(access_object))
        sites_showing |= {UnlistedSpaces(site): {site} for site in self.unread_sites if site in levels}
        if not self.are_spaces_listed:
            collection_of |= {UnlistedSpaces(key): key for key in levels if self.is_collection(key)}
        for team in (team for roles in team_roles.values() for team in roles):
            if isinstance(team, Address):  # the plan creates it
                teams.setdefault(team, set())
        return AccessState(
            members=members,
            teams={team: frozenset(members_of_team) for team, members_of_team in teams.items()},
            member_roles=member_roles,
            team_roles=team_roles,
            fully_read_places=frozenset(key for key in levels if self._are_roles_read(key)),
            levels=levels,
            collection_of=self._without_deleted_collections(collection_of),
            sites_showing={space: frozenset(sites) for space, sites in sites_showing.items()},
            sites_read=self.unread_sites == () and self.are_sites_listed,
            unread_levels=not self.are_sites_listed or any(levels.get(site) for site in self.unread_sites),
        )

    def key_in_access_field(self, access_object: AccessObject, meaning: Any) -> Key | None:
        """Return the key of the object to which the field with an access word refers, None without the field.

        An example of an access word (`Field.access_meaning`) is "who": the member or team that gets a role.
        """
        field = access_object.kind.access_fields.get(meaning)
        return (
            self.referenced_key(field, access_object.fields.get(field.name), access_object.source)
            if field is not None
            else None
        )

    def _without_deleted_collections(self, collection_of: dict[Key, Key | None]) -> dict[Key, Key | None]:
        """Return the mapping with the contents of a deleted collection moved to the collection around it.

        The platform moves them when it deletes the collection. If the deleted collection was at the top, its
        contents are at the top as well.
        """
        deleted = {
            live_object.key: self.key_in_access_field(live_object, "inside")
            for live_object in self.live_objects
            if "inside" in live_object.kind.access_fields and live_object.key not in collection_of
        }
        containers = dict(collection_of)
        for key, container in collection_of.items():
            while container in deleted:
                container = deleted[container]
            containers[key] = container
        return containers

    def access_place(self, key: Key) -> AccessPlace:
        """Return a space, collection or site as a place whose access can be resolved."""
        if isinstance(key, UnlistedSpaces):
            return AccessPlace(key, can_be_shown_by_sites=True, has_permission_list=False)
        kind = self._kind_name(key)
        return AccessPlace(
            key,
            can_be_shown_by_sites=kind in self._shown_kinds,
            can_be_in_collections=kind not in self._site_kinds,
        )

    @cached_property
    def members_by_role(self) -> Mapping[tuple[RoleRange, RoleRange], list[Key]]:
        """Return, by role in the organization before and after, the members with these roles by address."""
        members: dict[tuple[RoleRange, RoleRange], list[Key]] = defaultdict(list)
        for member in sorted(self.after.members, key=lambda key: (self.address(key) or "", str(key))):
            members[self.roles_of(member)].append(member)
        return members

    def roles_of(self, member: Key) -> tuple[RoleRange, RoleRange]:
        """Return the role of a member in the organization, before and after; equal for a new member."""
        role = self.after.members[member]
        return self.before.members.get(member, role), role

    @cached_property
    def teams_with_roles(self) -> frozenset[Key]:
        """Return the teams that have a role on any space, collection or site, before or after."""
        states = (self.before, self.after)
        return frozenset(team for state in states for roles in state.team_roles.values() for team in roles)

    def kind_noun(self, key: Identity) -> str:
        return self.decisions.sides.registry[key[0]].noun

    def is_collection(self, key: Key) -> bool:
        return self._kind_name(key) not in self._shown_kinds | self._site_kinds

    def _kind_name(self, key: Key) -> str:
        entry = self.decisions.sides.entries.get(key) if isinstance(key, Address) else None
        return entry.kind if entry is not None else str(key[0])

    @cached_property
    def _shown_kinds(self) -> frozenset[str]:
        """Return the names of the kinds that sites show: spaces."""
        return frozenset(
            name
            for kind in self._kinds_with("shows")
            for name in kind.access_fields["shows"].type.referenced_kinds
        )

    @cached_property
    def _site_kinds(self) -> frozenset[str]:
        """Return the names of the kinds of sites."""
        return frozenset(map(self.decisions.sides.registry.tree_owner, self._kinds_with("shows")))

    def parent_key(self, access_object: AccessObject) -> Key:
        """Return the key of the space, collection, site or team that contains a role or a membership."""
        source = access_object.source
        if isinstance(source, LiveObject):
            return self.live_key(source.parent) if source.parent is not None else None
        return self.key(source.parent) if source.parent is not None else None

    def site_key(self, access_object: AccessObject) -> Key:
        """Return the key of the site whose navigation contains a node, such as one that shows a space."""
        sides, source = self.decisions.sides, access_object.source
        owner = sides.registry.tree_owner(access_object.kind)
        if isinstance(source, LiveObject):
            return sides.hierarchy.live_ancestor(source, owner)
        address = sides.hierarchy.ancestor(source, owner)
        return self.key(address) if address is not None else None

    # What was read.

    def _kinds_with(self, *words: Any) -> list[Kind]:
        """Return the kinds that have fields with all of these access words (`Field.access_meaning`).

        Kinds with "who" or "role" count only if that word is asked for: `_kinds_with("who")` returns team
        memberships, without the kinds that give a role.
        """
        roles = {"who", "role"}
        return [
            kind
            for kind in self.decisions.sides.registry.in_dependency_order
            if set(words) <= kind.access_fields.keys()
            and not (kind.access_fields.keys() & roles) - set(words)
        ]

    @cached_property
    def _team_kinds(self) -> frozenset[str]:
        """Return the names of the kinds of teams: those that contain memberships without a role."""
        return frozenset(name for kind in self._kinds_with("who") for name in kind.parents)

    @cached_property
    def _team_role_kinds(self) -> frozenset[str]:
        """Return the names of the kinds whose objects give a role to a team, not to a member."""
        kinds = self._kinds_with("who", "role")
        return frozenset(
            kind.name
            for kind in kinds
            if self._team_kinds.issuperset(kind.access_fields["who"].type.referenced_kinds)
        )

    @cached_property
    def _organization_identity(self) -> Identity | None:
        """Return the identity of the live organization, None if it was not read."""
        return self.decisions.sides.names.identities.get(self.organization)

    def _is_organization_list_read(self, kind: Kind) -> bool:
        """Return whether the list of all objects of a kind in the organization was read."""
        sides = self.decisions.sides
        organization = self._organization_identity
        return organization is not None and (
            self.is_list_read(organization, kind)
            or any(
                lookup.kind == kind.name and lookup.parent == self.organization
                for lookup in sides.desired.lookups.values()
            )
        )

    @cached_property
    def are_members_read(self) -> bool:
        """Return whether the list of all members of the organization was read."""
        return all(map(self._is_organization_list_read, self._kinds_with("role")))

    @cached_property
    def _teams_read(self) -> frozenset[Identity]:
        """Return the live teams whose members were read."""
        sides, teams_read = self.decisions.sides, set[Identity]()
        for kind in self._kinds_with("who"):
            teams = (identity for identity in sides.snapshot.objects if identity[0] in kind.parents)
            teams_read.update(team for team in teams if self.is_list_read(team, kind))
        return frozenset(teams_read)

    @cached_property
    def are_sites_listed(self) -> bool:
        """Return whether the list of all sites of the organization was read."""
        return all(
            self._is_organization_list_read(self.decisions.sides.registry[name]) for name in self._site_kinds
        )

    @cached_property
    def unread_sites(self) -> tuple[Key, ...]:
        """Return the live sites whose navigation was not read, so which spaces they show is unknown."""
        owners = {self.decisions.sides.registry.tree_owner(kind): kind for kind in self._kinds_with("shows")}
        return tuple(
            live_object.key
            for live_object in self.live_objects
            if (kind := owners.get(live_object.kind.name)) is not None
            and not self.is_list_read(live_object.key, kind)
        )

    @cached_property
    def are_spaces_listed(self) -> bool:
        """Return whether the collection of every space is known; for outputs of other objects it never is."""
        sides = self.decisions.sides
        return not sides.snapshot.output_identities and all(
            map(self._is_organization_list_read, self._kinds_with("inside"))
        )

    def _are_roles_read(self, key: Key) -> bool:
        """Return whether all roles on a space, collection or site were read; true for a new place.

        A list that cannot contain anybody does not need to be read.
        """
        if isinstance(key, Address):
            return True
        place = self._access_objects_of_outputs.get(key, key)
        registry = self.decisions.sides.registry
        return all(
            self.is_list_read(place, kind) or self._is_list_empty(kind)
            for kind in self._kinds_with("who", "role")
            if place[0] in registry and place[0] in kind.parents
        )

    @cached_property
    def _access_objects_of_outputs(self) -> Mapping[Key, Identity]:
        """Return, by the key of an output, the identity of the object that defines who can access the output.

        An output is an object that GitBook creates for an entry, such as the translated space of a
        translation. It has no entry of its own.
        """
        return {
            live_object.key: live_object.source.identity
            for live_object in self.live_objects
            if live_object.kind.is_part_of_output and isinstance(live_object.source, LiveObject)
        }

    def _is_list_empty(self, kind: Kind) -> bool:
        """Return whether a list of roles is certainly empty: without teams, no team has a role."""
        sides = self.decisions.sides
        names = kind.access_fields["who"].type.referenced_kinds
        known = all(self._is_organization_list_read(sides.registry[name]) for name in names)
        return known and not any(identity[0] in names for identity in sides.snapshot.objects)

    @cached_property
    def has_levels_around(self) -> bool:
        """Return whether a site or a collection may have a default level."""
        levels = (*self.before.levels.items(), *self.after.levels.items())
        return not (self.are_sites_listed and self.are_spaces_listed) or any(
            level is not None for key, level in levels if self._kind_name(key) not in self._shown_kinds
        )

    @cached_property
    def is_everything_read(self) -> bool:
        """Return whether every list with roles on spaces, collections and sites was read."""
        places = [
            kind
            for kind in self._kinds_with()
            if "level" in kind.access_fields and not kind.is_part_of_output
        ]
        return (
            all(map(self._is_organization_list_read, places))
            and not self.decisions.sides.snapshot.output_identities
            and all(self._are_roles_read(key) for key in self.before.levels)
        )


def _role_range(word: Value) -> RoleRange:
    """Return a role as a range of one rank; the full range for a role that this version does not know.

    The value is the name of a role, such as "edit", or None for no role (in the organization: a guest).
    """
    if word is None:
        return NO_ROLE
    return (rank, rank) if (rank := _RANKS.get(word)) is not None else ANY_ROLE


_RANKS: Mapping[Any, int] = {word: rank for rank, word in enumerate(ROLES_ASCENDING_WITH_GUEST)}
