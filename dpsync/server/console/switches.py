"""Define the switches of the console (the web page of the local server): faults to inject, and the clock.

Input: the control plane, and the choice of a person on the page. Output: the rules of injected faults, which
`control/faults.py` applies to later requests, and the list of switches to show.
"""

from typing import Any, Final

from msgspec import Struct

from ..control.faults import FAULT_RULES, CountedRule, FaultSchedule
from .safe_text import escape_invisible

FREQUENCIES: Final = {
    "always": ("every request", {}),
    "once": ("the next request", {"times": 1}),
    "second": ("every second request", {"every": 2}),
    "tenth": ("every tenth request", {"every": 10}),
}
"""The frequencies that a person can choose for a fault: title, and fields of the rule."""
CLOCK_STEPS: Final = {"hour": ("1 hour", 3600), "day": ("1 day", 86_400), "week": ("8 days", 8 * 86_400)}
"""The steps by which a person can advance the clock: title, and seconds."""


class FaultPreset(Struct, frozen=True):
    """A named fault. `description` describes its effect; `rule` is the fault rule for the control plane."""

    name: str
    title: str
    description: str
    fault: dict[str, Any]
    frequency: dict[str, Any] = {}

    @property
    def rule(self) -> dict[str, Any]:
        """Return the fault rule for the control plane."""
        return {**self.frequency, "fault": self.fault}


PRESETS: Final = (
    FaultPreset(
        "down", "The server is down", "Every request returns 503.", {"kind": "status", "status": 503}
    ),
    FaultPreset(
        "busy", "Too many requests",
        "Every third request returns 429 and can be sent again after one second.",
        {"kind": "status", "status": 429, "retryAfter": 1}, {"every": 3},
    ),
    FaultPreset(
        "slow", "Slow responses", "Every response takes two seconds longer.", {"kind": "delay", "seconds": 2}
    ),
    FaultPreset(
        "lost", "Lost responses",
        "Every tenth request succeeds, but its connection is reset before the response.",
        {"kind": "reset", "when": "after"}, {"every": 10},
    ),
    FaultPreset(
        "refused", "Lost requests",
        "Every tenth request is lost: its connection is reset and nothing changes.",
        {"kind": "reset", "when": "before"}, {"every": 10},
    ),
    FaultPreset(
        "cut", "Incomplete responses", "Every tenth response ends in the middle.", {"kind": "truncate"},
        {"every": 10},
    ),
    FaultPreset(
        "login", "A login page", "Every response has the content type HTML, like the login page of a proxy.",
        {"kind": "content-type", "value": "text/html; charset=utf-8"},
    ),
    FaultPreset(
        "moving", "Lists that change",
        "Every list page has three items and repeats one item of the page before.",
        {"kind": "shift-page", "by": 1, "limit": 3},
    ),
)  # fmt: skip


class PresetSwitch(Struct, frozen=True):
    """A preset, whether it is on, and how many requests it matched and changed since it was turned on."""

    preset: FaultPreset
    on: bool
    matched: int = 0
    used: int = 0


class CustomRule(Struct, frozen=True):
    """A fault rule that is not a preset, with its index in the schedule."""

    number: int
    operation: str
    text: str
    matched: int
    used: int


def list_switches(schedule: FaultSchedule) -> list[PresetSwitch]:
    """Return a switch for each preset."""
    rules = {preset.name: _find_rule(schedule, preset) for preset in PRESETS}
    return [
        PresetSwitch(preset, True, rule.matched, rule.used)
        if (rule := rules[preset.name])
        else PresetSwitch(preset, False)
        for preset in PRESETS
    ]


def list_custom_rules(schedule: FaultSchedule) -> list[CustomRule]:
    """Return all fault rules that are not presets."""
    preset_rules = [_find_rule(schedule, preset) for preset in PRESETS]
    return [
        _make_custom_rule(number, rule)
        for number, rule in enumerate(schedule.rules)
        if rule not in preset_rules
    ]


def toggle_preset(schedule: FaultSchedule, name: str) -> None:
    """Turn a preset on or off. Other rules keep their counts. Raise ValueError for an unknown name."""
    preset = next((candidate for candidate in PRESETS if candidate.name == name), None)
    if preset is None:
        raise ValueError("the switch does not exist")
    rule = _find_rule(schedule, preset)
    if rule is not None:
        schedule.rules.remove(rule)
    else:
        schedule.rules.extend(FaultSchedule(FAULT_RULES.validate_python([preset.rule])).rules)


def add_rule(schedule: FaultSchedule, operation: str, name: str, frequency: str) -> None:
    """Add the fault of a preset for one operation. Raise ValueError for an unknown fault or frequency."""
    preset = next((candidate for candidate in PRESETS if candidate.name == name), None)
    if preset is None or frequency not in FREQUENCIES:
        raise ValueError("the fault does not exist")
    rule = {"fault": preset.fault, **FREQUENCIES[frequency][1]}
    if operation.strip():
        rule["operation"] = operation.strip()
    schedule.rules.extend(FaultSchedule(FAULT_RULES.validate_python([rule])).rules)


def remove_rule(schedule: FaultSchedule, number: str) -> None:
    """Remove a rule by its index. Raise ValueError if the rule does not exist."""
    if not number.isdecimal() or int(number) >= len(schedule.rules):
        raise ValueError("the rule no longer exists")
    del schedule.rules[int(number)]


def _find_rule(schedule: FaultSchedule, preset: FaultPreset) -> CountedRule | None:
    """Return the rule of a preset that is turned on, or None."""
    return next((rule for rule in schedule.rules if rule.as_dict()["rule"] == preset.rule), None)


def _make_custom_rule(number: int, counted_rule: CountedRule) -> CustomRule:
    """Return a rule as the console shows it: its operation, and its fault and frequency as text."""
    rule = counted_rule.as_dict()["rule"]
    operation, fault = rule.pop("operation", "every request"), rule.pop("fault")
    parameters = {**fault, **rule}
    text = ", ".join(f"{name} {value}" for name, value in parameters.items() if name != "kind")
    return CustomRule(
        number,
        operation,
        escape_invisible(f"{fault['kind']}: {text}" if text else fault["kind"]),
        counted_rule.matched,
        counted_rule.used,
    )
