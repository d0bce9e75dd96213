"""Read the navigation paths of spaces with the same title, to tell which space belongs to which entry.

Versions of a documentation often have the same titles in each section. The path at which a site shows a space
distinguishes such spaces. Only the ambiguous spaces cause requests: dpsync reads the navigations in which the
files show an ambiguous entry, and the list of sites that show each candidate.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from dpsync.client.errors import Forbidden, NotFound
from dpsync.kinds.kind import Kind
from dpsync.kinds.places import NavigationPath, declared_navigation_paths, live_navigation_paths
from dpsync.kinds.urls import expand
from dpsync.live.reading import ReadingState
from dpsync.model.address import Address
from dpsync.model.desired import Entry
from dpsync.model.diagnostic import Diagnostic

MOST: Final = 20
"""Maximum number of candidates whose sites are read, with one request for each candidate."""


class ShownPaths(Struct):
    """The live objects at the navigation paths of the entries of one kind and parent.

    The kind has a request that lists the owners, such as sites, that show an object (`shown_in`).
    """

    reading: ReadingState
    kind: Kind
    parent: Address
    match_now: Callable[[Kind, Address], None]
    """Matches the entries of a kind earlier than usual."""
    ids_by_path: dict[NavigationPath, str] = field(default_factory=dict)
    """The id of the live object at each navigation path."""
    read_owners: set[str] = field(default_factory=set)
    """The ids of the owners, such as sites, whose navigation was read."""

    def ids_by_entry(self, wanted: Iterable[Entry], questions: Iterable[Diagnostic]) -> Mapping[Address, str]:
        """Return, by entry, the id of the live object at the entry's navigation paths, if there is only one.

        Only the navigations that show an ambiguous entry are read.
        """
        places = declared_navigation_paths(self.reading.registry, self.reading.desired.resources)
        asked = [Address.parse(one.address) for one in questions if one.address and one.candidates]
        for owner in sorted({owner for address in asked for owner, _ in places.get(address, ())}):
            self._read_navigation(owner)
        found = {
            entry.address: {
                self.ids_by_path[place]
                for place in places.get(entry.address, ())
                if place in self.ids_by_path
            }
            for entry in wanted
        }
        return {address: id for address, ids in found.items() if len(ids) == 1 for id in ids}

    def _read_navigation(self, owner: Address) -> None:
        """Match the entry of the owner, and read the owner's navigation."""
        reading, registry = self.reading, self.reading.registry
        entry = reading.resource(owner)
        if entry.parent != self.parent:
            return
        self.match_now(registry[entry.kind], self.parent)
        node = next((registry[reading.resource(child).kind] for child in entry.children), None)
        if node is None or not reading.is_there(owner):
            return
        source = reading.source(node, owner)
        reading.sources.fetch([source], refusable=True)
        if source.url in reading.sources.refused:
            return
        self.read_owners.add(reading.matches[owner].id)
        for id, path in live_navigation_paths(registry, reading.sources.objects[source.url]):
            self.ids_by_path[owner, path] = id

    def with_shown_in(self, questions: Iterable[Diagnostic]) -> list[Diagnostic]:
        """Return the questions with the sites and paths that show each candidate."""
        questions = list(questions)
        by_id: dict[str, list[str]] = defaultdict(list)
        for (owner, path), id in self.ids_by_path.items():
            by_id[id].append(f"{owner} ({'/'.join(path)})")
        asked = {candidate.id for question in questions for candidate in question.candidates}
        for id in sorted(asked)[:MOST]:
            by_id[id] += self._owner_titles(id)
        return [
            replace(
                question,
                candidates=tuple(
                    one.model_copy(update={"shown_in": tuple(by_id[one.id])}) for one in question.candidates
                ),
            )
            for question in questions
        ]

    def _owner_titles(self, id: str) -> list[str]:
        """Return the titles of the owners that show an object, without owners whose navigation was read."""
        reading = self.reading
        assert self.kind.shown_in is not None
        try:
            chain = reading.chain(self.parent)
            url = expand(reading.registry, self.kind, self.kind.shown_in.path, id, chain)
            found = reading.sources.named(url)
        except (Forbidden, NotFound):
            return []
        return [f'"{body.get("title", own)}"' for own, body in found if own not in self.read_owners]
