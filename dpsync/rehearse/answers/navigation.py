"""The navigation of a site, how it looks, and what leads into it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from functools import cache

from msgspec import Struct

from dpsync.kinds.kind import Node
from dpsync.kinds.registry import load
from dpsync.rehearse.answers.draft import COMPUTED, Json, WorldDraft, without
from dpsync.rehearse.answers.spaces import take_space

_NOT_OF_NODES = ("siteSpaces", "children", "sections", "sectionGroup", "section", "space",
                 "hasAdvancedCustomizationFeature")  # fmt: skip


class _NodeKind(Struct, frozen=True):
    """What a world says of one kind of nodes."""

    type: str
    holds: bool
    shows: str | None
    """The member that has the whole of the space which it shows."""


@cache
def _kinds() -> dict[str, _NodeKind]:
    """The kinds of nodes as they are declared, by the word that answers have for each."""
    return {
        kind.shape.wire: _NodeKind(
            kind.shape.type,
            bool(kind.shape.holds),
            next((one.name for one in kind.reference_fields if one.source == f"{one.name}.id"), None),
        )
        for kind in load().ordered
        if isinstance(kind.shape, Node)
    }


def take_structure(draft: WorldDraft, body: Json, organization: str, site: str) -> None:
    made = [_node(draft, node, organization) for node in body["structure"]]
    draft.site(organization, site)["structure"] = made


def take_nodes(draft: WorldDraft, items: list[Json], organization: str, site: str, which: str) -> None:
    draft.lists[organization, site][which] = items


def _node(draft: WorldDraft, given: Json, organization: str) -> Json:
    kind = _kinds()[given["object"]]
    made = {"type": kind.type, **without(given, *_NOT_OF_NODES, *COMPUTED)}
    if kind.shows is not None:
        space = given[kind.shows]
        if space["id"] not in draft.organization(organization).spaces:
            take_space(draft, space, space["id"], organization)
        made[kind.shows] = space["id"]
        if given.get("title") == space.get("title"):
            made.pop("title", None)
    elif kind.holds:
        below = given.get("children") or given.get("siteSpaces") or ()
        made["children"] = [_node(draft, child, organization) for child in below]
    return made


def take_looks(draft: WorldDraft, body: Json, organization: str, site: str) -> None:
    draft.site(organization, site)["customization"] = body


def take_own_looks(draft: WorldDraft, body: Json, organization: str, site: str, place: str) -> None:
    draft.looks[place] = body


def take_whole_looks(draft: WorldDraft, body: Json, organization: str, site: str, place: str) -> None:
    """What holds for a site space, whatever it is of: its own is what is not that of the site."""
    draft.looks[place] = _beside(body, draft.site(organization, site).get("customization", {}))


def take_redirects(draft: WorldDraft, items: list[Json], organization: str, site: str) -> None:
    draft.site(organization, site)["redirects"] = [without(item, *COMPUTED) for item in items]


def join_lists(draft: WorldDraft, lists: dict[str, list[Json]], organization: str, site: str) -> None:
    """The navigation of a site that was read by its lists."""
    spaces: dict[str, list[Json]] = defaultdict(list)
    for place in lists.get("site-spaces", ()):
        spaces[place.get("section") or ""].append(_node(draft, place, organization))
    inside: dict[str, list[Json]] = defaultdict(list)
    for which in ("section-groups", "sections"):
        for item in lists.get(which, ()):
            node = _node(draft, {**item, "children": (), "siteSpaces": ()}, organization)
            node["children"] = inside[item["id"]] if which == "section-groups" else spaces[item["id"]]
            inside[item.get("sectionGroup") or ""].append(node)
    draft.site(organization, site)["structure"] = inside[""] or spaces[""]


def dress(draft: WorldDraft) -> None:
    """The looks of single site spaces, each at its node."""
    for one in draft.organizations.values():
        for site in one.sites.values():
            for node in _each(site.get("structure", ())):
                if own := draft.looks.get(node["id"]):
                    node["customization"] = own


def keep_loose_redirects(draft: WorldDraft) -> None:
    """A redirect into a navigation that was not read is kept as a record: a world would refuse it."""
    for one in draft.organizations.values():
        for site in one.sites.values():
            known = {node["id"] for node in _each(site.get("structure", ()))}
            there = []
            for redirect in site.get("redirects", ()):
                to = redirect["destination"]
                node = to.get("siteSectionId") or to.get("siteSpaceId")
                if node is None or node in known:
                    there.append(redirect)
                    continue
                kind = "section" if to["kind"] == "site-section" else "site-space"
                doc = without(redirect, "id", "source")
                draft.record("redirect", redirect["id"], doc, one.id, site["id"], f"{kind}:{node}",
                            ref=redirect["source"])  # fmt: skip
                draft.assumed.append(
                    f"the destination of the redirect {redirect['source']} of the site {site['id']}"
                )
            if "redirects" in site:
                site["redirects"] = there


def _each(nodes: Iterable[Json]) -> Iterable[Json]:
    for node in nodes:
        yield node
        yield from _each(node.get("children", ()))


def _beside(above: Json, below: Json) -> Json:
    """What of the looks above is not what is below anyway."""
    made = {}
    for name, value in above.items():
        if isinstance(value, dict) and isinstance(below.get(name), dict):
            value = _beside(value, below[name])
            if not value:
                continue
        elif value == below.get(name):
            continue
        made[name] = value
    return made
