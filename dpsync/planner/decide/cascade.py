"""What goes along with deletes: pure, from live objects and from what their kinds declare.

Three rules, applied until nothing more is found. What lies below a deleted object goes with it. What cannot
be without the thing that it names (a place without its space, a membership without its member) goes with it.
A node that must have children, and loses its last one in this way, goes too.

A field that merely names a deleted object loses that value; its object stays. What the plan itself writes or
deletes is not listed here.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import cached_property

from msgspec import Struct, field

from dpsync.kinds.kind import Field, Kind
from dpsync.kinds.kind import Node as NodeShape
from dpsync.model.snapshot import Identity, LiveObject
from dpsync.model.values import LiveId, Value, live_ids
from dpsync.planner.inputs.lineage import is_place
from dpsync.planner.inputs.names import Names

INSIDE, NAMES, EMPTY = (
    "is also deleted",
    "refers to the deleted object and is also deleted",
    "would be empty and is also deleted",
)
"""Why an object goes along: it lies below another one, names it, or loses the last of its children."""
_REASONS = (INSIDE, NAMES, EMPTY)
"""Where there are several, the first of these is told."""

Lost = tuple[Identity, str]
"""An object and the field of it that loses its value; no name where the object goes itself."""


class Cascade(Struct, frozen=True, dict=True):
    """What goes along with the deletes of `roots`, and why. `causes` says with which of them."""

    roots: frozenset[Identity]
    objects: Mapping[Identity, str] = field(default_factory=dict)
    """By object that goes along: one of the three reasons above."""
    losses: tuple[Lost, ...] = ()
    """Fields of objects that stay, which name something that goes."""
    causes: Mapping[Lost, frozenset[Identity]] = field(default_factory=dict)
    also: Mapping[Identity, frozenset[Identity]] = field(default_factory=dict)
    """By deleted object that would go along with other ones anyway: these."""
    left_inside: Mapping[Identity, tuple[LiveObject, ...]] = field(default_factory=dict)
    """By deleted holder whose contents would be lifted out of it: what is still in it, and stays."""

    def covers(self, identity: Identity) -> bool:
        return identity in self.roots or identity in self.objects

    @property
    def lost(self) -> list[Lost]:
        """Everything that goes along: objects and values."""
        return [*((identity, "") for identity in self.objects), *self.losses]

    @cached_property
    def by_root(self) -> dict[Identity, list[Lost]]:
        """Each of these once, under the first of the deletes that take it along."""
        found: dict[Identity, list[Lost]] = defaultdict(list)
        for lost in self.lost:
            found[min(self.causes[lost])].append(lost)
        return found


def cascade(
    names: Names,
    roots: Collection[Identity],
    written: Callable[[LiveObject, Field], bool],
    arrives: Callable[[LiveObject], bool],
) -> Cascade:
    """What goes along with these deletes.

    `written` says whether a field will have another value before the deletes are carried out, `arrives`
    whether a node will have got a new child by then.
    """
    return _Spread(names, frozenset(roots), written, arrives).cascade() if roots else Cascade(frozenset())


class _Spread:
    def __init__(
        self,
        names: Names,
        roots: frozenset[Identity],
        written: Callable[[LiveObject, Field], bool],
        arrives: Callable[[LiveObject], bool],
    ) -> None:
        self.names, self.roots, self.written, self.arrives = names, roots, written, arrives
        self.objects: dict[Identity, str] = {}
        self.losses: set[Lost] = set()
        self.causes: dict[Lost, frozenset[Identity]] = {}
        self.also: dict[Identity, frozenset[Identity]] = {}
        self.below: dict[Identity, list[LiveObject]] = defaultdict(list)
        self.naming: dict[Identity, list[tuple[LiveObject, Field]]] = defaultdict(list)
        for live in names.snapshot.objects.values():
            if live.parent is not None:
                self.below[live.parent].append(live)
            for item in names.registry[live.kind].reference_fields:
                for target in self._targets(live, item):
                    self.naming[target].append((live, item))
        self.waiting = sorted(roots)
        self.because: dict[Identity, frozenset[Identity]] = {root: frozenset({root}) for root in roots}
        self.unemptied = dict(self.because)
        """The same without those that only leave it empty: what emptied it does not go because of these."""
        self.staying: dict[Identity, int] = {}
        """By node that must have children: how many of them do not go, as far as is known by now."""

    def _targets(self, live: LiveObject, item: Field) -> Iterable[Identity]:
        ids = named_ids(item, live.fields.get(item.name))
        return [self.names.named(live, kind, id) for id in ids for kind in item.names]

    def cascade(self) -> Cascade:
        """Everything that goes along."""
        while self.waiting:
            identity = self.waiting.pop()
            causes = self.because[identity]
            for child in self.below[identity]:
                covered = self._covers(child.identity)
                self._goes(child, INSIDE, self.unemptied[identity] if covered else causes)
            for live, item in self.naming[identity]:
                self._named_by(live, item, causes)
        return Cascade(
            self.roots,
            {key: self.objects[key] for key in sorted(self.objects)},
            tuple(sorted(lost for lost in self.losses if not self._covers(lost[0]))),
            self.causes,
            self.also,
            {root: left for root in self.roots if (left := tuple(self._left_inside(root)))},
        )

    def _covers(self, identity: Identity) -> bool:
        return identity in self.roots or identity in self.objects

    def _named_by(self, live: LiveObject, item: Field, causes: frozenset[Identity]) -> None:
        if is_place(item) or self.written(live, item):
            return
        kind = self.names.registry[live.kind]
        if cannot_be_without(kind, item, live):
            self._goes(live, NAMES, causes)
        else:
            lost = (live.identity, item.name)
            self.losses.add(lost)
            self.causes[lost] = self.causes.get(lost, frozenset()) | causes

    def _goes(self, live: LiveObject, why: str, causes: frozenset[Identity]) -> None:
        identity = live.identity
        if identity in self.roots:
            self.also[identity] = self.also.get(identity, frozenset()) | causes - {identity}
            return
        if not causes:
            return
        known, unemptied = (found.get(identity, frozenset()) for found in (self.because, self.unemptied))
        self.unemptied[identity] = unemptied if why == EMPTY else unemptied | causes
        if identity not in self.objects and live.parent in self.staying:
            self.staying[live.parent] -= self._holds(live.parent, live)
        self.objects[identity] = min(why, self.objects.get(identity, why), key=_REASONS.index)
        if causes <= known and self.unemptied[identity] == unemptied:
            return
        self.because[identity] = self.causes[identity, ""] = known | causes
        self.waiting.append(identity)
        if live.parent is not None:
            self._perhaps_empty(live.parent)

    def _perhaps_empty(self, holder: Identity) -> None:
        """A node that must have children goes when the last of them went along with something else."""
        live = self.names.snapshot.objects.get(holder)
        shape = self.names.registry[live.kind].shape if live is not None else None
        if live is None or not isinstance(shape, NodeShape) or not shape.least:
            return
        if holder not in self.staying:
            stays = (child for child in self._children(holder) if not self._covers(child.identity))
            self.staying[holder] = sum(1 for _ in stays)
        if self.staying[holder] == 0 and not self.arrives(live):
            children = (child.identity for child in self._children(holder))
            taken = [child for child in children if child in self.objects]
            causes = frozenset().union(*(self.because[child] for child in taken))
            if taken and holder not in causes:
                self._goes(live, EMPTY, causes)

    def _children(self, holder: Identity) -> Iterator[LiveObject]:
        """The nodes in a node, of the kinds without which it cannot be."""
        return (child for child in self.below[holder] if self._holds(holder, child))

    def _holds(self, holder: Identity, child: LiveObject) -> bool:
        shape = self.names.registry[holder[0]].shape
        return isinstance(shape, NodeShape) and child.kind in shape.holds

    def _left_inside(self, root: Identity) -> Iterator[LiveObject]:
        if self.names.registry[root[0]].lifecycle.on_delete == "lifted":
            for live, item in self.naming[root]:
                if is_place(item) and not self._covers(live.identity) and not self.written(live, item):
                    yield live


def cannot_be_without(kind: Kind, item: Field, live: LiveObject) -> bool:
    """Whether an object goes with what this field of it names.

    Content is taken along only by a name that `means` what it is made of. A list of names loses only one.
    """
    needed = item.means is not None or ((item.required or item.name == kind.natural) and not kind.content)
    return needed and len(named_ids(item, live.fields.get(item.name))) == 1


def named_ids(item: Field, value: Value) -> set[str]:
    """The ids in the value of a field: of references, or the text itself where that is one."""
    if item.means and isinstance(value, str):
        return {value}
    return {value.id} if isinstance(value, LiveId) else live_ids(value)
