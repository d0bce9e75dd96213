"""List who gains access by a plan, grouped by the change that gives the access.

Input: decisions (what happens to each object) and changes. Output: `Exposure`s (`access_exposures`).
`access_causes` splits changes into causes, each with the places (spaces, collections, sites) and people that
it can concern. Only their access is resolved, before and after the plan (access_roles.py), once for each
group of equal members and places. `AccessSentences` describes the gains: certain ones first, then possible
ones.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, Final, Literal

from msgspec import Struct
from msgspec.structs import replace

from dpsync.kinds.shared.fields import ROLES_ASCENDING_WITH_GUEST
from dpsync.model.address import Address
from dpsync.model.change import Change, Exposure
from dpsync.model.snapshot import Identity, LiveObject
from dpsync.model.text import MAX_LISTED_NAMES, shorten_list
from dpsync.planner.access_inputs import AccessInputs, AccessObject, UnlistedSpaces
from dpsync.planner.access_roles import (
    ADMIN,
    ANY_ROLE_BELOW_ADMIN,
    LEVEL,
    NO_ROLE,
    NOT_A_GUEST,
    PERSON,
    RESOLVED_PLACE,
    AccessComparison,
    AccessGain,
    AccessState,
    Key,
    RoleRange,
    Subject,
)
from dpsync.planner.decide import Decisions

_MAX_GROUPS = 3
"""Sentences about certain gains under one change."""
_MAX_REASONS = 2


class AccessFinding(Struct, frozen=True):
    """A gain of one subject (a member or a group of members) on some spaces, collections or sites.

    If `gain` is None, the gain is unknown, because the files lack the lists that `missing_lists` names.
    """

    subject: Subject
    gain: AccessGain | None
    places: tuple[Key, ...]
    missing_lists: str = ""


class AccessSentences(Struct, frozen=True):
    """Describe in sentences who gains access to which spaces, collections and sites."""

    inputs: AccessInputs

    def describe(self, address: Address, findings: list[AccessFinding], role: Any = None) -> str:
        """Return one text about everybody who gains access by the change at an address.

        A gain is certain, possible (it depends on undocumented or unread facts), or unknown; the sentences
        come in this order. `role` is the role that the change gives, None if it gives no role.
        """
        findings = _without_differing_names(findings)
        certain = [finding for finding in findings if finding.gain is not None and finding.gain.certain]
        possible = [finding for finding in findings if finding.gain is not None and not finding.gain.certain]
        unknown = [finding for finding in findings if finding.gain is None]
        return "; ".join(
            [
                *self._certain_sentences(address, certain),
                *([self._possible_sentence(possible, role)] if possible else []),
                *([f"may open more objects to {self._finding_subjects(unknown)}"] if unknown else []),
            ]
        )

    def missing_lists(self, findings: list[AccessFinding]) -> tuple[str, ...]:
        """Return the lists that the files lack and without which it is uncertain who gains access.

        An example: "the permissions of acme/spaces/docs".
        """
        texts = {finding.missing_lists for finding in findings if finding.missing_lists}
        for finding in findings:
            doubts = finding.gain.doubts if finding.gain is not None and not finding.gain.certain else ()
            for doubt in (doubt for doubt in doubts if doubt.is_missing_in_files):
                places = finding.places if doubt.place == RESOLVED_PLACE else (doubt.place,)
                texts.update(doubt.text.format(self._place_name(place) if place else "") for place in places)
        return tuple(sorted(texts))

    def _certain_sentences(self, address: Address, findings: list[AccessFinding]) -> Iterator[str]:
        """Yield a sentence for each certain gain, such as "Ann, Bob: no access → reader on acme/spaces/docs".

        Members (subjects) with the same roles before and after on the same spaces, collections and sites
        (places) share a sentence. After the first few sentences, one sentence counts the others.
        """
        by_gain: dict[tuple[str, str, Subject], dict[Key, None]] = defaultdict(dict)
        for finding in findings:
            assert finding.gain is not None
            gain, subject = finding.gain, finding.subject
            before = _role_word(gain.before, subject.before, subject, "at most {}", use_strongest=True)
            after = _role_word(gain.after, subject.after, subject, "at least {}", use_strongest=False)
            by_gain[before, after, subject].update(dict.fromkeys(finding.places))
        groups: dict[tuple[str, str, tuple[str, ...]], list[Subject]] = defaultdict(list)
        for (before, after, subject), places in by_gain.items():
            groups[before, after, self._place_names(places)].append(subject)
        sentences: list[str] = []
        for (before, after, place_names), subjects in groups.items():
            # The place is not repeated if it is the only one, and the change is on it or inside.
            is_obvious = len(place_names) == 1 and address.is_at_or_below(Address.parse(place_names[0]))
            suffix = "" if is_obvious else f" on {shorten_list(place_names)}"
            sentences.append(f"{self._subject_names(subjects)}: {before} → {after}{suffix}")
        sentences.sort()
        yield from sentences[:_MAX_GROUPS]
        if len(sentences) > _MAX_GROUPS:
            yield f"and more access for {len(sentences) - _MAX_GROUPS} other groups of members"

    def _possible_sentence(self, findings: list[AccessFinding], role: Any) -> str:
        """Return a sentence about all possible gains, such as "role editor may open acme/spaces/docs to Ann".

        The sentence ends with what the platform does not document, if the files lack no lists; missing lists
        are reported separately (`missing_lists`).
        """
        places = self._place_names({place: None for finding in findings for place in finding.places})
        doubts = {doubt for finding in findings if finding.gain is not None for doubt in finding.gain.doubts}
        lead = f"role {role} " if role is not None else ""
        reason = ""
        if doubts and not any(doubt.is_missing_in_files for doubt in doubts):
            reason = f": {shorten_list(sorted(doubt.text for doubt in doubts), _MAX_REASONS)}"
        return f"{lead}may open {shorten_list(places)} to {self._finding_subjects(findings)}{reason}"

    def _finding_subjects(self, findings: list[AccessFinding]) -> str:
        """Return the names of the people whom findings are about, as one phrase."""
        return self._subject_names(list(dict.fromkeys(finding.subject for finding in findings)))

    # Names.

    def _place_names(self, places: Iterable[Key]) -> tuple[str, ...]:
        """Return the names of spaces, collections and sites, sorted."""
        return tuple(sorted(map(self._place_name, places)))

    def _place_name(self, place: Key) -> str:
        """Return the address of a space, collection, site or team; without an address, its title or id.

        Examples: "acme/spaces/docs", "the space "Docs"" and "the site site_1".
        """
        if isinstance(place, UnlistedSpaces):
            return f"the spaces of {self._place_name(place.place)} that your files do not list"
        if address := self.inputs.address(place):
            return address
        title = self.inputs.title(place)
        name = place[1] if title is None else f'"{title}"'
        return f"the {self.inputs.kind_noun(place)} {name}"

    def _subject_names(self, subjects: list[Subject]) -> str:
        """Return one phrase for several subjects, such as "Ann, members of acme/teams/dev"."""
        people = sorted(self._member_name(subject.key) for subject in subjects if subject.kind == "person")
        groups = sorted(
            f"members of {self._place_name(subject.key)}" for subject in subjects if subject.kind == "group"
        )
        named = [*people, *groups]
        others = [subject for subject in subjects if subject.kind == "others"]
        unlisted = any(subject.kind == "unlisted" for subject in subjects)
        phrases = [shorten_list(named)] if named else []
        phrases += [self._other_members_phrase(others)] if others else []
        phrases += ["people whose role your files do not list"] if unlisted else []
        return ", ".join(phrases)

    def _other_members_phrase(self, others: list[Subject]) -> str:
        """Return a phrase for all members without a role of their own, by their roles in the organization.

        An example: "other members with the role reader (ann@example.org and 4 more)". The names of a few
        members are included if they are known.
        """
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
        all_names = sorted(self._member_name(key) for subject in others for key in subject.first_members)
        names = all_names[:MAX_LISTED_NAMES]
        unnamed_count = sum(subject.number for subject in others) - len(names)
        return f"{text} ({', '.join(names)}{f' and {unnamed_count} more' if unnamed_count else ''})"

    def _member_name(self, key: Key) -> str:
        """Return the e-mail of a member, or the title or id if the member has no address in this plan."""
        address = self.inputs.address(key)
        if address is None and (title := self.inputs.title(key)):
            return title
        if address is None:
            return f"the {self.inputs.kind_noun(key)} {key[1].rpartition('/')[2]}"
        return address.rpartition("/")[2].removeprefix("[").removesuffix("]")


def _without_differing_names(findings: list[AccessFinding]) -> list[AccessFinding]:
    """Remove the example names from "others" subjects if the names for a role differ between places.

    Otherwise the same group, such as "other members with the role reader", would appear several times with
    different names.
    """
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


def _role_word(
    role: RoleRange, default: RoleRange, subject: Subject, inexact: str, *, use_strongest: bool
) -> str:
    """Return a role as a word; "their own role" for members whose role in the organization applies.

    If the role is uncertain, insert one end of the range into `inexact`, such as "at least {}": the strongest
    possible role if `use_strongest`, otherwise the weakest. `default` is the role in the organization.
    """
    if subject.kind == "others" and role == default:
        return "their own role"
    low, high = role
    word = ROLES_ASCENDING_WITH_GUEST[high if use_strongest else low]
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
        """Return whether content moves or is shown elsewhere.

        Such a cause may explain many gains, so causes that name a role are tried first.
        """
        return self.mechanism in ("link", "move")

    def cache_key(self, place: Key) -> tuple[str, Key, Key]:
        """Return a cache key that is equal for all places that the cause affects in the same way."""
        cause_place, grantee = (RESOLVED_PLACE if key == place else key for key in (self.place, self.grantee))
        return self.mechanism, cause_place, grantee

    @property
    def concerns_everybody(self) -> bool:
        """Return whether the cause can change the access of every member, not only of `grantee`."""
        return self.mechanism in ("level", "link", "move")

    def explains(self, subject: Subject, gain: AccessGain, place: Key, strongest: bool) -> bool:
        """Return whether the role sources that differ in a gain are those that this cause changes.

        `strongest`: whether the strongest role counts; then each link and move explains every gain, because
        the sources have no order.
        """
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
    """Return, by the address of a change, an exposure for each of its fields that gives somebody access.

    An exposure is a warning in the plan. It has a text about who gains which role.
    """
    by_organization: dict[str, list[Change]] = defaultdict(list)
    for change in changes:
        if affects_access(decisions, change):
            by_organization[change.location.organization_key].append(change)
    exposures: dict[Address, list[Exposure]] = {}
    for name, organization_changes in sorted(by_organization.items()):
        inputs = AccessInputs(decisions, tuple(organization_changes), Address.root(name))
        sentences = AccessSentences(inputs)
        by_change: dict[tuple[Address, str], list[tuple[AccessCause, AccessFinding]]] = defaultdict(list)
        for cause, finding in access_findings(inputs):
            by_change[cause.change.location, cause.field].append((cause, finding))
        for (address, _), pairs in sorted(by_change.items(), key=lambda item: item[0]):
            cause = pairs[0][0]
            difference = next(
                (difference for difference in cause.change.differences if difference.field == cause.field),
                None,
            )
            role = difference.after if difference is not None and cause.mechanism == "given" else None
            change_findings = [finding for _, finding in pairs]
            is_update = difference is not None and cause.change.action == "update"
            exposure = Exposure(
                address=cause.change.address,
                field=cause.field,
                before=difference.before if difference is not None and is_update else None,
                after=difference.after if difference is not None else None,
                words=sentences.describe(address, change_findings, role),
                missing=sentences.missing_lists(change_findings),
            )
            exposures.setdefault(address, []).append(exposure)
    return exposures


def affects_access(decisions: Decisions, change: Change) -> bool:
    """Return whether a change can affect who has access.

    A create or an update can if the kind or a written field has to do with access (`Field.access_meaning`), a
    delete if the deleted objects include such an object or a team. A transfer does not count.
    """
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
    """Return the objects that are deleted together with `root`."""
    return [
        identity for identity, name in decisions.deletions.cascade.losses_by_root.get(root, ()) if not name
    ]


def _is_team(decisions: Decisions, name: str) -> bool:
    """Return whether a kind is a team: it contains objects that refer to a member and give no role."""
    kinds = decisions.sides.registry.children(name)
    return any("who" in kind.access_fields and "role" not in kind.access_fields for kind in kinds)


# What changes.


def access_causes(inputs: AccessInputs) -> Iterator[AccessCause]:
    """Yield the causes of all changes: each role, level, link, move or membership that a change affects."""
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


def _causes_of_create(inputs: AccessInputs, change: Change, created: AccessObject) -> Iterator[AccessCause]:
    """Yield the cause of a new object: a role, a team membership, a space shown by a site, or a level."""
    access, place = created.kind.access_fields, inputs.parent_key(created)
    if "who" in access:
        mechanism: Literal["given", "membership"] = "given" if "role" in access else "membership"
        field = access["role"].name if "role" in access else ""
        yield AccessCause(change, field, mechanism, place, inputs.key_in_access_field(created, "who"))
    elif "shows" in access and (space := inputs.key_in_access_field(created, "shows")) is not None:
        yield AccessCause(change, access["shows"].name, "link", inputs.site_key(created), space)
    elif "level" in access and inputs.after.levels[created.key] is not None:
        yield AccessCause(change, access["level"].name, "level", created.key)


def _causes_of_update(
    inputs: AccessInputs, change: Change, live: Mapping[Identity, AccessObject]
) -> Iterator[AccessCause]:
    """Yield a cause for each written field of a live object that has to do with access.

    A changed role in the organization counts only if it makes the member a guest. If a site shows another
    space than before, both spaces are affected.
    """
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
                    inputs.key_in_access_field(live_object, "who"),
                )
            case "role" if inputs.after.members.get(live_object.key) == NO_ROLE:
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
    inputs: AccessInputs, change: Change, identity: Identity, deleted: AccessObject | None
) -> Iterator[AccessCause]:
    """Yield the causes of a deleted object, because a lost role can leave somebody a stronger role.

    If a collection is deleted, its contents move. `deleted` is None if no access depends on the object.
    """
    if _is_team(inputs.decisions, identity[0]):
        yield AccessCause(change, "", "membership", identity)
    if deleted is None:
        return
    access = deleted.kind.access_fields
    if "who" in access:
        mechanism: Literal["given", "membership"] = "given" if "role" in access else "membership"
        grantee = inputs.key_in_access_field(deleted, "who")
        yield AccessCause(change, "", mechanism, inputs.parent_key(deleted), grantee)
    elif "shows" in access and (space := inputs.key_in_access_field(deleted, "shows")) is not None:
        yield AccessCause(change, "", "link", inputs.site_key(deleted), space)
    elif "level" in access and inputs.is_collection(deleted.key):
        for key in inputs.before.contents.get(deleted.key, ()):
            yield AccessCause(change, "", "move", key)


# Who gains access by these causes.


def access_findings(inputs: AccessInputs) -> Iterator[tuple[AccessCause, AccessFinding]]:
    """Yield everybody who gains access by the changes, with the cause of the gain.

    Access is computed once for all places (spaces, collections, sites) with equal access and equal causes. A
    gain counts under the first cause that explains it. Gains that unread lists make unknown come last.
    """
    finder = _GainFinder(inputs)
    by_place: dict[Key, list[AccessCause]] = defaultdict(list)
    all_causes = sorted(access_causes(inputs), key=lambda cause: cause.is_structural)
    for cause in all_causes:
        for place in dict.fromkeys(finder.affected_places(cause)):
            if finder.still_exists(place):
                by_place[place].append(cause)
    similar_places: dict[Any, list[Key]] = defaultdict(list)
    for place, causes in by_place.items():
        cause_cache_keys = tuple(cause.cache_key(place) for cause in causes)
        similar_places[finder.place_cache_key(place), cause_cache_keys].append(place)
    for places in similar_places.values():
        for subject, gain, cause_index in finder.gains(by_place[places[0]], places[0]):
            by_cause: dict[int, list[Key]] = defaultdict(list)
            for place in places:
                by_cause[id(by_place[place][cause_index])].append(place)
            for places_of_cause in by_cause.values():
                cause = by_place[places_of_cause[0]][cause_index]
                yield cause, AccessFinding(subject, gain, tuple(places_of_cause))
    for cause in all_causes:
        if (finding := finder.unknown_gain(cause)) is not None:
            yield cause, finding


_UNLISTED_MEMBER: Final = Subject("unlisted", None, NOT_A_GUEST, NOT_A_GUEST)
_UNLISTED_GUEST: Final = Subject("unlisted", None, NO_ROLE, NO_ROLE)


class _GainFinder(Struct, frozen=True):
    """Find the members, and groups of members, that gain access to a space, collection or site."""

    inputs: AccessInputs

    @property
    def access(self) -> AccessComparison:
        """Return a comparison of the access before and after the plan, by the rule of the API version."""
        rule = self.inputs.decisions.sides.registry.profile.access_rule
        return AccessComparison(rule, self.inputs.before, self.inputs.after)

    def still_exists(self, place: Key) -> bool:
        """Return whether a place exists after the apply; on a deleted place, nobody gains access."""
        return place in self.inputs.after.levels or place not in self.inputs.before.levels

    def affected_places(self, cause: AccessCause) -> Iterator[Key]:
        """Yield the spaces, collections and sites whose access a cause can change.

        If a site begins or ceases to show a space (cause "link"), that is the space. Otherwise, these are the
        places with roles of the team or member, or the place of the cause, and everything that gets access
        from these: the contents of collections, and the spaces on sites.
        """
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

    def place_cache_key(self, place: Key) -> Any:
        """Return a cache key: spaces, collections and sites with equal keys give everybody the same access.

        A place with roles of its own has a key of its own. The key has what decides otherwise: the default
        level, the collections around the place, and the sites that show it, before and after the plan.
        """
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
        """Yield each member or group of members (a subject) that gains access to a place by these causes.

        `place` is a space, collection or site. Each gain comes with the index of the first cause that
        explains it; a gain without such a cause is left out. A gain of unlisted members, about whom no list
        was read, is left out if all other members certainly gain access.
        """
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
            key = comparison.cache_key(subject, access_places) if subject.kind == "person" else subject
            if key not in gain_by_key:
                gain_by_key[key] = comparison.gain(subject, access_place)
            gain = gain_by_key[key]
            if subject.kind == "others":
                open_to_all = open_to_all and gain is not None and gain.certain
            if gain is None or (open_to_all and subject == _UNLISTED_MEMBER):
                continue
            for cause_index, cause in enumerate(causes):
                if cause.explains(subject, gain, place, strongest):
                    yield subject, gain, cause_index
                    break

    def _concerned_subjects(self, causes: list[AccessCause], place: Key, everybody: bool) -> list[Subject]:
        """Return the members, and groups of members, whose access to a place these causes can change.

        If a cause concerns everybody, these are all members with a role that affects the place, one subject
        for the other members with each role in the organization, and unlisted members if some may exist.
        """
        people: dict[Key, None] = {}
        groups: dict[Key, None] = {}
        if everybody:
            for state in (self.inputs.before, self.inputs.after):
                for access_place in _access_places(state, place):
                    roles = (state.member_roles, state.team_roles)
                    for grantee in (key for by_place in roles for key in by_place.get(access_place, ())):
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
        """Add a member, or the members of a team, to `people`; a team with unknown members to `groups`.

        `people` and `groups` are used as ordered sets.
        """
        states = (self.inputs.before, self.inputs.after)
        if grantee not in self.inputs.teams_with_roles:
            people[grantee] = None
        elif all(grantee in state.teams for state in states) or isinstance(grantee, Address):
            members = {member for state in states for member in state.teams.get(grantee, ())}
            people.update(dict.fromkeys(sorted(members, key=str)))
        else:
            groups[grantee] = None

    def _member_subject(self, key: Key) -> Subject | None:
        """Return the subject of a member with the roles in the organization before and after.

        A new member counts as a guest (`NO_ROLE`) before. Return None for an admin, who has access to
        everything, and for a member who leaves.
        """
        before, after = (state.members.get(key) for state in (self.inputs.before, self.inputs.after))
        if before is not None and after is None:
            return None
        if (ADMIN, ADMIN) in (before, after):
            return None
        new = before is None and after is not None
        unknown: RoleRange = ANY_ROLE_BELOW_ADMIN
        return Subject("person", key, NO_ROLE if new else before or unknown, after or unknown)

    def _other_subjects(self, named: frozenset[Key], *, all_listed: bool) -> list[Subject]:
        """Return a subject for all other members with the same role in the organization; none for guests.

        Args:
            named: The members that have a subject of their own.
            all_listed: Whether every list that can give one of the other members a role was read. Only then
                the subjects contain example members and their number.
        """
        counts = Counter({pair: len(members) for pair, members in self.inputs.members_by_role.items()})
        counts.subtract(self.inputs.roles_of(key) for key in named if key in self.inputs.after.members)
        roles = {pair for pair, number in counts.items() if number}
        roles = {pair for pair in roles if (ADMIN, ADMIN) not in pair and pair != (NO_ROLE, NO_ROLE)}
        if not self.inputs.are_members_read or not roles:
            return [Subject("others", None, NOT_A_GUEST, NOT_A_GUEST)]
        if not all_listed:
            return [Subject("others", None, *pair) for pair in sorted(roles)]
        subjects = []
        for pair in sorted(roles):
            members = (key for key in self.inputs.members_by_role[pair] if key not in named)
            examples = tuple(islice(members, MAX_LISTED_NAMES))
            subjects.append(Subject("others", None, *pair, examples, counts[pair]))
        return subjects

    def _may_be_unlisted(self, place: Key) -> bool:
        """Return whether somebody whom no read list names may have a role on a space, collection or site.

        That is so if the permissions of the place, or of one that gives access to it, were not read, or if
        not all sites and collections that give access to it are known.
        """
        access_place, states = self.inputs.access_place(place), (self.inputs.before, self.inputs.after)
        # By the rule "strongest", sites give no roles on spaces.
        do_sites_give_roles = self.access.rule == "precedence"
        for state in states:
            for giver in _access_places(state, place):
                is_relevant = do_sites_give_roles or giver not in state.sites_showing.get(place, ())
                if is_relevant and giver not in state.fully_read_places:
                    return True
        if do_sites_give_roles and access_place.can_be_shown_by_sites:
            are_sites_known = self.inputs.before.sites_read and access_place.has_permission_list
            if not are_sites_known:
                return True
        are_collections_known = all(state.enclosing_collections(place)[1] for state in states)
        return access_place.can_be_in_collections and not are_collections_known

    def unknown_gain(self, cause: AccessCause) -> AccessFinding | None:
        """Return a finding if a cause may open spaces, collections or sites whose permissions were not read.

        The finding names none of them. A member who joins a team may gain access. By the rule "precedence",
        also one who leaves a team or becomes a guest may get a stronger role, because then a later source of
        roles decides. Return None otherwise, or if all lists with roles were read.
        """
        joins = cause.mechanism == "membership" and cause.change.action == "create"
        leaves = cause.mechanism == "membership" and not joins
        loses_levels = cause.mechanism == "guest" and self.inputs.has_levels_around
        by_losing = (leaves or loses_levels) and self.access.rule == "precedence"
        if self.inputs.is_everything_read or not (joins or by_losing):
            return None
        if cause.grantee is None:
            return None  # The team is deleted, so everything that refers to the team was read.
        if isinstance(cause.place, Address):
            return None  # The plan creates the team, so the team has only the roles in the files.
        subject = self._member_subject(cause.grantee)
        unread = "the permissions of all spaces, collections and sites"
        return AccessFinding(subject, None, (), unread) if subject is not None else None


def _access_places(state: AccessState, place: Key) -> list[Key]:
    """Return a space, collection or site, then all sites and collections that give access to it."""
    return [
        place,
        *sorted(state.sites_showing.get(place, ()), key=str),
        *state.enclosing_collections(place)[0],
    ]
