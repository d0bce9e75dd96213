"""Read `policy:` in the root file: patterns of protected and ignored objects, limits, and what is pruned.

Pruning deletes live objects without an entry.
`PolicyReader.read` returns the policy; `PolicyReader.check` compares its patterns with the entries.
"""

from __future__ import annotations

from collections.abc import Mapping as Mapping_
from typing import Final

from msgspec.structs import replace

from dpsync.config.declare import Declarations
from dpsync.kinds.address_patterns import PatternTarget, PlaceTypes
from dpsync.kinds.kind import Kind
from dpsync.kinds.registry import Registry
from dpsync.kinds.types import INVALID
from dpsync.kinds.watch_patterns import ACCESS_WORD, access_patterns, allowed_words, parse_value
from dpsync.model.address import Address, Pattern
from dpsync.model.desired import Entry, Limits, Policy
from dpsync.model.nodes import Mapping, Node, Scalar, Sequence, Span

_PATTERN_LISTS: Final[Mapping_[str, PatternTarget]] = {
    "prune": "lists", "protect": "objects", "ignore": "anything", "forget": "anything",
    "watch": "lists", "removed": "objects", "accept": "objects",
}  # fmt: skip
"""The lists of patterns, each with the noun for what its patterns match."""


class PolicyReader:
    """Reads the policy, and keeps its patterns for the checks."""

    def __init__(self, declared: Declarations) -> None:
        self.declared = declared
        self.patterns: dict[str, list[Pattern]] = {name: [] for name in _PATTERN_LISTS}
        self.skipped_patterns: list[Pattern] = []
        self.limits = Limits()

    def read(self, node: Node | None) -> Policy:
        """Return the policy in the value of `policy:`, and report invalid parts.

        Patterns of `watch` are divided into lists, fields, and fields with a value.
        """
        if isinstance(node, Mapping):
            for key, value in node.entries:
                if key.value in _PATTERN_LISTS:
                    self._read_patterns(str(key.value), value)
                elif key.value == "limits":
                    self._read_limits(value)
                else:
                    self.declared.unknown_key(key, [*_PATTERN_LISTS, "limits"], "policy")
        elif node is not None:
            self.declared.error("DP202", '"policy" must be a mapping', node.span)
        lists = {name: tuple(self.patterns[name]) for name in _PATTERN_LISTS}
        lists["watch_values"] = tuple(pattern for pattern in lists["watch"] if pattern.value is not None)
        lists["watch_fields"] = tuple(
            pattern for pattern in lists["watch"] if pattern.field and pattern.value is None
        )
        lists["watch"] = tuple(pattern for pattern in lists["watch"] if not pattern.field)
        return Policy(limits=self.limits, deletable_ids=None, skip=tuple(self.skipped_patterns), **lists)

    def _read_patterns(self, name: str, node: Node) -> None:
        """Read the list of address patterns `name`, such as `protect`, and report each invalid item.

        `watch: access` stands for the patterns of all lists and fields that affect access.
        """
        if name == "watch" and isinstance(node, Scalar) and node.value == ACCESS_WORD:
            self._add_access_patterns(node.span)
            return
        if not isinstance(node, Sequence):
            text = node.text if isinstance(node, Scalar) and isinstance(node.value, str) else "teams"
            hint = f"write {name}: [{text}]"
            self.declared.error("DP202", f'"{name}" must be a list of addresses or patterns', node.span, hint)
            return
        for item in node.items:
            is_skip_mapping = isinstance(item, Mapping) and name == "protect"
            pattern_node = self._skip_pattern(item) if is_skip_mapping else item
            if pattern_node is None:
                continue
            if not isinstance(pattern_node, Scalar) or not isinstance(pattern_node.value, str):
                self.declared.error("DP202", "an address or pattern must be a text", pattern_node.span)
                continue
            if name == "watch" and pattern_node.value == ACCESS_WORD:
                self._add_access_patterns(pattern_node.span)
                continue
            try:
                pattern = Pattern.parse(
                    pattern_node.value, self.declared.registry.pattern_words, pattern_node.span
                )
                pattern = pattern.with_parsed_value() if name == "watch" else pattern
            except ValueError as wrong:
                plain_address = pattern_node.value.strip("/")
                hint = (
                    f'write "{plain_address}" for the whole list, or "{plain_address}/*" for each entry in it'
                )
                message = f'"{pattern_node.value}" is not a valid pattern: {wrong}'
                self.declared.error(
                    "DP230",
                    message,
                    pattern_node.span,
                    hint if plain_address != pattern_node.value and plain_address else None,
                )
                continue
            if pattern.field and name not in ("ignore", "watch", "accept"):
                self.declared.error(
                    "DP230",
                    f'"{name}" accepts only addresses without a field',
                    pattern_node.span,
                    "delete # and the field",
                )
                continue
            if name == "removed" and "*" in pattern_node.value:
                hint = "write one line for each object that dpsync may delete"
                self.declared.error(
                    "DP230", f'"{name}" accepts only addresses without "*"', pattern_node.span, hint
                )
                continue
            self.patterns[name].append(pattern)
            if is_skip_mapping:
                self.skipped_patterns.append(pattern)

    def _add_access_patterns(self, span: Span) -> None:
        """Add the `watch` patterns that the word `access` stands for. `span` is the position of the word."""
        registry = self.declared.registry
        for text in access_patterns(registry):
            pattern = Pattern.parse(text, registry.pattern_words, span)
            self.patterns["watch"].append(replace(pattern, written_word=ACCESS_WORD))

    def _skip_pattern(self, node: Node) -> Node | None:
        """Return the pattern in an item `{ address: …, skip: true }` of `protect`.

        None after reporting an invalid item.
        """
        assert isinstance(node, Mapping)
        skip, pattern = node.get("skip"), node.get("address")
        keys = {key.text for key, _ in node.entries}
        if keys != {"address", "skip"} or not isinstance(skip, Scalar) or skip.value is not True:
            message, hint = (
                'a mapping under "protect" must have the key "address" and the line "skip: true"',
                "write { address: spaces/docs, skip: true }",
            )
            self.declared.error("DP202", message, node.span, hint)
            return None
        return pattern

    def _read_limits(self, node: Node) -> None:
        """Read `limits: { deletes, percent, exposures }`, and report invalid numbers."""
        names, values = list(Limits.__struct_fields__), dict[str, int]()
        if not isinstance(node, Mapping):
            self.declared.error(
                "DP202", '"limits" must be a mapping with "deletes", "percent" or "exposures"', node.span
            )
            return
        for key, value in node.entries:
            if key.value not in names:
                self.declared.unknown_key(key, names, "limits")
            elif (
                not isinstance(value, Scalar)
                or isinstance(value.value, bool)
                or not isinstance(value.value, int)
                or value.value < 0
            ):
                hint = _percent_hint(value) if key.value == "percent" else None
                self.declared.error(
                    "DP202", f"{key.value} must be a whole number, 0 or more", value.span, hint
                )
            else:
                values[str(key.value)] = value.value
        self.limits = Limits(**values)

    def check(self, registry: Registry, resources: list[Entry]) -> None:
        """Report each pattern without effect, and each that must not match.

        Also reports an empty mapping of entries that no prune or watch pattern covers, because it has no
        effect.
        """
        self._report_unmatched_patterns(registry, resources)
        self._report_ignored_natural_keys(registry, resources)
        self._report_kinds_without_content(registry)
        self._report_declared_objects(resources)
        for scope in self.declared.empty_scopes:
            covering = (*self.patterns["prune"], *self.patterns["watch"])
            if not any(pattern.matches(scope.address) for pattern in covering if not pattern.field):
                word = scope.address.last_segment
                hint = f'delete the key, or add {word} to "prune" or "watch" under "policy"'
                self.declared.error("DP232", f'an empty "{word}" has no effect here', scope.span, hint)

    def _report_declared_objects(self, resources: list[Entry]) -> None:
        """Report entries that `forget` or `removed` names: these lists are for objects without an entry."""
        for name in ("forget", "removed"):
            for pattern in self.patterns[name]:
                entry = next((resource for resource in resources if pattern.matches(resource.address)), None)
                if entry is not None and "*" not in pattern.last_segment:
                    hint = "to manage the object, delete this line. Otherwise, delete the entry"
                    message = f'{entry.address} has an entry, so the address cannot be under "{name}"'
                    self._error("DP233", message, pattern, hint, first=entry.span)

    def _report_kinds_without_content(self, registry: Registry) -> None:
        """Report patterns of `removed` without effect, because no such object has content.

        `removed` confirms deletes of content; dpsync deletes other objects without this confirmation.
        """
        places = PlaceTypes(registry)
        for pattern in self.patterns["removed"]:
            kinds = places.kinds(Address(pattern.segments))
            if kinds and not any(kind.has_content for kind in kinds):
                reason = (
                    f'removed: dpsync deletes {kinds[0].noun_with_article} without a line under "removed"'
                )
                self._error(
                    "DP234",
                    reason,
                    pattern,
                    'delete this line, because only "prune" decides whether dpsync deletes the object',
                )

    def _report_unmatched_patterns(self, registry: Registry, resources: list[Entry]) -> None:
        """Report patterns that can match no object, and fields that a list of the policy cannot name."""
        places = PlaceTypes(
            registry, {resource.key for resource in resources if resource.kind == registry.root.name}
        )
        for name, names in _PATTERN_LISTS.items():
            for pattern in (pattern for pattern in self.patterns[name] if pattern.written_word is None):
                suggest = not self.declared.diagnostics.is_full("DP234")
                target = "objects" if pattern.field and name == "watch" else names
                if name == "accept" and (kinds := places.kinds_of(pattern)):
                    self._check_problem_field(places, kinds, pattern)
                elif mistake := places.find_problem(pattern, target, suggest):
                    self._error("DP234", f"{name}: {mistake.reason}", pattern, mistake.hint)
                elif pattern.value is not None:
                    self._check_watched_value(places, pattern, pattern.value)
                elif pattern.field and name == "watch":
                    self._check_default_is_known(places, pattern)

    def _check_problem_field(self, places: PlaceTypes, kinds: tuple[Kind, ...], pattern: Pattern) -> None:
        """Report a pattern of `accept` unless its field is one in which the platform reports problems."""
        fields = {
            kind.platform_work.trouble.field for kind in kinds if kind.platform_work.trouble is not None
        }
        if pattern.field in fields:
            return
        if len(fields) == 1:
            hint = f'did you mean "{pattern.address_text}#{next(iter(fields))}"?'
        else:
            known = (
                f"#{kind.platform_work.trouble.field} of {kind.noun_with_article}"
                for kind in places.registry.in_dependency_order
                if kind.platform_work.trouble is not None and (not fields or kind in kinds)
            )
            hint = f"allowed: {', '.join(known)}"
        subject = f'"{pattern.field or pattern.text}" is'
        message = f"accept: {subject} not a field in which GitBook reports problems"
        self._error("DP244", message, pattern, hint)

    def _check_default_is_known(self, places: PlaceTypes, pattern: Pattern) -> None:
        """Report a `watch` pattern with a field whose default value dpsync does not know.

        dpsync compares a watched field, which no entry declares, with its default.
        """
        fields = [
            field for kind in places.kinds_of(pattern) for field in kind.fields if field.name == pattern.field
        ]
        if not any(field.is_watchable for field in fields):
            message = f'watch: dpsync does not know the default value of "{pattern.field}"'
            self._error(
                "DP234",
                message,
                pattern,
                "write the field in the entry, because dpsync drift compares all fields in an entry",
            )

    def _check_watched_value(self, places: PlaceTypes, pattern: Pattern, value: str) -> None:
        """Report a `watch` pattern with a value that its field cannot have.

        Only a field with a fixed list of values can be watched for a value.
        """
        fields = [
            field for kind in places.kinds_of(pattern) for field in kind.fields if field.name == pattern.field
        ]
        words = sorted({word for field in fields for word in allowed_words(field.type) or ()})
        if not words or not any(field.response_path is not None for field in fields):
            message = (
                f'watch: "{pattern.field}" has no fixed list of values, so a pattern cannot contain a value'
            )
            self._error(
                "DP234",
                message,
                pattern,
                "write the field in the entry, because dpsync drift compares all fields in an entry",
            )
        elif all(parse_value(field, value) is INVALID for field in fields):
            message = f'watch: "{pattern.field}" cannot have the value "{value}"'
            self._error("DP234", message, pattern, f"use one of {', '.join(words)}, or null")

    def _report_ignored_natural_keys(self, registry: Registry, resources: list[Entry]) -> None:
        """Report patterns of `ignore` for a field by which dpsync recognizes the object."""
        for pattern in self.patterns["ignore"]:
            for resource in resources:
                kind = registry[resource.kind]
                keys = {
                    part for key in kind.natural_keys for part in ([key] if isinstance(key, str) else key)
                }
                if pattern.field in keys and pattern.matches(resource.address):
                    hint = "delete the pattern: dpsync recognizes the object by this field"
                    message = (
                        f'"{pattern.field}" cannot be ignored, because dpsync '
                        f"recognizes {kind.noun_with_article} by this field"
                    )
                    self._error("DP231", message, pattern, hint)
                    break

    def _error(self, code: str, message: str, pattern: Pattern, hint: str, first: Span | None = None) -> None:
        """Add an error at the position of a pattern. `first` is the position that conflicts with it."""
        assert pattern.span is not None
        self.declared.error(code, message, pattern.span, hint, first)


def _percent_hint(value: Node) -> str | None:
    """Return a hint for a percentage that was written as a fraction: 20 for 0.2."""
    fraction = value.value if isinstance(value, Scalar) else None
    return f"write {round(fraction * 100)}" if isinstance(fraction, float) and 0 < fraction < 1 else None
