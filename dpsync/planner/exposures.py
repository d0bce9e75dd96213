"""List the exposures of a plan: what becomes visible to more people or more powerful, even for a moment.

- `find_exposures`: permanent changes of fields with a `widening_rule`, new and deleted objects.
  access_changes.py finds who gains a stronger role.
- `brief_exposures`: what is public or powerful only during the apply, although edges.py orders requests to
  prevent that: if a server cannot create a hidden object, or an object moves while it is changed.
- `redirect_notes`: redirects to other hosts.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from dpsync.kinds.kind import Field, Kind, Restriction
from dpsync.model.address import Address
from dpsync.model.change import Change, Exposure, Note
from dpsync.model.desired import Entry
from dpsync.model.text import shorten_list
from dpsync.model.values import Value, leaves, to_plain
from dpsync.planner.access_changes import access_exposures
from dpsync.planner.compare import (
    added_items,
    added_urls,
    host_of,
    loosened_rules,
    opening_words,
    widens_access,
)
from dpsync.planner.create_hidden import hides_itself, initial_value
from dpsync.planner.decide import Decisions, EntryDecision
from dpsync.planner.navigation import NavigationTree, content_field
from dpsync.planner.publications import newly_published
from dpsync.planner.stepset import PlannedSteps
from dpsync.planner.visibility import Visibility


def brief_exposures(decisions: Decisions, steps: PlannedSteps) -> tuple[Exposure, ...]:
    """Return what is visible to more people only for a moment during the apply: by creates, then by moves."""
    return (*_briefly_visible_creates(decisions), *_briefly_visible_moves(decisions, steps))


def _briefly_visible_creates(decisions: Decisions) -> Iterator[Exposure]:
    """Yield an exposure for each new object that is public or has too many rights until a later request.

    The request that creates the object cannot set all fields that restrict it.
    """
    for address, decision in decisions.entries.items():
        if decision.live is not None:
            continue
        if late_fields := decisions.hidden_creation.briefly_visible_fields(decision.entry):
            names = " and ".join(field.name for field in late_fields)
            yield _brief_exposure(
                address, f"{names} can be set only after GitBook has created the object", late_fields[0]
            )
        if strong_fields := decisions.hidden_creation.over_privileged_fields(decision.entry):
            values = " and ".join(f"{field.name} is {initial_value(field)}" for field in strong_fields)
            words = (
                f"more access for a moment than in your files: {values} until GitBook has created the object"
            )
            yield Exposure(address=str(address), field=strong_fields[0].name, words=words, moment=True)


def _briefly_visible_moves(decisions: Decisions, steps: PlannedSteps) -> Iterator[Exposure]:
    """Yield an exposure for each changed object that is visible for a moment because of a move.

    The object, or something that contains or shows it, moves out of a hidden container or into one. Then a
    change after the move, or one not made before it, is visible too early or too late.
    """
    visibility = Visibility(decisions)
    leaves_hidden = {step.address: is_out for step, is_out in visibility.moves_across_hidden(steps.drafts)}
    exposure_by_address: dict[Address, Exposure] = {}
    for address in steps.drafts.by_address if leaves_hidden else ():
        for surrounding in (address, *visibility.surroundings(address)):
            if surrounding in leaves_hidden and not _is_owner_hidden(decisions, surrounding):
                late_steps = [
                    step
                    for step in steps.drafts.steps_of(address, "update")
                    if not visibility.can_precede_moves(step, steps.drafts)
                ]
                if leaves_hidden[surrounding]:
                    reason = _late_change_reason(decisions, address, surrounding, bool(late_steps))
                else:
                    reason = _early_change_reason(decisions, address, surrounding)
                if reason is not None:
                    exposure_by_address.setdefault(address, _brief_exposure(address, reason))
    yield from exposure_by_address.values()


def _late_change_reason(decisions: Decisions, address: Address, moved: Address, changed: bool) -> str | None:
    """Return why an object that leaves a hidden place is visible before its change; None if it is not."""
    if address in decisions.deletions.addresses and address != moved:
        return f"dpsync deletes this object after {moved} becomes visible"
    if changed:
        return f"dpsync changes this object after {moved} becomes visible"
    return None


def _early_change_reason(decisions: Decisions, address: Address, moved: Address) -> str | None:
    """Return why the change of an object is visible before the object is hidden by a move, or None.

    Only nodes of trees are changed before they move.
    """
    decision = decisions.entries.get(address)
    if decision is not None and decision.live is not None and decisions.sides.kind(decision.entry).is_node:
        visible_content = content_field(decisions.sides.kind(decision.entry))
        names = [
            change.field.name
            for change in decision.separately_written
            if change.field == visible_content or change.field.widens_when == "changed"
        ]
        if names:
            return f"dpsync changes the {names[0]} of this object before dpsync hides {moved}"
    return None


def _is_owner_hidden(decisions: Decisions, address: Address) -> bool:
    """Return whether a parent of an object, such as its site, is hidden, now or after the apply."""
    sides = decisions.sides
    parent = sides.entries[address].parent
    while parent is not None:
        entry, live = sides.entries[parent], sides.live(parent)
        live_fields = live.fields if live is not None else {}
        if any(
            hides_itself(sides.kind(entry), fields)
            for fields in (live_fields, {**live_fields, **entry.fields})
        ):
            return True
        parent = entry.parent
    return False


def _brief_exposure(address: Address, why: str, field: Field | None = None) -> Exposure:
    """Return an exposure with the words "public for a moment", and why."""
    name = field.name if field is not None else ""
    return Exposure(address=str(address), field=name, words=f"public for a moment: {why}", moment=True)


_MAX_VALUE_CHARS = 60
"""Characters of a value in a sentence."""


def find_exposures(
    decisions: Decisions, changes: Iterable[Change], trees: Iterable[NavigationTree]
) -> tuple[Exposure, ...]:
    """Return what the plan makes visible to more people or more powerful (its exposures).

    First come those by changes, in their order, then those by content published on a site, then by deletes.
    """
    changes = list(changes)
    result: list[Exposure] = []
    opening_access = access_exposures(decisions, changes)
    for change in changes:
        entry = decisions.entries.get(change.location)
        if entry is not None and change.action == "create":
            result += _new_object_exposures(decisions, entry)
        elif entry is not None:
            result += _widened_fields(decisions, entry, change)
            result += _transfer_exposure(decisions, change)
        result += opening_access.get(change.location, ())
    return (*result, *newly_published(decisions, trees, result), *_exposures_by_delete(decisions))


# What is changed.


def _widened_fields(
    decisions: Decisions, decision: EntryDecision, object_change: Change
) -> Iterator[Exposure]:
    """Yield an exposure for each changed field of a live object that gives more people access.

    Redirects and fields that follow from roles are left out: other functions report them.
    """
    kind = decisions.sides.kind(decision.entry)
    if kind.redirects is not None:
        return
    displayed_differences = {change.field: change for change in object_change.differences}
    for change in decision.display:
        is_readable = change.field.response_path is not None
        before = (
            _with_organization_value(
                decisions, decision.entry, change.field, change.before, after_apply=False
            )
            if is_readable
            else None
        )
        after = _with_organization_value(
            decisions, decision.entry, change.field, change.after, after_apply=True
        )
        displayed = displayed_differences.get(change.field.name)
        if (
            displayed is None
            or kind.follows_from_roles(change.field)
            or not widens_access(change.field, before, after)
        ):
            continue
        if change.field.widening_rule == "linked" and not _has_foreign_host(
            decisions, added_urls(before, change.after)
        ):
            continue
        yield Exposure(
            address=object_change.address,
            field=change.field.name,
            before=displayed.before if is_readable else None,
            after=displayed.after,
            words=_describe_loosened_rules(change.field, before, after)
            or _change_phrase(kind, change.field, displayed.before, displayed.after),
        )


def _with_organization_value(
    decisions: Decisions, entry: Entry, field: Field, value: Value, after_apply: bool
) -> Value:
    """Return the value that takes effect: for `inherit` the organization's value, otherwise `value`.

    If the organization's value is unknown, return `value`, too.

    `after_apply` selects the organization's value after the apply. For an object that this apply transfers to
    another organization, `inherit` is not replaced, because only one of the two organizations is known.
    """
    sides, rule, organization = decisions.sides, field.widening_rule, entry.address.organization
    is_transferred = entry.address in sides.snapshot.transferred_entries
    if (
        not isinstance(rule, Restriction)
        or rule.inherit_value is None
        or value != rule.inherit_value
        or is_transferred
    ):
        return value
    decision = decisions.entries.get(organization)
    written_values = (
        {item.field.name: item.after for item in decision.separately_written} if decision is not None else {}
    )
    if after_apply and field.name in written_values:
        return written_values[field.name]
    live = sides.live(organization)
    live_value = live.fields.get(field.name) if live is not None else None
    return (
        value if live is None or live_value is None else sides.values.with_references(field, live_value, live)
    )


def _describe_loosened_rules(field: Field, before: Value, after: Value) -> str:
    """Return which rules become less strict, as a phrase; "" if a value is not a list of rules."""
    loosened = (
        loosened_rules(field.widening_rule, before, after)
        if isinstance(field.widening_rule, Restriction)
        else None
    )
    return f"{field.name}: {', '.join(loosened)}" if loosened else ""


def _change_phrase(kind: Kind, field: Field, before: Any, after: Any) -> str:
    """Return a phrase for a change that widens access, for example "visibility raised: private → public"."""
    if field.widening_rule == "added":
        return f"{field.name}: {', '.join(_shorten(item) for item in added_items(before, after))} added"
    if field.widening_rule == "linked":
        return f"{field.name} leads to {', '.join(_shorten(url) for url in added_urls(before, after))}"
    if field.widening_rule == "set" and isinstance(after, dict):
        return f"{field.name} changed"  # it may hold what nobody should read
    if isinstance(field.widening_rule, Restriction) and after is not None:
        added_words = sorted(
            opening_words(field.widening_rule, after) - opening_words(field.widening_rule, before)
        )
        return (
            f"{field.name}: {', '.join(added_words)} added"
            if added_words
            else f"{field.name} may restrict less"
        )
    if not isinstance(field.widening_rule, tuple):
        if after is None:
            return f"{field.name} removed"
        return f"{field.name} changed: {_value_phrase(field, before)} → {_value_phrase(field, after)}"
    is_guarded_value = kind.guard is not None and kind.guard.field == field.name and kind.guard.value == after
    is_uncertain = before not in field.widening_rule or after not in field.widening_rule
    verb = " may be more" if is_uncertain and before is not None else " raised"
    verb_phrase = "" if isinstance(after, bool) else verb
    suffix = f", a new {after}" if is_guarded_value else ""
    return f"{field.name}{verb_phrase}: {_shorten(before)} → {_shorten(after)}{suffix}"


def _has_foreign_host(decisions: Decisions, urls: Iterable[str]) -> bool:
    """Return whether a URL leads to a host that is not the host of a site that was read."""
    own_hosts = _site_hosts(decisions)
    return any(host_of(url) not in own_hosts for url in urls)


def _site_hosts(decisions: Decisions) -> set[str | None]:
    """Return the hosts of all live objects that have a URL."""
    objects = decisions.sides.snapshot.objects.values()
    return {host_of(live.url) for live in objects if live.url is not None}


def _transfer_exposure(decisions: Decisions, change: Change) -> Iterator[Exposure]:
    """Yield an exposure if the object is transferred to another organization, whose members may see it."""
    if change.location not in decisions.sides.snapshot.transferred_entries:
        return
    *_, transfer = change.differences
    words = (
        f"transferred from {transfer.before} to {transfer.after}, "
        f"so members of {transfer.after} can see the object"
    )
    yield Exposure(
        address=change.address,
        field=transfer.field,
        before=transfer.before,
        after=transfer.after,
        words=words,
    )


# What is new.


def _new_object_exposures(decisions: Decisions, decision: EntryDecision) -> Iterator[Exposure]:
    """Yield an exposure for each field in which a new object has more than the least access.

    For kinds of which each new object is an exposure (members), yield one exposure with all of these
    fields.
    """
    sides, entry = decisions.sides, decision.entry
    kind, address = sides.kind(entry), str(entry.address)
    if kind.redirects is not None:
        return
    exposed_fields = []
    for field in kind.fields:
        if kind.follows_from_roles(field):
            continue  # access_changes.py
        value = _initial_value(decisions, decision, field)
        leads_elsewhere = field.widening_rule == "linked" and _has_foreign_host(
            decisions, added_urls(None, value)
        )
        if not leads_elsewhere and not (field.can_widen_access and _more_than_least(field, value)):
            continue
        displayed = sides.values.to_display(field, value, entry)
        phrase = (
            f"leads to {', '.join(map(_shorten, added_urls(None, displayed)))}"
            if leads_elsewhere
            else _value_phrase(field, displayed)
        )
        exposed_fields.append((field, displayed, f"new, with {field.name} {phrase}"))
    if not kind.creation_widens_access:
        for field, displayed, words in exposed_fields:
            yield Exposure(address=address, field=field.name, after=displayed, words=words)
    elif exposed_fields:
        declared_fields = [
            exposed_field for exposed_field in exposed_fields if exposed_field[0].name in entry.fields
        ] or exposed_fields
        all_phrases = ", ".join(
            f"{field.name} {_value_phrase(field, displayed)}" for field, displayed, _ in declared_fields
        )
        field, displayed, _ = exposed_fields[0]
        is_guarded_value = (
            kind.guard is not None and kind.guard.field == field.name and kind.guard.value == displayed
        )
        title = f"a new {displayed}" if is_guarded_value else f"a new {kind.noun}"
        yield Exposure(address=address, field=field.name, after=displayed, words=f"{title}: {all_phrases}")
    elif "who" not in kind.access_fields:
        yield Exposure(address=address, words=f"a new {kind.noun}")


def _initial_value(decisions: Decisions, decision: EntryDecision, field: Field) -> Value:
    """Return the declared value of a field of a new object, or the default of the platform."""
    address = decision.entry.address
    if field.name in decision.entry.fields and not decisions.blocking.is_field_blocked(address, field):
        return decision.entry.fields[field.name]
    return field.value_when_absent if field.platform_default is None else field.platform_default


def _more_than_least(field: Field, value: Value) -> bool:
    """Return whether a value gives more than the least access."""
    is_on_scale = isinstance(field.widening_rule, tuple) and value in field.widening_rule
    is_default = value in (field.value_when_absent, field.platform_default) and not is_on_scale
    if value is None or is_default:
        return False
    if isinstance(field.widening_rule, Restriction):
        return bool(opening_words(field.widening_rule, value))
    if field.widening_rule == "added":
        return bool(value)
    if isinstance(field.widening_rule, tuple):
        return bool(value != field.widening_rule[0])
    return True


def _value_phrase(field: Field, value: Any) -> str:
    """Return a value as a phrase: the texts in its parts; "set" for a long text."""
    if isinstance(field.widening_rule, tuple):
        return _shorten(value)
    text = ", ".join(map(_shorten, leaves(value)))
    return (text or "nothing") if len(text) <= 2 * _MAX_VALUE_CHARS and "\n" not in text else "set"


# Where redirects lead.


def redirect_notes(decisions: Decisions, changes: Iterable[Change]) -> Iterator[Note]:
    """Yield one note for each organization in which redirects begin to lead to other hosts.

    "Other" hosts are hosts of none of the user's sites. A redirect shows nobody anything that was hidden, so
    it needs no confirmation. A draft leads nowhere. The address of the note is that of the first redirect.
    """
    hosts_by_organization: dict[Address, dict[Address, set[str]]] = defaultdict(dict)
    entries = (decisions.entries.get(change.location) for change in changes if change.action != "delete")
    redirects = [
        decision
        for decision in entries
        if decision and decisions.sides.kind(decision.entry).redirects is not None
    ]
    own_hosts = _site_hosts(decisions) if redirects else set()
    for decision in redirects:
        kind, live = decisions.sides.kind(decision.entry), decision.live
        before = live.fields if live is not None else {}
        after = {**before, **(decision.entry.fields if live is None else {})}
        after |= {item.field.name: item.after for item in decision.separately_written}
        new_urls = _destinations(kind, after) - _destinations(kind, before)
        if foreign_hosts := {host or url for url in new_urls if (host := host_of(url)) not in own_hosts}:
            hosts_by_organization[decision.entry.address.organization][decision.entry.address] = foreign_hosts
    for hosts_by_address in hosts_by_organization.values():
        verb = "redirect leads" if len(hosts_by_address) == 1 else "redirects lead"
        hosts = shorten_list(sorted(set().union(*hosts_by_address.values())))
        text = f"{len(hosts_by_address)} {verb} to hosts outside your sites: {hosts}"
        yield Note(address=str(min(hosts_by_address)), text=text, consequence=True)


def _destinations(kind: Kind, fields: Mapping[str, Value]) -> set[str]:
    """Return the URLs to which a redirect with these fields leads; none while the redirect is a draft."""
    scales = ((field.exposure, fields.get(field.name)) for field in kind.fields)
    if any(isinstance(scale, tuple) and scale and value == scale[0] for scale, value in scales):
        return set()
    return {url for value in fields.values() for url in added_urls(None, value)}


# What is deleted.


def _exposures_by_delete(decisions: Decisions) -> Iterator[Exposure]:
    """Yield an exposure for each deleted object that restricts access, such as a SAML login."""
    sides = decisions.sides
    for identity in decisions.deletions.all_deleted:
        kind = sides.registry[identity[0]]
        if kind.deletion_widens_access:
            words = (
                f"{kind.noun_with_article} is deleted, so members no longer need to sign in "
                f"with {kind.noun_with_article}"
            )
            yield Exposure(address=str(sides.names.address(identity)), words=words)


def _shorten(value: Any) -> str:
    """Return a value as text of at most 60 characters; "nothing" for None."""
    plain = to_plain(value)
    if isinstance(plain, bool):
        return "true" if plain else "false"
    text = "nothing" if plain is None else str(plain)
    return text if len(text) <= _MAX_VALUE_CHARS else f"{text[: _MAX_VALUE_CHARS - 1]}…"
