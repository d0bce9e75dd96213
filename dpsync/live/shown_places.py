"""Read where candidates of a question are shown, which may answer the question.

Versions of a documentation often have the same titles in each section. The path at which a space is shown
tells such spaces apart. Only what a question is about is read: the navigations in which the files show the
entries in question and, for other candidates, which sites show them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from dpsync.client.errors import Forbidden, NotFound
from dpsync.kinds.kind import Kind
from dpsync.kinds.placing import ShownAt, declared_shown_at, live_shown_at
from dpsync.kinds.urls import expand
from dpsync.live.reading import ReadingState
from dpsync.model.entries.address import Address
from dpsync.model.entries.desired import Entry
from dpsync.model.findings.diagnostic import Diagnostic

MOST: Final = 20
"""Candidates whose sites are asked for, with a request for each."""


class ShownPlaces(Struct):
    """What is live at the paths where the files show entries of one kind and parent.

    The platform lists what shows an object of this kind (`shown_in`).
    """

    reading: ReadingState
    kind: Kind
    parent: Address
    match_now: Callable[[Kind, Address], None]
    """Matches the entries of a kind before its turn."""
    ids: dict[ShownAt, str] = field(default_factory=dict)
    """By place the id of what is shown there."""
    read: set[str] = field(default_factory=set)
    """The ids of the owners whose navigation was read."""

    def shown(self, wanted: Iterable[Entry], questions: Iterable[Diagnostic]) -> Mapping[Address, str]:
        """Return what is live at the places of the entries, by entry, where only one thing is.

        Navigations are read only of the owners that show an entry in question.
        """
        places = declared_shown_at(self.reading.registry, self.reading.desired.resources)
        asked = [Address.parse(one.address) for one in questions if one.address and one.candidates]
        for owner in sorted({owner for address in asked for owner, _ in places.get(address, ())}):
            self._read(owner)
        found = {
            entry.address: {self.ids[place] for place in places.get(entry.address, ()) if place in self.ids}
            for entry in wanted
        }
        return {address: id for address, ids in found.items() if len(ids) == 1 for id in ids}

    def _read(self, owner: Address) -> None:
        """Recognise the owner of a navigation, and read that."""
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
        self.read.add(reading.matches[owner].id)
        for id, path in live_shown_at(registry, reading.sources.objects[source.url]):
            self.ids[owner, path] = id

    def described(self, questions: Iterable[Diagnostic]) -> list[Diagnostic]:
        """Return the questions with where each candidate is shown."""
        questions = list(questions)
        by_id: dict[str, list[str]] = defaultdict(list)
        for (owner, path), id in self.ids.items():
            by_id[id].append(f"{owner} ({'/'.join(path)})")
        asked = {candidate.id for question in questions for candidate in question.candidates}
        for id in sorted(asked)[:MOST]:
            by_id[id] += self._titles(id)
        return [
            replace(
                question,
                candidates=tuple(
                    one.model_copy(update={"shown_in": tuple(by_id[one.id])}) for one in question.candidates
                ),
            )
            for question in questions
        ]

    def _titles(self, id: str) -> list[str]:
        """The titles of the owners that show an object, other than those whose navigation was read."""
        reading = self.reading
        assert self.kind.shown_in is not None
        try:
            chain = reading.chain(self.parent)
            url = expand(reading.registry, self.kind, self.kind.shown_in.path, id, chain)
            found = reading.sources.named(url)
        except (Forbidden, NotFound):
            return []
        return [f'"{body.get("title", own)}"' for own, body in found if own not in self.read]
