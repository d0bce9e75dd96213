"""Combine the root file, its includes and overlays into one tree, and substitute variables.

`load_sources` is the entry point. The result does not depend on the order of files or keys. Only the top
level of the format is known here. Everything empty, missing or given twice is an error, because an entry that
is missing here may be deleted on the platform. In a file with `organization: acme` at the top, the other keys
are the settings and entries of acme.
"""

from __future__ import annotations

from collections.abc import Mapping as Environment
from collections.abc import Sequence as Several
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from dpsync.config import codes
from dpsync.config.discovery import MOVE_INSIDE_HINT, Files
from dpsync.config.layers import (
    ChosenEnvironment,
    Layers,
    Overlays,
    check_environments,
    environment_names,
    find_environment,
    unknown_environment_finding,
    unknown_organization_findings,
    without_other_environments,
)
from dpsync.config.variables import Substitution
from dpsync.config.yaml_reader import DEFAULT_LIMITS, decode, parse_text
from dpsync.disk import error_reason
from dpsync.kinds.registry import Registry
from dpsync.kinds.registry import build_registry as load_registry
from dpsync.model.desired import Environment as Surroundings
from dpsync.model.diagnostic import Diagnostic, Findings
from dpsync.model.nodes import Mapping, Node, Scalar, Span
from dpsync.model.text import did_you_mean, format_command

SINGLE_ORGANIZATION_KEY: Final = "organization"
ORGANIZATIONS_KEY: Final = "organizations"


def with_organizations(file: Mapping, top_keys: tuple[str, ...]) -> tuple[Mapping, Diagnostic | None]:
    """Expand the short form `organization: acme` of a file to `organizations: { acme: … }`.

    All keys except `top_keys` move into the organization. Keys and values keep their source positions. Also
    return a finding if the short form is invalid, otherwise None. Without the short form, return the file.
    """
    key, name = file.key(SINGLE_ORGANIZATION_KEY), file.get(SINGLE_ORGANIZATION_KEY)
    if key is None or name is None:
        return file, None
    without_organization = Mapping(
        tuple(entry for entry in file.entries if entry[0].text != SINGLE_ORGANIZATION_KEY), file.span
    )
    if not isinstance(name, Scalar) or not isinstance(name.value, str):
        message, hint = (
            f'"{SINGLE_ORGANIZATION_KEY}" must be the key of an organization',
            f"write {SINGLE_ORGANIZATION_KEY}: acme",
        )
        return without_organization, Diagnostic(codes.SHAPE, message, name.span, hint=hint)
    if (organizations_key := file.key(ORGANIZATIONS_KEY)) is not None:
        message, hint = (
            f'"{SINGLE_ORGANIZATION_KEY}" and "{ORGANIZATIONS_KEY}" cannot both be in one file',
            "delete one of the two keys",
        )
        return without_organization, Diagnostic(codes.TOP_KEY, message, organizations_key.span, hint=hint)
    top = tuple(entry for entry in without_organization.entries if entry[0].text in top_keys)
    inside = Mapping(
        tuple(entry for entry in without_organization.entries if entry[0].text not in top_keys), file.span
    )
    organizations = Mapping(((name, inside),), file.span)
    return Mapping(
        (*top, (replace(key, value=ORGANIZATIONS_KEY, text=ORGANIZATIONS_KEY), organizations)), file.span
    ), None


FORMAT_VERSION: Final = 1
_UNREADABLE_VALUE: Final = (codes.ALIAS, codes.UNQUOTED_COLOR)
"""Codes of findings about unreadable values: no further finding is reported for such a value."""
ROOT_KEYS: Final = ("dpsync", "include", "policy", "organizations", "environments")
OVERLAY_KEYS: Final = ("dpsync", "include", "policy", "organizations")
INCLUDED_KEYS: Final = ("organizations",)


class Composition(Struct, frozen=True):
    """The result of reading all files. `root` is the merged tree without refused top-level keys.

    Variables in the tree are replaced. `root` is an empty mapping if the root file could not be read. `texts`
    holds the text of every file, by the name that spans use (relative to the project, with `/`).
    """

    root: Mapping
    texts: dict[str, str]
    diagnostics: Findings
    environment: Surroundings | None = None
    environments: tuple[str, ...] = ()
    complete: bool = True
    """Whether every file was read completely. If not, missing entries may be in the unread part."""
    overlay: str | None = None
    """The last overlay, which takes precedence over all other files."""
    unknown: frozenset[Span] = frozenset()
    """The positions of texts whose variables could not be replaced."""


def load_sources(
    files: Files,
    env: Environment[str, str],
    layers: Layers | None = None,
    registry: Registry | None = None,
) -> Composition:
    """Read a root file, its includes, its overlays and the selected environment.

    The kinds of `registry` (default: all kinds) decide how overlays merge. Never raises: problems are in
    `diagnostics`.
    """
    layers = layers or Layers()
    composer = _Composer(files, env, Overlays(registry or load_registry()), layers.environment)
    top = composer.read_file(files.root, None)
    if top is None:
        empty = Mapping((), Span.start_of(files.root))
        return Composition(empty, composer.texts, composer.diagnostics, complete=False)
    composer.check_version(top)
    merged = composer.with_includes(top, ROOT_KEYS, files.root)
    environment = composer.chosen_environment(top)
    if environment is not None:
        if composer.complete:
            composer.diagnostics += unknown_organization_findings(environment, merged)
        merged = composer.with_environment(merged, environment)
    for name in layers.overlays:
        merged = composer.with_overlay(merged, name, None)
    composer.check_organizations(merged, top)
    return Composition(
        merged,
        composer.texts,
        composer.diagnostics,
        environment.environment if environment else None,
        composer.environments,
        composer.complete,
        layers.overlays[-1] if layers.overlays else composer.overlay,
        frozenset(composer.unknown),
    )


def merge(parts: Several[Mapping]) -> tuple[Mapping, Findings]:
    """Return the mappings merged at every depth, and a finding for each value that is given twice.

    Entries keep their spans and come in the order in which they first occur. `parts` may not be empty.
    """
    problems = Findings()
    return _merge_parts(parts, problems), problems


def _merge_parts(parts: Several[Mapping], problems: Findings) -> Mapping:
    """Return the mappings of several files merged at every depth.

    Each value that two files set is added to `problems`, and the first one counts.
    """
    if len(parts) == 1:
        return parts[0]
    values_by_key: dict[str, list[tuple[Scalar, Node]]] = {}
    for part in parts:
        for key, node in part.entries:
            values_by_key.setdefault(key.text, []).append((key, node))
    entries: list[tuple[Scalar, Node]] = []
    for key_value_pairs in values_by_key.values():
        first_key, first = key_value_pairs[0]
        mappings = [node for _, node in key_value_pairs if isinstance(node, Mapping)]
        if len(mappings) == len(key_value_pairs):
            first = _merge_parts(mappings, problems)
        else:
            problems += (
                _duplicate_value(first_key, key, len(mappings) > 0) for key, _ in key_value_pairs[1:]
            )
        entries.append((first_key, first))
    return Mapping(tuple(entries), parts[0].span)


def _duplicate_value(first: Scalar, second: Scalar, mixed: bool) -> Diagnostic:
    """Return the finding that a value is set in two files. `mixed` means that one of them is a mapping."""
    message = f'"{second.text}" is set in two files'
    hint = (
        "keep only one of the two values. dpsync merges two values only if both are mappings"
        if mixed
        else "delete one of the two values. dpsync merges two values only if both are mappings"
    )
    related = (("the first one", first.span),)
    return Diagnostic(codes.DUPLICATE_VALUE, message, second.span, hint=hint, related=related)


def read_environment(
    files: Files, env: Environment[str, str], name: str
) -> tuple[Surroundings | None, Findings]:
    """Return the address and the token variable of one environment, and findings about them.

    The rest of the file may be invalid. If the environment does not exist, the first value is None.
    """
    try:
        content = files.read(files.root, DEFAULT_LIMITS.bytes)
    except OSError as error:
        return None, Findings(
            [Diagnostic(codes.UNREADABLE, f"{files.root} cannot be read: {error_reason(error)}")]
        )
    text, problems = decode(content, files.root)
    root, syntax_findings = parse_text(text, files.root) if not problems else (None, [])
    findings = Findings([*problems, *syntax_findings])
    reduced = _keep_address_and_token(root, name) if isinstance(root, Mapping) else None
    if reduced is None:
        return None, findings
    findings += check_environments(reduced, env)
    substitution = Substitution(env, text)
    node = substitution.substitute(reduced)
    findings += substitution.diagnostics
    environment = find_environment(node, name) if isinstance(node, Mapping) else None
    return environment.environment if environment is not None else None, findings


def _keep_address_and_token(root: Mapping, name: str) -> Mapping | None:
    """Return the root file reduced to the `url` and `token` of the environment `name`; None without it.

    The rest of the file is left out, so that it may be invalid and refer to unset variables.
    """
    environments, key = root.get("environments"), root.key("environments")
    if key is None or not isinstance(environments, Mapping):
        return None
    entry, node = environments.key(name), environments.get(name)
    if entry is None or not isinstance(node, Mapping):
        return None
    address_and_token = node.with_keys(("url", "token"))
    return Mapping(((key, Mapping(((entry, address_and_token),), environments.span)),), root.span)


class _Composer(Struct):
    """Reads the files of a configuration one after the other, and collects texts and findings.

    `environment` is the name of the selected environment, `environments` all names in the root file.
    `unknown` has the positions of values that could not be read.
    """

    files: Files
    env: Environment[str, str]
    overlays: Overlays
    environment: str | None = None
    environments: tuple[str, ...] = ()
    texts: dict[str, str] = field(default_factory=dict)
    diagnostics: Findings = field(default_factory=Findings)
    unknown: set[Span] = field(default_factory=set)
    # Whether every file was read completely. If not, missing entries get no finding of their own.
    complete: bool = True
    overlay: str | None = None
    """The overlay of the environment."""

    def read_file(self, name: str, span: Span | None) -> Mapping | None:
        """Return the mapping in one file; None after reporting why not.

        `span` is the include that names the file.
        """
        node = self.read_content(name, span)
        if isinstance(node, Mapping):
            node, wrong = with_organizations(node, ROOT_KEYS)
            if wrong is not None:
                self.diagnostics.append(wrong)
                self.complete = False
            return node
        self.complete = False
        if isinstance(node, Scalar) and node.value is None:
            related = (("included", span),) if span else ()
            hint = 'add the line "organization: KEY" and entries, or delete the file from "include"'
            if name == self.files.root:
                hint = (
                    "dpsync never reads an empty file as an empty organization. "
                    f'Add the line "dpsync: 1" and an organization, or run {format_command("init")}'
                )
            self.diagnostics.append(
                Diagnostic(codes.EMPTY, f"{name} is empty", Span.start_of(name), hint=hint, related=related)
            )
        elif node is not None:
            hint = 'write "key: value", with a space after the colon'
            self.diagnostics.append(Diagnostic(codes.SHAPE, f"{name} is not a mapping", node.span, hint=hint))
        return None

    def read_content(self, name: str, span: Span | None) -> Node | None:
        """Return the node of one file with its variables replaced.

        An empty file is a null node. The result is None after reporting why the file cannot be read.
        """
        try:
            content = self.files.read(name, DEFAULT_LIMITS.bytes)
        except OSError as error:
            message = f"{name} cannot be read: {error_reason(error)}"
            self.diagnostics.append(Diagnostic(codes.UNREADABLE, message, span))
            return None
        text, problems = decode(content, name)
        self.texts[name] = text
        if problems:
            self.diagnostics += problems
            return None
        node, problems = parse_text(text, name)
        self.diagnostics += problems
        self.complete = self.complete and not problems
        self.unknown |= {
            problem.span
            for problem in problems
            if problem.code in _UNREADABLE_VALUE and problem.span is not None
        }
        if node is None:
            return None if problems else Scalar(None, Span.start_of(name), "", True)
        if name == self.files.root and isinstance(node, Mapping):
            # Only the selected environment is kept, because the variables of the others may be unset.
            self.environments = environment_names(node)
            self.diagnostics += check_environments(node, self.env)
            if self.environment is not None and self.environment not in self.environments:
                self.diagnostics.append(unknown_environment_finding(node, self.environment))
            node = without_other_environments(node, self.environment)
        if "$" in text or "\\" in text:  # an escape such as \x24 may stand for a "$"
            substitution = Substitution(self.env, text)
            node = substitution.substitute(node)
            self.diagnostics += substitution.diagnostics
            self.unknown |= substitution.unknown
        return node

    def with_includes(self, top: Mapping, keys: tuple[str, ...], name: str) -> Mapping:
        """Return one layer: a file merged with the files that it includes.

        `top` is the content of the file `name`, and `keys` are the keys allowed in it.
        """
        root = self.files.root
        parts = [self.without_forbidden_keys(top, keys, root)]
        include = top.get("include")
        if include is not None:
            included, problems = self.files.included(include, name)
            self.diagnostics += problems
            self.complete = self.complete and not problems
            for file in included:
                part = self.read_file(file.name, file.span)
                if part is not None:
                    parts.append(self.without_forbidden_keys(part, INCLUDED_KEYS, root))
        merged, problems = merge(parts)
        self.diagnostics += problems
        return merged

    def with_overlay(self, lower: Mapping, name: str, span: Span | None) -> Mapping:
        """Merge an overlay into the configuration `lower`. An overlay needs no format version."""
        top = self.read_file(name, span)
        if top is None:
            return lower
        if "dpsync" in top:
            self.check_version(top)
        return self.overlays.merge(lower, self.with_includes(top, OVERLAY_KEYS, name))

    def with_environment(self, lower: Mapping, environment: ChosenEnvironment) -> Mapping:
        """Merge the overlay and the organizations of an environment into the configuration `lower`.

        An overlay outside the project is reported and left out.
        """
        overlay = environment.overlay
        if overlay is not None:
            name = self.files.real_name(str(overlay.value))
            if name is None:
                self.complete = False
                message = f'"{overlay.value}" is outside the project'
                self.diagnostics.append(
                    Diagnostic(codes.OUTSIDE, message, overlay.span, hint=MOVE_INSIDE_HINT)
                )
            else:
                lower, self.overlay = self.with_overlay(lower, name, overlay.span), name
        if environment.organizations is None:
            return lower
        key = Scalar("organizations", environment.organizations.span, "organizations", True)
        environment_organizations = Mapping(
            ((key, environment.organizations),), environment.organizations.span
        )
        return self.overlays.merge(lower, environment_organizations)

    def chosen_environment(self, root: Mapping) -> ChosenEnvironment | None:
        """Return the selected environment of the root file; None without a selection or if it is invalid."""
        return None if self.environment is None else find_environment(root, self.environment)

    def check_version(self, root: Mapping) -> None:
        """Report a missing or unsupported format version."""
        node = root.get("dpsync")
        if node is None:
            span = Span.start_of(root.span.file)
            message, hint = (
                'the line "dpsync: 1" is missing',
                'add the line "dpsync: 1" at the top of the file',
            )
        elif isinstance(node, Scalar) and type(node.value) is int and node.value == FORMAT_VERSION:
            return
        else:
            span = node.span
            shown_version = f'"{node.text[:40]}"' if isinstance(node, Scalar) else "this"
            message, hint = (
                f"the format version must be 1, not {shown_version}",
                "write the line dpsync: 1 without quotes",
            )
        self.diagnostics.append(Diagnostic(codes.FORMAT_VERSION, message, span, hint=hint))

    def without_forbidden_keys(self, part: Mapping, keys: tuple[str, ...], root: str) -> Mapping:
        """Return the content of a file without the keys that are not allowed at its top, and report them.

        `keys` are the allowed keys, and `root` is the name of the root file, for the message.
        """
        allowed_entries = tuple(entry for entry in part.entries if entry[0].text in keys)
        for key, value in part.entries:
            if key.text in keys:
                continue
            if key.text in ROOT_KEYS:
                message, hint = f'"{key.text}" is only allowed in {root}', f"move the key to {root}"
            else:
                similar_key = did_you_mean(key.text, keys)
                # A mapping below a misspelled key may contain the entries that are missing elsewhere.
                self.complete = self.complete and similar_key is None and isinstance(value, Scalar)
                message = f'unknown key "{key.text}" at the top of the file'
                allowed_hint = (
                    'to write the keys of one organization here, add the line "organization: KEY" '
                    "above these keys. "
                    f"Other keys allowed at the top: {', '.join(keys)}"
                )
                hint = f'did you mean "{similar_key}"?' if similar_key else allowed_hint
            self.diagnostics.append(Diagnostic(codes.TOP_KEY, message, key.span, hint=hint))
        return part if len(allowed_entries) == len(part.entries) else Mapping(allowed_entries, part.span)

    def check_organizations(self, merged: Mapping, root: Mapping) -> None:
        """Report a configuration without organizations, which would delete everything.

        Nothing is reported if files could not be read, because they may contain the organizations.
        """
        node = merged.get("organizations")
        empty = node is None or (isinstance(node, Scalar) and node.value is None)
        if empty or (isinstance(node, Mapping) and not node.entries):
            if self.complete:
                key = merged.key("organizations")
                span = key.span if key else Span.start_of(root.span.file)
                hint = 'add an organization. dpsync never reads an empty configuration as "delete everything"'
                self.diagnostics.append(
                    Diagnostic(codes.EMPTY, "the configuration contains no organization", span, hint=hint)
                )
        elif node is not None and not isinstance(node, Mapping):
            hint = "write each organization as a key and a mapping: acme: { id: acme }"
            self.diagnostics.append(
                Diagnostic(codes.SHAPE, '"organizations" is not a mapping', node.span, hint=hint)
            )
