"""Report the live values and objects that an import does not write, and choose patterns of `policy: watch`.

- `left_out`: notes for the output, and comments at the places in the files.
- `watched_patterns`: the `policy: watch` (undeclared values to report as drift) that an import writes.
- `update_not_imported_comments`: the comments "Not imported: …" that still hold after another import.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from dpsync.config.discovery import Files
from dpsync.config.yaml_reader import DEFAULT_LIMITS, decode, encode
from dpsync.importing.edit_yaml import TextEdit, YamlFile, apply_edits
from dpsync.importing.entries import DescribedEntries, LeftOut, not_imported_comment
from dpsync.importing.inventory import FORBIDDEN_REASON, Inventory, InventoryObject, Naming, UnreadableSource
from dpsync.importing.values import (
    FileContent,
    UnwritableValueError,
    ValueWriter,
    replace_file_contents,
    secret_variable,
)
from dpsync.importing.write_yaml import on_one_line, yaml_scalar
from dpsync.kinds.kind import Field, Kind, SingleEntry, TreeNode
from dpsync.kinds.kind import TreeNode as NodeShape
from dpsync.kinds.registry import Registry
from dpsync.kinds.types import Json
from dpsync.kinds.watch_patterns import ACCESS_WORD, access_fields, access_places, format_value
from dpsync.model.address import Address
from dpsync.model.desired import Desired, Entry
from dpsync.model.drift import Line
from dpsync.model.text import join_with_and

_MAX_NAMED = 3
"""Maximum number of left-out objects that a comment names for one reason."""


def left_out(
    inventory: Inventory, nameless: Sequence[InventoryObject], entries: DescribedEntries
) -> list[LeftOut]:
    """Return each object, field and list that the files leave out, with the reason, sorted by address.

    `nameless` are the objects that can have no key.
    """
    notes = [
        LeftOut(str(obj.parent.address if obj.parent else ""), None, _no_key_reason(obj)) for obj in nameless
    ]
    notes += entries.left_out
    notes += _unreadable_notes(_unreadable_below_written(inventory))
    return sorted(notes, key=lambda note: (note.address, note.field or "", note.why))


def add_comments(
    inventory: Inventory, nameless: Sequence[InventoryObject], entries: DescribedEntries
) -> None:
    """Add the comments "Not imported: …" to the entries above the objects and lists that are left out.

    `nameless` are the objects that can have no key. A comment joins all names with the same reason.
    """
    reasons: dict[tuple[Address, str], list[str]] = {}
    for obj in nameless:
        if obj.parent is not None:
            reasons.setdefault((_commented_object(obj.parent).address, _no_key_reason(obj)), []).append(
                obj.kind.key
            )
    for note in entries.left_out:
        address = Address.parse(note.address)
        owner = next(
            (ancestor for ancestor in address.self_and_ancestors() if ancestor in entries.by_address), None
        )
        if note.field is None and owner is not None:
            owner = _commented_object(entries.by_address[owner].found_object).address
            name = "/".join(address.segments[len(owner.segments) :])
            reasons.setdefault((owner, f"{note.why}. Write the entry by hand."), []).append(name)
    for source in _unreadable_below_written(inventory):
        owner = _commented_object(source.parent).address
        of_node = f" of each {source.parent.kind.noun}" if owner != source.parent.address else ""
        reasons.setdefault((owner, source.why), []).append(f"{source.kind.key}{of_node}")
    for (owner, why), names in reasons.items():
        if (entry := entries.by_address.get(owner)) is not None:
            unique_names = list(dict.fromkeys(names))
            text = join_with_and(unique_names)
            if len(unique_names) > _MAX_NAMED:
                others = len(unique_names) - _MAX_NAMED
                text = f"{', '.join(unique_names[:_MAX_NAMED])} and {others} more"
            entry.comments.append(not_imported_comment(text, why))


def _unreadable_below_written(inventory: Inventory) -> list[UnreadableSource]:
    """Return the lists that could not be read and whose parent is in the files."""
    written = {id(obj) for obj in inventory.objects}
    return [source for source in inventory.unreadable if id(source.parent) in written]


def _commented_object(obj: InventoryObject) -> InventoryObject:
    """Return the object in whose entry a comment is written: for a node, the object with the tree."""
    return next(
        ancestor for ancestor in obj.with_ancestors() if not isinstance(ancestor.kind.shape, TreeNode)
    )


def _unreadable_notes(sources: Sequence[UnreadableSource]) -> Iterator[LeftOut]:
    """Yield one note for each group of unreadable lists with the same kind, reason and organization.

    The note has a pattern that matches all addresses of the group.
    """
    sources_by_reason: dict[tuple[str, ...], list[UnreadableSource]] = {}
    for source in sources:
        parent = source.parent
        key = (source.kind.name, parent.kind.name, source.why, parent.address.organization_key)
        sources_by_reason.setdefault(key, []).append(source)
    for group in sources_by_reason.values():
        yield LeftOut(common_pattern([source.address for source in group]), None, group[0].why)


def common_pattern(places: Sequence[Address]) -> str:
    """Return a pattern that matches all these addresses.

    `*` stands for segments that differ: `acme/sites/*/redirects`. Addresses of different depths get the
    pattern `acme/**/LAST`, with their last segment.
    """
    first, *others = places
    if not others:
        return str(first)
    if len({len(address.segments) for address in places}) > 1:
        return f"{first.organization_key}/**/{first.last_segment}"
    levels = zip(*(address.segments for address in places), strict=True)
    return "/".join(level[0] if len(set(level)) == 1 else "*" for level in levels)


def _no_key_reason(obj: InventoryObject) -> str:
    """Return why an object can have no key."""
    return (
        f"dpsync cannot form a key from the values of the {obj.kind.noun} {obj.live.id}, or another object "
        "has the same key"
    )


EntryPlace = tuple[Address, tuple[Kind, ...]]
UnwatchedParts = tuple[Entry, Sequence[Field], Sequence[EntryPlace]]
"""An entry with the fields and the places of it that nothing watches."""


def watch_lines(naming: Naming, unwatched: Iterable[UnwatchedParts]) -> Iterator[Line]:
    """Yield the lines that a person can add to the files so that drift compares unwatched parts.

    Each unwatched field and list gets one line, as an import would write it, or the reason why there is none.
    """
    for resource, fields, places in unwatched:
        for field in fields:
            yield _line_for_field(naming, resource, field)
        for address, kinds in places:
            yield Line(address=str(address), line=_line_for_list(address, kinds))


def _line_for_field(naming: Naming, resource: Entry, field: Field) -> Line:
    """Return the line that a person can add to an entry so that drift compares a field.

    It has the live value of the field; if that cannot be written, the result has the reason instead.
    """
    address, live = str(resource.address), naming.live_object(resource)
    if live is None:
        return Line(address=address, field=field.name, why="GitBook does not contain the object yet")
    value = live.fields.get(field.name)
    if value is None or value == {}:
        if value is None and field.null_effect != "refused":
            return Line(address=address, field=field.name, line=f"{field.name}: null")
        partly = isinstance(field.type, Json) and field.type.is_partial
        why = (
            "the value is empty. Write the keys that drift should compare"
            if partly
            else "GitBook has no value, and a file cannot contain an empty value"
        )
        return Line(address=address, field=field.name, why=why)
    value_writer = ValueWriter(
        naming.reference_namer(resource), lambda path: secret_variable(resource.address, field.name, path)
    )
    try:
        written = value_writer.yaml_value(field.type, value)
    except UnwritableValueError as why:
        return Line(address=address, field=field.name, why=str(why))
    text = (
        "{ file: … }"
        if isinstance(written, FileContent)
        else on_one_line(replace_file_contents(written, lambda *_: "…"))
    )
    return Line(address=address, field=field.name, line=f"{yaml_scalar(field.name, key=True)}: {text}")


def _line_for_list(address: Address, kinds: Sequence[Kind]) -> str:
    """Return the line that makes drift compare a list or a single.

    For a list this is a pattern of `policy: watch`, for a single (an object that its parent has exactly once)
    an entry with its first field.
    """
    kind = kinds[0]
    if not isinstance(kind.shape, SingleEntry):
        return f"policy: {{ watch: [{on_one_line(str(address))}] }}"
    word = address.last_segment
    first = next(field.name for field in kind.fields if field.written_in != "neither")
    return f"{word}: …" if kind.is_always_shorthand else f"{word}: {{ {first}: … }}"


def watched_patterns(
    registry: Registry, inventory: Inventory, everything: Sequence[InventoryObject], full: bool
) -> list[str]:
    """Return the patterns of `policy: watch` that an import writes, so that drift reports changes of access.

    The word `access` stands for all lists and fields that affect access. Right after an import, drift must
    report nothing. Single patterns replace the word where drift would report a list at once: if the platform
    does not support the list, or if the import left out an object in it whose values cannot be watched.

    Args:
        everything: All objects that were read.
        full: Whether all fields are in the files, so that fields need no pattern.
    """
    values = watched_values(inventory, everything)
    # Both sets have the key of each list and the kind of the object that contains the list.
    unsupported_lists = {
        (source.kind.key, source.parent.kind.name)
        for source in inventory.unreadable
        if not source.is_supported
    }
    partly_imported_lists = {
        (obj.kind.key, parent.kind.name)
        for obj, parent in _objects_without_entry(inventory, everything)
        if not _watchable_values(obj)
    }
    list_patterns = access_places(registry, unsupported_lists | partly_imported_lists)
    if list_patterns == access_places(registry):
        return [ACCESS_WORD, *values]
    return [*list_patterns, *([] if full else access_fields(registry)), *values]


def watched_values(inventory: Inventory, everything: Sequence[InventoryObject]) -> list[str]:
    """Return patterns with the present values of objects without an entry, so that drift reports changes.

    An example is `acme/teams/[Sales]#public=false`. `everything` are all objects that were read. The
    patterns cover the fields that can make an object more visible or give it more rights.
    """
    patterns = []
    for obj, parent in _objects_without_entry(inventory, everything):
        if isinstance(obj.kind.shape, SingleEntry):
            continue
        id_, title = obj.live.id, obj.live.fields.get(obj.kind.title_field)
        list_address = parent.address.child(*obj.kind.key.split("."))
        has_title = isinstance(title, str) and title not in ("", id_)
        address = (
            list_address.unmanaged_child(str(title), id_) if has_title else list_address.unmanaged_child(id_)
        )
        patterns += [f"{address}#{name}={text}" for name, text in _watchable_values(obj)]
    return sorted(patterns)


def _objects_without_entry(
    whole: Inventory, everything: Sequence[InventoryObject]
) -> Iterator[tuple[InventoryObject, InventoryObject]]:
    """Yield each object that has no entry although its parent has one, with its parent.

    Navigation nodes are left out. `everything` are all objects that were read.
    """
    written = {id(obj) for obj in whole.objects}
    for obj in everything:
        parent, is_node = obj.parent, isinstance(obj.kind.shape, NodeShape)
        if id(obj) not in written and parent is not None and id(parent) in written and not is_node:
            yield obj, parent


def _watchable_values(obj: InventoryObject) -> list[tuple[str, str]]:
    """Return name and present value of the fields of an object that a pattern can watch.

    These are the fields that affect access or visibility.
    """
    fields = [
        kind_field
        for kind_field in obj.kind.fields
        if (kind_field.can_widen_access or kind_field.exposure) and kind_field.response_path is not None
    ]
    values = [
        (kind_field.name, format_value(kind_field, obj.live.fields.get(kind_field.name)))
        for kind_field in fields
    ]
    return [(name, text) for name, text in values if text is not None]


_NOT_IMPORTED_COMMENT = re.compile(r"(?P<indent> *)# Not imported: (?P<names>.*?)\. (?P<why>[A-Z].*)")
_NAME_SEPARATOR = re.compile(r", | and ")


def update_not_imported_comments(
    files: Files, desired: Desired, read: Collection[Address], unread: Collection[Address]
) -> dict[str, bytes]:
    """Update the comments "Not imported: …" in existing files, and return the changed files by name.

    Names that are imported now are removed, and lists that the token may not read are added. `read` are the
    lists without an entry that were read, and `unread` those that the token may not read.
    """
    contents: dict[str, bytes] = {}
    documents: dict[str, YamlFile] = {}
    edits: dict[str, list[TextEdit]] = {}
    forbidden: dict[Address, list[str]] = {}
    for list_address in sorted(unread):
        owner = next(
            ancestor
            for ancestor in list_address.self_and_ancestors()
            if ancestor in desired.entries and ancestor != list_address
        )
        forbidden.setdefault(owner, []).append(".".join(list_address.segments[len(owner.segments) :]))
    for entry in desired.entries.values():
        name = entry.span.file
        if name in desired.row_files:
            continue
        if name not in documents:
            contents[name] = files.read(name, DEFAULT_LIMITS.bytes)
            documents[name] = YamlFile(decode(contents[name], name)[0], name)
        new_edits = _comment_edits(documents[name], entry, desired, read, forbidden.get(entry.address, []))
        edits.setdefault(name, []).extend(new_edits)
    edited_files: dict[str, bytes] = {}
    for name, changes in edits.items():
        if changes:
            edited_files[name] = encode(apply_edits(documents[name].text, changes), contents[name])
    return edited_files


def _comment_edits(
    document: YamlFile, entry: Entry, desired: Desired, read: Collection[Address], forbidden: list[str]
) -> list[TextEdit]:
    """Return the edits that update the comments "Not imported: …" above the first key of an entry.

    Only entries in block style have such comments. `forbidden` are the names of lists that the token may not
    read; they are added to the comment with that reason, or to a new comment.
    """
    mapping = document.mapping_of(entry.span)
    if mapping is None or not len(mapping) or document.text[document.node_range(mapping)[0]] == "{":
        return []
    first, _ = next(iter(mapping))
    lines, edits = document.text.splitlines(), list[TextEdit]()
    first_line = first.span.line - 1
    if lines[first_line][: first.span.column - 1].strip():
        return []
    forbidden_reason = f"{FORBIDDEN_REASON[:1].upper()}{FORBIDDEN_REASON[1:]}"
    for number in range(first_line - 1, -1, -1):
        if not lines[number].lstrip().startswith("#"):
            break
        match = _NOT_IMPORTED_COMMENT.fullmatch(lines[number])
        if match is None or " of each " in match["names"] or match["names"].endswith(" more"):
            continue
        names = _NAME_SEPARATOR.split(match["names"])
        remaining = [name for name in names if not _is_imported(name, entry, desired, read)]
        if match["why"] == forbidden_reason:
            remaining += [name for name in forbidden if name not in remaining]
            forbidden = []
        if remaining == names:
            continue
        start = document.starts[number]
        text = ""  # without names, the comment is removed
        if remaining:
            comment = not_imported_comment(join_with_and(remaining), match["why"])
            text = f"{match['indent']}# {comment}{document.line_end}"
        edits.append(TextEdit(start, document.starts[number + 1], text))
    if forbidden:
        start = document.starts[first_line]
        indent = " " * (first.span.column - 1)
        note_text = (
            f"{indent}# {not_imported_comment(join_with_and(forbidden), FORBIDDEN_REASON)}{document.line_end}"
        )
        edits.append(TextEdit(start, start, note_text))
    return edits


def _is_imported(name: str, entry: Entry, desired: Desired, read: Collection[Address]) -> bool:
    """Return whether a name in a comment "Not imported: …" of an entry is imported now.

    An earlier import wrote the comment, with the fields, lists and objects that it left out. They are
    imported now if they are in the files, and a list also if it was read and is empty (`read`). Then the
    caller removes the name from the comment.
    """
    if name in entry.fields:
        return True
    known: tuple[Collection[Address] | Mapping[Address, object], ...] = (
        desired.entries, desired.scopes, read,
    )  # fmt: skip
    addresses = {entry.address.child(*name.split("/")), entry.address.child(*name.split("."))}
    return any(address in collection for address in addresses for collection in known)
