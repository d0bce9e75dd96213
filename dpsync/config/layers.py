"""Merge overlays (files with other values for an environment) and the environment into the configuration.

Values of an overlay win and keep their source position. The type of a field decides how two values merge. If
the overlay selects another variant of a value, members of the previous variant are dropped. Trees of nodes
merge by `key`; every other list is replaced. In this module, `lower` is the configuration and `upper` is the
overlay.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from collections.abc import Mapping as Variables
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from dpsync import disk
from dpsync.config import codes
from dpsync.config.discovery import MOVE_INSIDE_HINT
from dpsync.config.variables import referenced_variables
from dpsync.kinds.kind import EntryMapping, Kind
from dpsync.kinds.kind import TreeNode as NodeShape
from dpsync.kinds.profiles import PROFILES
from dpsync.kinds.registry import Registry
from dpsync.kinds.short_forms import expand_short_forms
from dpsync.kinds.types.base import merge_mappings, merge_values
from dpsync.model.desired import Environment
from dpsync.model.diagnostic import Diagnostic, DiagnosticError, Exit
from dpsync.model.nodes import Mapping, Node, Scalar, Sequence, Span
from dpsync.model.text import did_you_mean
from dpsync.model.urls import url_problem


class Overlays(Struct, frozen=True):
    """Merges overlays into a configuration, as the kinds of a registry require."""

    registry: Registry

    def merge(self, lower: Mapping, upper: Mapping) -> Mapping:
        """Return the configuration `lower` merged with the overlay `upper`, whose values win."""
        root = self.registry.root
        return merge_mappings(
            lower,
            upper,
            lambda name, old, new: (
                self._merge_entries((root,), old, new) if name == root.key else merge_values(old, new)
            ),
        )

    def _merge_entries(self, kinds: tuple[Kind, ...], lower: Node, upper: Node) -> Node:
        """Merge the value of one key that contains entries: a mapping, a tree, or a single entry.

        `kinds` are the kinds of these entries.
        """
        if isinstance(kinds[0].shape, NodeShape):
            return self._merge_tree(kinds, lower, upper)
        if not (isinstance(lower, Mapping) and isinstance(upper, Mapping)):
            return upper
        if isinstance(kinds[0].shape, EntryMapping):
            # E-mail keys are case-insensitive: use the spelling in the configuration for overlay keys.
            spellings = {self.registry.fold_key(kinds[0], key.text): key.text for key, _ in lower}
            entries = []
            for key, node in upper:
                text = spellings.get(self.registry.fold_key(kinds[0], key.text), key.text)
                entries.append((replace(key, value=text, text=text), node))
            upper = Mapping(tuple(entries), upper.span)
            return merge_mappings(lower, upper, lambda _, old, new: self._merge_entry(kinds[0], old, new))
        return self._merge_entry(kinds[0], lower, upper)

    def _merge_entry(self, kind: Kind, lower: Node, upper: Node) -> Node:
        """Merge two values of one entry: the configuration's (`lower`) and the overlay's (`upper`).

        `upper` wins, unless both are mappings: then they are merged key by key.
        """
        if not (isinstance(lower, Mapping) and isinstance(upper, Mapping)):
            return upper
        if kind.shorthand_field and kind.is_always_shorthand:
            return kind.field(kind.shorthand_field).type.merge_overlay(lower, upper)
        lower, upper = expand_short_forms(kind, lower), expand_short_forms(kind, upper)
        return merge_mappings(lower, upper, lambda name, old, new: self._merge_member(kind, name, old, new))

    def _merge_member(self, kind: Kind, name: str, lower: Node, upper: Node) -> Node:
        """Merge one key of an entry: a field, or a key that contains child entries.

        The key of a dotted path (`settings.domains`) contains a mapping of such keys.
        """
        if name in kind.declarable_fields:
            return kind.field(name).type.merge_overlay(lower, upper)
        kinds_by_path = self.registry.kinds_by_list_key(kind.name)
        if name in kinds_by_path:
            return self._merge_entries(kinds_by_path[name], lower, upper)
        kinds_by_inner_key = {
            list_key.removeprefix(f"{name}."): kinds for list_key, kinds in kinds_by_path.items()
        }
        if (
            not (isinstance(lower, Mapping) and isinstance(upper, Mapping))
            or kinds_by_inner_key.keys() <= kinds_by_path.keys()
        ):
            return merge_values(lower, upper)
        return merge_mappings(
            lower,
            upper,
            lambda word, old, new: (
                self._merge_entries(kinds_by_inner_key[word], old, new)
                if word in kinds_by_inner_key
                else merge_values(old, new)
            ),
        )

    def _merge_tree(self, kinds: tuple[Kind, ...], lower: Node, upper: Node) -> Node:
        """Merge two lists of nodes: nodes with the same `key` are merged, other nodes of `upper` appended.

        If one of them is not a list, return `upper`.
        """
        if not (isinstance(lower, Sequence) and isinstance(upper, Sequence)):
            return upper
        nodes = list(lower.items)
        positions = {
            key: n for n, node in reversed([*enumerate(nodes)]) if (key := _member_text(node, "key"))
        }
        for node in upper.items:
            position = positions.get(_member_text(node, "key"))
            if position is None:
                nodes.append(node)
            else:
                nodes[position] = self._merge_node(kinds, nodes[position], node)
        return Sequence(tuple(nodes), lower.span)

    def _merge_node(self, kinds: tuple[Kind, ...], lower: Node, upper: Node) -> Node:
        """Merge two nodes with the same key. If the types differ, drop members that the new type lacks.

        `kinds` are all kinds of the tree.
        """
        assert isinstance(lower, Mapping)
        assert isinstance(upper, Mapping)
        types = {kind.shape.yaml_type: kind for kind in kinds if isinstance(kind.shape, NodeShape)}
        chosen = _member_text(upper, "type") or _member_text(lower, "type")
        kind = types.get(chosen)
        if kind is None:
            return merge_mappings(lower, upper, lambda _, old, new: merge_values(old, new))
        if chosen != _member_text(lower, "type"):
            known = {"key", *kind.declarable_fields, *self.registry.kinds_by_list_key(kind.name)}
            lower = Mapping(lower.with_keys(known).entries, upper.span)
        return merge_mappings(
            lower,
            upper,
            lambda name, old, new: (
                self._merge_tree(kinds, old, new)
                if name == "children"
                else self._merge_member(kind, name, old, new)
            ),
        )


def _member_text(node: Node, name: str) -> str:
    """Return the text of one key of a mapping node; "" if it is missing or not a text."""
    value = node.get(name) if isinstance(node, Mapping) else None
    return value.text if isinstance(value, Scalar) else ""


_ENVIRONMENT_KEYS = ("url", "token", "profile", "limits", "organizations", "overlay")
_RATE = re.compile(r"([1-9][0-9]{0,5})/([smh])")
_SECONDS = {"s": 1, "m": 60, "h": 3600}
_IDENTITY_KEYS = ("id", "hostname")
_URL_VARIABLE = re.compile(r"DPSYNC_URL(_[A-Za-z0-9_]+)?")
_URL_RULE = "use DPSYNC_URL, or a variable whose name begins with DPSYNC_URL_"
_TOKEN_VARIABLE = re.compile(r"DPSYNC_TOKEN(_[A-Za-z0-9_]+)?")
_RESERVED_TOKEN_VARIABLES = ("DPSYNC_TOKEN_FILE", "DPSYNC_TOKEN_NAMES")
"""Variables whose names match `_TOKEN_VARIABLE` but that do not contain tokens."""
_VARIABLE = re.compile(r"[A-Z_][A-Z0-9_]*")
_VARIABLE_RULE = "use DPSYNC_TOKEN, or a variable whose name begins with DPSYNC_TOKEN_"
_OTHER_NAMES = "To allow other names, list them in the environment variable DPSYNC_TOKEN_NAMES"


class Layers(Struct, frozen=True):
    """The names of overlays (relative to the project) and of an environment, to merge into a root file."""

    overlays: tuple[str, ...] = ()
    environment: str | None = None
    profile: str | None = None
    """The profile that the user named, which takes precedence over that of the environment."""
    assumed: str | None = None
    """The profile if neither the user nor the environment names one."""

    @staticmethod
    def of(
        root: Path,
        overlays: Iterable[Path],
        environment: str | None = None,
        profile: str | None = None,
        assumed: str | None = None,
    ) -> Layers:
        """Return the layers that the command line selects for a root file.

        Raises DiagnosticError (exit 5) for an overlay outside the project.
        """
        project = root.parent.resolve()
        names: list[str] = []
        for path in overlays:
            try:
                names.append(disk.name_in_project(path, project))
            except disk.OutsideProjectError:
                message = f"the overlay {path} is outside the project, which is the directory of {root.name}"
                problem = Diagnostic(codes.OUTSIDE, message, hint=MOVE_INSIDE_HINT)
                raise DiagnosticError([problem], Exit.INVALID) from None
            except OSError as error:
                message = f"the overlay {path} cannot be read: {disk.error_reason(error)}"
                raise DiagnosticError([Diagnostic(codes.UNREADABLE, message)], Exit.INVALID) from None
        return Layers(tuple(names), environment, profile, assumed)


def without_other_environments(root: Mapping, chosen: str | None) -> Mapping:
    """Return the root file with only the chosen environment, because variables of others may be unset."""
    environments = root.get("environments")
    if not isinstance(environments, Mapping):
        return root
    only_chosen = Mapping(
        tuple(entry for entry in environments.entries if entry[0].text == chosen), environments.span
    )
    return Mapping(
        tuple((key, only_chosen if key.text == "environments" else node) for key, node in root), root.span
    )


class ChosenEnvironment(Struct, frozen=True):
    """The selected environment as it is written in the root file, to merge into the configuration."""

    environment: Environment
    overlay: Scalar | None
    organizations: Mapping | None


def is_token_variable(name: str, env: Variables[str, str]) -> bool:
    """Return whether a configuration may use a variable as the access token.

    The author of a configuration also chooses the host. Therefore the variable must be meant for dpsync:
    otherwise one line could send any secret in the environment to that host. The user who runs dpsync can
    allow more names in DPSYNC_TOKEN_NAMES.
    """
    if name in _RESERVED_TOKEN_VARIABLES:
        return False
    allowed_names = re.split(r"[\s,]+", env.get("DPSYNC_TOKEN_NAMES", ""))
    return bool(_TOKEN_VARIABLE.fullmatch(name)) or (name != "" and name in allowed_names)


def check_environments(root: Mapping, env: Variables[str, str]) -> list[Diagnostic]:
    """Return the findings about all environments of a root file, including those that are not chosen.

    `env` has the environment variables of the process: one of them allows more names for token variables.
    """
    node = root.get("environments")
    if node is None:
        return []
    if not isinstance(node, Mapping):
        return [_environment_finding('"environments" must be a mapping of names to environments', node.span)]
    findings: list[Diagnostic] = []
    for key, value in node:
        if not isinstance(value, Mapping):
            findings.append(
                _environment_finding(f'the environment "{key.text}" must be a mapping', value.span)
            )
            continue
        for word, value_node in value:
            findings += _key_problems(word, value_node, env)
    return findings


def _key_problems(word: Scalar, node: Node, env: Variables[str, str]) -> list[Diagnostic]:
    """Return the findings about one key of an environment, such as `url`."""
    match word.text:
        case "url" | "overlay":
            text = node.value if isinstance(node, Scalar) and isinstance(node.value, str) else ""
            if not text:
                return [_environment_finding(f'"{word.text}" must be a text', node.span)]
            return _url_problems(text, node.span) if word.text == "url" else []
        case "token":
            return _token_problems(node, env)
        case "profile":
            return _profile_problems(node)
        case "limits":
            return _limit_problems(node)
        case "organizations":
            return _organization_problems(node)
    nearest = did_you_mean(word.text, _ENVIRONMENT_KEYS)
    hint = f'did you mean "{nearest}"?' if nearest else f"allowed keys: {', '.join(_ENVIRONMENT_KEYS)}"
    return [_environment_finding(f'unknown key "{word.text}" in an environment', word.span, hint)]


def _url_problems(text: str, span: Span) -> list[Diagnostic]:
    """Return the finding that a `url` is invalid or uses a variable that is not allowed."""
    for name in referenced_variables(text):
        if not _URL_VARIABLE.fullmatch(name):
            message = f"{name} is not an allowed variable in a url: {_URL_RULE}"
            hint = (
                "rename the variable, for example to DPSYNC_URL_PROD, or write the URL itself into the file"
            )
            return [Diagnostic(codes.FORBIDDEN_URL_VARIABLE, message, span, hint=hint)]
    if "${" in text:  # the variables of an environment that is not selected may be unset
        return []
    problem = url_problem(text)
    return [_environment_finding(f"the url {problem}", span)] if problem else []


def _token_problems(node: Node, env: Variables[str, str]) -> list[Diagnostic]:
    """Return the finding that a `token` is not `{ env: NAME }` with an allowed variable."""
    variable_node = node.get("env") if isinstance(node, Mapping) and len(node) == 1 else None
    name = _text_value(variable_node) or ""
    if is_token_variable(name, env):
        return []
    # A text that is not a variable name may be the token itself: DP205 does not print the source line.
    if variable_node is None or not _VARIABLE.fullmatch(name):
        hint = (
            f"write token: {{ env: DPSYNC_TOKEN_PROD }}, and set that variable to the token. {_OTHER_NAMES}"
        )
        return [Diagnostic("DP205", "the secret itself must not be in the file", node.span, hint=hint)]
    message = f"{name} is not an allowed token variable: {_VARIABLE_RULE}"
    hint = f"rename the variable, for example to DPSYNC_TOKEN_PROD. {_OTHER_NAMES}"
    return [Diagnostic(codes.FORBIDDEN_VARIABLE, message, variable_node.span, hint=hint)]


def _profile_problems(node: Node) -> list[Diagnostic]:
    """Return the finding that a `profile` (API version) does not exist."""
    text = node.value if isinstance(node, Scalar) and isinstance(node.value, str) else ""
    if text in PROFILES or "${" in text:
        return []
    nearest = did_you_mean(text, PROFILES)
    hint = f'did you mean "{nearest}"?' if nearest else f"use one of {', '.join(PROFILES)}"
    message = f'the API version "{text}" does not exist' if text else '"profile" must be a text'
    return [_environment_finding(message, node.span, hint)]


def _limit_problems(node: Node) -> list[Diagnostic]:
    """Return the findings about `limits` of an environment, which has only the key `rate`."""
    if not isinstance(node, Mapping):
        return [_environment_finding('"limits" must be a mapping, such as { rate: 5/s }', node.span)]
    findings = []
    for word, part in node:
        if word.text != "rate":
            findings.append(
                _environment_finding(f'unknown key "{word.text}" in limits', word.span, "allowed keys: rate")
            )
        elif (text := _text_value(part)) is None or ("${" not in text and parse_rate(text) is None):
            hint = "write the rate as 5/s, 300/m or 1000/h"
            findings.append(
                _environment_finding(
                    '"rate" must be a number of requests per second, minute or hour', part.span, hint
                )
            )
    return findings


def parse_rate(text: str) -> float | None:
    """Return the requests per second of a rate such as `300/m`; None for an invalid rate."""
    match = _RATE.fullmatch(text)
    return int(match[1]) / _SECONDS[match[2]] if match else None


def _organization_problems(node: Node) -> list[Diagnostic]:
    """Return the findings about `organizations` of an environment.

    Each organization may have only the keys by which dpsync finds it: `id` and `hostname`.
    """
    if not isinstance(node, Mapping):
        return [_environment_finding('"organizations" in an environment must be a mapping', node.span)]
    findings: list[Diagnostic] = []
    for _, value in node:
        if not isinstance(value, Mapping) or not value.entries:
            findings.append(
                _environment_finding('an organization in an environment needs "id" or "hostname"', value.span)
            )
            continue
        for word, value_node in value:
            if word.text not in _IDENTITY_KEYS:
                hint = "move this key into the overlay of the environment"
                findings.append(
                    _environment_finding(
                        f'"{word.text}" is not allowed in an organization under "environments"',
                        word.span,
                        hint,
                    )
                )
            elif (
                not isinstance(value_node, Scalar)
                or not isinstance(value_node.value, str)
                or not value_node.value
            ):
                findings.append(_environment_finding(f'"{word.text}" must be a text', value_node.span))
    return findings


def unknown_organization_findings(environment: ChosenEnvironment, merged: Mapping) -> list[Diagnostic]:
    """Return findings about organizations that an environment names and no file declares."""
    known = merged.get("organizations")
    if not isinstance(known, Mapping) or environment.organizations is None:
        return []
    findings = []
    for key, _ in environment.organizations:
        if key.text not in known:
            nearest = did_you_mean(key.text, known.keys())
            hint = (
                f'did you mean "{nearest}"?' if nearest else f"the files contain: {', '.join(known.keys())}"
            )
            findings.append(
                _environment_finding(f'the files contain no organization "{key.text}"', key.span, hint)
            )
    return findings


def _environment_finding(message: str, span: Span, hint: str | None = None) -> Diagnostic:
    """Return a finding about the `environments` of a root file."""
    return Diagnostic(codes.ENVIRONMENT, message, span, hint=hint)


def environment_names(root: Mapping) -> tuple[str, ...]:
    """Return the names of the environments in a root file."""
    node = root.get("environments")
    return tuple(node.keys()) if isinstance(node, Mapping) else ()


def unknown_environment_finding(root: Mapping, name: str) -> Diagnostic:
    """Return the finding that the selected environment `name` does not exist."""
    known = environment_names(root)
    nearest = did_you_mean(name, known)
    key = root.key("environments")
    hint = (
        'add the environment under "environments" in the root file'
        if not known
        else f"the environments are: {', '.join(known)}"
    )
    if nearest:
        hint = f'did you mean "{nearest}"?'
    return Diagnostic(
        codes.NO_ENVIRONMENT,
        f'the root file has no environment "{name}"',
        key.span if key else None,
        hint=hint,
    )


def find_environment(root: Mapping, name: str) -> ChosenEnvironment | None:
    """Return the environment `name` of a root file; None if it does not exist or is no mapping.

    An invalid value in it counts as missing, because `check_environments` reports it.
    """
    environments = root.get("environments")
    node = environments.get(name) if isinstance(environments, Mapping) else None
    if not isinstance(node, Mapping):
        return None
    url, token = node.get("url"), node.get("token")
    overlay, organizations = node.get("overlay"), node.get("organizations")
    variable = token.get("env") if isinstance(token, Mapping) else None
    profile = _text_value(node.get("profile"))
    limits = node.get("limits")
    rate = _text_value(limits.get("rate")) if isinstance(limits, Mapping) else None
    return ChosenEnvironment(
        Environment(
            name,
            _text_value(url),
            _text_value(variable),
            profile if profile in PROFILES else None,
            parse_rate(rate) if rate is not None else None,
            url.span if url is not None else node.span,
        ),
        overlay if isinstance(overlay, Scalar) else None,
        organizations if isinstance(organizations, Mapping) else None,
    )


def _text_value(node: Node | None) -> str | None:
    """Return the value of a node that is a text, else None."""
    return node.value if isinstance(node, Scalar) and isinstance(node.value, str) else None
