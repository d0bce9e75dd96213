"""What becomes of a URL that something leaves: shown by something else, led on by a redirect, or broken.

Where nothing takes care of it, the redirect that would is suggested. Nothing is written here.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from urllib.parse import unquote

from dpsync.kinds.kind import Kind, Redirects
from dpsync.model.entries.address import Address
from dpsync.model.plans.impact import UrlImpact
from dpsync.planner.decide.decisions import Decisions
from dpsync.planner.effects.outcome import current
from dpsync.planner.effects.tree import Branch, NavigationTree

Places = Mapping[Address, Any]
"""Where everything in a tree is seen: a text, or something else where nobody sees it or can tell."""


@dataclass(frozen=True)
class OldUrls:
    """The old URLs of all trees that change, each with where what is in it is seen afterwards."""

    decided: Decisions
    moved: tuple[tuple[NavigationTree, Places], ...]

    def led_on(self, impact: UrlImpact, tree: NavigationTree) -> UrlImpact:
        """The impact of something in a tree with what becomes of its old URL, in the whole organization."""
        old = impact.before
        assert old is not None
        if old in self._displayed:
            return impact.model_copy(update={"shows": str(self._displayed[old])})
        for owner, base in self._owners.items():
            path = _path(old.removeprefix(base)) if old.startswith(base) else None
            if path is not None and path in self._redirected[owner]:
                return impact.model_copy(update={"redirected": str(self._redirected[owner][path])})
        home = self._owners.get(tree.owner)
        if tree.before is None or home is None or home != tree.before.url:
            return impact  # where a whole tree moves, no redirect of its own helps
        will = next(will for one, will in self.moved if one is tree)
        return _Suggestion(self.decided, tree, will).to_lead_on(impact, _path(old.removeprefix(home)))

    @cached_property
    def _displayed(self) -> dict[str, Address]:
        """What is seen at each URL when all is done: of trees that stay as they are, what is seen now."""
        found: dict[str, Address] = {}
        moved = {tree.owner for tree, _ in self.moved}
        for around in current(self.decided):
            if around.address not in moved:
                found |= {one.url: one.address for one, _ in around.walk() if one.url is not None}
        for _, will in self.moved:
            found |= {url: address for address, url in will.items() if isinstance(url, str)}
        return found

    @cached_property
    def _owners(self) -> dict[Address, str]:
        """Where each owner of a tree is seen when all is done."""
        found = {one.address: one.url for one in current(self.decided)}
        found |= {tree.owner: will.get(tree.owner) for tree, will in self.moved}
        return {owner: url for owner, url in found.items() if isinstance(url, str)}

    @cached_property
    def _redirected(self) -> dict[Address, dict[str, Address]]:
        """The redirects of each owner when all is done, by the path from which they lead on."""
        found: dict[Address, dict[str, Address]] = defaultdict(dict)
        for kind in self.decided.sides.registry.ordered:
            if kind.redirects is not None:
                for owner, address, said in self._sources(kind, kind.redirects):
                    if isinstance(said, str):
                        found[owner][_path(said)] = address
        return found

    def _sources(self, kind: Kind, redirects: Redirects) -> Iterator[tuple[Address, Address, Any]]:
        sides = self.decided.sides
        for identity, live in sides.snapshot.objects.items():
            if live.kind != kind.name or live.parent is None or live.deleted:
                continue
            declared = identity in sides.names.declared or self.decided.deletions.covers(identity)
            if not declared:
                address = sides.names.address(identity)
                yield sides.names.address(live.parent), address, live.fields.get(redirects.path)
        for address, resource in sides.resources.items():
            if resource.kind == kind.name and resource.parent and address in self.decided.entries:
                yield resource.parent, address, resource.fields.get(redirects.path)


@dataclass(frozen=True)
class _Suggestion:
    """A redirect in the owner of a tree. `will` is where everything in the tree is seen afterwards."""

    decided: Decisions
    tree: NavigationTree
    will: Places

    def to_lead_on(self, impact: UrlImpact, path: str) -> UrlImpact:
        """With a redirect to where it is seen then; else to the nearest thing around it that is."""
        kinds = self.decided.sides.registry.children(self.tree.kind.name)
        redirecting = [(kind, kind.redirects) for kind in kinds if kind.redirects is not None]
        for one in reversed(self._chains[impact.location]):
            for kind, redirects in redirecting:
                template = redirects.to.get(one.kind.name)
                if template is not None and isinstance(self.will.get(one.address), str):
                    place = self.tree.owner.child(*kind.key.split("."))
                    entry = {path: _filled(template, self._key(one))}
                    return UrlImpact(
                        address=impact.address,
                        before=impact.before,
                        after=impact.after,
                        place=str(place),
                        redirect=entry,
                    )
        return impact

    @cached_property
    def _chains(self) -> dict[Address, tuple[Branch, ...]]:
        """Everything in the tree with what it is in then, or is in now where it goes; outermost first."""
        return {one.address: (*above[1:], one) for one, above in self.tree.everything() if above}

    def _key(self, one: Branch) -> Any:
        """How an entry names it: by its keys, or by its id where no entry is it."""
        if one.address not in self.decided.sides.resources and one.identity is not None:
            return {"id": self.decided.sides.snapshot.objects[one.identity].id}
        depth = len(self.tree.owner.segments) + len(one.kind.key.split("."))
        return "/".join(one.address.segments[depth:])


def _path(text: str) -> str:
    """As a redirect says it: what a URL has encoded is plain there."""
    return "/" + unquote(text).strip("/")


def _filled(template: Any, key: Any) -> Any:
    if isinstance(template, Mapping):
        return {name: _filled(value, key) for name, value in template.items()}
    return key if template == "$key" else template
