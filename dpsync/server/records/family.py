"""A family: what the companion has to know of one kind of records, declared in one place.

    record      what the store keeps; its columns say what it belongs to and refers to (see `store`)
    family      all records of one kind: how their ids begin, what they belong to, how a world says them
    owner       the record that one belongs to: its id is in the column `scope`, and both go together
    dependency  any other way in which a record depends on another one, and what becomes of it when that goes
    holder      a record that depends on another one, seen from that
    kept        a dependency that still holds while a deleted space can be restored

What all families have in common (making ids, removing a record, transferring it, loading and dumping worlds)
is written once and reads these declarations; none of it names a kind. The declarations are in `families`.
"""

from collections.abc import Callable, Iterable, Iterator

from msgspec import Struct

from ..models.base import AnswerBody, Body
from ..request.context import Context
from ..store import Json, Record, Store
from .world_format import WorldSection

Columns = dict[str, str]
OnDelete = Callable[[Context, Record], None]
"""What happens to a holder when what it depends on goes."""


def drop(ctx: Context, holder: Record) -> None:
    """It goes, too, with everything that depends on it."""
    ctx.remove(holder)


def clear(column: str) -> OnDelete:
    """It stays, and names nothing in this column any more."""

    def forget(ctx: Context, holder: Record) -> None:
        setattr(holder, column, "")
        ctx.put(holder)

    return forget


def in_scope(of: Record) -> Columns:
    return {"scope": of.id}


def by_ref(of: Record) -> Columns:
    """In the same organization."""
    return {"organization": of.organization, "ref": of.id}


class Dependency(Struct, frozen=True):
    """Holders depend on records of the kind `to`.

    `where` gives the columns (or the `id`) by which the holders of such a record are found; `only` says of
    each one found whether it is a holder. `on_delete` is what becomes of a holder when the record is removed.
    `kept`: not before a deleted space is erased for good. `follows`: holders go along when the record is
    transferred to another organization; the others lose it as if it were removed.
    """

    to: str
    where: Callable[[Record], Columns] = by_ref
    only: Callable[[Record, Record], bool] | None = None
    on_delete: OnDelete = drop
    kept: bool = False
    follows: bool = False

    def holders(self, store: Store, kind: str, of: Record) -> list[Record]:
        columns = self.where(of)
        if "id" in columns:
            one = store.get(kind, columns["id"])
            found = [one] if one is not None else []
        else:
            found = store.find(kind, **columns)
        return [holder for holder in found if self.only is None or self.only(holder, of)]


def _begin(ctx: Context, record: Record) -> None:
    record.doc = {"createdAt": ctx.stamp}


def _write(ctx: Context, record: Record, given: Json) -> None:
    record.doc.update(given)


class OrdinaryResource(Struct, frozen=True):
    """How an ordinary family is served: under its owner, by id, each operation with its usual meaning.

    `path` is below that of the owner, `parameter` names one below that, `what` in messages.

    `begin` fills in what a new record has before the members of the body, `write` takes those of a body that
    creates or updates: by default they are the document. `answer` is its rendering, of the model `item`.
    """

    what: str
    path: str
    parameter: str
    answer: Callable[[Context, Record], Json]
    item: type[AnswerBody]
    create: type[Body] | None = None
    update: type[Body] | None = None
    begin: Callable[[Context, Record], None] = _begin
    write: Callable[[Context, Record, Json], None] = _write


class Family(Struct, frozen=True):
    """`prefix`: of its ids; without one none are made. `counted`: its size is told by the control plane.

    `also`: another kind that its records are kept as for a time (a deleted space, an event that waits); both
    have their ids from one series. `resource`: how it is served, where that is ordinary.
    """

    kind: str
    prefix: str = ""
    owner: str = ""
    depends_on: tuple[Dependency, ...] = ()
    also: str = ""
    world: WorldSection | None = None
    resource: OrdinaryResource | None = None
    counted: bool = False

    def dependencies(self) -> Iterator[Dependency]:
        """That to its owner included."""
        if self.owner:
            yield Dependency(self.owner, in_scope, kept=True, follows=True)
        yield from self.depends_on


class Families:
    """All families, in the order in which they are declared: what depends on others comes after them."""

    def __init__(self, families: Iterable[Family]) -> None:
        self._families = {family.kind: family for family in families}
        self._removed: dict[str, list[tuple[str, Dependency]]] = {kind: [] for kind in self._families}
        self._transferred: dict[str, list[tuple[str, Dependency]]] = {kind: [] for kind in self._families}
        self.prefixes = {family.kind: family.prefix for family in self if family.prefix}
        """How the ids of each kind begin; a kind that is not in it has no ids of its own."""
        self.sections: dict[str, list[WorldSection]] = {}
        """What a world says inside a record of each kind."""
        for said in filter(None, (family.world for family in self)):
            for kind in said.under:
                self.sections.setdefault(kind, []).append(said)
        # What depends on others is removed before them: then they have no holders left to look for.
        for family in reversed(self._families.values()):
            for dependency in family.dependencies():
                to = self._families[dependency.to]
                self._transferred[to.kind].append((family.kind, dependency))
                self._removed[to.also if dependency.kept and to.also else to.kind].append(
                    (family.kind, dependency)
                )

    def __iter__(self) -> Iterator[Family]:
        return iter(self._families.values())

    def before_removal(self, ctx: Context, record: Record) -> None:
        """Removes or changes each holder of a record by its dependency's rule. KeyError: of no family."""
        for kind, dependency in self._removed[record.kind]:
            for holder in dependency.holders(ctx.store, kind, record):
                dependency.on_delete(ctx, holder)

    def before_transfer(self, ctx: Context, record: Record, organization: str) -> None:
        """Transfers the holders of a record that follow it; the others lose it as if it were removed."""
        for kind, dependency in self._transferred[record.kind]:
            for holder in dependency.holders(ctx.store, kind, record):
                if dependency.follows:
                    holder.organization = organization
                    ctx.put(holder)
                else:
                    dependency.on_delete(ctx, holder)

    def counted(self) -> list[str]:
        return [family.kind for family in self if family.counted]

    def new_id(self, store: Store, kind: str) -> str:
        """The next free id of a kind: the same requests on the same world give the same ids.

        KeyError: the companion makes no ids of this kind.
        """
        prefix, also = self.prefixes[kind], self._families[kind].also
        while True:
            id = f"{prefix}-{store.next(kind)}"
            if store.get(kind, id) is None and (not also or store.get(also, id) is None):
                return id
