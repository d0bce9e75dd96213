"""What becomes of a URL that something leaves: shown by something else, led on by a redirect, or broken.

Where nothing takes care of it, the redirect that would is suggested. Nothing is written here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from urllib.parse import unquote

from dpsync.kinds.base import Kind, Redirects
from dpsync.model.address import Address
from dpsync.model.impact import UrlImpact
from dpsync.planner.decisions import Decisions
from dpsync.planner.tree import Branch, Tree


@dataclass(frozen=True)
class OldUrls:
    """The old URLs of one tree. `will` is where everything in it is seen afterwards."""

    decided: Decisions
    tree: Tree
    will: Mapping[Address, Any]

    def led_on(self, impact: UrlImpact) -> UrlImpact:
        """The impact with what becomes of its old URL."""
        old = impact.before
        assert old is not None
        if old in self._by_url:
            return impact.model_copy(update={"shows": str(self._by_url[old])})
        path = _path(old.removeprefix(self.will[self.tree.owner]))
        if path in self._redirected:
            return impact.model_copy(update={"redirected": str(self._redirected[path])})
        return self._suggested(impact, path)

    @cached_property
    def _by_url(self) -> dict[str, Address]:
        return {url: address for address, url in self.will.items() if isinstance(url, str)}

    @cached_property
    def _redirecting(self) -> tuple[tuple[Kind, Redirects], ...]:
        kinds = self.decided.sides.registry.children(self.tree.kind.name)
        return tuple((kind, kind.redirects) for kind in kinds if kind.redirects is not None)

    @cached_property
    def _redirected(self) -> dict[str, Address]:
        """The redirects of the owner when all is done, by the path from which they lead on."""
        found = {}
        for kind, redirects in self._redirecting:
            for address, said in self._sources(kind, redirects):
                if isinstance(said, str):
                    found[_path(said)] = address
        return found

    def _sources(self, kind: Kind, redirects: Redirects) -> Iterator[tuple[Address, Any]]:
        sides, owner = self.decided.sides, self.tree.owner
        for identity, live in sides.snapshot.objects.items():
            if live.kind != kind.name or live.parent is None or live.deleted:
                continue
            declared = identity in sides.names.declared or self.decided.deletions.covers(identity)
            if not declared and sides.names.address(live.parent) == owner:
                yield sides.names.address(identity), live.fields.get(redirects.path)
        for address, resource in sides.resources.items():
            if resource.kind == kind.name and resource.parent == owner and address in self.decided.entries:
                yield address, resource.fields.get(redirects.path)

    def _suggested(self, impact: UrlImpact, path: str) -> UrlImpact:
        """With a redirect to where it is seen then; else to the nearest thing around it that is."""
        for one in reversed(self._chains[Address.parse(impact.address)]):
            for kind, redirects in self._redirecting:
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
