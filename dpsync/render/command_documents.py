"""Make the JSON documents of `config`, `ids` and `list`.

`with_completed_commands` adds the flags of this run to the commands in the sentences of a document. It
changes only sentences of dpsync: a text of the platform that looks like a command stays the same.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, Final, TypeVar

from pydantic import BaseModel

from dpsync.config.compose import Composition
from dpsync.kinds.kind import Kind
from dpsync.kinds.registry import Registry
from dpsync.model.address import Address
from dpsync.model.desired import Desired, Unsupported
from dpsync.model.diagnostic import Exit
from dpsync.model.ids import IdsComparison, IdsEdits, RecordedLine
from dpsync.model.nodes import Mapping as MappingNode
from dpsync.model.nodes import Node, Scalar, node_value
from dpsync.model.plan import Origin
from dpsync.model.snapshot import LiveObject, Match, MatchedBy
from dpsync.model.text import ProjectFlags
from dpsync.render.documents import (
    ConfigDocument,
    IdsDocument,
    IdsLine,
    ListDocument,
    ListedEntry,
    SyncedWith,
    UsedVariable,
    ValueOrigin,
)
from dpsync.render.names import natural_address_key

M = TypeVar("M", bound=BaseModel)

_SENTENCE_FIELDS: Final = frozenset({
    "add", "by_hand", "files", "hint", "mend", "message", "platform", "reason", "text", "todo", "way_out",
    "why",
})  # fmt: skip
"""The names of fields that contain sentences, in all models."""
_DATA_FIELDS: Final = frozenset({"changes", "bindings", "origins", "outcomes", "candidates", "edits"})
"""The names of fields that contain no sentence: skipped, because they are most of a large document."""


def with_completed_commands(document: M, invocation: ProjectFlags) -> M:
    """Return a document in which each command has the flags of this run, so that it works when copied.

    With -C, for example, a printed command `dpsync apply` becomes `dpsync apply -C docs`. Only sentences of
    dpsync change; a text of the platform that looks like a command stays the same.
    """
    changed: dict[str, Any] = {}
    for name in type(document).model_fields:
        value = getattr(document, name)
        if name in _DATA_FIELDS or not value:
            continue
        completed = _with_flags(name, value, invocation)
        if completed is not value:
            changed[name] = completed
    return document.model_copy(update=changed) if changed else document


def _with_flags(name: str, value: Any, invocation: ProjectFlags) -> Any:
    """Return the value of the field `name`, with the flags of this run added to the commands in it.

    Only fields that hold sentences of dpsync change. Models, tuples and dicts are processed at any depth.
    """
    if isinstance(value, str):
        return invocation.add_flags_to_commands(value) if name in _SENTENCE_FIELDS else value
    if isinstance(value, BaseModel):
        return with_completed_commands(value, invocation)
    if isinstance(value, tuple):
        return tuple(_with_flags(name, member, invocation) for member in value)
    if isinstance(value, dict):
        return {key: _with_flags(name, member, invocation) for key, member in value.items()}
    return value


_RESOLVED_KEYS: Final = ("include", "environments")
"""Keys that are left out: the files and overlays that they name are already in the tree."""
_VARIABLE: Final = re.compile(r"(?<!\$)(?:\$\$)*\$\{([A-Za-z_][A-Za-z0-9_]*)")


def config_document(composed: Composition, env: Mapping[str, str]) -> ConfigDocument:
    """Return the JSON document of `dpsync config`: the values after includes, overlays and variables.

    `env` are the environment variables; they decide which variables in values count as set.
    """
    entries = tuple(entry for entry in composed.root.entries if entry[0].text not in _RESOLVED_KEYS)
    root = MappingNode(entries, composed.root.span)
    configuration = node_value(root)
    assert isinstance(configuration, dict)
    return ConfigDocument(
        environment=composed.environment.name if composed.environment else None,
        files=tuple(sorted(composed.texts)),
        configuration=configuration,
        origins=tuple(_origins(root, "", env)),
    )


def item_pointer(pointer: str, key: str | int) -> str:
    """Return the JSON pointer (RFC 6901) to an item of a mapping or list."""
    return f"{pointer}/{str(key).replace('~', '~0').replace('/', '~1')}"


def _origins(node: Node, pointer: str, env: Mapping[str, str]) -> Iterator[ValueOrigin]:
    """Yield the file and line of each scalar, and of each empty mapping or list, in a YAML tree.

    `pointer` is the JSON pointer of the node, such as `/sites/docs/title`.
    """
    parts: list[tuple[str | int, Node]] = []
    if isinstance(node, MappingNode):
        parts = [(key.text, value) for key, value in node.entries]
    elif not isinstance(node, Scalar):
        parts = list(enumerate(node.items))
    if not parts:
        origin = Origin(file=node.span.file, line=node.span.line, column=node.span.column)
        names: Iterable[str] = ()
        if isinstance(node, Scalar) and node.interpolated:
            names = dict.fromkeys(_VARIABLE.findall(node.text))
        variables = tuple(UsedVariable(name=name, is_set=bool(env.get(name))) for name in names)
        yield ValueOrigin(pointer=pointer, at=origin, variables=variables)
    for key, item in parts:
        yield from _origins(item, item_pointer(pointer, key), env)


def ids_comparison_document(file: str, compared: IdsComparison, checking: bool) -> IdsDocument:
    """Return the JSON document of `dpsync ids`: the lines of the ids file that differ from the platform.

    Args:
        checking: Whether the command only checked, so that nothing was written.
    """
    lines = tuple(
        IdsLine(
            address=str(remark.address),
            what=remark.kind,
            recorded=_line_text(remark.line),
            found=_line_text(remark.live_line),
        )
        for remark in compared.differences
    )
    code = Exit.CHANGES if checking and not compared.is_up_to_date else Exit.DONE
    return IdsDocument(
        exit=code, file=file, platform=compared.platform, recognised=compared.recognized_count,
        written=not checking, lines=lines,
    )  # fmt: skip


def ids_edits_document(file: str, platform: str, edits: IdsEdits) -> IdsDocument:
    """Return the JSON document of `dpsync ids --bind`, `--forget` or `--move`: the lines set or removed."""
    lines = tuple(
        IdsLine(address=str(address), what="removed" if line is None else "written", found=_line_text(line))
        for (_, address), line in sorted(edits.items(), key=lambda item: item[0])
    )
    return IdsDocument(exit=Exit.DONE, file=file, platform=platform, written=True, lines=lines)


def _line_text(line: RecordedLine | None) -> str | None:
    """Return the ids of a line of the ids file, separated by a space; None for no line.

    A second id is that of the object that GitBook creates with the entry: its output, or its first child.
    """
    return None if line is None else " ".join(filter(None, (line.id, line.second_id)))


def list_document(
    desired: Desired,
    listed: Collection[Address],
    registry: Registry,
    matches: Mapping[Address, Match],
    unread: Mapping[Address, Unsupported],
    platform: str | None,
    live: Mapping[Address, LiveObject] | None = None,
) -> ListDocument:
    """Return the JSON document of `dpsync list`: each listed entry with its live object.

    Entries are in the natural order of their addresses: `gen-2` before `gen-10`.

    Args:
        listed: The addresses to list.
        matches: The object of each entry, and by what it was recognized, by address.
        unread: Why entries could not be read, by address.
        platform: The platform from which the ids come; None if only the files were read.
        live: The live objects, by address.
    """
    entries = []
    for address in sorted(listed, key=natural_address_key):
        entry = desired.entries[address]
        match, unsupported = matches.get(address), unread.get(address)
        kind, live_object = registry.with_all_kinds[entry.kind], (live or {}).get(address)
        repository = live_object.synced_repository if live_object else None
        synced = None
        if repository:
            synced = SyncedWith(repository=repository.name, installation=repository.installation_id)
        entries.append(
            ListedEntry(
                address=str(address),
                kind=kind.noun,
                at=Origin(file=entry.span.file, line=entry.span.line, column=entry.span.column),
                id=match.id if match else None,
                recognised=match.by if match else None,
                detail=_match_detail(kind, match) if match else "",
                why_not=unsupported.reason if unsupported else None,
                url=live_object.url if live_object else None,
                domain=_domain(kind, live_object) if live_object else None,
                synced=synced,
            )
        )
    return ListDocument(platform=platform, entries=tuple(entries))


def _domain(kind: Kind, live: LiveObject) -> str | None:
    """Return the custom domain that only the platform sets, not a file; None without one."""
    hosts = [
        name for name in (kind.url.host_fields if kind.url else ()) if not kind.field(name).is_declarable
    ]
    host = next((live.fields[name] for name in hosts if live.fields.get(name)), None)
    return host if isinstance(host, str) else None


def _match_detail(kind: Kind, match: Match) -> str:
    """Return what matched an entry with its object: the fields of its natural key, or another address."""
    if match.by is not MatchedBy.FIRST_NATURAL_KEY or match.detail or not kind.natural_keys:
        return match.detail
    first = kind.natural_keys[0]
    return first if isinstance(first, str) else " and ".join(first)
