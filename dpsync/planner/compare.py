"""Compare entries with live objects, and find changes that open access.

- `changed` returns the fields of an entry that must be written; both values are normalized first.
- `raises` and `direction` tell whether a change makes an object more visible or more powerful, as the field's
  `exposes` and `exposure` declare it.
- `loosened_rules` compares two lists of rules, such as merge rules.
- `not_known` and `differs_from_base` treat values that the platform does not return.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Any, Final, Literal
from urllib.parse import urlsplit

from msgspec import Struct

from dpsync.kinds.kind import Field, Kind, Lifted, ListOrder, RuleComparison
from dpsync.kinds.types import Flag
from dpsync.model.address import Address
from dpsync.model.change import Cause, Difference
from dpsync.model.desired import Entry
from dpsync.model.snapshot import LiveObject, MatchedBy
from dpsync.model.values import PLAIN, Value, canonical, digest, has_null, leaves
from dpsync.planner.answers import SEND, Answer
from dpsync.planner.sides import Sides, Values

Rule = dict[str, Any]


def loosened_rules(how: Lifted, before: Value, after: Value) -> list[str] | None:
    """Return a phrase for each rule that is less strict in `after`, such as "allow_bypass added".

    Return None if a value is not a list of rules, for example `inherit` with unknown organization rules.
    """
    rules = how.rules
    earlier_rules, later_rules = _rule_list(how, before), _rule_list(how, after)
    if rules is None or earlier_rules is None or later_rules is None:
        return None
    earlier_binding = [rule for rule in earlier_rules if rule.get(rules.name) not in how.opens]
    if not earlier_binding:
        return []
    later_binding = [rule for rule in later_rules if rule.get(rules.name) not in how.opens]
    names = {rule.get(rules.name) for rule in later_binding}
    loosened = (
        rule for rule in earlier_binding if not any(_implies(rules, other, rule) for other in later_binding)
    )
    words = [
        f"{rule[rules.name]} {'changed' if rule[rules.name] in names else 'removed'}" for rule in loosened
    ]
    for name in how.opens:
        earlier, later = _rules_named(rules, name, earlier_rules), _rules_named(rules, name, later_rules)
        known = [person for rule in earlier for person in _people_in(rules, rule)]
        if later and not earlier:
            words.append(f"{name} added")
        elif any(person not in known for rule in later for person in _people_in(rules, rule)):
            words.append(f"{name} for more {rules.people}")
    return list(dict.fromkeys(words))


def _rule_list(how: Lifted, value: Value) -> list[Rule] | None:
    """Return the rules in a value; None if the value is not a list of rules."""
    if value in how.free:
        return []
    items = value.get(how.rules.items) if how.rules is not None and isinstance(value, dict) else None
    return items if isinstance(items, list) else None


def _rules_named(rules: RuleComparison, name: str, listed: list[Rule]) -> list[Rule]:
    return [rule for rule in listed if rule.get(rules.name) == name]


def _people_in(rules: RuleComparison, rule: Rule) -> list[Any]:
    """Return the members or teams that a rule names."""
    return list(rule.get(rules.people) or ())


def _implies(rules: RuleComparison, rule: Rule, earlier: Rule) -> bool:
    """Return whether a change request that meets `rule` always meets `earlier` as well."""
    name, earlier_name = rule.get(rules.name), earlier.get(rules.name)
    people, earlier_people = _people_in(rules, rule), _people_in(rules, earlier)
    if name == earlier_name:
        if name in rules.all_of:
            return all(person in people for person in earlier_people)
        if name in rules.one_of:
            return bool(people) and all(person in earlier_people for person in people)
        return _without_message(rules, rule) == _without_message(rules, earlier)
    if name not in rules.implied_by.get(str(earlier_name), ()):
        return False
    if earlier_name in rules.one_of:
        return any(person in earlier_people for person in people)
    return bool(people) or name not in (*rules.all_of, *rules.one_of)


def _without_message(rules: RuleComparison, rule: Rule) -> Rule:
    return {name: value for name, value in rule.items() if name != rules.message}


_URL: Final = re.compile(r"\s*(?:[a-z][a-z0-9+.-]*:)?//", re.IGNORECASE)
"""Matches the beginning of a text that leads to a host; without a scheme, the page's scheme applies."""


def raises(field: Field, before: Value, after: Value) -> bool:
    """Return whether this change of a field makes its object more visible or more powerful."""
    rule = field.exposes
    if rule is None or after == before:
        return False
    if rule == "changed":
        return True
    if rule == "set":
        return after is not None
    if rule == "added":
        return bool(added(before, after))
    if rule == "linked":
        return bool(linked(before, after))
    if rule == "hosts":
        return bool(hosts(after) - hosts(before))
    if isinstance(rule, Lifted):
        return _is_loosened(rule, before, after)
    return _is_higher(field, rule, before, after)


def direction(field: Field, before: Value, after: Value) -> Literal["expose", "withdraw"] | None:
    """Return whether people see more or less after a change; None if neither, or both."""
    scale = field.exposure
    before, after = (field.absent if value is None else value for value in (before, after))
    if not scale or before == after:
        return None
    if isinstance(scale, Lifted):
        more, less = _is_loosened(scale, before, after), _is_loosened(scale, after, before)
        if more == less:
            return None
        return "expose" if more else "withdraw"
    low, high = (scale.index(value) if value in scale else 0 for value in (before, after))
    return "expose" if high > low else "withdraw"


def added(before: Value, after: Value) -> list[Value]:
    """Return the items of the list `after` that are not in `before`."""
    return [item for item in after or [] if item not in (before or [])]


def linked(before: Value, after: Value) -> list[str]:
    """Return the URLs in `after` that are not in `before`, in order."""
    known = set(_urls(before))
    return [url for url in dict.fromkeys(_urls(after)) if url not in known]


def hosts(value: Value) -> set[str]:
    """Return the hosts of the URLs in a value."""
    return {host for url in _urls(value) if (host := host_of(url)) is not None}


def host_of(url: str) -> str | None:
    """Return the host of a URL, None if the URL is invalid."""
    try:
        return urlsplit(url).hostname
    except ValueError:  # a bracket that nothing closes
        return None


def _urls(value: Value) -> Iterator[str]:
    """Yield the texts in a value that lead to a host."""
    return (leaf for leaf in leaves(value) if isinstance(leaf, str) and _URL.match(leaf))


def opening(how: Lifted, value: Value) -> set[str]:
    """Return the words in a value that open access."""
    values = list(leaves(value))
    return {word for word in how.opens if word in values}


def _is_higher(field: Field, scale: tuple[Any, ...], before: Value, after: Value) -> bool:
    """Return whether a value is higher on a scale, or may be higher because a value is not on the scale."""
    low, high = (field.absent if value is None else value for value in (before, after))
    if high is None or high == scale[0] or low == scale[-1]:
        return False
    if low is None or low not in scale or high not in scale:
        return True
    return scale.index(high) > scale.index(low)


def _is_loosened(how: Lifted, before: Value, after: Value) -> bool:
    """Return whether a restriction becomes less strict."""
    loosened = loosened_rules(how, before, after)
    if loosened is not None:
        return bool(loosened)
    if before is None or before in how.free:
        return bool(opening(how, after))
    return not _contains(after, before) or bool(opening(how, after) - opening(how, before))


def _contains(value: Value, part: Value) -> bool:
    """Return whether everything that restricts in `part` also restricts in `value`."""
    if isinstance(part, dict):
        return isinstance(value, dict) and all(
            name in value and _contains(value[name], nested) for name, nested in part.items()
        )
    if isinstance(part, list):
        return isinstance(value, list) and all(item in value for item in part)
    return bool(value == part)


class Changed(Struct, frozen=True):
    """A field that must be written, with the wanted and the live value, both normalized."""

    field: Field
    after: Value
    before: Value
    inherited: Address | None = None
    """The entry that the value is inherited from so far; set if this plan changes the inherited value."""

    def difference(self, values: Values, resource: Entry, cause: Cause | None) -> Difference:
        """Return the change as a plan shows it."""
        return Difference(
            field=self.field.name,
            before=values.display(self.field, self.field.type.narrow(self.before, self.after), resource),
            after=values.display(self.field, self.after, resource),
            known=self.field.source is not None,
            cause=cause,
            inherited=str(self.inherited) if self.inherited is not None else None,
        )


def managed(sides: Sides, resource: Entry) -> Iterator[Field]:
    """Yield the declared fields of an entry that a call can write and no repository decides."""
    kind = sides.kind(resource)
    match = sides.snapshot.matches.get(resource.address)
    renamed = match is not None and match.by is MatchedBy.PREVIOUSLY
    synced = sides.synced.fields
    for field in kind.writable_fields:
        fixed = field.name == kind.natural and not renamed
        if field.name in resource.fields and not fixed and (resource.address, field.name) not in synced:
            yield field


def changed(sides: Sides, resource: Entry, live: LiveObject) -> list[Changed]:
    """Return the fields of an entry whose live values differ."""
    changes, kind = [], sides.kind(resource)
    for field in managed(sides, resource):
        wanted, current = resource.fields[field.name], live.fields.get(field.name)
        equal = wanted == current and type(wanted) in PLAIN and type(wanted) is type(current)
        if equal and not field.may_be_unread:
            continue  # nearly every field of nearly every entry
        after = sides.values.normal(field, wanted, resource)
        before = sides.values.normal(field, current, live)
        readable = field.source is not None
        if has_null(after):
            before = without_inherited(before, _inherited_value(sides, resource, field), after)
        if (
            (readable and not same(field, after, before))
            or _lacks_processed_part(kind, field, wanted, live)
            or _must_be_resent(sides, resource, field, live)
        ):
            changes.append(Changed(field, after, before))
    return changes


def inherited_from(sides: Sides, resource: Entry) -> Address | None:
    """Return the entry from which an entry inherits unset fields; None if the kind inherits nothing."""
    inherits = sides.kind(resource).inherits
    if inherits is None:
        return None
    other = sides.registry[inherits]
    owners = (sides.lineage.ancestor(resource, parent) for parent in other.parents)
    return next((owner.child(*other.key.split(".")) for owner in owners if owner is not None), None)


def _inherited_value(sides: Sides, resource: Entry, field: Field) -> Value:
    """Return the live value that an entry inherits, None if it inherits none."""
    source = inherited_from(sides, resource)
    live = sides.live(source) if source is not None else None
    return None if live is None else sides.values.normal(field, live.fields.get(field.name), live)


def without_inherited(before: Value, inherited: Value, after: Value) -> Value:
    """Return a live value without the parts that the wanted value clears and that are inherited.

    An answer contains the inherited value of each part that the object has no value for.
    """
    if after is None:
        return None if inherited is not None and canonical(before) == canonical(inherited) else before
    if not (isinstance(before, dict) and isinstance(after, dict)):
        return before
    inherited_parts = inherited if isinstance(inherited, dict) else {}
    parts = {
        name: without_inherited(part, inherited_parts.get(name), after[name]) if name in after else part
        for name, part in before.items()
    }
    return {name: part for name, part in parts.items() if part is not None or name not in after}


def write_only(field: Field, value: Value) -> Value:
    """Return the part of a value that the platform never returns, None if there is none."""
    if value is None or isinstance(field, ListOrder):
        return None
    return value if field.source is None else field.type.unread(value)


def not_known(kind: Kind, field: Field, value: Value, live: LiveObject) -> Value:
    """Return the part of an entry's value that cannot be read back, None if there is none.

    A part with a request of its own is known if the platform has answered that request, or has no such part
    because it could not process the value that was sent. While the platform is processing the value, the
    future answer is unknown, and the part is not compared with anything else either.
    """
    hidden = write_only(field, value)
    if not field.own_read or not isinstance(hidden, dict):
        return hidden
    returned = _returned_parts(field, live)
    settled = kind.is_busy(live.fields) or processing_failed(kind, field, live)
    unknown = {
        name: part
        for name, part in hidden.items()
        if name not in field.own_read or not (settled or name in returned)
    }
    return unknown or None


def _returned_parts(field: Field, live: LiveObject) -> Collection[str]:
    """Return the names of the parts of a field that the platform has returned."""
    value = live.fields.get(field.name)
    return value.keys() if isinstance(value, dict) else ()


def processing_failed(kind: Kind, field: Field, live: LiveObject) -> bool:
    """Return whether the platform reports that it could not process the last value of a field."""
    return field.name == kind.platform.processed and kind.trouble(live.fields) is not None


def _lacks_processed_part(kind: Kind, field: Field, value: Value, live: LiveObject) -> bool:
    """Return whether the platform lacks a declared, readable part of a value because processing failed."""
    hidden = write_only(field, value)
    if not isinstance(hidden, dict) or not processing_failed(kind, field, live):
        return False
    return bool(field.own_read.keys() & hidden.keys() - set(_returned_parts(field, live)))


def differs_from_base(sides: Sides, resource: Entry, field: Field, live: LiveObject) -> bool:
    """Return whether a value that cannot be read back differs from the value in the git base.

    An entry that the base lacks counts as unchanged: its value was sent when the object was created, or
    somebody else created the object.
    """
    value = sides.desired.resources[resource.address].fields[field.name]
    hidden, earlier = not_known(sides.kind(live), field, value, live), sides.names.in_base(resource, live)
    if hidden is None or earlier is None:
        return False
    return canonical(write_only(field, earlier.fields.get(field.name))) != canonical(hidden)


def _must_be_resent(sides: Sides, resource: Entry, field: Field, live: LiveObject) -> bool:
    """Return whether to send a value without a visible difference.

    It is sent if the value in the git base differs, or if the user asked for it.
    """
    if sides.options.proof:
        return False
    asked_for = sides.answers.gives(Answer(SEND, str(resource.address.field(field.name))))
    if asked_for and _can_be_resent(sides, resource, field):
        return True
    return differs_from_base(sides, resource, field, live)


def _can_be_resent(sides: Sides, resource: Entry, field: Field) -> bool:
    """Return whether sending an unchanged value has an effect: it cannot be read back, or is processed."""
    value = sides.desired.resources[resource.address].fields[field.name]
    return write_only(field, value) is not None or field.name == sides.kind(resource).platform.processed


def resendable(sides: Sides, resource: Entry) -> Iterator[Answer]:
    """Yield the answer that sends a field again, for each field where that can have an effect."""
    for field in () if sides.options.proof else managed(sides, resource):
        if _can_be_resent(sides, resource, field):
            yield Answer(SEND, str(resource.address.field(field.name)))


def wanted_anew(sides: Sides, resource: Entry) -> list[Changed]:
    """Return the fields to write for a new object, without values that a new object has anyway."""
    changes = []
    for field in managed(sides, resource):
        after = sides.values.normal(field, resource.fields[field.name], resource)
        has_anyway = after is None or (isinstance(field.type, Flag) and after == field.absent)
        if not has_anyway:
            changes.append(Changed(field, after, None))
    return changes


def same(field: Field, after: Value, before: Value) -> bool:
    """Return whether two values are equal; a missing live value equals the default."""
    if after is None or before is None:
        return after is None and (before is None or before == field.absent)
    return field.type.same(after, before)


def object_digest(live: LiveObject, names: Collection[str]) -> str:
    """Return a digest of a live object: kind, id, parent, the named fields, and the Git Sync repository."""
    fields = {name: value for name, value in live.fields.items() if name in names}
    owner = [live.synced.name, live.synced.together] if live.synced is not None else []
    return digest([live.kind, live.id, live.parent, live.holder, fields, *owner])
