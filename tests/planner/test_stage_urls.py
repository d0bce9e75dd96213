"""Which URLs change, by the rules alone, from plain values: the companion is asked in test_urls.py."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from msgspec.structs import replace

from dpsync.model.change import NavigationNode, UrlImpact
from dpsync.model.values import LiveId
from dpsync.planner.navigation import UNKNOWN, TreeBranch
from dpsync.planner.plan import make_plan
from dpsync.planner.urls import _urls_below
from dpsync.render.navigation_merge import merge_navigation as merged_lines
from dpsync.render.url_words import is_broken

from .lab import REGISTRY
from .stages import ACME, Case, Things

SEEN = {"published": True, "visibility": "public"}
HOST = "https://acme.example/"
NAMES = Case({"space": {key: {} for key in "abcd"}})
"""Only for references to what it has."""
SPACES: Things = {"space": {key: {"title": key} for key in "abcd"}}


NODE = {"draft": False}


def site(key: str = "docs", **fields: Any) -> Things:
    """Return a site with two site spaces in its first section and one in its second."""
    return {
        "site": {key: {"title": key, "basename": key, **SEEN, **fields}},
        "section": {
            f"{key}/k": {**NODE, "title": "K", "path": "k", "default": True},
            f"{key}/l": {**NODE, "title": "L", "path": "l"},
        },
        "site_space": {
            f"{key}/k/a": {**NODE, "space": LiveId("space-a"), "path": "a", "default": True},
            f"{key}/k/b": {**NODE, "space": LiveId("space-b"), "path": "b"},
            f"{key}/l/c": {**NODE, "space": LiveId("space-c"), "path": "c", "default": True},
        },
    }


def shown(base: str, key: str = "docs") -> dict[tuple[str, str], str]:
    """Where people see it."""
    return {
        ("site", key): base,
        ("section", f"{key}/k"): base,
        ("section", f"{key}/l"): f"{base}l/",
        ("site_space", f"{key}/k/a"): base,
        ("site_space", f"{key}/k/b"): f"{base}b/",
        ("site_space", f"{key}/l/c"): f"{base}l/",
    }


DOCS = site()


def merged(*all_: Things) -> Things:
    found: dict[str, dict[str, Any]] = {}
    for things in all_:
        for kind, paths in things.items():
            found.setdefault(kind, {}).update(paths)
    return found


def with_(kind: str, at: str, **fields: Any) -> Things:
    """Return the site's objects, with other fields for one object or with a new object."""
    things = {name: dict(paths) for name, paths in DOCS.items()}
    things.setdefault(kind, {})[at] = {**things.get(kind, {}).get(at, {}), **fields}
    return things


def without(kind: str, path: str) -> Things:
    return {
        name: {at: it for at, it in paths.items() if (name, at) != (kind, path)}
        for name, paths in DOCS.items()
    }


def case(wanted: Things, live: Things = DOCS, urls: dict[tuple[str, str], str] | None = None) -> Case:
    urls = shown(f"{HOST}docs/") if urls is None else urls
    return Case(merged(SPACES, wanted), merged(SPACES, live), prune=["sites/*/structure"], urls=urls)


def told(case: Case) -> dict[str, tuple[str | None, str | None] | str]:
    """By the last key of what changes: its URLs, or why nobody can tell."""
    found: dict[str, tuple[str | None, str | None] | str] = {}
    for item in make_plan(case.sides()).urls:
        name = item.address.rpartition("/")[2]
        short = [one and one.removeprefix(HOST) for one in (item.before, item.after)]
        found[name] = (short[0], short[1]) if item.known else item.why
    return found


@pytest.mark.parametrize(
    ("wanted", "urls"),
    [
        (DOCS, {}),
        (with_("site_space", "docs/k/b", path="x"), {"b": ("docs/b/", "docs/x/")}),
        (with_("site_space", "docs/k/a", path="x"), {}),
        (with_("section", "docs/l", path="x"), {"c": ("docs/l/", "docs/x/")}),
        (with_("section", "docs/k", path="x"), {}),
        (with_("site_space", "docs/k/b", draft=True), {"b": ("docs/b/", None)}),
        (with_("section", "docs/l", draft=True), {"c": ("docs/l/", None)}),
        (
            with_("site", "docs", published=False),
            {"a": ("docs/", None), "b": ("docs/b/", None), "c": ("docs/l/", None)},
        ),
        (with_("site", "docs", visibility="unlisted"), {}),
        (
            with_("site", "docs", basename="x"),
            {"a": ("docs/", "x/"), "b": ("docs/b/", "x/b/"), "c": ("docs/l/", "x/l/")},
        ),
        (without("site_space", "docs/k/b"), {"[b]": ("docs/b/", None)}),
        (with_("site_space", "docs/k/n", space=LiveId("space-d"), path="n"), {"n": (None, "docs/n/")}),
    ],
)
def test_url_follows_path_visibility_and_basename(wanted: Things, urls: dict[str, Any]) -> None:
    """Otherwise, no URL is ever told as certain.

    Otherwise, the URL of what goes is said to stay.
    """
    assert told(case(wanted)) == urls


EVERYTHING = ("a", "b", "c")


def all_of(before: str | None, after: str | None) -> dict[str, Any]:
    """Return the URLs of everything in the site, at one base and at another."""
    bases = (before, after)
    urls = {
        name: [base and f"{base}{end}" for base in bases]
        for name, end in zip(EVERYTHING, ("", "b/", "l/"), strict=True)
    }
    return {name: tuple(both) for name, both in urls.items()}


ELSEWHERE = "dpsync does not know the host of the new URL"
CHOSEN = "GitBook chooses a part of the URL"
NOWHERE = dict.fromkeys(EVERYTHING, ELSEWHERE)
HELP = shown(f"{HOST}help/", "help")
OTHER = site("help")
THIRD = site("last", visibility="share-link")


@pytest.mark.parametrize(
    ("wanted", "live", "urls", "found"),
    [
        # At a host of its own there is no basename, and a proxy goes before it.
        (site(proxy="x.example/all"), DOCS, shown(f"{HOST}docs/"), all_of("docs/", "https://x.example/all/")),
        (site(proxy="x.example"), site(hostname="y.example"), shown("https://y.example/"),
         all_of("https://y.example/", "https://x.example/")),
        (site(hostname="x.example", basename="new"), site(hostname="x.example"),
         shown("https://x.example/"), {}),
        (site(proxy=None), site(proxy="x.example"), shown("https://x.example/"), NOWHERE),
        (site(basename="new"), DOCS, shown("https://own.example/"), {}),
        # What is published is beside the others, when they agree.
        (DOCS, site(published=False), {}, NOWHERE),
        (merged(DOCS, OTHER), merged(site(published=False), OTHER), HELP, all_of(None, "docs/")),
        (merged(DOCS, OTHER, THIRD), merged(site(published=False), OTHER, THIRD),
         {**HELP, ("site", "last"): "https://other.example/last/"},
         NOWHERE),
        (merged(DOCS, OTHER), merged(site(published=False), site("help", proxy="x.example/help")),
         shown("https://x.example/help/", "help"), NOWHERE),
        # Where nothing explains its URLs, nobody knows what becomes of them.
        (with_("site_space", "docs/k/b", path="x"), DOCS,
         {**shown("https://x.example/docs/"), ("section", "docs/l"): "odd"},
         dict.fromkeys(EVERYTHING, "dpsync does not know the form of this site's URLs")),
    ],
)  # fmt: skip
def test_site_urls_follow_host_proxy_and_basename(
    wanted: Things, live: Things, urls: dict[tuple[str, str], str], found: dict[str, Any]
) -> None:
    """Otherwise, URLs are told that nothing explains."""
    assert told(case(wanted, live, urls)) == found


@pytest.mark.parametrize(
    ("before", "after", "known"),
    [("acme", "new", True), ("other", "new", False), ("acme", None, False), ("other", None, False)],
)
def test_urls_follow_organization_hostname(before: str, after: str | None, known: bool) -> None:
    """Where it does not, or will have none, nobody can tell."""
    host = "https://acme.docs.example/docs/"
    one = case(DOCS, urls=shown(host))
    one = dataclasses.replace(one, organization=({"hostname": before}, {"hostname": after}))
    moved = all_of(host, "https://new.docs.example/docs/")
    assert told(one) == (moved if known else NOWHERE)


def test_url_of_default_chosen_by_platform_is_unknown() -> None:
    """The first of two goes, which has the default: the platform chooses among the others.

    Otherwise, where the platform chooses the default, its URL is told as certain.
    """
    live = with_("site_space", "docs/k/n", **NODE, space=LiveId("space-d"), path="n")
    urls = {**shown(f"{HOST}docs/"), ("site_space", "docs/k/n"): f"{HOST}docs/n/"}
    wanted = {name: {at: it for at, it in paths.items() if at != "docs/k/a"} for name, paths in live.items()}
    assert told(case(wanted, live, urls)) == {"[a]": ("docs/", None), "b": CHOSEN, "n": CHOSEN}


def test_url_with_unknown_visibility_is_unknown() -> None:
    """A new site whose visibility nobody says; a node of which nobody knows whether it is a draft.

    Otherwise, what nobody may see has a certain URL.
    Otherwise, what nobody may see has a certain URL, also of a node.
    Otherwise, what nobody may see has a certain URL, also of what is in a group.
    """
    new = site("new")
    del new["site"]["new"]["visibility"]
    assert told(case(merged(OTHER, new), OTHER, HELP)) == dict.fromkeys(EVERYTHING, CHOSEN)
    perhaps = {"path": "p", "draft": UNKNOWN}
    inside = TreeBranch(ACME.child("inside"), REGISTRY["site_space"], {"path": "i", "draft": False})
    for kind in ("section", "section_group"):
        owner = TreeBranch(
            ACME, REGISTRY["site"], {}, (TreeBranch(ACME.child("node"), REGISTRY[kind], perhaps, (inside,)),)
        )
        assert _urls_below(owner, HOST)[inside.address] is UNKNOWN


# What becomes of the old URL.


def leading(case: Case) -> list[tuple[str, str | None, str | None, Any]]:
    """Of each URL that changes: what shows the old one, what leads on from it, and what would."""
    return [
        (
            item.address.rpartition("/")[2],
            item.shows and item.shows.rpartition("/")[2],
            item.redirected,
            item.redirect,
        )
        for item in make_plan(case.sides()).urls
    ]


MOVED = with_("site_space", "docs/k/b", path="x")
TO_B = {"space": "k/b"}
TO_K = {"section": "k"}
AWAY = {"destination": {"kind": "external", "url": "https://x.example"}}


def redirects(*sources: str, site: str = "docs") -> Things:
    return {"redirect": {f"{site}/{source}": AWAY for source in sources}}


@pytest.mark.parametrize(
    ("wanted", "live", "found"),
    [
        (MOVED, DOCS, ("b", None, None, {"/b": TO_B})),
        (without("site_space", "docs/k/b"), DOCS, ("[b]", None, None, {"/b": TO_K})),
        (merged(MOVED, with_("site_space", "docs/k/b", draft=True)), DOCS, ("b", None, None, {"/b": TO_K})),
        (merged(MOVED, redirects("b")), DOCS, ("b", None, "acme/sites/docs/redirects/b", None)),
        (
            merged(MOVED, redirects("b")),
            merged(DOCS, redirects("b")),
            ("b", None, "acme/sites/docs/redirects/b", None),
        ),
        (MOVED, merged(DOCS, redirects("b")), ("b", None, "acme/sites/docs/redirects/[b]", None)),
        (merged(MOVED, redirects("c")), merged(DOCS, redirects("d")), ("b", None, None, {"/b": TO_B})),
        (
            merged(MOVED, OTHER, redirects("b", site="help")),
            merged(DOCS, OTHER),
            ("b", None, None, {"/b": TO_B}),
        ),
        (
            merged(MOVED, OTHER),
            merged(DOCS, OTHER, redirects("b", site="help")),
            ("b", None, None, {"/b": TO_B}),
        ),
    ],
)
def test_url_change_lists_or_suggests_redirect(wanted: Things, live: Things, found: Any) -> None:
    """Otherwise, a value with members ends a plan with a mistake of dpsync."""
    assert leading(case(wanted, live, {**shown(f"{HOST}docs/"), **HELP})) == [found]


def test_reused_url_needs_no_redirect() -> None:
    wanted = merged(
        with_("site_space", "docs/k/b", path="x"),
        with_("site_space", "docs/k/n", space=LiveId("space-d"), path="b"),
    )
    wanted["site_space"]["docs/k/b"] = {**wanted["site_space"]["docs/k/b"], "path": "x"}
    assert leading(case(wanted)) == [("b", "n", None, None), ("n", None, None, None)]


def test_deleted_site_gets_no_suggested_redirects() -> None:
    live, urls = merged(SPACES, DOCS), shown(f"{HOST}docs/")
    goes = Case({**SPACES, "site": {}}, live, prune=["sites"], urls=urls)
    found = make_plan(goes.sides()).urls
    assert [item.after for item in found] == [None] * 3
    assert [item.redirect for item in found] == [None] * 3


def test_moved_site_gets_no_suggested_redirects() -> None:
    assert leading(case(site(basename="new"))) == [(name, None, None, None) for name in EVERYTHING]


BOTH = {**shown(f"{HOST}docs/"), **shown(f"{HOST}help/", "help")}
EXCHANGED = merged(site(basename="help"), site("help", basename="docs"))


def test_swapped_sites_reuse_each_others_urls() -> None:
    found = make_plan(case(EXCHANGED, merged(site(), site("help")), BOTH).sides()).urls
    assert {item.address.removeprefix("acme/sites/"): item.shows for item in found} == {
        f"{one}/structure/{path}": f"acme/sites/{other}/structure/{path}"
        for one, other in (("docs", "help"), ("help", "docs"))
        for path in ("k/a", "k/b", "l/c")
    }


def test_swapped_site_reports_old_url_without_new_page() -> None:
    wanted = merged(EXCHANGED, redirects("b", site="help"))
    wanted["site_space"]["help/k/b"] = {**wanted["site_space"]["help/k/b"], "path": "x"}
    wanted["section"]["help/l"] = {**wanted["section"]["help/l"], "path": "m"}
    plan = make_plan(case(wanted, merged(site(), site("help")), BOTH).sides())
    found = {item.address.removeprefix("acme/sites/"): item for item in plan.urls}
    assert found["docs/structure/k/b"].redirected == "acme/sites/help/redirects/b"
    lost = found["docs/structure/l/c"]
    assert (lost.shows, lost.redirected, lost.redirect) == (None, None, None)
    assert (len(plan.urls), sum(map(is_broken, plan.urls))) == (6, 1)


def test_old_url_now_showing_another_site_is_reported() -> None:
    """Both are said to be seen at one place."""
    urls = {**BOTH, **shown(f"{HOST}docs/", "help")}
    live = merged(site(), site("help"))
    found = make_plan(case(merged(site(basename="x"), site("help")), live, urls).sides()).urls
    assert {item.shows for item in found} == {
        f"acme/sites/help/structure/{path}" for path in ("k/a", "k/b", "l/c")
    }


@pytest.mark.parametrize(
    ("wanted", "changing", "new", "broken"),
    [
        (merged(DOCS, site("help")), 0, 3, 0),
        (merged(with_("site_space", "docs/k/b", path="x"), site("help")), 1, 3, 1),
    ],
)
def test_first_url_of_object_is_not_url_change(wanted: Things, changing: int, new: int, broken: int) -> None:
    urls = make_plan(case(wanted).sides()).urls
    without = [item for item in urls if item.before is None]
    assert (len(urls) - len(without), len(without), sum(map(is_broken, urls))) == (changing, new, broken)


def test_url_changes_list_sorted_site_spaces() -> None:
    found: list[UrlImpact] = [*make_plan(case(site(basename="new")).sides()).urls]
    assert [item.address for item in found] == sorted(item.address for item in found)
    assert {item.address.count("/") for item in found} == {5}


def test_site_with_unread_structure_reports_only_its_url() -> None:
    sides = case(site(basename="new")).sides()
    tree = ACME.child("sites", "docs", "structure")
    scopes = {place: found for place, found in sides.snapshot.scopes.items() if place != tree}
    sides = replace(sides, snapshot=replace(sides.snapshot, scopes=scopes))
    assert [item.address for item in make_plan(sides).urls] == ["acme/sites/docs"]


# The navigation.


def nodes(found: tuple[NavigationNode, ...]) -> list[Any]:
    return [(one.title, one.path, *one.marks, *([nodes(one.inside)] if one.inside else [])) for one in found]


def test_navigation_diff_shows_titles_before_and_after() -> None:
    """Otherwise, a navigation has the old titles in what it will be."""
    wanted = merged(
        with_("section", "docs/l", title="New"),
        {"site_space": {"docs/k/b": {**NODE, "space": NAMES.ref("space", "b"), "path": "b"}}},
    )
    spaces = {"space": {**SPACES["space"], "b": {"title": "renamed"}}}
    one = Case(merged(SPACES, wanted, spaces), merged(SPACES, DOCS))
    (change,) = make_plan(one.sides()).navigation
    first, second = [("K", "k", "default", [("a", "a", "default"), (name, "b")]) for name in ("b", "renamed")]
    assert nodes(change.before) == [first, ("L", "l", [("c", "c", "default")])]
    assert nodes(change.after) == [second, ("New", "l", [("c", "c", "default")])]


def test_navigation_diff_marks_space_in_both_sections() -> None:
    wanted = without("site_space", "docs/k/b")
    wanted["site_space"]["docs/l/b"] = {**NODE, "space": LiveId("space-b"), "path": "b"}
    live = merged(SPACES, DOCS)
    kept = make_plan(Case(merged(SPACES, wanted), live).sides()).navigation[0]
    lines = [line.text for line in merged_lines(kept) if line.text.startswith("b ")]
    assert lines == ["b [/b] (stays here, too)", "b [/b] (also in K)"]
    goes = make_plan(Case(merged(SPACES, wanted), live, prune=["sites/*/structure"]).sides()).navigation[0]
    lines = [f"{line.sign} {line.text}" for line in merged_lines(goes) if line.text.startswith("b ")]
    assert lines == ["- b [/b]", "+ b [/b]"]


def test_navigation_diff_omits_unchanged_double_placement() -> None:
    """Otherwise, what was shown in two places all along is told as shown in another one, too."""
    live = merged(SPACES, DOCS)
    live["site_space"]["docs/l/b"] = {**NODE, "space": LiveId("space-b"), "path": "b"}
    wanted = merged(live, {"section": {"docs/l": {**NODE, "title": "New", "path": "l"}}})
    (found,) = make_plan(Case(wanted, live).sides()).navigation
    assert [one.also for node in found.after for one in node.inside] == [()] * 4


def test_plan_omits_unchanged_navigation() -> None:
    """Otherwise, a navigation in which nothing changes is shown among the changes."""
    assert make_plan(case(site(basename="new")).sides()).navigation == ()
