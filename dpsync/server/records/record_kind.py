"""Define `RecordKind`, which declares what the local server has to know about one kind of record.

A declaration (in `resources`) gives the prefix of ids, the form in a world (the data that the server starts
with), the *owner* (the record with whose removal another one is removed; its id is in the column `scope`),
and the *dependencies* (other links between records, and what happens if the target is removed). The code that
is common to all kinds (making ids, removing a record, transferring it, loading and dumping worlds) reads
these declarations and names no kind.
"""

from collections.abc import Callable, Iterable, Iterator

from msgspec import Struct

from ..models.base import AnswerBody, Body
from ..request.context import Context
from ..store import Json, Record, Store
from .world_sections import WorldSection

ColumnFilter = dict[str, str]
DeleteAction = Callable[[Context, Record], None]
"""Handles a dependent record when the record on which it depends is removed."""


def remove_dependent(ctx: Context, dependent: Record) -> None:
    """Remove a dependent record with everything that depends on it."""
    ctx.remove(dependent)


def clear_column(column: str) -> DeleteAction:
    """Return an action that keeps a dependent record and clears one of its columns."""

    def clear_dependent(ctx: Context, dependent: Record) -> None:
        setattr(dependent, column, "")
        ctx.put(dependent)

    return clear_dependent


def by_scope(record: Record) -> ColumnFilter:
    """Match records that belong to the record."""
    return {"scope": record.id}


def by_ref(record: Record) -> ColumnFilter:
    """Match records of the same organization that refer to the record."""
    return {"organization": record.organization, "ref": record.id}


class Dependency(Struct, frozen=True):
    """A way in which records of one kind depend on records of the kind `target_kind`.

    `dependent_columns` gives the columns (or the `id`) that select the dependents of a record;
    `is_dependent` filters them further. `on_delete` is called for each dependent when the record is
    removed. `until_erased`: the removal of a space affects dependents only when the deleted space is
    erased. `follows_transfer`: dependents move along when the record is transferred to another
    organization; other dependents lose the record as if it were removed.
    """

    target_kind: str
    dependent_columns: Callable[[Record], ColumnFilter] = by_ref
    is_dependent: Callable[[Record, Record], bool] | None = None
    on_delete: DeleteAction = remove_dependent
    until_erased: bool = False
    follows_transfer: bool = False

    def find_dependents(self, store: Store, kind: str, record: Record) -> list[Record]:
        """Return the records of a kind that depend on the record by this dependency."""
        columns = self.dependent_columns(record)
        if "id" in columns:
            dependent = store.get(kind, columns["id"])
            dependents = [dependent] if dependent is not None else []
        else:
            dependents = store.find(kind, **columns)
        return [
            dependent
            for dependent in dependents
            if self.is_dependent is None or self.is_dependent(dependent, record)
        ]


def _set_created_at(ctx: Context, record: Record) -> None:
    """Start the document of a new record with its time of creation."""
    record.doc = {"createdAt": ctx.timestamp}


def _update_document(ctx: Context, record: Record, fields: Json) -> None:
    """Store the members of a body in the document of a record."""
    del ctx
    record.doc.update(fields)


class CrudResource(Struct, frozen=True):
    """The API of an ordinary kind: resources under an owner, identified by id, with the usual operations.

    `path` follows the path of the owner, `parameter` names the id, `label` is the noun in messages.
    `initialize` sets what a new record has before the body is written; `apply_body` stores the members of a
    body. By default the members become the document. `render` renders a record as the model `response_model`.
    """

    label: str
    path: str
    parameter: str
    render: Callable[[Context, Record], Json]
    response_model: type[AnswerBody]
    create_model: type[Body] | None = None
    update_model: type[Body] | None = None
    initialize: Callable[[Context, Record], None] = _set_created_at
    apply_body: Callable[[Context, Record, Json], None] = _update_document


class RecordKind(Struct, frozen=True):
    """The declaration of one kind of record.

    `id_prefix` is the prefix of ids; without a prefix, the local server makes no ids. `counted_in_health`:
    the control plane reports the number of records. `alternate_kind` is another kind as which records are
    kept temporarily (a deleted space, a waiting event); both kinds share one series of ids. `crud`
    describes the API of an ordinary kind.
    """

    name: str
    id_prefix: str = ""
    owner: str = ""
    depends_on: tuple[Dependency, ...] = ()
    alternate_kind: str = ""
    world_section: WorldSection | None = None
    crud: CrudResource | None = None
    counted_in_health: bool = False

    def all_dependencies(self) -> Iterator[Dependency]:
        """Yield all dependencies, including the dependency on the owner."""
        if self.owner:
            yield Dependency(self.owner, by_scope, until_erased=True, follows_transfer=True)
        yield from self.depends_on


class RecordKinds:
    """All kinds in order of declaration: a kind comes after the kinds on which it depends."""

    def __init__(self, record_kinds: Iterable[RecordKind]) -> None:
        """Index the declarations by name, by the section of the server's initial data, and by dependency."""
        self._kinds = {record_kind.name: record_kind for record_kind in record_kinds}
        self._removal_dependencies: dict[str, list[tuple[str, Dependency]]] = {
            kind: [] for kind in self._kinds
        }
        self._transfer_dependencies: dict[str, list[tuple[str, Dependency]]] = {
            kind: [] for kind in self._kinds
        }
        self.id_prefixes = {
            record_kind.name: record_kind.id_prefix for record_kind in self if record_kind.id_prefix
        }
        """The prefix of the ids of each kind that has ids of its own."""
        self.world_sections: dict[str, list[WorldSection]] = {}
        """The sections of a world that are inside the entry of a record of each kind."""
        for section in filter(None, (record_kind.world_section for record_kind in self)):
            for kind in section.parent_kinds:
                self.world_sections.setdefault(kind, []).append(section)
        # Dependent kinds come last in the declarations. They are removed first, before the records on which
        # they depend, so that those have no dependents left.
        for record_kind in reversed(self._kinds.values()):
            for dependency in record_kind.all_dependencies():
                target = self._kinds[dependency.target_kind]
                self._transfer_dependencies[target.name].append((record_kind.name, dependency))
                self._removal_dependencies[
                    target.alternate_kind
                    if dependency.until_erased and target.alternate_kind
                    else target.name
                ].append((record_kind.name, dependency))

    def __iter__(self) -> Iterator[RecordKind]:
        return iter(self._kinds.values())

    def before_removal(self, ctx: Context, record: Record) -> None:
        """Remove or change each record that depends on a record, as its dependency says.

        Raise KeyError for an unknown kind.
        """
        for kind, dependency in self._removal_dependencies[record.kind]:
            for dependent in dependency.find_dependents(ctx.store, kind, record):
                dependency.on_delete(ctx, dependent)

    def before_transfer(self, ctx: Context, record: Record, organization: str) -> None:
        """Transfer the dependent records that follow a record.

        The others lose the record as if it were removed.
        """
        for kind, dependency in self._transfer_dependencies[record.kind]:
            for dependent in dependency.find_dependents(ctx.store, kind, record):
                if dependency.follows_transfer:
                    dependent.organization = organization
                    ctx.put(dependent)
                else:
                    dependency.on_delete(ctx, dependent)

    def kinds_counted_in_health(self) -> list[str]:
        """Return the kinds whose numbers of records the control plane reports."""
        return [record_kind.name for record_kind in self if record_kind.counted_in_health]

    def new_id(self, store: Store, kind: str) -> str:
        """Return the next free id of a kind, such as `space-7`.

        The same requests on the same initial data (world) give the same ids. Records of the alternate kind,
        such as deleted spaces, also keep their ids. Raise KeyError if the server makes no ids of this kind.
        """
        prefix, alternate_kind = self.id_prefixes[kind], self._kinds[kind].alternate_kind
        while True:
            id = f"{prefix}-{store.next_number(kind)}"
            if store.get(kind, id) is None and (not alternate_kind or store.get(alternate_kind, id) is None):
                return id
