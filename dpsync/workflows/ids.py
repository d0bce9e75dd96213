"""Check and edit the ids file, which maps entries to ids of live objects.

`compare_ids` reads the platform and compares its objects with the file. `check_settled` finds undecided merge
conflicts. `edited_ids` returns the edits that a person asked for with `dpsync ids`; the caller writes the
edits.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from msgspec import Struct
from msgspec.structs import replace

from dpsync.apply.ids_on_disk import ResolvedIds
from dpsync.client.client import ReadClient
from dpsync.config.codes import IDS_CONFLICT
from dpsync.kinds.address_patterns import PlaceTypes
from dpsync.live.reading_state import recorded_lines
from dpsync.model.address import Address
from dpsync.model.diagnostic import Diagnostic, DiagnosticError, Exit
from dpsync.model.ids import IdsComparison, LineDifference, LinesByAddress, RecordedLine, RemarkKind, is_id
from dpsync.model.text import did_you_mean, format_command
from dpsync.model.urls import is_loopback
from dpsync.workflows.session import Session


def compare_ids(session: Session, client: ReadClient) -> IdsComparison:
    """Read the platform, and return the differences between its objects and the session's ids file.

    Objects that the next apply transfers are not compared. Raises ClientError if reading failed, and
    DiagnosticError if the configuration does not fit the live objects.
    """
    snapshot = session.reading(client).snapshot(session.readable)
    matched_lines = recorded_lines(session.registry, session.readable, snapshot)
    places, keys = PlaceTypes(session.registry), {key: id for id, key in snapshot.organizations.items()}
    bound = {
        (keys[line_address.organization_key], session.readable.entries[line_address].kind, line.id)
        for line_address, line in matched_lines.items()
    }
    transferred_addresses = {
        address
        for address in matched_lines
        if any(ancestor in snapshot.transferred_entries for ancestor in address.self_and_ancestors())
    }

    def remarks() -> Iterator[LineDifference]:
        """Yield each difference: a wrong or missing line, or a line without a live object or an entry."""
        for organization, key in snapshot.organizations.items():
            expected_lines = {
                line_address: line
                for line_address, line in matched_lines.items()
                if line_address.organization_key == key and is_id(line.id)
            }
            lines = session.ids.lines(client.platform, organization, key)
            for address, line in expected_lines.items():
                if address in transferred_addresses or line.has_same_ids(lines.get(address)):
                    continue
                remark_kind: RemarkKind = "wrong" if address in lines else "missing"
                yield LineDifference(organization, address, remark_kind, lines.get(address), line)
            for address, line in lines.items():
                if address in expected_lines or any(
                    ancestor in snapshot.not_readable for ancestor in address.self_and_ancestors()
                ):
                    continue
                has_entry = address in session.readable.entries or address in session.readable.unsupported
                kind_names = (kind.name for kind in places.kinds(address)) if not has_entry else ()
                is_moved = any((organization, kind, line.id) in bound for kind in kind_names)
                remark_kind = "gone" if has_entry else "moved" if is_moved else "no entry"
                yield LineDifference(organization, address, remark_kind, line)

    ordered = sorted(remarks(), key=lambda remark: remark.address)
    return IdsComparison(client.platform, tuple(ordered), len(matched_lines) - len(transferred_addresses))


def check_settled(merged: ResolvedIds, compared: IdsComparison, file: str) -> None:
    """Raise DiagnosticError (exit code 5) if a merge conflict in the ids file is still undecided.

    A merge conflict has different ids for one entry. It is decided if the objects on the platform show which
    id is right.
    """
    decided = {
        (compared.platform, remark.organization, remark.address.segments_in_organization)
        for remark in compared.differences
        if remark.live_line is not None
    }
    hint = f"delete one of the two lines by hand, or, for this server, run {format_command('ids')}"
    errors = [
        Diagnostic(
            IDS_CONFLICT,
            f"{file}: the two sides of the merge have different ids for {address}, "
            "and dpsync cannot tell which id is right",
            hint=hint,
        )
        for platform, organization, address in sorted(merged.conflicting_lines)
        if (platform, organization, address.segments_in_organization) not in decided
    ]
    if errors:
        raise DiagnosticError(errors, Exit.INVALID)


class IdsEditError(ValueError):
    """An edit of the ids file that is not possible. The message has the reason."""


class IdsAsked(Struct, frozen=True):
    """The edits of the ids file that a person asked for."""

    bound: tuple[str, ...] = ()
    """Lines to write: ADDRESS=ID."""
    forgotten: tuple[str, ...] = ()
    """Addresses whose lines go, with those of what is in them."""
    moved: tuple[tuple[str, str], ...] = ()
    """Old and new addresses of lines."""

    @property
    def anything(self) -> bool:
        """Return whether any edit is asked for."""
        return bool(self.bound or self.forgotten or self.moved)


def edited_ids(
    session: Session, client: ReadClient, asked: IdsAsked
) -> dict[tuple[str, Address], RecordedLine | None]:
    """Return the edits of lines that a person asked for, by organization id and address.

    None deletes a line. The platform is read only if the files do not contain the id of an organization.

    Raises:
        IdsEditError: an edit is not possible.
        ClientError: the platform had to be read, and reading failed.
    """
    if is_loopback(client.url) and session.registry.profile.has_operation("GET", "/user"):
        client.get("/user")  # every answer names the world; where nobody has this one, none does
    editor = _IdsEditor(session, client)
    for old, new in asked.moved:
        editor.move(editor.address(old, known=False), editor.address(new, known=False))
    for address in asked.forgotten:
        editor.forget(editor.address(address, known=False))
    for text in asked.bound:
        address, equals, id = text.partition("=")
        if not equals or not is_id(id):
            raise IdsEditError(f'"{text}" is not ADDRESS=ID')
        editor.bind(editor.address(address, known=True), id)
    return editor.edits


class _IdsEditor:
    """Collects edits of lines of the ids file. `ids` is the file after the edits so far."""

    def __init__(self, session: Session, client: ReadClient) -> None:
        self.session = session
        self.client = client
        self.places = PlaceTypes(session.registry)
        self.ids = session.ids
        self.edits: dict[tuple[str, Address], RecordedLine | None] = {}

    def address(self, text: str, known: bool) -> Address:
        """Parse an address of a kind that has lines. With `known`, the files must contain the entry.

        Raises IdsEditError otherwise.
        """
        address = Address.parse(text)
        entries = self.session.readable.entries
        if known and address not in entries:
            nearest = did_you_mean(text, [str(declared) for declared in entries])
            raise IdsEditError(
                f"your files contain no entry {text}" + (f'. Did you mean "{nearest}"?' if nearest else "")
            )
        if not any(kind.has_ids_line for kind in self.places.kinds(address)):
            raise IdsEditError(f"{text} is not the address of an entry that needs a line in the ids file")
        return address

    def bind(self, address: Address, id: str) -> None:
        """Set the id of an entry."""
        self._set_line(address, RecordedLine(address, id))

    def forget(self, address: Address) -> None:
        """Delete the line of an address and the lines of everything inside that address.

        Raises IdsEditError if the address has no line.
        """
        for line in self._line_and_lines_below(address):
            self._delete_line(line.address)

    def move(self, old: Address, new: Address) -> None:
        """Change the address in a line of the ids file, and in the lines of everything inside that address.

        Raises IdsEditError if the old address has no line, or if a new address has one already.
        """
        lines = self._line_and_lines_below(old)
        existing = self._lines(new)
        for line in lines:
            target = Address((*new.segments, *line.address.segments[len(old.segments) :]))
            if target in existing:
                raise IdsEditError(f"the ids file already has a line for {target}")
            self._delete_line(line.address)
            self._set_line(target, replace(line, address=target))

    def _set_line(self, address: Address, line: RecordedLine) -> None:
        """Set the line of an address."""
        self._apply_edits({(self._organization_id(address), address): line})

    def _delete_line(self, address: Address) -> None:
        """Delete the line of an address."""
        self._apply_edits({(self._organization_id(address), address): None})

    def _apply_edits(self, edits: dict[tuple[str, Address], RecordedLine | None]) -> None:
        """Collect edits, and apply them to `ids`, so that later edits see them."""
        self.edits |= edits
        self.ids = self.ids.with_edits(self.client.platform, edits)

    def _lines(self, address: Address) -> LinesByAddress:
        """Return the lines of the organization that contains an address."""
        return self.ids.lines(self.client.platform, self._organization_id(address), address.organization_key)

    def _line_and_lines_below(self, address: Address) -> list[RecordedLine]:
        """Return the line of an address and all lines below it. Raises IdsEditError without a line."""
        lines = self._lines(address)
        if address not in lines:
            raise IdsEditError(f"the ids file has no line for {address}")
        return [line for line_address, line in lines.items() if line_address.is_at_or_below(address)]

    def _organization_id(self, address: Address) -> str:
        """Return the id of the organization that contains an address.

        Raises IdsEditError if it is unknown.
        """
        key = address.organization_key
        if key not in self._organization_ids:
            raise IdsEditError(f'"{key}" is not an organization of this configuration')
        return self._organization_ids[key]

    @cached_property
    def _organization_ids(self) -> dict[str, str]:
        """Return the organization ids by key, from the pins and the ids file, else from the platform."""
        desired = self.session.readable.entries
        roots = [entry for entry in desired.values() if entry.parent is None]
        ids = {root.key: root.pin for root in roots}
        for id, lines in self.ids.sections.get(self.client.platform, {}).items():
            key = next(iter(lines)).organization_key
            ids[key] = ids.get(key) or id
        if any(id is None for id in ids.values()):
            snapshot = self.session.reading(self.client).snapshot(self.session.readable)
            ids |= {key: id for id, key in snapshot.organizations.items()}
        return {key: id for key, id in ids.items() if id is not None}
