"""Define the JSON output of small commands.

The sentences of a document with their commands as they are to be typed (model/text.py).

Only sentences of dpsync's own are looked at: a text of the platform that looks like a command stays as it is.

A composed configuration as the document that `dpsync config` prints.

Make the JSON document that `dpsync history` prints.

What `dpsync ids` has found, as the document that it prints.

The entries of a configuration as the document that `dpsync list` prints.

The findings that are shown, of perhaps very many.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final, TypeVar

from pydantic import BaseModel

from dpsync.config.compose import Composition
from dpsync.kinds.kind import Kind
from dpsync.kinds.registry import Registry
from dpsync.model.address import Address
from dpsync.model.desired import Desired, Unserved
from dpsync.model.diagnostic import Exit
from dpsync.model.ids import Edits, IdsComparison, RecordedLine
from dpsync.model.nodes import Mapping as MappingNode
from dpsync.model.nodes import Node, Scalar, plain
from dpsync.model.plan import Origin
from dpsync.model.snapshot import LiveObject, Match, MatchedBy
from dpsync.model.text import Invocation
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

_SENTENCES: Final = frozenset({
    "add", "by_hand", "files", "hint", "mend", "message", "platform", "reason", "text", "todo", "way_out",
    "why",
})  # fmt: skip
"""The names of fields that are sentences, whatever model they are of."""
_DATA: Final = frozenset({"changes", "bindings", "origins", "outcomes", "candidates", "edits"})
"""The names of fields that hold no sentence: most of a large document."""


def completed(document: M, invocation: Invocation) -> M:
    """The same document, to be printed by a command that was run like this."""
    changed: dict[str, Any] = {}
    for name in type(document).model_fields:
        value = getattr(document, name)
        if name in _DATA or not value:
            continue
        new = _of(name, value, invocation)
        if new is not value:
            changed[name] = new
    return document.model_copy(update=changed) if changed else document


def _of(name: str, value: Any, invocation: Invocation) -> Any:
    if isinstance(value, str):
        return invocation.complete(value) if name in _SENTENCES else value
    if isinstance(value, BaseModel):
        return completed(value, invocation)
    if isinstance(value, tuple):
        return tuple(_of(name, item, invocation) for item in value)
    if isinstance(value, dict):
        return {key: _of(name, item, invocation) for key, item in value.items()}
    return value


_READ_ALREADY: Final = ("include", "environments")
"""The keys whose work is done: what they name is in the tree."""
_VARIABLE: Final = re.compile(r"(?<!\$)(?:\$\$)*\$\{([A-Za-z_][A-Za-z0-9_]*)")


def config_document(composed: Composition, env: Mapping[str, str]) -> ConfigDocument:
    """The document. `env` says which variables are set."""
    entries = tuple(entry for entry in composed.root.entries if entry[0].text not in _READ_ALREADY)
    root = MappingNode(entries, composed.root.span)
    configuration = plain(root)
    assert isinstance(configuration, dict)
    return ConfigDocument(
        environment=composed.environment.name if composed.environment else None,
        files=tuple(sorted(composed.texts)),
        configuration=configuration,
        origins=tuple(_origins(root, "", env)),
    )


def part_of(pointer: str, key: str | int) -> str:
    """The pointer to a part of a value."""
    return f"{pointer}/{str(key).replace('~', '~0').replace('/', '~1')}"


def _origins(node: Node, pointer: str, env: Mapping[str, str]) -> Iterator[ValueOrigin]:
    parts: list[tuple[str | int, Node]] = []
    if isinstance(node, MappingNode):
        parts = [(key.text, item) for key, item in node.entries]
    elif not isinstance(node, Scalar):
        parts = list(enumerate(node.items))
    if not parts:
        at = Origin(file=node.span.file, line=node.span.line, column=node.span.column)
        yield ValueOrigin(pointer=pointer, at=at, variables=tuple(_variables(node, env)))
    for key, item in parts:
        yield from _origins(item, part_of(pointer, key), env)


def _variables(node: Node, env: Mapping[str, str]) -> Iterator[UsedVariable]:
    if isinstance(node, Scalar) and node.interpolated:
        for name in dict.fromkeys(_VARIABLE.findall(node.text)):
            yield UsedVariable(name=name, is_set=bool(env.get(name)))


def compared_document(file: str, compared: IdsComparison, checking: bool) -> IdsDocument:
    """What a reading found. `checking`: nothing was written."""
    lines = tuple(
        IdsLine(
            address=str(remark.address),
            what=remark.what,
            recorded=_said(remark.line),
            found=_said(remark.found),
        )
        for remark in compared.remarks
    )
    code = Exit.CHANGES if checking and not compared.right else Exit.DONE
    return IdsDocument(
        exit=code, file=file, platform=compared.platform, recognised=compared.count, written=not checking,
        lines=lines,
    )  # fmt: skip


def edits_document(file: str, platform: str, edits: Edits) -> IdsDocument:
    """What a person has asked for, and what was written."""
    lines = tuple(
        IdsLine(address=str(address), what="removed" if line is None else "written", found=_said(line))
        for (_, address), line in sorted(edits.items(), key=lambda item: item[0])
    )
    return IdsDocument(exit=Exit.DONE, file=file, platform=platform, written=True, lines=lines)


def _said(line: RecordedLine | None) -> str | None:
    return None if line is None else " ".join(filter(None, (line.id, line.also)))


def list_document(
    desired: Desired,
    listed: Collection[Address],
    registry: Registry,
    matches: Mapping[Address, Match],
    unread: Mapping[Address, Unserved],
    platform: str | None,
    live: Mapping[Address, LiveObject] | None = None,
) -> ListDocument:
    """Return the document of the listed entries, in the natural order of their addresses: `gen-2`, `gen-10`.

    `matches`, `unread` and `live` are by the address of an entry; `platform` is where they were read, if
    anywhere.
    """
    entries = []
    for address in sorted(listed, key=natural_address_key):
        item = desired.resources[address]
        match, why = matches.get(address), unread.get(address)
        kind, there = registry.whole[item.kind], (live or {}).get(address)
        entries.append(
            ListedEntry(
                address=str(address),
                kind=kind.noun,
                at=Origin(file=item.span.file, line=item.span.line, column=item.span.column),
                id=match.id if match else None,
                recognised=match.by if match else None,
                detail=_detail(kind, match) if match else "",
                why_not=why.reason if why else None,
                url=there.url if there else None,
                domain=_domain(kind, there) if there else None,
                synced=_synced(there) if there else None,
            )
        )
    return ListDocument(platform=platform, entries=tuple(entries))


def _domain(kind: Kind, live: LiveObject) -> str | None:
    """The host that the platform alone has set for it."""
    hosts = [name for name in (kind.url.hosts if kind.url else ()) if not kind.field(name).declarable]
    found = next((live.fields[name] for name in hosts if live.fields.get(name)), None)
    return found if isinstance(found, str) else None


def _synced(live: LiveObject) -> SyncedWith | None:
    found = live.synced
    return SyncedWith(repository=found.name, installation=found.installation) if found else None


def _detail(kind: Kind, match: Match) -> str:
    """The fields of a natural key, or the address of another entry."""
    if match.by is not MatchedBy.KEY or match.detail or not kind.identity:
        return match.detail
    first = kind.identity[0]
    return first if isinstance(first, str) else " and ".join(first)
