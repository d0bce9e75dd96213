"""From files to Desired: read, compose, declare, resolve, check.

Every problem is found before any is reported.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path, PurePosixPath

from dpsync.config.checks import cross_checks
from dpsync.config.compose import Sources, load_sources
from dpsync.config.declare import Declarations
from dpsync.config.discovery import read_file
from dpsync.config.policy import PolicyReader
from dpsync.config.reader import DEFAULT_LIMITS, decode, read
from dpsync.config.resolve import Resolving
from dpsync.kinds import later
from dpsync.kinds.registry import Registry
from dpsync.model.address import Address
from dpsync.model.desired import Desired, Resource
from dpsync.model.diagnostic import Diagnostic
from dpsync.model.nodes import Node, Scalar


def load(root: Path, registry: Registry, env: Mapping[str, str]) -> tuple[Desired, tuple[Diagnostic, ...]]:
    """The configuration in a root file and everything it includes, and all that is wrong with it."""
    sources = load_sources(root, env)
    declared = Declarations(registry)
    declared.diagnostics += sources.diagnostics
    for key, _ in sources.root:
        if key.text in later.ROOT:
            declared.not_supported(key)
    organizations = sources.root.get("organizations")
    if organizations is not None:
        declared.organizations(organizations)
    files = _Files(sources, declared)
    resolving = Resolving(declared, files.read)
    resources: dict[Address, Resource] = {}
    for entry in declared.entries.values():
        resources[entry.address] = resolving.resource(entry)
    policy = PolicyReader(declared)
    rules = policy.read(sources.root.get("policy"))
    policy.check(registry, list(resources.values()))
    declared.diagnostics += cross_checks(registry, resources)
    declared.diagnostics += _not_found_by_anything(registry, resources)
    desired = Desired(resources, declared.scopes, resolving.lookups, rules, files.texts)
    return desired, tuple(declared.diagnostics)


def _not_found_by_anything(registry: Registry, resources: Mapping[Address, Resource]) -> list[Diagnostic]:
    """An organization is only ever found: it needs its id or its natural key."""
    root = registry.root
    keys = [key for key in root.identity if isinstance(key, str)]
    return [
        Diagnostic(
            "DP216",
            f'the {root.noun} "{resource.key}" says neither id nor {" nor ".join(keys)}',
            resource.span,
            str(resource.address),
            "write id: as the platform shows it",
        )
        for resource in resources.values()
        if resource.kind == root.name
        and resource.pin is None
        and not any(key in resource.fields for key in keys)
    ]


class _Files:
    """Files that values come from: `{file: …}`, relative to the file that names them, inside the project."""

    def __init__(self, sources: Sources, declared: Declarations) -> None:
        self._project = sources.project
        self._declared = declared
        self.texts = dict(sources.texts)

    def read(self, path: Scalar) -> Node | str | None:
        text = str(path.value)
        name = (PurePosixPath(path.span.file).parent / text).as_posix()
        found = (self._project / name).resolve()
        if not found.is_relative_to(self._project):
            self._declared.error("DP125", f'"{text}" lies outside of the project', path.span)
            return None
        try:
            data = read_file(found, DEFAULT_LIMITS.bytes)
        except OSError as error:
            hint = "the path is relative to this file"
            self._declared.error("DP122", f'cannot read "{text}": {error.strerror or error}', path.span, hint)
            return None
        shown = found.relative_to(self._project).as_posix()
        if found.suffix in (".json", ".yaml", ".yml"):
            node, problems = read(data, shown)
            self.texts[shown] = data.decode("utf-8", "replace")
            self._declared.diagnostics += problems
            return node if not problems else None
        decoded, problems = decode(data, shown)
        self._declared.diagnostics += [replace(problem, span=path.span) for problem in problems]
        return decoded if not problems else None
