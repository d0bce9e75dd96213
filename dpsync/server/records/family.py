"""A family: what the companion has to know of one kind of records, declared in one place.

    record      what the store keeps; its columns say what it belongs to and refers to (see `store`)
    family      all records of one kind: how their ids begin, what they belong to, how a world says them
    owner       the record that one belongs to: its id is in the column `scope`, and both go together
    link        any other way in which a record depends on another one, and what becomes of it when that goes
    holder      a record that has a link, seen from the other end
    kept        a link that still holds while a deleted space can be restored

What all families have in common (making ids, removing a record, transferring it, loading and dumping worlds)
is written once and reads these declarations; none of it names a kind. The declarations are in `families`.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from ..models.base import Answer, Body
from ..request.context import Context
from ..store import Record, Store
from .world_format import InWorld, Json

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


@dataclass(frozen=True)
class Link:
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


@dataclass(frozen=True)
class Resource:
    """How an ordinary family is served: under its owner, by id, each operation with its usual meaning.

    `path` is below that of the owner, `parameter` names one below that, `what` in messages.

    `begin` fills in what a new record has before the members of the body, `write` takes those of a body that
    creates or updates: by default they are the document. `answer` is its rendering, of the model `item`.
    """

    what: str
    path: str
    parameter: str
    answer: Callable[[Context, Record], Json]
    item: type[Answer]
    create: type[Body] | None = None
    update: type[Body] | None = None
    begin: Callable[[Context, Record], None] = _begin
    write: Callable[[Context, Record, Json], None] = _write


@dataclass(frozen=True)
class Family:
    """`prefix`: of its ids; without one none are made. `counted`: its size is told by the control plane.

    `also`: another kind that its records are kept as for a time (a deleted space, an event that waits); both
    have their ids from one series. `resource`: how it is served, where that is ordinary.
    """

    kind: str
    prefix: str = ""
    owner: str = ""
    links: tuple[Link, ...] = ()
    also: str = ""
    world: InWorld | None = None
    resource: Resource | None = None
    counted: bool = False

    def every_link(self) -> Iterator[Link]:
        """That to its owner included."""
        if self.owner:
            yield Link(self.owner, in_scope, kept=True, follows=True)
        yield from self.links


class Families:
    """All families, in the order in which they are declared: what depends on others comes after them."""

    def __init__(self, families: Iterable[Family]) -> None:
        self._families = {family.kind: family for family in families}
        self._removed: dict[str, list[tuple[str, Link]]] = {kind: [] for kind in self._families}
        self._transferred: dict[str, list[tuple[str, Link]]] = {kind: [] for kind in self._families}
        self.prefixes = {family.kind: family.prefix for family in self if family.prefix}
        """How the ids of each kind begin; a kind that is not in it has no ids of its own."""
        self.sections: dict[str, list[InWorld]] = {}
        """What a world says inside a record of each kind."""
        for said in filter(None, (family.world for family in self)):
            for kind in said.under:
                self.sections.setdefault(kind, []).append(said)
        # What depends on others is removed before them: then they have no holders left to look for.
        for family in reversed(self._families.values()):
            for link in family.every_link():
                to = self._families[link.to]
                self._transferred[to.kind].append((family.kind, link))
                self._removed[to.also if link.kept and to.also else to.kind].append((family.kind, link))

    def __iter__(self) -> Iterator[Family]:
        return iter(self._families.values())

    def let_go(self, ctx: Context, record: Record) -> None:
        """A record is removed: each of its holders by the rule of its link. KeyError: of no family."""
        for kind, link in self._removed[record.kind]:
            for holder in link.holders(ctx.store, kind, record):
                link.on_delete(ctx, holder)

    def hand_over(self, ctx: Context, record: Record, organization: str) -> None:
        """A record is transferred to another organization: its holders follow it, or let go of it."""
        for kind, link in self._transferred[record.kind]:
            for holder in link.holders(ctx.store, kind, record):
                if link.follows:
                    holder.organization = organization
                    ctx.put(holder)
                else:
                    link.on_delete(ctx, holder)

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
