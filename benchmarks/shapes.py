"""Organizations that each grow in one direction: what is live, what is declared, and what was declared."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]
ORGANIZATION = "/orgs/acme"
ACME: Json = {
    "object": "organization",
    "id": "acme",
    "title": "Acme",
    "type": "business",
    "inviteLinks": True,
    "emailDomains": [],
    "mergeRules": {"type": "rules", "rules": []},
}
_ALWAYS: Json = {"defaultLevel": "inherit", "editMode": "live", "mergeRules": {"type": "inherit"}}
"""What is in the answer of every space."""


@dataclass
class Shape:
    """The answers of a platform, and the entries of one organization, now and in the git base."""

    entries: Json
    lists: dict[str, list[Json]] = field(default_factory=dict)
    objects: dict[str, Json] = field(default_factory=dict)
    before: Json | None = None
    """The entries in the git base; None: there is no base."""
    policy: Json = field(default_factory=dict)
    confirm: tuple[str, ...] = ()
    """What is answered to the plan's questions."""
    changes: int | None = 0
    """How many things the plan changes; None: some, since of an order only the fewest moves are made."""
    applied: bool = False
    """Whether the apply is measured, and not the plan."""

    def configuration(self, entries: Json) -> Json:
        return {"dpsync": 1, "policy": self.policy, "organizations": {"acme": {"id": "acme", **entries}}}


# What is live.


def _space(n: int, **more: Any) -> Json:
    return {"object": "space", "id": f"p{n}", "title": f"Space {n}", **_ALWAYS, **more}


def _spaces(size: int) -> dict[str, list[Json]]:
    return {f"{ORGANIZATION}/spaces": [_space(n) for n in range(size)]}


def _site(n: int) -> Json:
    always = {"type": "basic", "visibility": "public", "published": False}
    return {"object": "site", "id": f"w{n}", "title": f"Site {n}", "basename": f"w{n}", **always}


def _section(n: int) -> Json:
    shown = {"object": "site-space", "id": f"s{n}-en", "path": "en", "space": _space(n), "default": True}
    known = {"title": f"Section {n}", "path": f"s{n}", "default": n == 0}
    return {"object": "site-section", "id": f"s{n}", **known, "siteSpaces": [shown]}


def _navigation(size: int) -> Json:
    return {"type": "sections", "structure": [_section(n) for n in range(size)]}


def _member(n: int, role: str = "read") -> Json:
    user = {"object": "user", "id": f"u{n}", "displayName": f"User {n}", "email": f"u{n}@acme.example"}
    return {"object": "member", "id": f"u{n}", "role": role, "user": user, "disabled": False, "sso": False}


# What is declared.


def _declared(size: int) -> Json:
    return {f"p{n}": {"title": f"Space {n}"} for n in range(size)}


def _node(n: int) -> Json:
    shown = {"type": "space", "key": "en", "path": "en", "space": f"p{n}"}
    return {"type": "section", "key": f"s{n}", "title": f"Section {n}", "path": f"s{n}", "children": [shown]}


def _on_one_site(size: int, order: list[int], live: int) -> Shape:
    """`order` are the sections of the file, `live` how many the site has."""
    site = {"title": "Site 0", "basename": "w0", "structure": [_node(n) for n in order]}
    return Shape(
        {"spaces": _declared(size), "sites": {"w0": site}},
        {**_spaces(size), f"{ORGANIZATION}/sites": [_site(0)]},
        {f"{ORGANIZATION}/sites/w0/structure": _navigation(live)},
    )


def _shuffled(size: int) -> list[int]:
    numbers = list(range(size))
    random.Random(size).shuffle(numbers)  # noqa: S311  (an order, not a secret)
    return numbers


# The shapes.


def teams_unchanged(size: int) -> Shape:
    live = [{"object": "team", "id": f"t{n}", "title": f"Team {n}"} for n in range(size)]
    entries = {f"t{n}": {"title": f"Team {n}"} for n in range(size)}
    return Shape({"teams": entries}, {f"{ORGANIZATION}/teams": live})


def spaces_changed(size: int) -> Shape:
    entries = {key: {**entry, "emoji": "1f600"} for key, entry in _declared(size).items()}
    return Shape({"spaces": entries}, _spaces(size), changes=size)


def deletes(size: int) -> Shape:
    return Shape({"spaces": {}}, _spaces(size), policy={"prune": ["spaces"]}, changes=size)


def deletes_in_one_section(size: int) -> Shape:
    """One section shows every space that is deleted: it goes with the last of them."""
    always = {"object": "site-space", "default": False}
    shown = [{**always, "id": f"x{n}", "path": f"x{n}", "space": _space(n)} for n in range(size)]
    section = {**_section(0), "siteSpaces": shown}
    return Shape(
        {"spaces": {}, "sites": {"w0": {"title": "Site 0", "basename": "w0"}}},
        {**_spaces(size), f"{ORGANIZATION}/sites": [_site(0)]},
        {f"{ORGANIZATION}/sites/w0/structure": {"type": "sections", "structure": [section]}},
        policy={"prune": ["spaces"]},
        changes=size,
    )


def sections(size: int) -> Shape:
    return _on_one_site(size, list(range(size)), size)


def sections_permuted(size: int) -> Shape:
    shape = _on_one_site(size, _shuffled(size), size)
    shape.changes = None
    return shape


def sections_new(size: int) -> Shape:
    shape = _on_one_site(size, list(range(size)), 0)
    shape.changes = 2 * size
    return shape


def sections_deleted(size: int) -> Shape:
    shape = _on_one_site(size, [0], size)
    shape.policy, shape.changes = {"prune": ["sites/w0/structure"]}, size - 1
    return shape


def collection_in_order(size: int) -> Shape:
    entries = {
        "collections": {"c": {"title": "Collection", "order": [f"p{n}" for n in _shuffled(size)]}},
        "spaces": {key: {**entry, "collection": "c"} for key, entry in _declared(size).items()},
    }
    live = [_space(n, parent="c") for n in range(size)]
    collection = {"object": "collection", "id": "c", "title": "Collection"}
    lists = {f"{ORGANIZATION}/collections": [collection], f"{ORGANIZATION}/spaces": live}
    return Shape(entries, {**lists, "/collections/c/spaces": live}, changes=None)


def title_swaps(size: int) -> Shape:
    """0 and 1 change titles, 2 and 3, … What did not change about them tells that it is still to be done."""
    emoji = [{"emoji": f"1f4d{n % 2}"} for n in range(size)]
    entries = {f"p{n}": {"title": f"Space {n ^ 1}", **emoji[n]} for n in range(size)}
    before = {key: {**entry, **emoji[n]} for n, (key, entry) in enumerate(_declared(size).items())}
    lists = {
        path: [{**item, **emoji[n]} for n, item in enumerate(items)] for path, items in _spaces(size).items()
    }
    return Shape({"spaces": entries}, lists, before={"spaces": before}, changes=size)


def chain_of_renames(size: int) -> Shape:
    """Create a chain of renames: space 0 takes the title of space 1, space 1 that of space 2, and so on."""
    entries = {f"p{n}": {"title": f"Space {n + 1}"} for n in range(size)}
    return Shape({"spaces": entries}, _spaces(size), before={"spaces": _declared(size)}, changes=size)


def renames_without_base(size: int) -> Shape:
    """Every title is another one, and nothing says which."""
    entries = {f"q{n}": {"title": f"Place {n}"} for n in range(size)}
    return Shape({"spaces": entries}, _spaces(size), changes=size)


def members_looked_up(size: int) -> Shape:
    """Everybody is in one team, and nobody is declared."""
    members = [_member(n) for n in range(size)]
    in_team = [{"organization": member, "team": {"role": "member"}} for member in members]
    team = {"object": "team", "id": "t", "title": "Team"}
    lists = {f"{ORGANIZATION}/teams": [team], f"{ORGANIZATION}/members": members}
    wanted = {f"u{n}@acme.example": "member" for n in range(size)}
    entries = {"teams": {"t": {"title": "Team", "members": wanted}}}
    return Shape(entries, {**lists, f"{ORGANIZATION}/teams/t/members": in_team})


def sites_published(size: int) -> Shape:
    entries = {f"w{n}": {"title": f"Site {n}", "basename": f"w{n}", "published": True} for n in range(size)}
    return Shape({"sites": entries}, changes=size)


def creates_applied(size: int) -> Shape:
    return Shape({"spaces": _declared(size)}, changes=size, applied=True)


def references_by_id(size: int) -> Shape:
    """Every section shows a space that is named by its id."""
    shape = _on_one_site(size, list(range(size)), size)
    for node in shape.entries["sites"]["w0"]["structure"]:
        for child in node["children"]:
            child["space"] = {"id": child["space"]}
    shape.entries["spaces"] = _declared(1)
    return shape


def basenames_given_up(size: int) -> Shape:
    """Half of the sites get other basenames; as many new ones must not take them before."""
    entries = {f"w{n}": {"title": f"Site {n}", "basename": f"x{n}"} for n in range(size)}
    return Shape(
        {"sites": entries}, {f"{ORGANIZATION}/sites": [_site(n) for n in range(size // 2)]}, changes=size
    )


def admins_exchanged(size: int) -> Shape:
    """Half of the members are admins, and the other half shall be."""
    live = [_member(n, "admin" if n % 2 else "read") for n in range(size)]
    entries = {f"u{n}@acme.example": "read" if n % 2 else "admin" for n in range(size)}
    caller = {"/user": {"object": "user", "id": "somebody"}}
    return Shape({"members": entries}, {f"{ORGANIZATION}/members": live}, caller, changes=size)


def navigation_built_anew(size: int) -> Shape:
    """Every section goes, then as many spaces are shown at the root."""
    shape = _on_one_site(size, [], size)
    nodes = [{"type": "space", "key": f"n{n}", "path": f"n{n}", "space": f"p{n}"} for n in range(size)]
    shape.entries["sites"]["w0"] |= {"published": False, "structure": nodes}
    shape.confirm, shape.changes = ("restructure acme/sites/w0",), 2 * size
    return shape


SHAPES: dict[str, Callable[[int], Shape]] = {
    "teams, unchanged": teams_unchanged,
    "spaces, all changed": spaces_changed,
    "deletes by prune": deletes,
    "deletes in one section": deletes_in_one_section,
    "sections of one site": sections,
    "sections, permuted": sections_permuted,
    "sections, new": sections_new,
    "sections, deleted": sections_deleted,
    "a collection with order": collection_in_order,
    "title swaps in pairs": title_swaps,
    "a chain of renames": chain_of_renames,
    "renames without a base": renames_without_base,
    "members by e-mail": members_looked_up,
    "references by id": references_by_id,
    "new published sites": sites_published,
    "basenames given up": basenames_given_up,
    "admins exchanged": admins_exchanged,
    "a navigation built anew": navigation_built_anew,
    "applying creates": creates_applied,
}
