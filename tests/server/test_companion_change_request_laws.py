"""What holds of change requests after any sequence of requests."""

from typing import Any

from companion_calls import Api
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.soak import examples

LIST = "/spaces/guides/change-requests"
NUMBERS = ("1", "2", "3", "4", "5", "6", "7")
PAGES = ("welcome", "getting-started", "first-steps", "payments", "search", "status", "none")
STATUSES = ("draft", "open", "archived", "merged")

number = st.sampled_from(NUMBERS)
page = st.sampled_from(PAGES)
change = st.one_of(
    st.builds(lambda p, t: {"operation": "update_page", "page": p, "title": t}, page, st.sampled_from("AB")),
    st.builds(lambda p, q: {"operation": "update_page", "page": p, "into": q}, page, st.none() | page),
    st.builds(lambda q: {"operation": "insert_page", "title": "New", "into": q}, st.none() | page),
    st.builds(lambda p: {"operation": "delete_page", "page": p}, page),
    st.builds(lambda p: {"operation": "revert_page", "page": p}, page),
)
requests = st.one_of(
    st.just(("POST", LIST, {"subject": "New"})),
    st.builds(lambda n, c: ("POST", f"{LIST}/{n}/content", {"changes": [c]}), number, change),
    st.builds(lambda n: ("POST", f"{LIST}/{n}/merge", None), number),
    st.builds(lambda n: ("POST", f"{LIST}/{n}/update", None), number),
    st.builds(lambda n, s: ("PATCH", f"{LIST}/{n}", {"status": s}), number, st.sampled_from(STATUSES[:3])),
)


def pages_of(content: Any) -> list[Any]:
    found = []
    for one in content["pages"]:
        found += [one, *pages_of(one)]
    return found


def check_content(api: Api, at: str) -> None:
    content = api.get(f"{at}/content")
    pages = pages_of(content)
    for key in ("id", "path"):
        assert len({one[key] for one in pages}) == len(pages)
    assert api.get(f"{at}/content/pages")["pages"] == content["pages"]


def main_content(api: Api) -> Any:
    """Without the change request that it came from: that one has a life of its own."""
    return {**api.get("/spaces/guides/content"), "mergedFrom": None}


def check(api: Api) -> None:
    """Check that lists, counts, contents and single change requests agree."""
    space = api.get("/spaces/guides")
    by_status = {status: api.items(LIST, status=status) for status in STATUSES}
    every = [one for found in by_status.values() for one in found]
    assert space["changeRequests"] == len(every)
    assert space["changeRequestsOpen"] == len(by_status["open"])
    assert space["changeRequestsDraft"] == len(by_status["draft"])
    assert sorted(one["number"] for one in every) == list(range(1, len(every) + 1))
    check_content(api, "/spaces/guides")
    for one in every:
        at = f"{LIST}/{one['number']}"
        assert api.get(at) == one
        assert api.get(f"{at}/content")["id"] == one["revision"]
        assert ("revisionMerged" in one) == (one["status"] == "merged")
        ancestor = one.get("revisionMergedAncestor", one["revisionInitial"])
        assert one["outdated"] == (one["status"] != "merged" and ancestor != space["revision"])
        check_content(api, at)


@settings(
    max_examples=examples(10, soak=250),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(st.lists(requests, min_size=1, max_size=10))
def test_random_requests_change_space_only_by_merge(api: Api, sequence: list[Any]) -> None:
    api.server.reset()
    for method, path, body in sequence:
        before = main_content(api)
        answer = api.call(method, path, body)
        assert answer.status_code in {200, 201, 400, 404, 409}, answer.text
        merged = path.endswith("/merge") and answer.status_code == 200 and answer.json()["result"] == "merge"
        assert (main_content(api) == before) != merged
    check(api)
