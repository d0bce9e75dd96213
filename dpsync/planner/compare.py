"""Compare entries with live objects, and find changes that let more people see or do something.

- `changed_fields` returns the fields of an entry that must be written; both values are normalized first.
- `widens_access` and `visibility_change` tell whether a change makes an object more visible or more powerful,
  as the declaration of the field says (`widens_when`, `exposure`).
- `loosened_rules` compares two lists of rules, such as merge rules.
- `unreadable_part` and `differs_from_base` treat values that GitBook does not return.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Any, Final, Literal
from urllib.parse import urlsplit

from msgspec import Struct

from dpsync.kinds.kind import Field, Kind, ListOrder, Restriction, RuleComparison
from dpsync.kinds.types import Flag
from dpsync.model.address import Address
from dpsync.model.change import Cause, Difference
from dpsync.model.desired import Entry
from dpsync.model.snapshot import LiveObject, MatchedBy
from dpsync.model.values import PLAIN_TYPES, Value, canonical_json, digest, has_null, leaves
from dpsync.planner.answers import SEND, Answer
from dpsync.planner.sides import Sides, ValueConverter

Rule = dict[str, Any]


def loosened_rules(restriction: Restriction, before: Value, after: Value) -> list[str] | None:
    """Return a phrase for each rule that is less strict in `after`, such as "allow_bypass added".

    A value is a list of rules, such as merge rules. Binding rules restrict people, and opening rules (with
    one of `opening_words` as name) exempt people from them. A binding rule is loosened if no later rule
    implies it, an opening rule if it is new or names more people. Return None if a value is not a list of
    rules, for example `inherit` with unknown organization rules.
    """
    rules = restriction.rule_comparison
    earlier_rules, later_rules = _rule_list(restriction, before), _rule_list(restriction, after)
    if rules is None or earlier_rules is None or later_rules is None:
        return None
    earlier_binding = [
        rule for rule in earlier_rules if rule.get(rules.name_key) not in restriction.opening_words
    ]
    if not earlier_binding:
        return []
    later_binding = [
        rule for rule in later_rules if rule.get(rules.name_key) not in restriction.opening_words
    ]
    names = {rule.get(rules.name_key) for rule in later_binding}
    loosened = (
        rule for rule in earlier_binding if not any(_implies(rules, other, rule) for other in later_binding)
    )
    words = [
        f"{rule[rules.name_key]} {'changed' if rule[rules.name_key] in names else 'removed'}"
        for rule in loosened
    ]
    for name in restriction.opening_words:
        earlier, later = _rules_named(rules, name, earlier_rules), _rules_named(rules, name, later_rules)
        known = [person for rule in earlier for person in _people_in(rules, rule)]
        if later and not earlier:
            words.append(f"{name} added")
        elif any(person not in known for rule in later for person in _people_in(rules, rule)):
            words.append(f"{name} for more {rules.people_key}")
    return list(dict.fromkeys(words))


def _rule_list(restriction: Restriction, value: Value) -> list[Rule] | None:
    """Return the rules in a field's value; [] if it means "no restriction", None if it has no rules."""
    if value in restriction.unrestricted_values:
        return []
    items = (
        value.get(restriction.rule_comparison.rules_key)
        if restriction.rule_comparison is not None and isinstance(value, dict)
        else None
    )
    return items if isinstance(items, list) else None


def _rules_named(rules: RuleComparison, name: str, listed: list[Rule]) -> list[Rule]:
    """Return those of the listed rules that have a name."""
    return [rule for rule in listed if rule.get(rules.name_key) == name]


def _people_in(rules: RuleComparison, rule: Rule) -> list[Any]:
    """Return the members or teams that a rule names."""
    return list(rule.get(rules.people_key) or ())


def _implies(rules: RuleComparison, rule: Rule, earlier: Rule) -> bool:
    """Return whether every change request that meets `rule` also meets the rule `earlier`.

    For equal names this depends on the people: a rule for all people implies one for fewer people, a rule for
    any person one for more people. Otherwise, `RuleComparison` declares which rules imply others.
    """
    name, earlier_name = rule.get(rules.name_key), earlier.get(rules.name_key)
    people, earlier_people = _people_in(rules, rule), _people_in(rules, earlier)
    if name == earlier_name:
        if name in rules.rules_for_all_people:
            return all(person in people for person in earlier_people)
        if name in rules.rules_for_any_person:
            return bool(people) and all(person in earlier_people for person in people)
        without_message, earlier_without_message = (
            {key: value for key, value in compared.items() if key != rules.message_key}
            for compared in (rule, earlier)
        )
        return without_message == earlier_without_message
    if name not in rules.implied_by.get(str(earlier_name), ()):
        return False
    if earlier_name in rules.rules_for_any_person:
        return any(person in earlier_people for person in people)
    return bool(people) or name not in (*rules.rules_for_all_people, *rules.rules_for_any_person)


_URL: Final = re.compile(r"\s*(?:[a-z][a-z0-9+.-]*:)?//", re.IGNORECASE)
"""Matches the beginning of a text that leads to a host; without a scheme, the page's scheme applies."""


def widens_access(field: Field, before: Value, after: Value) -> bool:
    """Return whether a change of a field makes its object more visible, or gives it more power.

    The field's declaration says when (`Field.widening_rule`): on any change, when a value is set, when a list
    gets more items, when a URL or a host is added, when a restriction is loosened, or when the value rises on
    a scale.
    """
    rule = field.widening_rule
    if rule is None or after == before:
        return False
    if rule == "changed":
        return True
    if rule == "set":
        return after is not None
    if rule == "added":
        return bool(added_items(before, after))
    if rule == "linked":
        return bool(added_urls(before, after))
    if rule == "hosts":
        return bool(hosts(after) - hosts(before))
    if isinstance(rule, Restriction):
        return _is_restriction_loosened(rule, before, after)
    # The rule is a scale of values. A value that is not on the scale may be higher.
    low, high = (field.value_when_absent if value is None else value for value in (before, after))
    if high is None or high == rule[0] or low == rule[-1]:
        return False
    if low is None or low not in rule or high not in rule:
        return True
    return rule.index(high) > rule.index(low)


def visibility_change(field: Field, before: Value, after: Value) -> Literal["expose", "withdraw"] | None:
    """Return whether people see more ("expose") or less ("withdraw") after a change of a field.

    Return None if neither is so, or both. The field's declaration has the scale of values, from the least to
    the most visible, or a restriction.
    """
    scale = field.exposure
    before, after = (field.value_when_absent if value is None else value for value in (before, after))
    if not scale or before == after:
        return None
    if isinstance(scale, Restriction):
        loosened, tightened = (
            _is_restriction_loosened(scale, before, after),
            _is_restriction_loosened(scale, after, before),
        )
        if loosened == tightened:
            return None
        return "expose" if loosened else "withdraw"
    low, high = (scale.index(value) if value in scale else 0 for value in (before, after))
    return "expose" if high > low else "withdraw"


def added_items(before: Value, after: Value) -> list[Value]:
    """Return the items of the list `after` that are not in `before`."""
    return [item for item in after or [] if item not in (before or [])]


def added_urls(before: Value, after: Value) -> list[str]:
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
    """Yield the texts in a value, at any depth, that are URLs with a host."""
    return (leaf for leaf in leaves(value) if isinstance(leaf, str) and _URL.match(leaf))


def opening_words(restriction: Restriction, value: Value) -> set[str]:
    """Return the words in a value, at any depth, that give more people access.

    A restriction is a field whose value limits what people can do, such as the rules before a merge. Its word
    `allow_bypass`, for example, names people whom the rules do not bind.
    """
    values = list(leaves(value))
    return {word for word in restriction.opening_words if word in values}


def _is_restriction_loosened(restriction: Restriction, before: Value, after: Value) -> bool:
    """Return whether a restriction becomes less strict: a rule is removed or loosened, or a word opens it."""
    loosened = loosened_rules(restriction, before, after)
    if loosened is not None:
        return bool(loosened)
    if before is None or before in restriction.unrestricted_values:
        return bool(opening_words(restriction, after))
    return not _contains(after, before) or bool(
        opening_words(restriction, after) - opening_words(restriction, before)
    )


def _contains(value: Value, part: Value) -> bool:
    """Return whether everything that restricts in `part` also restricts in `value`."""
    if isinstance(part, dict):
        return isinstance(value, dict) and all(
            name in value and _contains(value[name], nested) for name, nested in part.items()
        )
    if isinstance(part, list):
        return isinstance(value, list) and all(item in value for item in part)
    return bool(value == part)


class FieldChange(Struct, frozen=True):
    """A field that must be written, with the wanted and the live value, both normalized."""

    field: Field
    after: Value
    before: Value
    inherited_from: Address | None = None
    """The entry that the value is inherited from so far; set if this plan changes the inherited value."""

    def difference(self, values: ValueConverter, entry: Entry, cause: Cause | None) -> Difference:
        """Return a changed field as a plan shows it, with addresses in place of ids."""
        return Difference(
            field=self.field.name,
            before=values.to_display(
                self.field, self.field.type.displayable_live(self.before, self.after), entry
            ),
            after=values.to_display(self.field, self.after, entry),
            known=self.field.response_path is not None,
            cause=cause,
            inherited=str(self.inherited_from) if self.inherited_from is not None else None,
        )


def managed_fields(sides: Sides, entry: Entry) -> Iterator[Field]:
    """Yield the declared fields of an entry that dpsync writes.

    These are the writable fields, without those that Git Sync sets from a repository, and without the key
    field (by which entry and object were matched), unless the entry was renamed with `previously`.
    """
    kind = sides.kind(entry)
    match = sides.snapshot.matches.get(entry.address)
    renamed = match is not None and match.by is MatchedBy.PREVIOUSLY
    synced = sides.git_synced.fields
    for field in kind.writable_fields:
        is_fixed_key = field.name == kind.key_field and not renamed
        if field.name in entry.fields and not is_fixed_key and (entry.address, field.name) not in synced:
            yield field


def changed_fields(sides: Sides, entry: Entry, live: LiveObject) -> list[FieldChange]:
    """Return the fields of an entry that must be written to its live object.

    These are fields whose live values differ, and fields that cannot be read back and must be sent again.
    """
    changes, kind = [], sides.kind(entry)
    for field in managed_fields(sides, entry):
        declared, live_value = entry.fields[field.name], live.fields.get(field.name)
        equal = (
            declared == live_value and type(declared) in PLAIN_TYPES and type(declared) is type(live_value)
        )
        if equal and not field.may_be_write_only:
            continue  # This is a fast path for nearly every field of nearly every entry.
        after = sides.values.with_references(field, declared, entry)
        before = sides.values.with_references(field, live_value, live)
        readable = field.response_path is not None
        if has_null(after):
            source = inherited_from(sides, entry)
            live_source = sides.live(source) if source is not None else None
            inherited = (
                sides.values.with_references(field, live_source.fields.get(field.name), live_source)
                if live_source is not None
                else None
            )
            before = without_inherited(before, inherited, after)
        if (
            (readable and not equals_live(field, after, before))
            or _lacks_processed_part(kind, field, declared, live)
            or _must_be_resent(sides, entry, field, live)
        ):
            changes.append(FieldChange(field, after, before))
    return changes


def inherited_from(sides: Sides, entry: Entry) -> Address | None:
    """Return the address of the entry from which an entry inherits unset fields, None if there is none.

    An example is the customization of a site space, which inherits from the customization of the site.
    """
    inherited_kind_name = sides.kind(entry).inherits_from_kind
    if inherited_kind_name is None:
        return None
    inherited_kind = sides.registry[inherited_kind_name]
    owners = (sides.hierarchy.ancestor(entry, parent) for parent in inherited_kind.parents)
    return next((owner.child(*inherited_kind.key.split(".")) for owner in owners if owner is not None), None)


def without_inherited(before: Value, inherited: Value, after: Value) -> Value:
    """Return a live value without the parts that only look set, because the object inherits them.

    The platform returns the inherited value for each part that the object has no value for. A part that
    `after` clears (null) and that equals the inherited part counts as cleared already, so that the plan does
    not clear it again and again.
    """
    if after is None:
        is_inherited = inherited is not None and canonical_json(before) == canonical_json(inherited)
        return None if is_inherited else before
    if not (isinstance(before, dict) and isinstance(after, dict)):
        return before
    inherited_parts = inherited if isinstance(inherited, dict) else {}
    parts = {
        name: without_inherited(part, inherited_parts.get(name), after[name]) if name in after else part
        for name, part in before.items()
    }
    return {name: part for name, part in parts.items() if part is not None or name not in after}


def write_only_part(field: Field, value: Value) -> Value:
    """Return the part of a value that the platform never returns, None if there is none."""
    if value is None or isinstance(field, ListOrder):
        return None
    return value if field.response_path is None else field.type.write_only_part(value)


def unreadable_part(kind: Kind, field: Field, value: Value, live: LiveObject) -> Value:
    """Return the part of an entry's value that cannot be compared with the live value, None if there is none.

    A part that has a read request of its own can be compared if the platform has returned the part. It also
    does not count as unreadable while the platform is processing the value, or after the processing failed,
    because then there is nothing to read.
    """
    write_only = write_only_part(field, value)
    if not field.separate_read_paths or not isinstance(write_only, dict):
        return write_only
    returned = _returned_parts(field, live)
    has_nothing_to_read = kind.is_busy(live.fields) or processing_failed(kind, field, live)
    unreadable = {
        name: part
        for name, part in write_only.items()
        if name not in field.separate_read_paths or not (has_nothing_to_read or name in returned)
    }
    return unreadable or None


def _returned_parts(field: Field, live: LiveObject) -> Collection[str]:
    """Return the names of the parts of a field that the platform has returned."""
    value = live.fields.get(field.name)
    return value.keys() if isinstance(value, dict) else ()


def processing_failed(kind: Kind, field: Field, live: LiveObject) -> bool:
    """Return whether the platform reports that it could not process the last value of a field."""
    return field.name == kind.platform_work.processed_field and kind.reported_problem(live.fields) is not None


def _lacks_processed_part(kind: Kind, field: Field, value: Value, live: LiveObject) -> bool:
    """Return whether the platform lacks a declared part of a value, because it could not process the value.

    Then the value is sent again.
    """
    write_only = write_only_part(field, value)
    if not isinstance(write_only, dict) or not processing_failed(kind, field, live):
        return False
    return bool(field.separate_read_paths.keys() & write_only.keys() - set(_returned_parts(field, live)))


def differs_from_base(sides: Sides, entry: Entry, field: Field, live: LiveObject) -> bool:
    """Return whether a value that GitBook does not return differs from the value in the commit compared with.

    That commit is the git base. An entry that it lacks counts as unchanged: its value was sent when the
    object was created, or somebody else created the object.
    """
    value = sides.desired.entries[entry.address].fields[field.name]
    unreadable = unreadable_part(sides.kind(live), field, value, live)
    earlier = sides.names.base_entry(entry, live)
    if unreadable is None or earlier is None:
        return False
    earlier_part = write_only_part(field, earlier.fields.get(field.name))
    return canonical_json(earlier_part) != canonical_json(unreadable)


def _must_be_resent(sides: Sides, entry: Entry, field: Field, live: LiveObject) -> bool:
    """Return whether to send a value although it does not differ from the live value visibly.

    The value is sent if the value in the git base differs, or if the user asked for that with
    `--confirm "send ADDRESS#field"`. The plan that proves the result of an apply sends nothing again.
    """
    if sides.options.proof:
        return False
    is_requested = sides.answers.contains(Answer(SEND, str(entry.address.field(field.name))))
    if is_requested and _can_be_resent(sides, entry, field):
        return True
    return differs_from_base(sides, entry, field, live)


def _can_be_resent(sides: Sides, entry: Entry, field: Field) -> bool:
    """Return whether sending an unchanged value has an effect: it cannot be read back, or is processed."""
    value = sides.desired.entries[entry.address].fields[field.name]
    return (
        write_only_part(field, value) is not None
        or field.name == sides.kind(entry).platform_work.processed_field
    )


def resend_answers(sides: Sides, entry: Entry) -> Iterator[Answer]:
    """Yield the confirmations with which a person can make dpsync send an unchanged field of an entry again.

    Such a confirmation is "send ADDRESS#field", given with `--confirm`. It exists for write-only fields,
    which dpsync cannot read back and compare, and for fields whose value GitBook processes after the request.
    """
    for field in () if sides.options.proof else managed_fields(sides, entry):
        if _can_be_resent(sides, entry, field):
            yield Answer(SEND, str(entry.address.field(field.name)))


def fields_of_new_object(sides: Sides, entry: Entry) -> list[FieldChange]:
    """Return the fields to write for a new object, without null, and without flags with their default."""
    changes = []
    for field in managed_fields(sides, entry):
        after = sides.values.with_references(field, entry.fields[field.name], entry)
        has_anyway = after is None or (isinstance(field.type, Flag) and after == field.value_when_absent)
        if not has_anyway:
            changes.append(FieldChange(field, after, None))
    return changes


def equals_live(field: Field, after: Value, before: Value) -> bool:
    """Return whether two values are equal; a missing live value equals the default."""
    if after is None or before is None:
        return after is None and (before is None or before == field.value_when_absent)
    return field.type.equals(after, before)


def object_digest(live: LiveObject, names: Collection[str]) -> str:
    """Return a digest of a live object: kind, id, parent, the named fields, and the Git Sync repository."""
    fields = {name: value for name, value in live.fields.items() if name in names}
    owner = (
        [live.synced_repository.name, live.synced_repository.synced_with_owner]
        if live.synced_repository is not None
        else []
    )
    return digest([live.kind, live.id, live.parent, live.holder, fields, *owner])
