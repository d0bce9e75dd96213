"""Which public URLs a plan says that change, and which the companion then shows."""

from __future__ import annotations

import json
from copy import deepcopy
from dataclasses import dataclass, field
from random import Random
from typing import Any

import pytest
import yaml

from dpsync.api import Options
from dpsync.model.change import NavigationNode
from dpsync.model.plan import Plan
from dpsync.render.url_words import is_broken, redirect_line
from tests.agreed import agreed
from tests.direct import reading
from tests.soak import SOAK

from .lab import Lab, group, section, site, spaces

LIMITLESS = "{ prune: ['sites/*/structure', sites], limits: { deletes: 999, percent: 100 } }"
KEYS = tuple("abcdefgh")


def urls(lab: Lab) -> dict[str, str | None]:
    """Where the companion shows every site space, by its id."""
    found: dict[str, str | None] = {}

    def walk(nodes: list[dict[str, Any]]) -> None:
        for node in nodes:
            if node["object"] == "site-space":
                found[node["id"]] = node["urls"].get("published")
            walk(node.get("siteSpaces") or node.get("children") or [])

    with reading(lab.server) as client:
        for one in client.get("/orgs/acme/sites")["items"]:
            walk(client.get(f"/orgs/acme/sites/{one['id']}/structure")["structure"])
    return found


@dataclass
class Restructured:
    """What was planned, and what the companion showed before and after it was carried out."""

    plan: Plan
    before: dict[str, str | None]
    after: dict[str, str | None]
    ids: dict[str, str] = field(default_factory=dict)

    def check(self) -> int:
        """How many URLs changed as predicted; none may change in another way or unannounced."""
        said = {self.ids[item.address]: item for item in self.plan.urls if item.address in self.ids}
        changed = 0
        for id in self.before.keys() | self.after.keys():
            before, after = self.before.get(id), self.after.get(id)
            item = said.get(id)
            if item is None:
                assert before == after, (id, before, after, self.plan.urls)
            elif item.known:
                assert (item.before, item.after) == (before, after), item
                assert before != after
                changed += 1
        return changed


def carried_out(lab: Lab, body: dict[str, Any], *confirm: str, runs: int = 1) -> Restructured:
    """Plan and apply once, and look at the URLs before and after."""
    del runs
    text = "\n".join(f"{key}: {json.dumps(value)}" for key, value in body.items())
    before = urls(lab)
    with reading(lab.server) as client:
        planned = agreed(lab.session(text, LIMITLESS), client, Options(confirm))
    requests = len(lab.server.app.requests)
    assert planned.plan.refusals == ()
    names = planned.sides.names
    ids = {str(names.address(identity)): live.id for identity, live in planned.snapshot.objects.items()}
    lab.apply(text, LIMITLESS, *confirm)
    with reading(lab.server) as client:
        ids |= agreed(lab.session(text, LIMITLESS), client, Options(confirm)).plan.bindings
    assert requests  # what is said of URLs was read with everything else
    return Restructured(planned.plan, before, urls(lab), ids)


# Random restructurings.


def start(random: Random) -> dict[str, Any]:
    """Sites as a world has them: flat ones, and ones with sections in groups."""
    sites = []
    for number, key in enumerate(("docs", "help", "last")[: random.randint(1, 3)]):
        letters = list(KEYS)
        random.shuffle(letters)
        if random.random() < 0.3:
            tree = [place(letter) for letter in letters[: random.randint(1, 4)]]
        else:
            tree = [
                section(f"{letter}{number}", *letters[index : index + random.randint(1, 3)])
                for index, letter in enumerate(letters[: random.randint(1, 4)])
            ]
            if len(tree) > 1 and random.random() < 0.5:
                tree = [group(f"more{number}", *tree[1:]), tree[0]]
        for one in (node for node in flattened(tree) if "id" in node):
            one["id"] = f"{key}-{one['id']}"
        more = {"published": random.random() < 0.8}
        more["visibility"] = random.choice(["public", "public", "unlisted", "visitor-auth", "share-link"])
        if random.random() < 0.2:
            more["proxy"] = f"{key}.acme.example/all"
        elif random.random() < 0.2:
            more["hostname"] = f"{key}.help.example"
        sites.append({**site(*tree, **more), "id": key, "title": f"Site {key}", "basename": key})
    return {"spaces": spaces(*KEYS), "sites": sites}


def place(space: str) -> dict[str, Any]:
    return {"type": "space", "id": f"at-{space}", "space": space, "path": space}


def flattened(tree: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [node for one in tree for node in (one, *flattened(one.get("children", [])))]


def declared(world: dict[str, Any]) -> dict[str, Any]:
    """Return the configuration of a world, with a pin in each entry."""

    def node(one: dict[str, Any]) -> dict[str, Any]:
        known = {**one, "key": one["id"]}
        if "children" in one:
            known["children"] = [node(inside) for inside in one["children"]]
        return known

    sites = {}
    for one in world["sites"]:
        fields = {name: one[name] for name in ("id", "title", "basename", "published", "visibility")}
        sites[one["id"]] = {**fields, "structure": [node(inside) for inside in one["structure"]]}
    return {"spaces": {key: {"id": key, "title": f"Space {key}"} for key in KEYS}, "sites": sites}


def sections_of(one: dict[str, Any]) -> list[dict[str, Any]]:
    return [node for node in flattened(one["structure"]) if node["type"] == "section"]


def restructure(random: Random, body: dict[str, Any]) -> None:
    """Change something about the sites."""
    key = random.choice(list(body["sites"]))
    one = body["sites"][key]
    nodes = flattened(one["structure"])
    places, sections = [node for node in nodes if node["type"] == "space"], sections_of(one)
    match random.choice(
        ["path", "path", "section path", "basename", "default", "default section", "swap", "publish", "hide",
         "group", "ungroup", "delete section", "delete place", "new place", "new section", "shuffle",
         "delete site", "proxy", "draft"]
    ):  # fmt: skip
        case "path":
            random.choice(places)["path"] = random.choice(
                ["new", "newer ", "ö/the?r#", "100%"]
            ) + random.choice(KEYS)
        case "section path" if sections:
            random.choice(sections)["path"] = random.choice(["moved-", "moved to "]) + random.choice(KEYS)
        case "basename":
            one["basename"] = random.choice(["named-", "named & "]) + key
        case "default":
            holder = random.choice(sections)["children"] if sections else one["structure"]
            for node in holder:
                node.pop("default", None)
            random.choice(holder)["default"] = True
        case "default section" if sections:
            for node in sections:
                node.pop("default", None)
            random.choice(sections)["default"] = True
        case "swap" if len(places) > 1:
            first, second = random.sample(places, 2)
            first["space"], second["space"] = second["space"], first["space"]
        case "publish":
            one["published"] = not one["published"]
        case "hide":
            one["visibility"] = random.choice(["public", "share-link", "unlisted"])
        case "group" if sections and not any(node["key"] == "new-group" for node in nodes):
            moved = next((node for node in one["structure"] if node["type"] == "section"), None)
            if moved is not None:
                one["structure"].remove(moved)
                new = {"type": "section-group", "key": "new-group", "title": "New group", "children": [moved]}
                one["structure"].append(new)
        case "ungroup":
            for holder in [node for node in one["structure"] if node["type"] == "section-group"]:
                one["structure"].append(holder["children"].pop())
                if not holder["children"]:
                    one["structure"].remove(holder)
        case "delete section" if len(sections) > 1:
            gone = random.choice(sections)
            for holder in [one["structure"], *(node["children"] for node in nodes if "children" in node)]:
                if any(node is gone for node in holder):
                    holder[:] = [node for node in holder if node is not gone]
        case "delete place":
            holder = random.choice(sections)["children"] if sections else one["structure"]
            if len(holder) > 1:
                holder.remove(random.choice(holder))
        case "new place":
            holder = random.choice(sections)["children"] if sections else one["structure"]
            holder.append(
                {
                    "type": "space",
                    "key": f"new{len(nodes)}",
                    "space": random.choice(KEYS),
                    "path": f"fresh{len(nodes)}",
                }
            )
        case "new section" if sections:
            child = {"type": "space", "key": "only", "space": random.choice(KEYS), "path": "only"}
            one["structure"].append(
                {
                    "type": "section",
                    "key": f"s{len(nodes)}",
                    "title": f"New {len(nodes)}",
                    "path": f"brand-new{len(nodes)}",
                    "children": [child],
                }
            )
        case "shuffle":
            random.shuffle(one["structure"])
        case "delete site" if len(body["sites"]) > 1:
            del body["sites"][key]
        case "proxy":
            one["proxy"] = random.choice([None, "proxy.acme.example/docs"])
        case "draft" if nodes:
            random.choice(nodes)["draft"] = True


def unique(body: dict[str, Any]) -> bool:
    """Whether no two siblings have one path, or show one space."""
    for one in body["sites"].values():
        sections = sections_of(one)
        paths = [node["path"] for node in sections]
        groups = [node["children"] for node in sections] or [one["structure"]]
        for places in groups:
            found = [node["path"] for node in places]
            shown = [node["space"] for node in places]
            if len({*found}) < len(found) or len({*shown}) < len(shown):
                return False
        if len({*paths}) < len(paths):
            return False
    return True


@pytest.mark.parametrize("seed", range(600 if SOAK else 12))
def test_predicted_urls_equal_local_server_urls(lab: Lab, seed: int) -> None:
    random = Random(seed)
    world = start(random)
    lab.holds(**deepcopy(world))
    body = declared(world)
    for _ in range(random.randint(1, 4)):
        changed = deepcopy(body)
        restructure(random, changed)
        body = changed if unique(changed) else body
    found = carried_out(lab, body)
    found.check()
    seen = navigations(lab)
    for change in found.plan.navigation:
        id = found.ids[change.address]
        assert change.known
        assert without_choices(change.after) == seen.get(id, []), change


def navigations(lab: Lab) -> dict[str, list[Any]]:
    """Return what readers see of each site, by its id: title, path, marks and children, in order."""

    def shown(node: dict[str, Any]) -> list[Any]:
        title = node["space"]["title"] if node["object"] == "site-space" else node["title"]
        hidden = [mark for mark in ("hidden", "draft") if node.get(mark)]
        inside = [shown(one) for one in node.get("siteSpaces") or node.get("children") or []]
        return [title, node.get("path"), hidden, inside]

    with reading(lab.server) as client:
        sites = [one["id"] for one in client.get("/orgs/acme/sites")["items"]]
        found = {id: client.get(f"/orgs/acme/sites/{id}/structure")["structure"] for id in sites}
    return {id: [shown(node) for node in nodes] for id, nodes in found.items()}


def without_choices(nodes: tuple[NavigationNode, ...]) -> list[Any]:
    """Return the same for a plan's navigation, without the default, which the platform chooses."""
    return [
        [
            node.title,
            node.path,
            sorted({*node.marks} - {"default"}, reverse=True),
            without_choices(node.inside),
        ]
        for node in nodes
    ]


# One thing at a time.

TREE = [section("k", "a", "b"), group("g", section("l", "c"))]
HOME = "https://acme.docs.example/docs/"


def docs(lab: Lab, **more: Any) -> dict[str, Any]:
    """One site whose configuration is what it is."""
    return docs_with(lab, TREE, **more)


def docs_with(lab: Lab, tree: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    """Load a world with this navigation and return its configuration."""
    world = {
        "spaces": spaces(*KEYS),
        "sites": [site(*deepcopy(tree), **{"published": True, "visibility": "public", **more})],
    }
    lab.holds(**deepcopy(world))
    return declared(world)


def said(found: Restructured) -> list[tuple[str, str | None, str | None]]:
    short = "acme/sites/docs/structure/"
    return [
        (
            item.address.removeprefix(short),
            item.before and item.before.removeprefix(HOME),
            item.after and item.after.removeprefix(HOME),
        )
        for item in found.plan.urls
    ]


@pytest.mark.parametrize("draft", [True, False])
def test_predicted_url_is_absent_in_draft_group(lab: Lab, draft: bool) -> None:
    body = docs(lab) if draft else docs_with(lab, [TREE[0], {**TREE[1], "draft": True}])
    body["sites"]["docs"]["structure"][1]["draft"] = draft
    found = carried_out(lab, body)
    assert (found.check(), said(found)) == (1, [("l/l-c", "l/", None) if draft else ("l/l-c", None, "l/")])


def test_draft_group_does_not_change_sibling_urls(lab: Lab) -> None:
    body = docs_with(lab, [TREE[0], {**TREE[1], "draft": True}])
    body["sites"]["docs"]["structure"][0]["children"][1]["path"] = "moved"
    found = carried_out(lab, body)
    assert (found.check(), [item.known for item in found.plan.urls]) == (1, [True])


def test_plan_omits_urls_when_unchanged(lab: Lab) -> None:
    body = docs(lab)
    body["sites"]["docs"]["structure"].reverse()
    found = carried_out(lab, body)
    assert found.plan.changes
    assert (found.check(), said(found)) == (0, [])


def test_suggested_redirect_is_valid_configuration(lab: Lab) -> None:
    body = docs(lab)
    body["sites"]["docs"]["structure"][0]["children"][1]["path"] = "moved"
    found = carried_out(lab, body)
    assert found.check() == 1
    [item] = found.plan.urls
    assert said(found) == [("k/k-b", "b/", "moved/")]
    line = "/b: { space: k/k-b }"
    assert (item.place, redirect_line(item)) == ("acme/sites/docs/redirects", line)

    [(source, entry)] = yaml.safe_load(f"{{ {line} }}").items()
    body["sites"]["docs"]["redirects"] = {source: entry}
    again = carried_out(lab, body)
    assert (again.plan.urls, [change.action for change in again.plan.changes]) == ((), ["create"])

    body["sites"]["docs"]["structure"][0]["children"][1]["path"] = "b"
    body["sites"]["docs"]["structure"][0]["children"][1]["path"] = "elsewhere"
    [later] = carried_out(lab, body).plan.urls
    assert (later.redirect, later.redirected) == ({"/moved": entry}, None)


def test_url_change_names_existing_redirect(lab: Lab) -> None:
    body = docs(lab)
    body["sites"]["docs"]["structure"][0]["children"][1]["path"] = "moved"
    to = {"section": "k"}
    body["sites"]["docs"]["redirects"] = {"/b/": to}
    [item] = carried_out(lab, body).plan.urls
    assert (item.redirected, item.redirect) == ("acme/sites/docs/redirects//b/", None)
    assert not is_broken(item)


@pytest.mark.parametrize(
    ("source", "fields", "leads_on"),
    [
        pytest.param("/B", {}, True, id="in another case"),
        pytest.param("/b*", {}, True, id="wildcard"),
        pytest.param("/B*", {"captureWildcard": True}, True, id="wildcard in another case"),
        pytest.param("/c*", {}, False, id="wildcard of other paths"),
        pytest.param("/b", {"draft": True}, False, id="draft"),
    ],
)
def test_plan_names_active_redirect_for_old_url(
    lab: Lab, source: str, fields: dict[str, Any], leads_on: bool
) -> None:
    """If a plan names a draft as the redirect for an old URL, readers get an unexpected 404."""
    body = docs(lab)
    body["sites"]["docs"]["structure"][0]["children"][1]["path"] = "moved"
    to = {"section": "k"}
    body["sites"]["docs"]["redirects"] = {source: {**to, **fields}}
    [item] = carried_out(lab, body).plan.urls
    assert (item.redirected is not None, item.redirect is None) == (leads_on, leads_on)


def test_new_default_site_space_takes_root_url(lab: Lab) -> None:
    body = docs(lab)
    body["sites"]["docs"]["structure"][0]["children"][1]["default"] = True
    found = carried_out(lab, body)
    assert found.check() == 2
    assert said(found) == [("k/k-a", "", "a/"), ("k/k-b", "b/", "")]
    first, second = found.plan.urls
    assert (first.shows, first.redirect) == ("acme/sites/docs/structure/k/k-b", None)
    assert second.redirect == {"/b": {"space": "k/k-b"}}


def test_platform_chosen_default_makes_urls_unknown(lab: Lab) -> None:
    body = docs(lab)
    del body["sites"]["docs"]["structure"][0]
    body["sites"]["docs"]["structure"].append(
        {"type": "section", "key": "n", "title": "New", "path": "n",
         "children": [{"type": "space", "key": "it", "space": "d", "path": "d"}]}
    )  # fmt: skip
    found = carried_out(lab, body)
    found.check()
    unknown = [item for item in found.plan.urls if not item.known]
    assert [item.address.rpartition("/")[2] for item in unknown] == ["l-c", "it"]
    assert {item.why for item in unknown} == {"GitBook chooses a part of the URL"}


def test_deleted_site_space_redirects_to_section(lab: Lab) -> None:
    body = docs(lab)
    del body["sites"]["docs"]["structure"][0]["children"][1]
    found = carried_out(lab, body)
    [item] = found.plan.urls
    assert (item.after, item.redirect) == (
        None,
        {"/b": {"section": "k"}},
    )


@pytest.mark.parametrize(
    ("change", "ends"),
    [
        ({"basename": "other"}, ["https://acme.docs.example/other/", "https://acme.docs.example/other/b/"]),
        ({"published": False}, [None, None]),
        ({"visibility": "share-link"}, [None, None]),
        ({"proxy": "acme.example/all"}, ["https://acme.example/all/", "https://acme.example/all/b/"]),
    ],
)
def test_site_basename_change_affects_all_urls_of_site(
    lab: Lab, change: dict[str, Any], ends: list[str | None]
) -> None:
    body = docs(lab)
    body["sites"]["docs"] |= change
    found = carried_out(lab, body)
    assert found.check() == 3
    assert [item.after for item in found.plan.urls][:2] == ends
    assert all(item.redirect is None for item in found.plan.urls)


def test_published_site_url_uses_sibling_host(lab: Lab) -> None:
    body = docs(lab, published=False)
    body["sites"]["docs"]["published"] = True
    alone = carried_out(lab, body)
    assert {item.why for item in alone.plan.urls} == {"dpsync does not know the host of the new URL"}

    world = {"spaces": spaces(*KEYS), "sites": [
        site(*deepcopy(TREE), published=False),
        site(published=True, id="help", basename="help", title="Help", visibility="public"),
    ]}  # fmt: skip
    lab.holds(**deepcopy(world))
    beside = carried_out(lab, body | {"sites": {"docs": body["sites"]["docs"]}})
    assert beside.check() == 3
    assert next(item.after for item in beside.plan.urls) == HOME


def test_organization_hostname_change_affects_site_urls(lab: Lab) -> None:
    body = docs(lab)
    found = carried_out(lab, body | {"hostname": "acme-docs", "title": "Acme"})
    assert found.check() in (0, 3)  # the host began with the id until now, which no field is
    again = carried_out(lab, body | {"hostname": "acme-help"})
    assert again.check() == 3
    assert again.plan.urls[0].after == "https://acme-help.docs.example/docs/"


def test_predicted_urls_are_unknown_when_restructuring_to_sections(lab: Lab) -> None:
    """Otherwise, a navigation that the platform decides about is shown as if it were known.

    Otherwise, URLs are told as certain that the platform will choose.
    Otherwise, what is made in the same plan is named by nothing.
    """
    sectioned = docs(lab)
    flat = deepcopy(sectioned)
    flat["sites"]["docs"]["structure"] = [
        {"type": "space", "key": "x", "space": "a", "path": "x", "default": True},
        {"type": "space", "key": "y", "space": "b", "path": "y"},
    ]
    back = carried_out(lab, flat, "restructure acme/sites/docs")
    assert back.check() == 5
    assert all(item.known for item in back.plan.urls)

    for one in (inside for node in flattened(sectioned["sites"]["docs"]["structure"]) for inside in [node]):
        one.pop("id", None)
    towards = carried_out(lab, sectioned, "restructure acme/sites/docs")
    assert {item.known for item in towards.plan.urls} == {False}
    assert [(item.known, item.after) for item in towards.plan.navigation] == [(False, ())]


def test_url_prediction_needs_no_extra_requests(lab: Lab) -> None:
    body = docs(lab)
    same = carried_out(lab, body).plan
    body["sites"]["docs"]["structure"][0]["path"] = "moved"
    assert carried_out(lab, body).plan.requests == same.requests
