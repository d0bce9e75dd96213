"""Compare two lists of rules, such as merge rules, and describe which rules become less strict."""

from __future__ import annotations

from typing import Any

from dpsync.kinds.kind import Lifted, RuleComparison
from dpsync.model.values import Value

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
        known = [one for rule in earlier for one in _people(rules, rule)]
        if later and not earlier:
            words.append(f"{name} added")
        elif any(one not in known for rule in later for one in _people(rules, rule)):
            words.append(f"{name} for more {rules.people}")
    return list(dict.fromkeys(words))


def _rule_list(how: Lifted, value: Value) -> list[Rule] | None:
    if value in how.free:
        return []
    items = value.get(how.rules.items) if how.rules is not None and isinstance(value, dict) else None
    return items if isinstance(items, list) else None


def _rules_named(rules: RuleComparison, name: str, listed: list[Rule]) -> list[Rule]:
    return [rule for rule in listed if rule.get(rules.name) == name]


def _people(rules: RuleComparison, rule: Rule) -> list[Any]:
    return list(rule.get(rules.people) or ())


def _implies(rules: RuleComparison, rule: Rule, earlier: Rule) -> bool:
    """Return whether a change request that meets `rule` always meets `earlier` as well."""
    name, earlier_name = rule.get(rules.name), earlier.get(rules.name)
    people, earlier_people = _people(rules, rule), _people(rules, earlier)
    if name == earlier_name:
        if name in rules.all_of:
            return all(one in people for one in earlier_people)
        if name in rules.one_of:
            return bool(people) and all(one in earlier_people for one in people)
        return _without_message(rules, rule) == _without_message(rules, earlier)
    if name not in rules.implied_by.get(str(earlier_name), ()):
        return False
    if earlier_name in rules.one_of:
        return any(one in earlier_people for one in people)
    return bool(people) or name not in (*rules.all_of, *rules.one_of)


def _without_message(rules: RuleComparison, rule: Rule) -> Rule:
    return {name: value for name, value in rule.items() if name != rules.message}
