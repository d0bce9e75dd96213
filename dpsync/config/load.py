"""Load a configuration: read, compose, declare, resolve and check its files.

`load` and `load_from` return a `Desired` and all findings. They report every problem, not only the first.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from pathlib import Path, PurePosixPath
from posixpath import relpath
from typing import Final

from msgspec.structs import replace

from dpsync import disk
from dpsync.collector import collector_paused
from dpsync.config import codes
from dpsync.config.checks import cross_checks
from dpsync.config.compose import load_sources
from dpsync.config.declare import Declarations
from dpsync.config.discovery import MOVE_INSIDE_HINT, DiskFiles, Files
from dpsync.config.layers import Layers
from dpsync.config.policy import PolicyReader
from dpsync.config.resolve import Resolver
from dpsync.config.yaml_reader import DEFAULT_LIMITS, decode, read
from dpsync.kinds.kind import SingleEntry
from dpsync.kinds.profiles import profile_of_url
from dpsync.kinds.registry import Registry
from dpsync.kinds.types import TextFile
from dpsync.model.address import Address, Pattern
from dpsync.model.desired import Desired, Entry, Environment, Scope
from dpsync.model.diagnostic import Diagnostic, Findings
from dpsync.model.nodes import Node, Scalar

_MAX_KEY_DEPTH: Final = 12
"""The maximum depth of keys above a tree, because kinds may contain each other."""


def load(
    root: Path, registry: Registry, env: Mapping[str, str], layers: Layers | None = None
) -> tuple[Desired, Findings]:
    """Return the checked configuration in a root file and the files that it includes, and all findings."""
    return load_from(DiskFiles(root), registry, env, layers)


def load_from(
    files: Files, registry: Registry, env: Mapping[str, str], layers: Layers | None = None
) -> tuple[Desired, Findings]:
    """Return the checked configuration in the files of a directory or a commit, and all findings."""
    with collector_paused():  # it would double the time, and nearly all objects created here stay
        return _load_configuration(files, registry, env, layers)


def _load_configuration(
    files: Files, registry: Registry, env: Mapping[str, str], layers: Layers | None
) -> tuple[Desired, Findings]:
    """Return the configuration in these files and all findings. See `load_from`."""
    sources = load_sources(files, env, layers, registry.with_all_kinds)
    registry = _registry_for_profile(registry, layers, sources.environment)
    declared = Declarations(registry, sources)
    value_files = _ValueFiles(files, dict(sources.texts), declared)
    declared.load_text_file = value_files.text
    organizations = sources.root.get("organizations")
    if organizations is not None:
        declared.declare_organizations(organizations)
    resolver = Resolver(declared, value_files.read, value_files.text)
    resources: dict[Address, Entry] = {}
    for entry in declared.entries.values():
        resources[entry.address] = resolver.read_entry(entry)
    policy_reader = PolicyReader(declared)
    policy = policy_reader.read(sources.root.get("policy"))
    if sources.complete:  # with unread parts, these checks would report missing entries that exist
        policy_reader.check(registry, list(resources.values()))
        declared.diagnostics += cross_checks(registry, resources)
        declared.diagnostics += _unidentified_organizations(declared, resources)
    desired = Desired(
        resources, declared.scopes, resolver.lookups, policy, value_files.texts,
        sources.environment, sources.environments,
        declared.diagnostics.warnings,
        watched_scopes=_watched_lists(
            registry, resources.values(), declared.scopes,
            (*policy.watch, *(pattern.list_pattern for pattern in policy.watch_values)),
        ),
        profile=registry.profile.name,
        overlay=sources.overlay,
        row_files=frozenset(declared.row_files),
    )  # fmt: skip
    return desired, declared.diagnostics


def _registry_for_profile(
    registry: Registry, layers: Layers | None, environment: Environment | None
) -> Registry:
    """Return the registry with the kinds of the API version (profile) of a configuration.

    The first of these that is known decides: the version from the command line, the version or the URL of the
    environment, and the version of the server (`layers.assumed`). Otherwise all kinds are returned.
    """
    profile = layers.profile if layers is not None else None
    if profile is None and environment is not None:
        profile = environment.profile or (profile_of_url(environment.url) if environment.url else None)
        if profile is None and environment.url:
            return registry.with_all_kinds
    if profile is None and layers is not None:
        profile = layers.assumed
    return registry.with_all_kinds if profile is None else registry.for_files_of_profile(profile)


def _watched_lists(
    registry: Registry,
    resources: Iterable[Entry],
    declared: Collection[Address],
    patterns: tuple[Pattern, ...],
) -> Mapping[Address, Scope]:
    """Return the lists that no file declares and that a `policy: watch` pattern matches, by address.

    `dpsync drift` reports new objects in these lists; no plan changes them. Places for exactly one object are
    left out, because no object can appear there.
    """
    watched: dict[Address, Scope] = {}
    for resource in resources if patterns else ():
        for word, kinds in registry.kinds_by_list_key(resource.kind).items():
            address = resource.address.child(*word.split("."))
            if isinstance(kinds[0].shape, SingleEntry) or address in declared:
                continue
            pattern = next((pattern for pattern in patterns if pattern.matches(address)), None)
            if pattern is not None:
                names = tuple(kind.name for kind in kinds)
                watched[address] = Scope(address, resource.address, names, pattern.span or resource.span)
    return watched


def _unidentified_organizations(
    declared: Declarations, resources: Mapping[Address, Entry]
) -> list[Diagnostic]:
    """Report organizations with neither an id nor a natural key, which dpsync cannot find.

    dpsync does not create organizations.
    """
    root = declared.registry.root
    keys = [key for key in root.natural_keys if isinstance(key, str)]
    fields = " nor ".join(f'"{key}"' for key in ("id", *keys))
    findings = []
    for resource in resources.values():
        if resource.kind != root.name or resource.pin is not None:
            continue
        entry = declared.entries[resource.address]
        # An invalid or misspelled id or natural key already has a finding.
        if entry.has_invalid_pin or any(
            key in entry.nodes or key in entry.misspelled_keys for key in ("id", *keys)
        ):
            continue
        message = f'the {root.noun} "{resource.key}" has neither {fields}'
        hint = 'add "id" with the id of the organization: the part after "/o/" in the URL of the GitBook app'
        findings.append(Diagnostic("DP216", message, resource.span, str(resource.address), hint))
    return findings


class _ValueFiles:
    """Reads the files that values name (`{file: …}`): inside the project, relative to the value's file."""

    def __init__(self, files: Files, texts: dict[str, str], declared: Declarations) -> None:
        self._files = files
        self._declared = declared
        self.texts = texts

    def read(self, path: Scalar) -> Node | str | None:
        """Return the YAML or JSON tree in a file, or the text of any other file; None after an error."""
        file = self._read_bytes(path)
        if file is None:
            return None
        real, data = file
        if PurePosixPath(real).suffix in (".json", ".yaml", ".yml"):
            node, problems = read(data, real)
            self.texts[real] = data.decode("utf-8", "replace")
            self._declared.diagnostics += problems
            return node if not problems else None
        return self._decode(path, real, data)

    def text(self, path: Scalar) -> TextFile | None:
        """Return the name and text of a file; None after reporting an error."""
        file = self._read_bytes(path)
        if file is None:
            return None
        name, content = file
        text = self._decode(path, name, content)
        if text is None:
            return None
        self.texts[name] = text
        return TextFile(name, text)

    def _read_bytes(self, path: Scalar) -> tuple[str, bytes] | None:
        """Return a file's name in the project and its content; None after reporting why it cannot be read."""
        text = str(path.value)
        name = (PurePosixPath(path.span.file).parent / text).as_posix()
        real = self._files.real_name(name)
        if real is None:
            message = f'"{text}" is outside the project'
            self._declared.error(codes.OUTSIDE, message, path.span, MOVE_INSIDE_HINT)
            return None
        try:
            data = self._files.read(real, DEFAULT_LIMITS.bytes)
        except OSError as error:
            hint = "the path is relative to this file"
            if self._exists(text):
                hint += f'. Write "{relpath(text, PurePosixPath(path.span.file).parent)}"'
            message = f'cannot read "{text}": {disk.error_reason(error)}'
            self._declared.error("DP122", message, path.span, hint, cause=real)
            return None
        return real, data

    def _exists(self, name: str) -> bool:
        """Return whether a path exists relative to the root file, as users often write it by mistake."""
        real = self._files.real_name(name)
        try:
            return real is not None and self._files.read(real, 0) is not None
        except OSError:
            return False

    def _decode(self, path: Scalar, real: str, data: bytes) -> str | None:
        """Return the text of a file; None after reporting why it is not text, at the path in the value."""
        decoded, problems = decode(data, real)
        self._declared.diagnostics += [replace(problem, span=path.span) for problem in problems]
        return decoded if not problems else None
