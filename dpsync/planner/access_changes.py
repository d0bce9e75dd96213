"""List who gains access by a plan, grouped by the change that gives the access.

`access_exposures` is the entry point. Each relevant change names the places and the people that it can
concern (`access_causes`). Only these are resolved on both sides (access.py): a member by name if the member
has a role on the way, everybody else once for each role in the organization. Places with the same access are
resolved once. `AccessSentences` puts the gains into sentences: certain gains first, then possible gains.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, Final, Literal

from msgspec import Struct
from msgspec.structs import replace

from dpsync.kinds.shared.fields import ROLES_ASCENDING_WITH_GUEST
from dpsync.model.address import Address
from dpsync.model.change import Change, Difference, Exposure
from dpsync.model.snapshot import Identity, LiveObject
from dpsync.model.text import MAX_LISTED_NAMES, shorten_list
from dpsync.planner.access import (
    ADMIN,
    ANY_ROLE_BELOW_ADMIN,
    LEVEL,
    NOT_A_GUEST,
    PERSON,
    RESOLVED_PLACE,
    AccessComparison,
    AccessGain,
    AccessState,
    Key,
    RoleDoubt,
    RoleRange,
    Subject,
)
from dpsync.planner.access_inputs import AccessInputs, AccessObject, UnlistedSpaces
from dpsync.planner.decide import Decisions

_MAX_GROUPS = 3
"""Sentences about certain gains under one change."""
_MAX_REASONS = 2


class AccessFinding(Struct, frozen=True):
    """A gain of one subject in some places.

    If `gain` is None, unknown because the files lack `missing_lists`.
    """

    subject: Subject
    gain: AccessGain | None
    places: tuple[Key, ...]
    missing_lists: str = ""


class AccessSentences(Struct, frozen=True):
    """Describe gains of access in sentences."""

    inputs: AccessInputs

    def describe(self, address: Address, findings: list[AccessFinding], role: Any = None) -> str:
        """Return one text for everything that the change at an address opens.

        `role`: the role that the change gives, if it gives one.
        """
        findings = _without_differing_names(findings)
        certain = [finding for finding in findings if finding.gain is not None and finding.gain.certain]
        possible = [finding for finding in findings if finding.gain is not None and not finding.gain.certain]
        unknown = [finding for finding in findings if finding.gain is None]
        return "; ".join(
            [
                *self._certain_sentences(address, certain),
                *self._possible_sentence(possible, role),
                *self._unknown_sentence(unknown),
            ]
        )

    def missing_lists(self, findings: list[AccessFinding]) -> tuple[str, ...]:
        """Return what the files lack, so that the plan cannot determine who gains access."""
        texts = {finding.missing_lists for finding in findings if finding.missing_lists}
        for finding in findings:
            doubts = finding.gain.doubts if finding.gain is not None and not finding.gain.certain else ()
            for doubt in (doubt for doubt in doubts if doubt.is_missing_in_files):
                places = finding.places if doubt.place == RESOLVED_PLACE else (doubt.place,)
                texts.update(doubt.text.format(self._place_name(place) if place else "") for place in places)
        return tuple(sorted(texts))

    def _certain_sentences(self, address: Address, findings: list[AccessFinding]) -> Iterator[str]:
        by_gain: dict[tuple[str, str, Subject], dict[Key, None]] = defaultdict(dict)
        for finding in findings:
            assert finding.gain is not None
            before = _role_word(
                finding.gain.before, finding.subject.before, finding.subject, "at most {}", last=True
            )
            after = _role_word(
                finding.gain.after, finding.subject.after, finding.subject, "at least {}", last=False
            )
            by_gain[before, after, finding.subject].update(dict.fromkeys(finding.places))
        groups: dict[tuple[str, str, tuple[str, ...]], list[Subject]] = defaultdict(list)
        for (before, after, subject), places in by_gain.items():
            groups[before, after, self._place_names(places)].append(subject)
        sentences = sorted(
            f"{self._subject_names(subjects)}: {before} → {after}{_place_suffix(address, places)}"
            for (before, after, places), subjects in groups.items()
        )
        yield from sentences[:_MAX_GROUPS]
        if len(sentences) > _MAX_GROUPS:
            yield f"and more access for {len(sentences) - _MAX_GROUPS} other groups of members"

    def _possible_sentence(self, findings: list[AccessFinding], role: Any) -> Iterator[str]:
        if not findings:
            return
        places = self._place_names({place: None for finding in findings for place in finding.places})
        doubts = {doubt for finding in findings if finding.gain is not None for doubt in finding.gain.doubts}
        subjects = self._subject_names(list(dict.fromkeys(finding.subject for finding in findings)))
        lead = f"role {role} " if role is not None else ""
        yield f"{lead}may open {shorten_list(places)} to {subjects}{self._undocumented_reason(doubts)}"

    def _unknown_sentence(self, findings: list[AccessFinding]) -> Iterator[str]:
        if findings:
            subjects = self._subject_names(list(dict.fromkeys(finding.subject for finding in findings)))
            yield f"may open more objects to {subjects}"

    def _undocumented_reason(self, doubts: Collection[RoleDoubt]) -> str:
        """Return what the platform does not document; "" if the files lack lists (see `missing_lists`)."""
        if not doubts or any(doubt.is_missing_in_files for doubt in doubts):
            return ""
        return f": {shorten_list(sorted(doubt.text for doubt in doubts), _MAX_REASONS)}"

    # Names.

    def _place_names(self, places: Iterable[Key]) -> tuple[str, ...]:
        return tuple(sorted(map(self._place_name, places)))

    def _place_name(self, place: Key) -> str:
        if isinstance(place, UnlistedSpaces):
            return f"the spaces of {self._place_name(place.place)} that your files do not list"
        if address := self.inputs.address(place):
            return address
        title = self.inputs.title(place)
        name = place[1] if title is None else f'"{title}"'
        return f"the {self.inputs.kind_noun(place)} {name}"

    def _subject_names(self, subjects: list[Subject]) -> str:
        people = sorted(self._member_name(subject.key) for subject in subjects if subject.kind == "person")
        groups = sorted(
            f"members of {self._place_name(subject.key)}" for subject in subjects if subject.kind == "group"
        )
        named = [*people, *groups]
        others = [subject for subject in subjects if subject.kind == "others"]
        unlisted = any(subject.kind == "unlisted" for subject in subjects)
        phrases = [shorten_list(named)] if named else []
        phrases += [self._other_members(others)] if others else []
        phrases += ["people whose role your files do not list"] if unlisted else []
        return ", ".join(phrases)

    def _other_members(self, others: list[Subject]) -> str:
        """Describe the remaining members by their roles in the organization, with the first names."""
        roles = [
            ROLES_ASCENDING_WITH_GUEST[subject.after[0]]
            for subject in others
            if subject.after[0] == subject.after[1]
        ]
        if len(roles) < len(others):
            return "all other members except guests"
        words = shorten_list(roles, MAX_LISTED_NAMES + len(ROLES_ASCENDING_WITH_GUEST))
        text = f"other members with the role {words}"
        if not all(subject.first_members for subject in others):
            return text
        names = sorted(self._member_name(key) for subject in others for key in subject.first_members)[
            :MAX_LISTED_NAMES
        ]
        unnamed_count = sum(subject.number for subject in others) - len(names)
        return f"{text} ({', '.join(names)}{f' and {unnamed_count} more' if unnamed_count else ''})"

    def _member_name(self, key: Key) -> str:
        """Return the e-mail of a member, as people know it."""
        address = self.inputs.address(key)
        if address is None and (title := self.inputs.title(key)):
            return title
        if address is None:
            return f"the {self.inputs.kind_noun(key)} {key[1].rpartition('/')[2]}"
        return address.rpartition("/")[2].removeprefix("[").removesuffix("]")


def _without_differing_names(findings: list[AccessFinding]) -> list[AccessFinding]:
    """Remove the names of the remaining members with a role if these members differ between places."""
    by_roles: dict[tuple[RoleRange, RoleRange], set[Subject]] = defaultdict(set)
    for finding in findings:
        if finding.subject.kind == "others":
            by_roles[finding.subject.before, finding.subject.after].add(finding.subject)
    differing = {subject for subjects in by_roles.values() if len(subjects) > 1 for subject in subjects}
    return [
        replace(finding, subject=replace(finding.subject, first_members=(), number=0))
        if finding.subject in differing
        else finding
        for finding in findings
    ]


def _place_suffix(address: Address, places: tuple[str, ...]) -> str:
    """Return the places as a phrase, "" if the only place is the one that contains the change."""
    alone = len(places) == 1 and address.is_at_or_below(Address.parse(places[0]))
    return "" if alone else f" on {shorten_list(places)}"


def _role_word(role: RoleRange, default: RoleRange, subject: Subject, inexact: str, *, last: bool) -> str:
    """Return a role as a word: `inexact` with one end of the range if the role is not certain."""
    if subject.kind == "others" and role == default:
        return "their own role"
    low, high = role
    word = ROLES_ASCENDING_WITH_GUEST[high if last else low]
    return ("no access" if high == 0 else word) if low == high else inexact.format(word)


_SITES, _COLLECTIONS = 2, 3
"""The steps of a chain in which sites and collections give their roles."""


class AccessCause(Struct, frozen=True):
    """One part of a change that access depends on.

    - `given`: the role of `grantee` on `place` changes
    - `level`: the default level of `place` changes
    - `link`: the site `place` begins or ceases to show the space `grantee`
    - `move`: `place` moves to another collection
    - `membership`: `grantee`, or every member if `grantee` is None, joins or leaves the team `place`
    - `guest`: `grantee` becomes a guest, to whom the default levels of sites and collections do not apply
    """

    change: Change
    field: str
    mechanism: Literal["given", "level", "link", "move", "membership", "guest"]
    place: Key = None
    grantee: Key = None

    @property
    def is_structural(self) -> bool:
        """Return whether the cause does not depend on roles. Such causes come after the exact causes."""
        return self.mechanism in ("link", "move")

    def comparison_key(self, place: Key) -> tuple[str, Key, Key]:
        """Return a comparison key, equal for all places that the cause affects in the same way."""
        own, who = (RESOLVED_PLACE if key == place else key for key in (self.place, self.grantee))
        return self.mechanism, own, who

    @property
    def concerns_everybody(self) -> bool:
        return self.mechanism in ("level", "link", "move")

    def explains(self, subject: Subject, gain: AccessGain, place: Key, strongest: bool) -> bool:
        """Return whether a gain of a subject on a place results from this cause."""
        if self.mechanism in ("membership", "guest") and self.grantee not in (None, subject.key):
            return False
        name = RESOLVED_PLACE if place == self.place else self.place
        match self.mechanism:
            case "given":
                is_own_role = subject.kind == "person" and subject.key == self.grantee
                return (name, PERSON if is_own_role else self.grantee) in gain.sources
            case "level":
                return (name, LEVEL) in gain.sources
            case "membership":
                return any(grantee == self.place for _, grantee in gain.sources)
            case "guest":
                return any(grantee == LEVEL for _, grantee in gain.sources)
        return strongest or gain.precedence_step == (_SITES if self.mechanism == "link" else _COLLECTIONS)


def access_exposures(decisions: Decisions, changes: Iterable[Change]) -> Mapping[Address, list[Exposure]]:
    """Return the exposures that open access to somebody, by the address of the change."""
    by_organization: dict[str, list[Change]] = defaultdict(list)
    for change in changes:
        if affects_access(decisions, change):
            by_organization[change.location.organization_key].append(change)
    exposures: dict[Address, list[Exposure]] = {}
    for name, organization_changes in sorted(by_organization.items()):
        parts = AccessInputs(decisions, tuple(organization_changes), Address.root(name))
        words = AccessSentences(parts)
        by_change: dict[tuple[Address, str], list[tuple[AccessCause, AccessFinding]]] = defaultdict(list)
        for cause, finding in access_findings(parts):
            by_change[cause.change.location, cause.field].append((cause, finding))
        for (address, _), pairs in sorted(by_change.items(), key=lambda item: item[0]):
            cause = pairs[0][0]
            difference = next(
                (difference for difference in cause.change.differences if difference.field == cause.field),
                None,
            )
            role = difference.after if difference is not None and cause.mechanism == "given" else None
            change_findings = [finding for _, finding in pairs]
            exposure = _exposure(
                cause,
                difference,
                words.describe(address, change_findings, role),
                words.missing_lists(change_findings),
            )
            exposures.setdefault(address, []).append(exposure)
    return exposures


def affects_access(decisions: Decisions, change: Change) -> bool:
    """Return whether a change can affect who has access."""
    registry, address = decisions.sides.registry, change.location
    if address in decisions.sides.snapshot.transferred_entries:
        return False
    if change.action != "delete":
        decision = decisions.entries.get(address)
        access = decisions.sides.kind(decision.entry).access_fields if decision is not None else {}
        written = decision.separately_written if decision is not None else ()
        return bool(access) and (
            change.action == "create" or any(field_change.field.access_meaning for field_change in written)
        )
    deleted = [
        decisions.deletions.addresses[address],
        *_cascade_of(decisions, decisions.deletions.addresses[address]),
    ]
    return any(registry[kind].access_fields or _is_team(decisions, kind) for kind, _ in deleted)


def _cascade_of(decisions: Decisions, root: Identity) -> list[Identity]:
    """Return the objects that a delete takes along."""
    return [
        identity for identity, name in decisions.deletions.cascade.losses_by_root.get(root, ()) if not name
    ]


def _is_team(decisions: Decisions, name: str) -> bool:
    """Return whether a kind is a team, so that another kind declares its members."""
    kinds = decisions.sides.registry.children(name)
    return any("who" in kind.access_fields and "role" not in kind.access_fields for kind in kinds)


def _exposure(
    cause: AccessCause, difference: Difference | None, words: str, missing: tuple[str, ...]
) -> Exposure:
    change = cause.change
    return Exposure(
        address=change.address,
        field=cause.field,
        before=difference.before if difference is not None and change.action == "update" else None,
        after=difference.after if difference is not None else None,
        words=words,
        missing=missing,
    )


# What changes.


def access_causes(inputs: AccessInputs) -> Iterator[AccessCause]:
    """Yield every part of the changes that access depends on."""
    created = {
        created_object.source.address: created_object
        for created_object in inputs.created_objects
        if not isinstance(created_object.source, LiveObject)
    }
    live = {
        live_object.source.identity: live_object
        for live_object in inputs.live_objects
        if isinstance(live_object.source, LiveObject)
    }
    for change in inputs.changes:
        if change.action == "create":
            yield from _causes_of_create(inputs, change, created[change.location])
        elif change.action == "update":
            yield from _causes_of_update(inputs, change, live)
        else:
            root = inputs.decisions.deletions.addresses[change.location]
            for identity in (root, *_cascade_of(inputs.decisions, root)):
                yield from _causes_of_delete(inputs, change, identity, live.get(identity))


def _causes_of_create(inputs: AccessInputs, change: Change, item: AccessObject) -> Iterator[AccessCause]:
    access, place = item.kind.access_fields, inputs.parent_key(item)
    if "who" in access:
        kind: Literal["given", "membership"] = "given" if "role" in access else "membership"
        field = access["role"].name if "role" in access else ""
        yield AccessCause(change, field, kind, place, inputs.referenced_by(item, "who"))
    elif "shows" in access and (space := inputs.referenced_by(item, "shows")) is not None:
        yield AccessCause(change, access["shows"].name, "link", inputs.site_key(item), space)
    elif "level" in access and inputs.after.levels[item.key] is not None:
        yield AccessCause(change, access["level"].name, "level", item.key)


def _causes_of_update(
    inputs: AccessInputs, change: Change, live: Mapping[Identity, AccessObject]
) -> Iterator[AccessCause]:
    decision = inputs.decisions.entries[change.location]
    live_object = live.get(decision.live.identity) if decision.live is not None else None
    if live_object is None:
        return
    for written in decision.separately_written:
        name = written.field.name
        match written.field.access_meaning:
            case "role" if "who" in live_object.kind.access_fields:
                yield AccessCause(
                    change,
                    name,
                    "given",
                    inputs.parent_key(live_object),
                    inputs.referenced_by(live_object, "who"),
                )
            case "role" if inputs.after.members.get(live_object.key) == (0, 0):
                yield AccessCause(change, name, "guest", grantee=live_object.key)
            case "level":
                yield AccessCause(change, name, "level", live_object.key)
            case "inside":
                yield AccessCause(change, name, "move", live_object.key)
            case "shows":
                for value in (written.before, written.after):
                    if (space := inputs.referenced_key(written.field, value, live_object.source)) is not None:
                        yield AccessCause(change, name, "link", inputs.site_key(live_object), space)


def _causes_of_delete(
    inputs: AccessInputs, change: Change, identity: Identity, item: AccessObject | None
) -> Iterator[AccessCause]:
    if _is_team(inputs.decisions, identity[0]):
        yield AccessCause(change, "", "membership", identity)
    if item is None:
        return
    access = item.kind.access_fields
    if "who" in access:
        kind: Literal["given", "membership"] = "given" if "role" in access else "membership"
        yield AccessCause(change, "", kind, inputs.parent_key(item), inputs.referenced_by(item, "who"))
    elif "shows" in access and (space := inputs.referenced_by(item, "shows")) is not None:
        yield AccessCause(change, "", "link", inputs.site_key(item), space)
    elif "level" in access:
        for key in inputs.before.contents.get(item.key, ()) if inputs.is_collection(item.key) else ():
            yield AccessCause(change, "", "move", key)


# Who gains by it.


def access_findings(inputs: AccessInputs) -> Iterator[tuple[AccessCause, AccessFinding]]:
    """Yield all gains, each under its cause."""
    finder = _GainFinder(inputs)
    by_place: dict[Key, list[AccessCause]] = defaultdict(list)
    all_causes = sorted(access_causes(inputs), key=lambda cause: cause.is_structural)
    for cause in all_causes:
        for place in dict.fromkeys(finder.affected_places(cause)):
            if finder.still_exists(place):
                by_place[place].append(cause)
    places_by_key: dict[Any, list[Key]] = defaultdict(list)
    for place, place_causes in by_place.items():
        places_by_key[
            finder.access_key(place), tuple(cause.comparison_key(place) for cause in place_causes)
        ].append(place)
    for places in places_by_key.values():
        for subject, gain, number in finder.gains(by_place[places[0]], places[0]):
            by_cause: dict[int, list[Key]] = defaultdict(list)
            for place in places:
                by_cause[id(by_place[place][number])].append(place)
            for same_cause_places in by_cause.values():
                yield (
                    by_place[same_cause_places[0]][number],
                    AccessFinding(subject, gain, tuple(same_cause_places)),
                )
    for cause in all_causes:
        if (unknown := finder.unknown_gain(cause)) is not None:
            yield cause, unknown


_UNLISTED_MEMBER: Final = Subject("unlisted", None, NOT_A_GUEST, NOT_A_GUEST)
_UNLISTED_GUEST: Final = Subject("unlisted", None, (0, 0), (0, 0))


class _GainFinder(Struct, frozen=True):
    """Find the subjects that gain access in each place."""

    inputs: AccessInputs

    @property
    def access(self) -> AccessComparison:
        rule = self.inputs.decisions.sides.registry.profile.access_rule
        return AccessComparison(rule, self.inputs.before, self.inputs.after)

    def still_exists(self, place: Key) -> bool:
        """Return whether a place still exists after the apply."""
        return place in self.inputs.after.levels or place not in self.inputs.before.levels

    def affected_places(self, cause: AccessCause) -> Iterator[Key]:
        """Yield the places whose access a cause can change."""
        before, after = self.inputs.before, self.inputs.after
        if cause.mechanism == "link":
            yield cause.grantee
            return
        roots = [cause.place]
        if cause.mechanism == "guest":
            grantees = (cause.grantee, *sorted(after.teams_of.get(cause.grantee, ()), key=str))
            roots = [place for grantee in grantees for place in after.places_of.get(grantee, ())]
        elif cause.mechanism == "membership":
            roots = [*before.places_of.get(cause.place, ()), *after.places_of.get(cause.place, ())]
        for place in dict.fromkeys(roots):
            yield place
            yield from before.dependents(place)
            yield from after.dependents(place)

    def access_key(self, place: Key) -> Any:
        """Return a comparison key: places with equal keys give everybody the same access."""
        access_place = self.inputs.access_place(place)
        states = (self.inputs.before, self.inputs.after)
        has_roles = any(place in state.member_roles or place in state.team_roles for state in states)
        state_keys = tuple(
            (
                place in state.fully_read_places,
                state.levels.get(place, "unknown"),
                state.collection_of.get(place, "unknown"),
                state.sites_showing.get(place, frozenset()),
            )
            for state in states
        )
        return (
            access_place.can_be_shown_by_sites,
            access_place.can_be_in_collections,
            access_place.has_permission_list,
            place if has_roles else None,
            state_keys,
        )

    def gains(self, causes: list[AccessCause], place: Key) -> Iterator[tuple[Subject, AccessGain, int]]:
        """Yield the gain of each subject in a place, with the index of the first cause that explains it."""
        access_place, comparison = self.inputs.access_place(place), self.access
        strongest = comparison.rule == "strongest"
        everybody = any(cause.concerns_everybody for cause in causes)
        subjects = self._concerned_subjects(causes, place, everybody)
        access_places = tuple(
            tuple(_access_places(state, place)) for state in (self.inputs.before, self.inputs.after)
        )
        gain_by_key: dict[Any, AccessGain | None] = {}
        open_to_all = everybody
        for subject in subjects:
            key = comparison.comparison_key(subject, access_places) if subject.kind == "person" else subject
            if key not in gain_by_key:
                gain_by_key[key] = comparison.gain(subject, access_place)
            gain = gain_by_key[key]
            if subject.kind == "others":
                open_to_all = open_to_all and gain is not None and gain.certain
            if gain is None or (open_to_all and subject == _UNLISTED_MEMBER):
                continue
            for number, cause in enumerate(causes):
                if cause.explains(subject, gain, place, strongest):
                    yield subject, gain, number
                    break

    def _concerned_subjects(self, causes: list[AccessCause], place: Key, everybody: bool) -> list[Subject]:
        """Return the subjects whom these causes can concern in a place."""
        people: dict[Key, None] = {}
        groups: dict[Key, None] = {}
        for grantee in self._grantees(place) if everybody else ():
            self._add_grantee(grantee, people, groups)
        for cause in causes:
            if cause.mechanism == "given":
                self._add_grantee(cause.grantee, people, groups)
            elif cause.grantee is not None and cause.mechanism in ("membership", "guest"):
                people[cause.grantee] = None
            elif cause.mechanism == "membership":
                self._add_grantee(cause.place, people, groups)
        subjects = [subject for key in people if (subject := self._member_subject(key)) is not None]
        subjects += [Subject("group", key) for key in groups]
        if everybody:
            may_be_unlisted = self._may_be_unlisted(place)
            subjects += self._other_subjects(frozenset(people), all_listed=not may_be_unlisted)
            if may_be_unlisted:
                subjects += [_UNLISTED_MEMBER, _UNLISTED_GUEST]
        return subjects

    def _add_grantee(self, grantee: Key, people: dict[Key, None], groups: dict[Key, None]) -> None:
        """Add a member to `people`, or the members of a team; if they are unknown, the team to `groups`."""
        states = (self.inputs.before, self.inputs.after)
        if grantee not in self.inputs.teams_with_roles:
            people[grantee] = None
        elif all(grantee in state.teams for state in states) or isinstance(grantee, Address):
            members = {member for state in states for member in state.teams.get(grantee, ())}
            people.update(dict.fromkeys(sorted(members, key=str)))
        else:
            groups[grantee] = None

    def _grantees(self, place: Key) -> Iterator[Key]:
        """Yield the members and teams with a role on a place, or on another place that gives access to it."""
        for state in (self.inputs.before, self.inputs.after):
            for giving_place in _access_places(state, place):
                yield from state.member_roles.get(giving_place, ())
                yield from state.team_roles.get(giving_place, ())

    def _member_subject(self, key: Key) -> Subject | None:
        """Return a member; None for an admin, who has access to everything, and for a member who leaves."""
        before, after = (state.members.get(key) for state in (self.inputs.before, self.inputs.after))
        if before is not None and after is None:
            return None
        if (ADMIN, ADMIN) in (before, after):
            return None
        new = before is None and after is not None
        unknown: RoleRange = ANY_ROLE_BELOW_ADMIN
        return Subject("person", key, (0, 0) if new else before or unknown, after or unknown)

    def _other_subjects(self, named: frozenset[Key], *, all_listed: bool) -> list[Subject]:
        """Return the remaining members, once for each role in the organization, without guests.

        `all_listed`: every list that can give one of these members a role was read.
        """
        counts = Counter({pair: len(members) for pair, members in self.inputs.members_by_role.items()})
        counts.subtract(self.inputs.roles_of(key) for key in named if key in self.inputs.after.members)
        roles = {pair for pair, number in counts.items() if number}
        roles = {pair for pair in roles if (ADMIN, ADMIN) not in pair and pair != ((0, 0), (0, 0))}
        if not self.inputs.are_members_read or not roles:
            return [Subject("others", None, NOT_A_GUEST, NOT_A_GUEST)]
        if not all_listed:
            return [Subject("others", None, *pair) for pair in sorted(roles)]
        return [
            Subject("others", None, *pair, self._first_members(pair, named), counts[pair])
            for pair in sorted(roles)
        ]

    def _first_members(self, pair: tuple[RoleRange, RoleRange], named: frozenset[Key]) -> tuple[Key, ...]:
        """Return the first few members with a pair of roles, without the members in `named`."""
        members = self.inputs.members_by_role[pair]
        return tuple(islice((key for key in members if key not in named), MAX_LISTED_NAMES))

    def _may_be_unlisted(self, place: Key) -> bool:
        """Return whether somebody may have a role in a list that was not read."""
        access_place, states = self.inputs.access_place(place), (self.inputs.before, self.inputs.after)
        precedence = self.access.rule == "precedence"  # only then, a role on a site counts on its spaces
        return (
            any(
                giving_place not in state.fully_read_places
                for state in states
                for giving_place in _access_places(state, place)
                if precedence or access_place not in world.sites_showing.get(place, ())
            )
            or (
                precedence
                and access_place.can_be_shown_by_sites
                and not (states[0].sites_read and access_place.has_permission_list)
            )
            or (
                access_place.can_be_in_collections
                and not all(state.enclosing_collections(place)[1] for state in states)
            )
        )

    def unknown_gain(self, cause: AccessCause) -> AccessFinding | None:
        """Return a finding without places if access may open in places whose permissions the files lack."""
        joins = cause.mechanism == "membership" and cause.change.action == "create"
        leaves = cause.mechanism == "membership" and not joins
        unbound = cause.mechanism == "guest" and self.inputs.has_levels_around
        by_losing = (leaves or unbound) and self.access.rule == "precedence"
        if self.inputs.is_everything_read or not (joins or by_losing):
            return None
        if cause.grantee is None:
            return None  # the team is deleted: before that everything that names it was read
        if isinstance(cause.place, Address):
            return None  # the plan creates the team, which has only the roles that the files give to it
        subject = self._member_subject(cause.grantee)
        unread = "the permissions of all spaces, collections and sites"
        return AccessFinding(subject, None, (), unread) if subject is not None else None


def _access_places(state: AccessState, place: Key) -> list[Key]:
    """Return a place and all places that give access to it."""
    return [
        place,
        *sorted(state.sites_showing.get(place, ()), key=str),
        *state.enclosing_collections(place)[0],
    ]
