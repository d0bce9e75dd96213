"""Laws that hold after any sequence of requests: no crash, and a navigation without contradictions."""

from collections.abc import Sequence
from typing import Any

import pytest
from cases import IDS
from companion_calls import Api
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dpsync.server.operations import OPERATIONS
from tests.soak import examples

SEQUENCES = examples(6, soak=1000)
"""How many sequences of requests are drawn."""
EACH = examples(2, soak=200)
"""How many bodies and queries are drawn for each operation."""
SITES = ("docs", "help")
SECTIONS = ("docs-guides", "docs-news", "docs-api", "sect-1", "sect-2", "none")
GROUPS = ("docs-more", "docs-developers", "group-1", "group-2", "none")
PLACES = (
    "docs-guides-en",
    "docs-news-latest",
    "docs-api-reference",
    "help-support",
    "place-1",
    "place-2",
    "none",
)
LINKS = ("link-1", "link-2", "none")
SPACES = ("guides", "news", "api-reference", "changelog", "support", "archive", "none")
PATHS = ("en", "guides", "news", "api", "latest")


def any_of(values: Sequence[Any]) -> st.SearchStrategy[Any]:
    return st.sampled_from(values)


_NODES = [("site-section", SECTIONS), ("site-section-group", GROUPS), ("site-space", PLACES)]
_NODES += [("site-external-link", LINKS)]
node = st.one_of(*[st.builds(dict, type=st.just(kind), id=any_of(ids)) for kind, ids in _NODES])
position = st.one_of(
    st.just({}), st.builds(lambda n: {"before": n}, node), st.builds(lambda n: {"after": n}, node)
)


def _call(
    method: str, path: str, /, **body: st.SearchStrategy[Any]
) -> st.SearchStrategy[tuple[str, str, Any]]:
    """Draw a request whose path has ids from above and whose body has some of the fields."""
    ids = {
        "section": SECTIONS,
        "group": GROUPS,
        "place": PLACES,
        "link": LINKS,
        "space": SPACES,
        "site": SITES,
    }
    named = {name: any_of(values) for name, values in ids.items() if "{" + name + "}" in path}
    shown = st.fixed_dictionaries(named).map(lambda values: path.format(**values))
    sent = st.fixed_dictionaries({}, optional=body) if body else st.none()
    return st.tuples(st.just(method), shown, sent)


SITE = "/orgs/acme/sites/{site}"
LINK = {"title": st.just("Status"), "url": st.just("https://status.example/")}
destination = st.one_of(
    st.builds(lambda id: {"kind": "site-section", "siteSectionId": id}, any_of(SECTIONS)),
    st.builds(lambda id: {"kind": "site-space", "siteSpaceId": id}, any_of(PLACES)),
)
requests = st.one_of(
    _call("POST", SITE + "/sections", spaceId=any_of(SPACES), siteSectionGroupId=any_of(GROUPS)),
    _call("DELETE", SITE + "/sections/{section}"),
    _call(
        "PATCH",
        SITE + "/sections/{section}",
        path=any_of(PATHS),
        defaultSiteSpace=any_of(PLACES),
        siteSectionGroupId=any_of((*GROUPS, None)),
    ),
    _call("POST", SITE + "/section-groups", parent=any_of(GROUPS), sections=st.lists(any_of(SECTIONS))),
    _call("DELETE", SITE + "/section-groups/{group}"),
    _call("PATCH", SITE + "/section-groups/{group}", parentSectionGroupId=any_of((*GROUPS, None))),
    _call("POST", SITE + "/section-groups/{group}/sections", sectionId=any_of(SECTIONS)),
    _call("DELETE", SITE + "/section-groups/{group}/sections/{section}"),
    _call("POST", SITE + "/site-spaces", spaceId=any_of(SPACES), sectionId=any_of(SECTIONS)),
    _call("DELETE", SITE + "/site-spaces/{place}"),
    _call("PATCH", SITE + "/site-spaces/{place}", path=any_of(PATHS), spaceId=any_of(SPACES)),
    _call("POST", SITE + "/external-links", **LINK, parent=any_of((*GROUPS, None))),
    _call("PATCH", SITE + "/external-links/{link}", parent=any_of((*GROUPS, None))),
    _call("DELETE", SITE + "/external-links/{link}"),
    _call("POST", SITE + "/redirects", source=any_of(PATHS), destination=destination),
    _call("PATCH", SITE, defaultSiteSection=any_of(SECTIONS), defaultSiteSpace=any_of(PLACES)),
    _call("PATCH", SITE + "/structure/sort", item=node, position=position),
    _call("DELETE", "/spaces/{space}"),
    _call("POST", "/spaces/{space}/restore"),
)


def check_siblings(places: list[Any]) -> None:
    assert len({place["path"] for place in places}) == len(places)
    assert sum(place["default"] for place in places) == (1 if places else 0)
    assert all("deletedAt" not in place["space"] for place in places)


def walk(nodes: list[Any], group: str | None, sections: list[Any], groups: list[Any]) -> None:
    for item in nodes:
        assert item.get("sectionGroup") == group
        if item["object"] == "site-section-group":
            groups.append(item)
            walk(item["children"], item["id"], sections, groups)
        elif item["object"] == "site-section":
            sections.append(item)
            check_siblings(item["siteSpaces"])


def check_site(api: Api, site: str) -> None:
    """Check that the tree and the three lists agree, and every rule of defaults and paths."""
    answer = api.get(f"{site}/structure")
    listed = {
        what: api.items(f"{site}/{what}", limit=2) for what in ("sections", "section-groups", "site-spaces")
    }
    sections: list[Any] = []
    groups: list[Any] = []
    if answer["type"] == "siteSpaces":
        check_siblings(answer["structure"])
        places = answer["structure"]
    else:
        walk(answer["structure"], None, sections, groups)
        places = [place for section in sections for place in section["siteSpaces"]]
    assert sum(section["default"] for section in sections) == (1 if sections else 0)
    assert len({section["path"] for section in sections}) == len(sections)
    assert listed == {"sections": sections, "section-groups": groups, "site-spaces": places}
    assert api.get(site)["siteSpaces"] == len(places)
    there = {node["id"] for node in (*sections, *places)}
    for redirect in api.items(f"{site}/redirects"):
        leads_to = redirect["destination"]
        assert leads_to.get("siteSectionId", leads_to.get("siteSpaceId")) in there


@settings(
    max_examples=SEQUENCES,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(st.lists(requests, min_size=1, max_size=12))
def test_random_requests_keep_site_navigation_consistent(api: Api, calls: list[tuple[str, str, Any]]) -> None:
    api.server.reset()
    for method, path, body in calls:
        assert api.call(method, path, body).status_code != 500
    for site in SITES:
        check_site(api, f"/orgs/acme/sites/{site}")


_IDS = {**IDS, "siteSpaceId": "docs-news-latest", "spaceId": "guides"}
_FIELDS = sorted({name for row in OPERATIONS if row.body_model for name in row.body_model.model_fields})
anything = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8)
    | any_of(["admin", "read", "site", *_IDS.values()]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(max_size=5) | any_of(["type", "id", *_FIELDS]), inner, max_size=3)
    ),
    max_leaves=8,
)


@pytest.mark.parametrize("row", [row for row in OPERATIONS if row.body_model], ids=lambda row: str(row.id))
def test_random_bodies_return_documented_statuses_only(api: Api, row: Any) -> None:
    path = row.path.format(**_IDS)

    @settings(max_examples=EACH, deadline=None)
    @given(st.dictionaries(any_of(sorted(row.body_model.model_fields)), anything, max_size=4))
    def holds(body: Any) -> None:
        answer = api.call(row.method, path, body)
        assert answer.status_code in {row.status, *row.refusal_statuses()}
        if answer.status_code < 400:
            api.server.reset()

    holds()


@pytest.mark.parametrize(
    "row", [row for row in OPERATIONS if row.method == "GET"], ids=lambda row: str(row.id)
)
def test_random_queries_return_documented_statuses_only(api: Api, row: Any) -> None:
    path = row.path.format(**_IDS)

    @settings(max_examples=EACH, deadline=None)
    @given(st.dictionaries(any_of([*row.query_model.model_fields, "other"]), st.text(max_size=6), max_size=3))
    def holds(query: dict[str, str]) -> None:
        answer = api.call("GET", path, params=query)
        assert answer.status_code in {200, *row.refusal_statuses()}

    holds()
