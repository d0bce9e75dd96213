"""Which kinds there are, and how they hang together. Everything that depends on a kind asks here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache, cached_property
from graphlib import TopologicalSorter
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from dpsync.kinds.kind import Entries, Kind, ListOrder, Node
from dpsync.kinds.profiles import FULL, PROFILES, Profile
from dpsync.kinds.supported import SupportedKind, for_profile, in_words_of


class Registry:
    """A closed set of kinds, as a server with this profile has them."""

    def __init__(self, kinds: Iterable[Kind], profile: Profile = FULL) -> None:
        self.profile = profile
        self._written = tuple(kinds)
        self.declared = {kind.name: in_words_of(kind, profile.name) for kind in self._written}
        self.kinds = for_profile(self.declared, profile)

    def __getitem__(self, name: str) -> SupportedKind:
        return self.kinds[name]

    def __contains__(self, name: str) -> bool:
        return name in self.kinds

    @cached_property
    def root(self) -> SupportedKind:
        return next(kind for kind in self.kinds.values() if kind.parent is None)

    @cached_property
    def ordered(self) -> tuple[SupportedKind, ...]:
        """Every kind behind its parents and behind the kinds that its natural keys refer to."""
        graph: dict[str, set[str]] = {}
        for kind in self.kinds.values():
            names = {part for key in kind.identity for part in ([key] if isinstance(key, str) else key)}
            names |= {*kind.tie_breakers, kind.natural or ""}
            refers = {ref for field in kind.fields if field.name in names for ref in field.type.refers}
            graph[kind.name] = {name for name in {*kind.parents, *refers} - {kind.name} if name in self.kinds}
        return tuple(self.kinds[name] for name in TopologicalSorter(graph).static_order())

    @cached_property
    def _children(self) -> dict[str, tuple[SupportedKind, ...]]:
        return {name: tuple(kind for kind in self.ordered if name in kind.parents) for name in self.kinds}

    def children(self, name: str) -> tuple[SupportedKind, ...]:
        return self._children.get(name, ())

    def places(self, name: str) -> Mapping[str, tuple[SupportedKind, ...]]:
        """The YAML keys of an entry of this kind that hold other kinds. Nodes inside nodes are no place."""
        return self._places[name]

    @cached_property
    def _places(self) -> dict[str, dict[str, tuple[SupportedKind, ...]]]:
        return {name: self._places_of(name) for name in self.kinds}

    def _places_of(self, name: str) -> dict[str, tuple[SupportedKind, ...]]:
        places: dict[str, tuple[SupportedKind, ...]] = {}
        for kind in self.children(name):
            inside_node = isinstance(kind.shape, Node) and isinstance(self.kinds[name].shape, Node)
            if not inside_node:
                places[kind.key] = (*places.get(kind.key, ()), kind)
        for key, kinds in places.items():
            if any(isinstance(kind.shape, Node) for kind in kinds):
                places[key] = self.nodes(key)
        return places

    def nodes(self, key: str) -> tuple[SupportedKind, ...]:
        """The kinds that share one ordered tree."""
        return self._nodes.get(key, ())

    @cached_property
    def _nodes(self) -> dict[str, tuple[SupportedKind, ...]]:
        found: dict[str, tuple[SupportedKind, ...]] = {}
        for kind in self.ordered:
            if isinstance(kind.shape, Node):
                found[kind.key] = (*found.get(kind.key, ()), kind)
        return found

    def tree_word(self, owner: str) -> str:
        """The key of an entry of this kind that holds its tree. StopIteration: it has none."""
        return next(word for word, kinds in self.places(owner).items() if any(one.in_tree for one in kinds))

    def tree_owner(self, kind: Kind) -> str:
        """The kind that owns the tree which this kind is a node of."""
        return next(
            parent
            for node in self.nodes(kind.key)
            for parent in node.parents
            if not isinstance(self.kinds[parent].shape, Node)
        )

    @cached_property
    def words(self) -> frozenset[str]:
        """The keys a pattern may start with: the places below an organization."""
        return frozenset(self.whole.places(self.root.name))

    @cached_property
    def whole(self) -> Registry:
        """Every kind in the words of this profile: what may be written does not depend on the operations."""
        return self if self.profile.is_whole else self.written_for(self.profile.name)

    def written_for(self, profile: str) -> Registry:
        """Every kind in the words of a profile: by these a configuration is read that is planned for it."""
        found = self._written_for.get(profile)
        if found is None:
            found = self._written_for[profile] = Registry(self._written, Profile(profile))
        return found

    @cached_property
    def _written_for(self) -> dict[str, Registry]:
        return {}

    @cached_property
    def _referring(self) -> dict[str, tuple[tuple[SupportedKind, Any], ...]]:
        found: dict[str, tuple[tuple[SupportedKind, Any], ...]] = {}
        for kind in self.ordered:
            for field in kind.fields:
                if field.nest or (field.via is not None and field.one_per is None):
                    for name in dict.fromkeys(field.type.refers):
                        found[name] = (*found.get(name, ()), (kind, field))
        return found

    def referring(self, name: str) -> tuple[tuple[SupportedKind, Any], ...]:
        """Fields of any kind that put an object into one of this kind (its collection, its group)."""
        return self._referring.get(name, ())

    @cached_property
    def _list_orders(self) -> dict[str, dict[str, ListOrder]]:
        found: dict[str, dict[str, ListOrder]] = {name: {} for name in self.kinds}
        for kind in self.ordered:
            for order in kind.list_orders:
                found[order.of][kind.name] = order
        return found

    def list_orders(self, name: str) -> Mapping[str, ListOrder]:
        """The lists that give things of this kind their order, by the kind of the entries that have them."""
        return self._list_orders[name]

    def list_order(self, name: str) -> ListOrder | None:
        """Any of these lists: all have one field that places a thing, and one request that moves it."""
        return next(iter(self._list_orders[name].values()), None)

    def naming(self, name: str) -> tuple[SupportedKind, ...]:
        """Kinds with a field that can be read and that may name an object of this kind.

        What an object is only placed in counts where its deletion lifts what is in it.
        """
        places = {(kind.name, field.name) for kind, field in self.referring(name)}
        lifted = self.kinds[name].lifecycle.on_delete == "lifted"
        return tuple(
            kind
            for kind in self.ordered
            if any(
                name in field.names
                and field.source is not None
                and (lifted or (kind.name, field.name) not in places)
                for field in kind.fields
            )
        )

    def keyed(self, kind: Kind) -> bool:
        """Whether the local key is data: an e-mail, a slug, a reference."""
        return isinstance(kind.shape, Entries) and kind.shape.natural is not None

    def folded(self, kind: Kind, key: str) -> str:
        """A key as its address has it. One that is data folds like that data: e-mails in any case are one.

        A key that is a reference folds like the key that it refers to.
        """
        if kind.natural is None:
            return key
        folded = str(kind.field(kind.natural).type.fold(key))
        for name in kind.field(kind.natural).type.refers:
            target = self[name]
            if target.natural is not None:
                return str(target.field(target.natural).type.fold(folded))
        return folded


@cache
def load(profile: str = FULL.name) -> Registry:
    """Every kind declared in this package, one file each, of those that a server with this profile has.

    The same registry each time: it never changes.
    """
    import dpsync.kinds.declarations as package

    kinds: list[Kind] = []
    for module in sorted(iter_modules(package.__path__), key=lambda item: item.name):
        found = vars(import_module(f"{package.__name__}.{module.name}")).values()
        kinds.extend(value for value in found if isinstance(value, Kind))
    return Registry(kinds, PROFILES[profile])
