"""Build the parts of a question about the identity of an entry: candidate objects, answers and hints.

Input: an entry and live objects that it could be. Output: texts and values, which the rules combine.
"""

from __future__ import annotations

from collections.abc import Mapping

from dpsync.kinds.kind import Kind
from dpsync.model.address import Address
from dpsync.model.desired import Entry
from dpsync.model.question import Candidate, WayOut
from dpsync.model.snapshot import LiveObject
from dpsync.model.text import format_command


def candidate_objects(
    kind: Kind, entry: Entry, objects: Mapping[str, LiveObject | None]
) -> tuple[Candidate, ...]:
    """Return the candidates of a question about an entry; an object is None if only its id is known."""
    candidates = []
    for id, live in objects.items():
        title = live.fields.get(kind.title_field) if live is not None else None
        title = title if isinstance(title, str) and title else id
        changed = live.changed_at if live is not None else None
        address = str(entry.address.list_address.unmanaged_child(title, id))
        candidates.append(Candidate(address=address, id=id, title=title, changed=changed))
    return tuple(candidates)


def binding_text(address: Address, id: str, uses_ids_file: bool) -> str:
    """Return the text that binds an entry to a live object: `id:`, or a command that writes the ids file.

    If several environments share the files, `id:` would be an error in the others: ids differ by platform.
    """
    return format_command("ids", "--bind", f"{address}={id}") if uses_ids_file else f"id: {id}"


def choice_hint(action: str, address: Address, changed_id: str, other_id: str, uses_ids_file: bool) -> str:
    """Return the hint for an entry that may be either of two objects; dpsync would change `changed_id`."""
    verb = "run" if uses_ids_file else "add"
    return (
        f'if dpsync should {action} the object "{changed_id}", {verb} '
        f"{binding_text(address, changed_id, uses_ids_file)}. "
        f"Otherwise, {verb} {binding_text(address, other_id, uses_ids_file)}"
    )


def binding_answers(entry: Entry, uses_ids_file: bool, *ids: str) -> tuple[WayOut, ...]:
    """Return the possible answers to the question which object an entry is: one for each id.

    Each answer has the line (`id: ...`) or command that binds the entry to the object.
    """
    return tuple(
        WayOut(
            address=str(entry.address),
            add=binding_text(entry.address, id, uses_ids_file),
            means="the entry is this object",
        )
        for id in ids
    )


def pin_answer(entry: Entry, id: str, uses_ids_file: bool) -> WayOut:
    """Return the answer that confirms the line of an entry by `id:`."""
    where = f"; {_WHERE_TO_PIN}" if uses_ids_file else ""
    return WayOut(address=str(entry.address), add=f"id: {id}", means=f"the entry is this object{where}")


def pin_text(id: str, uses_ids_file: bool) -> str:
    """Return `id:` for use in a sentence, with the file to write it in if environments share the files."""
    return f"id: {id} ({_WHERE_TO_PIN})" if uses_ids_file else f"id: {id}"


_WHERE_TO_PIN = "in the overlay of the environment, because ids differ between environments"


def rebind_answer(entry: Entry, id: str) -> WayOut:
    """Return the answer that binds an entry to another object than its line in the ids file."""
    add = format_command("ids", "--bind", f"{entry.address}={id}")
    return WayOut(
        address=str(entry.address),
        add=add,
        means="the entry is this object, and its line in the ids file is wrong",
    )


def forget_answer(entry: Entry, meaning: str) -> WayOut:
    """Return the answer that removes the line of an entry from the ids file."""
    return WayOut(
        address=str(entry.address), add=format_command("ids", "--forget", str(entry.address)), means=meaning
    )
