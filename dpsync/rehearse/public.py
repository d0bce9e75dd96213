"""What people who are not members can see of a companion's state, and what of it they see only on the way.

Told from the state alone, by no rule of the planner: a rehearsal looks after each write.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from msgspec import Struct

from dpsync.rehearse.answers.draft import Json

Fact = tuple[str, str]
"""Who sees it, and what they see."""


class _Visitor(Struct, frozen=True):
    """`opens`: the visibilities of sites that are open to them; `listed`: they find what is listed, no more;
    `bound`: a condition keeps them out.
    """

    name: str
    opens: tuple[str, ...]
    listed: bool = False
    bound: bool = True


_VISITORS: Final = (
    _Visitor("everyone", ("public",), listed=True),
    _Visitor("anyone who has the URL", ("public", "unlisted")),
    _Visitor("anyone who has a share link", ("public", "unlisted", "share-link"), bound=False),
    _Visitor("anyone who signs in", ("public", "unlisted", "share-link", "visitor-auth"), bound=False),
)


def facts_of_site(site: Mapping[str, Any], born: set[str]) -> set[Fact]:
    """Everything that a visitor sees of one site. `born`: the ids of what was there from the start."""
    return {
        (visitor.name, what)
        for visitor in _VISITORS
        if _is_open(site, visitor, born)
        for what in _seen(site, visitor)
    }


def facts_of_specifications(specifications: Iterable[Json]) -> set[Fact]:
    """The specifications that are public, each with where it comes from."""
    return {
        (
            _VISITORS[0].name,
            f"the OpenAPI specification {one['slug']} from {one.get('sourceURL') or 'an uploaded file'}",
        )
        for one in specifications
        if one.get("visibility") == "public"
    }


def _is_open(site: Mapping[str, Any], visitor: _Visitor, born: set[str]) -> bool:
    if not site.get("published") or site["visibility"] not in visitor.opens:
        return False
    if site["visibility"] != "share-link" or visitor.name != "anyone who has a share link":
        return True
    return any(link["active"] and link["id"] in born for link in site.get("shareLinks") or ())


def _seen(site: Mapping[str, Any], visitor: _Visitor) -> Iterator[str]:
    yield f"the site {site['id']}"
    reached: set[str] = set()
    for node in _nodes(site.get("structure") or (), visitor):
        reached.add(node["id"])
        yield f"{node['type']} {node['id']} of the site {site['id']}"
        if (space := node.get("space")) is not None:
            yield f"the space {space}"
        elif (url := node.get("url")) is not None:
            yield f"the link {node['id']} to {url}"
    for redirect in site.get("redirects") or ():
        to = redirect["destination"]
        node = to.get("siteSectionId") or to.get("siteSpaceId")
        if not redirect.get("draft") and (node is None or node in reached):
            yield f"the redirect {redirect['source']} of the site {site['id']} to {to.get('url') or node}"


def _nodes(nodes: Iterable[Json], visitor: _Visitor) -> Iterator[Json]:
    for node in nodes:
        if node.get("draft") or (visitor.bound and node.get("condition")):
            continue
        if visitor.listed and node.get("hidden"):
            continue
        yield node
        yield from _nodes(node.get("children", ()), visitor)


class PublicHistory:
    """What was public after each write of one rehearsal.

    What lasts only for some of the writes between start and end is known at the end.
    """

    def __init__(self) -> None:
        self._now: dict[str, set[Fact]] = {}
        self._start: set[Fact] = set()
        self.changes: list[tuple[str, str, frozenset[Fact]]] = []
        """Each write after which a site showed something else, with the site and all that it showed then."""

    @property
    def sites(self) -> set[str]:
        """The sites that were looked at."""
        return set(self._now)

    def begin(self, by_site: Mapping[str, set[Fact]]) -> None:
        """Everything that is public before the first write, by site."""
        self._now = dict(by_site)
        self._start = set().union(*by_site.values())

    def after(self, write: str, by_site: Mapping[str, set[Fact]]) -> None:
        """What is public of these sites after a write."""
        for site, facts in by_site.items():
            if facts != self._now.get(site, set()):
                self._now[site] = facts
                self.changes.append((write, site, frozenset(facts)))

    def moments(self) -> list[tuple[str, Fact]]:
        """What is public on the way and neither before nor afterwards, each with its first write."""
        allowed = self._start.union(*self._now.values())
        found: dict[Fact, str] = {}
        for write, _, facts in self.changes:
            for fact in sorted(facts - allowed):
                found.setdefault(fact, write)
        return [(write, fact) for fact, write in found.items()]
