"""What the readers of a platform see: told by the companion's own state alone, by no rule of dpsync.

Readers differ in what they know. A *visitor* browses: a public site, and what its navigation lists. A *guest*
has every URL: unlisted sites and hidden places, too. For both, what has a condition is not there, nor what is
in it. A *curious* guest is one for whom a condition binds only on a site with adaptive content. A *friend*
has a share link that was there from the start, and fulfils every condition. A *customer* signs in, or is
given any link, and fulfils every condition, too.

What one sees is a set of facts: that a site is open; that it has a section, a group, a link with its URL or a
place with the space that it shows; that a space can be read; that a path leads to a destination which they
reach; that a specification is public, with its source. What was there from the start is called by its id,
what is made by its title or what it shows. Where something is seen (its path, a temporary one, too) is no
fact of its own: whoever sees it sees it at some URL. Nor is the title of something that is seen before or
afterwards.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from .organizations import Fields

Fact = tuple[str, ...]


@dataclass(frozen=True)
class Reader:
    """`opens`: the visibilities of the sites that are open to them."""

    name: str
    opens: tuple[str, ...]
    lists: bool = False
    """Whether they only find what a navigation lists."""
    by_link: bool = False
    """Whether they come by a link, which must be active."""
    bound: bool = True
    """Whether conditions keep them out."""
    always: bool = True
    """Whether they do so without adaptive content."""


READERS = (
    Reader("visitor", ("public",), lists=True),
    Reader("guest", ("public", "unlisted")),
    Reader("curious", ("public", "unlisted"), always=False),
    Reader("friend", ("public", "unlisted", "share-link"), by_link=True, bound=False),
    Reader("customer", ("public", "unlisted", "share-link", "visitor-auth"), bound=False),
)


def seen(state: Fields, born: set[str]) -> set[Fact]:
    """Everything that some reader sees. `born`: the ids of what was there from the start."""
    found: set[Fact] = set()
    for org in state["organizations"]:
        names = {
            item["id"]: item["id"] if item["id"] in born else item["title"]
            for item in (*org["spaces"], *org["sites"])
        }
        for reader in READERS:
            for site in org["sites"]:
                found |= {(reader.name, *fact) for fact in _of_site(reader, site, names, born)}
        found |= {
            ("anybody", "specification", one["slug"], str(one.get("source", {}).get("url")))
            for one in org.get("openapi", ())
            if one.get("visibility") == "public"
        }
    return found


def _of_site(reader: Reader, site: Fields, names: dict[str, str], born: set[str]) -> Iterator[Fact]:
    shared = any(link["active"] and link["id"] in born for link in site.get("shareLinks") or ())
    if not site.get("published") or site["visibility"] not in reader.opens:
        return
    if site["visibility"] == "share-link" and reader.by_link and not shared:
        return
    name = names[site["id"]]
    adaptive = bool((site.get("adaptiveContent") or {}).get("enabled"))
    yield "site", name
    reached: dict[str, str] = {}
    for node, called in _nodes(reader, adaptive, site["structure"], born, names):
        reached[node["id"]] = called
        if node["type"] == "space":
            yield "place", name, called, names[node["space"]]
            yield "space", names[node["space"]]
        elif node["type"] == "external-link":
            yield "link", name, called, node["url"]
        else:
            yield node["type"], name, called
    for redirect in site.get("redirects") or ():
        to = redirect["destination"]
        id = to.get("siteSectionId") or to.get("siteSpaceId")
        if not redirect["draft"] and (id is None or id in reached):
            yield "redirect", name, redirect["source"], to.get("url") or reached[id]


def _nodes(
    reader: Reader, adaptive: bool, nodes: list[Any], born: set[str], names: dict[str, str], around: str = ""
) -> Iterator[tuple[Fields, str]]:
    for node in nodes:
        binds = reader.bound and node.get("condition") and (reader.always or adaptive)
        if node.get("draft") or binds or (reader.lists and node.get("hidden")):
            continue
        word = node.get("title") or f"{around}/{names[node['space']]}"
        called = node["id"] if node["id"] in born else f"{node['type']} {word}"
        yield node, called
        yield from _nodes(reader, adaptive, node.get("children", []), born, names, called)
