"""A family declares everything that the companion has to know about one kind of record.

    record      what the store keeps; its columns say what it belongs to and refers to (see `store`)
    family      all records of one kind: the prefix of their ids, their owner, and their form in a world
    owner       the record with whose removal another record is removed; its id is in the column `scope`
    dependency  any other way in which a record depends on another, and what happens if the other is removed
    holder      a record that depends on another record
    kept        a dependency that stays valid while a deleted space can be restored

The code that is common to all families (making ids, removing a record, transferring it, loading and dumping
worlds) reads these declarations and names no kind. The declarations are in `families`.
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
    """Remove the holder with everything that depends on it."""
    ctx.remove(holder)


def clear(column: str) -> OnDelete:
    """Return a rule that keeps the holder and clears this column."""

    def forget(ctx: Context, holder: Record) -> None:
        setattr(holder, column, "")
        ctx.put(holder)

    return forget


def in_scope(of: Record) -> Columns:
    return {"scope": of.id}


def by_ref(of: Record) -> Columns:
    """Match records of the same organization that refer to the record."""
    return {"organization": of.organization, "ref": of.id}


class Dependency(Struct, frozen=True):
    """A dependency of holders on records of the kind `to`.

    `where` gives the columns (or the `id`) that select the holders of a record; `only` filters them further.
    `on_delete` is called for each holder when the record is removed. `kept`: the removal of a space affects
    holders only when the deleted space is erased. `follows`: holders move along when the record is
    transferred to another organization; other holders lose the record as if it were removed.
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
    """The API of an ordinary family: resources under an owner, identified by id, with the usual operations.

    `path` follows the path of the owner, `parameter` names the id, `what` is the noun in messages. `begin`
    sets what a new record has before the body is written; `write` stores the members of a body. By default
    the members become the document. `answer` renders a record as the model `item`.
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
    """The declaration of one kind of record.

    `prefix` is the prefix of ids; without a prefix, the companion makes no ids. `counted`: the control plane
    reports the number of records. `also` is another kind as which records are kept temporarily (a deleted
    space, a waiting event); both kinds share one series of ids. `resource` describes the API of an ordinary
    family.
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
        """Yield all dependencies, including the dependency on the owner."""
        if self.owner:
            yield Dependency(self.owner, in_scope, kept=True, follows=True)
        yield from self.depends_on


class Families:
    """All families in order of declaration: a family comes after the families on which it depends."""

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
        """Remove or change each holder of a record as its dependency says. KeyError: unknown kind."""
        for kind, dependency in self._removed[record.kind]:
            for holder in dependency.holders(ctx.store, kind, record):
                dependency.on_delete(ctx, holder)

    def before_transfer(self, ctx: Context, record: Record, organization: str) -> None:
        """Transfer the holders that follow a record. Other holders lose the record as if it were removed."""
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
        """Return the next free id of a kind. The same requests on the same world give the same ids.

        Raise KeyError if the companion makes no ids of this kind.
        """
        prefix, also = self.prefixes[kind], self._families[kind].also
        while True:
            id = f"{prefix}-{store.next(kind)}"
            if store.get(kind, id) is None and (not also or store.get(also, id) is None):
                return id
