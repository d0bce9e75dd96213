"""The root file and its includes → one tree, whose meaning does not depend on the order of files or keys.

Knows the top level of the format and nothing below it. Whatever is empty, missing or given twice is an error:
what is absent here may be deleted there.
"""

from __future__ import annotations

from collections.abc import Mapping as Environment
from collections.abc import Sequence as Several
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from dpsync.config import codes
from dpsync.config.discovery import included_files, read_file
from dpsync.config.reader import DEFAULT_LIMITS, decode, read
from dpsync.config.suggest import did_you_mean
from dpsync.config.variables import substitute
from dpsync.model.diagnostic import Diagnostic
from dpsync.model.nodes import Mapping, Node, Scalar
from dpsync.model.span import Span

FORMAT_VERSION: Final = 1
ROOT_KEYS: Final = ("dpsync", "include", "policy", "organizations", "environments")
INCLUDED_KEYS: Final = ("organizations",)


@dataclass(frozen=True, slots=True)
class Sources:
    """What was read. `root` is the merged tree with variables substituted, without refused top-level keys.

    It is an empty mapping when the root file could not be read. `texts` holds the text of every file, by the
    name that spans use (relative to `project`, with `/`).
    """

    root: Mapping
    project: Path
    texts: dict[str, str]
    diagnostics: tuple[Diagnostic, ...]


def load_sources(root: Path, env: Environment[str, str]) -> Sources:
    """Read a root file and what it includes. Never raises: everything that is wrong is in `diagnostics`."""
    loading = _Loading(env)
    top = loading.file(root, root.name, None)
    if top is None:
        empty = Mapping((), Span(root.name, 1, 1, 1, 1))
        return Sources(empty, root.parent.resolve(), loading.texts, tuple(loading.diagnostics))
    loading.version(top)
    parts = [loading.allowed(top, ROOT_KEYS, root.name)]
    include = top.get("include")
    if include is not None:
        files, problems = included_files(root, include)
        loading.diagnostics += problems
        loading.complete = loading.complete and not problems
        for file in files:
            part = loading.file(file.path, file.name, file.span)
            if part is not None:
                parts.append(loading.allowed(part, INCLUDED_KEYS, root.name))
    merged, problems = merge(parts)
    loading.diagnostics += problems
    loading.organizations(merged, top)
    return Sources(merged, root.parent.resolve(), loading.texts, tuple(loading.diagnostics))


def merge(parts: Several[Mapping]) -> tuple[Mapping, list[Diagnostic]]:
    """One mapping of all entries: mappings merge at every depth, and nothing else may be given twice.

    Entries keep their spans and come in the order in which they were first seen. `parts` may not be empty.
    """
    problems: list[Diagnostic] = []
    return _merged(parts, problems), problems


def _merged(parts: Several[Mapping], problems: list[Diagnostic]) -> Mapping:
    if len(parts) == 1:
        return parts[0]
    given: dict[str, list[tuple[Scalar, Node]]] = {}
    for part in parts:
        for key, node in part.entries:
            given.setdefault(key.text, []).append((key, node))
    entries: list[tuple[Scalar, Node]] = []
    for places in given.values():
        first_key, first = places[0]
        mappings = [node for _, node in places if isinstance(node, Mapping)]
        if len(mappings) == len(places):
            first = _merged(mappings, problems)
        else:
            problems += (_given_twice(first_key, key, len(mappings) > 0) for key, _ in places[1:])
        entries.append((first_key, first))
    return Mapping(tuple(entries), parts[0].span)


def _given_twice(first: Scalar, second: Scalar, mixed: bool) -> Diagnostic:
    message = f'"{second.text}" is given in two files'
    hint = (
        "only mappings merge, and it is not a mapping in both"
        if mixed
        else "only mappings merge; keep one of them"
    )
    related = (("first given", first.span),)
    return Diagnostic(codes.GIVEN_TWICE, message, second.span, hint=hint, related=related)


@dataclass(slots=True)
class _Loading:
    env: Environment[str, str]
    texts: dict[str, str] = field(default_factory=dict)
    diagnostics: list[Diagnostic] = field(default_factory=list)
    # Whether every file was read: otherwise "no organizations" would only repeat what is known.
    complete: bool = True

    def file(self, path: Path, name: str, span: Span | None) -> Mapping | None:
        """The mapping in one file, or None after saying why. `span` is the include that named it."""
        node = self.content(path, name, span)
        if isinstance(node, Mapping):
            return node
        self.complete = False
        if isinstance(node, Scalar) and node.value is None:
            related = (("included", span),) if span else ()
            hint = "an empty file is never taken for an empty organization"
            self.diagnostics.append(
                Diagnostic(
                    codes.EMPTY, f"{name} is empty", Span(name, 1, 1, 1, 1), hint=hint, related=related
                )
            )
        elif node is not None:
            hint = 'write "key: value", with a space after the colon'
            self.diagnostics.append(Diagnostic(codes.SHAPE, f"{name} is not a mapping", node.span, hint=hint))
        return None

    def content(self, path: Path, name: str, span: Span | None) -> Node | None:
        """The node of one file with its variables; null when it is empty, None when it cannot be read."""
        try:
            content = read_file(path, DEFAULT_LIMITS.bytes)
        except OSError as error:
            reason = error.strerror or str(error)
            self.diagnostics.append(Diagnostic(codes.UNREADABLE, f"{name} cannot be read: {reason}", span))
            return None
        text, problems = decode(content, name)
        self.texts[name] = text
        if problems:
            self.diagnostics += problems
            return None
        node, problems = read(text, name)
        self.diagnostics += problems
        if node is None:
            return None if problems else Scalar(None, Span(name, 1, 1, 1, 1), "", True)
        node, problems = substitute(node, self.env, text)
        self.diagnostics += problems
        return node

    def version(self, root: Mapping) -> None:
        node = root.get("dpsync")
        if node is None:
            span = Span(root.span.file, 1, 1, 1, 1)
            message, hint = (
                '"dpsync: 1" is missing',
                'begin the file with "dpsync: 1", the version of its format',
            )
        elif isinstance(node, Scalar) and type(node.value) is int and node.value == FORMAT_VERSION:
            return
        else:
            span = node.span
            written = f'"{node.text[:40]}"' if isinstance(node, Scalar) else "this"
            message, hint = (
                f"the version of the format is 1, not {written}",
                "write dpsync: 1, without quotes",
            )
        self.diagnostics.append(Diagnostic(codes.FORMAT_VERSION, message, span, hint=hint))

    def allowed(self, part: Mapping, keys: tuple[str, ...], root: str) -> Mapping:
        """The part without the keys that may not stand at the top of its file."""
        kept = tuple(entry for entry in part.entries if entry[0].text in keys)
        for key, _ in part.entries:
            if key.text in keys:
                continue
            if key.text in ROOT_KEYS:
                message, hint = f'"{key.text}" may only stand in {root}', f"move it to {root}"
            else:
                close = did_you_mean(key.text, keys)
                message = f'unknown key "{key.text}" at the top of the file'
                hint = f'did you mean "{close}"?' if close else f"known keys: {', '.join(keys)}"
            self.diagnostics.append(Diagnostic(codes.TOP_KEY, message, key.span, hint=hint))
        return part if len(kept) == len(part.entries) else Mapping(kept, part.span)

    def organizations(self, merged: Mapping, root: Mapping) -> None:
        node = merged.get("organizations")
        empty = node is None or (isinstance(node, Scalar) and node.value is None)
        if empty or (isinstance(node, Mapping) and not node.entries):
            if self.complete:
                key = merged.key("organizations")
                span = key.span if key else Span(root.span.file, 1, 1, 1, 1)
                hint = "an empty configuration is never taken for an empty organization"
                self.diagnostics.append(
                    Diagnostic(codes.EMPTY, "there are no organizations", span, hint=hint)
                )
        elif node is not None and not isinstance(node, Mapping):
            hint = "write the name of each organization as a key"
            self.diagnostics.append(
                Diagnostic(codes.SHAPE, '"organizations" is not a mapping', node.span, hint=hint)
            )
