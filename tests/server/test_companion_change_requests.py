"""Change requests: their life, and what merging and updating do."""

from typing import Any

import pytest
from change_request_calls import (
    ARCHIVED,
    AT_ODDS,
    BEHIND,
    GUIDES,
    LIST,
    MERGED,
    OPEN,
    edit,
    insert,
    make,
    page,
    text,
    title,
    titles,
)
from companion_calls import Api
from covers import covers

# --- lists ----------------------------------------------------------------------------------------


@covers("listChangeRequestsForSpace", 200)
@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({}, ["better-welcome", "other-search", "new-fees"]),
        ({"status": "draft"}, ["search-index"]),
        ({"status": "archived"}, ["no-payments"]),
        ({"status": "merged"}, ["first-search"]),
        ({"creator": "ada"}, ["new-fees"]),
        ({"creator": "nobody"}, []),
        ({"contributor": "lin"}, ["better-welcome"]),
        ({"requestedReviewer": "ada"}, ["better-welcome"]),
        ({"requestedReviewer": "rui", "status": "draft"}, ["search-index"]),
        ({"conversationsIssuesCluster": "slow-search", "status": "draft"}, ["search-index"]),
        ({"conversationsIssuesCluster": "slow-search"}, []),
    ],
)
def test_change_requests_of_space_are_filtered(api: Api, query: dict[str, str], expected: list[str]) -> None:
    assert api.ids(LIST, **query) == expected
    assert api.ids(LIST, limit=1, **query) == expected


@covers("listChangeRequestsForOrganization", 200)
def test_organization_change_requests_default_to_open_status(api: Api) -> None:
    at = "/orgs/acme/change-requests"
    every = ["draft", "open", "archived", "merged"]
    assert api.ids(at) == api.ids(at, status="open") == ["better-welcome", "other-search", "new-fees"]
    assert len(api.ids(at, limit=2, status=every)) == 6
    assert api.ids(at, status="merged") == ["first-search"]
    assert set(api.ids(at, status=["merged", "archived"])) == {"first-search", "no-payments"}
    assert api.ids(at, creator="lin") == ["better-welcome"]
    assert api.ids(at, conversationsIssuesCluster="slow-search", status=every) == ["search-index"]
    assert api.ids(at, conversationsIssuesCluster="slow-search") == []
    assert set(api.ids("/orgs/globex/change-requests", status=every)) == {"alarms-page", "reviewed-start"}


def test_change_requests_of_invisible_space_are_not_listed(api: Api) -> None:
    api.patch(GUIDES, {"defaultLevel": None})
    assert api.as_("kim-token").ids("/orgs/acme/change-requests") == []
    api.as_("kim-token").refused(404, "GET", OPEN)


# --- one ------------------------------------------------------------------------------------------


@covers("createChangeRequest", 201)
@covers("getChangeRequestById", 200)
def test_new_change_request_is_draft_with_next_number(api: Api) -> None:
    made = api.as_("grace-token").make(LIST, {"subject": "New", "anything": {"else": 1}})
    revision = api.get(GUIDES)["revision"]
    assert (made["status"], made["subject"], made["number"]) == ("draft", "New", 7)
    assert made["createdBy"]["id"] == "grace"
    assert (made["revision"], made["revisionInitial"], made["outdated"]) == (revision, revision, False)
    assert api.get(f"{LIST}/7") == api.get(f"{LIST}/{made['id']}") == made
    assert api.get(f"{LIST}/{made['id']}/content")["pages"][0]["id"] == "welcome"
    assert api.make("/spaces/news/change-requests")["number"] == 1
    api.refused(404, "GET", f"/spaces/news/change-requests/{made['id']}")
    api.refused(404, "GET", f"{LIST}/8")


def test_change_request_can_start_from_space_template(api: Api) -> None:
    made = make(api, template={"id": "handbook", "params": {"contentRefs": {}}})
    assert titles(api, made)[-3:] == ["Our values", "People", "Salaries"]
    assert titles(api) == titles(api, made)[:-3]
    api.refused(404, "POST", LIST, {"template": {"id": "none"}})
    api.patch("/spaces/handbook", {"defaultLevel": None})
    api.patch(GUIDES, {"defaultLevel": "edit"})
    api.as_("eve-token").refused(404, "POST", LIST, {"template": {"id": "handbook"}})


@covers("updateChangeRequestById", 200)
def test_change_request_fields_can_be_updated(api: Api) -> None:
    node = {"object": "block", "type": "paragraph", "nodes": []}
    document = {"object": "document", "data": {}, "nodes": [node]}
    changed = api.patch(OPEN, {"subject": "S", "description": document, "status": "archived"})
    assert (changed["subject"], changed["status"]) == ("S", "archived")
    assert changed["description"]["nodes"] == [{**node, "key": "n0"}]
    assert changed["updatedAt"] > changed["createdAt"]
    assert api.ids(LIST, status="archived") == ["better-welcome", "no-payments"]
    for status in ("draft", "open"):
        assert api.patch(OPEN, {"status": status})["status"] == status
    for body in ({"status": "merged"}, {"subject": "x" * 101}, {"description": "text"}):
        api.refused(400, "PATCH", OPEN, body)


def test_space_counts_change_requests_by_status(api: Api) -> None:
    def counts() -> tuple[int, int, int]:
        space = api.get(GUIDES)
        return space["changeRequests"], space["changeRequestsOpen"], space["changeRequestsDraft"]

    assert counts() == (6, 3, 1)
    made = make(api)
    assert counts() == (7, 3, 2)
    api.patch(made, {"status": "open"})
    assert counts() == (7, 4, 1)
    api.post(f"{made}/merge")
    assert counts() == (7, 3, 1)


def test_open_comments_count_per_change_request_and_space(api: Api) -> None:
    def counts() -> tuple[int, int]:
        return api.get(BEHIND)["comments"], api.get(GUIDES)["comments"]

    assert counts() == (0, 0)
    on = api.post(f"{BEHIND}/comments", {"body": {"markdown": "Really?"}})["id"]
    assert counts() == (1, 0)
    api.put(f"{BEHIND}/comments/{on}", {"resolved": True})
    assert counts() == (0, 0)
    api.post(f"{GUIDES}/comments", {"body": {"markdown": "Good."}})
    assert counts() == (0, 1)


# --- merging --------------------------------------------------------------------------------------


@covers("mergeChangeRequest", 200)
def test_merge_creates_revision_of_main_content(api: Api) -> None:
    before = api.get(GUIDES)["revision"]
    proposed = api.get(OPEN)["revision"]
    merged = api.post(f"{OPEN}/merge")
    assert merged["result"] == "merge"
    revision = api.get(f"{GUIDES}/content")
    assert (revision["id"], revision["type"]) == (merged["revision"], "merge")
    assert revision["parents"] == [before, proposed]
    assert revision["mergedFrom"]["id"] == "better-welcome"
    assert page(api, "welcome")["title"] == "Hello"
    after = api.get(OPEN)
    assert (after["status"], after["revisionMerged"], after["outdated"]) == ("merged", revision["id"], False)
    assert api.get(GUIDES)["revision"] == revision["id"]


@covers("mergeChangeRequest", 409)
@pytest.mark.parametrize("at", [MERGED, ARCHIVED])
def test_closed_change_request_cannot_be_merged(api: Api, at: str) -> None:
    before = api.get(GUIDES)["revision"]
    api.refused(409, "POST", f"{at}/merge")
    assert api.get(GUIDES)["revision"] == before


def test_unchanged_change_request_can_be_merged(api: Api) -> None:
    made, before = make(api), api.get(f"{GUIDES}/content/pages")
    assert api.post(f"{made}/merge")["result"] == "merge"
    assert api.get(f"{GUIDES}/content/pages") == before


def test_outdated_change_request_merges_into_current_content(api: Api) -> None:
    assert api.get(BEHIND)["outdated"]
    assert page(api, "search", BEHIND)["markdown"] == "Search is to come."
    assert api.post(f"{BEHIND}/merge")["result"] == "merge"
    assert page(api, "payments")["markdown"] == "There are no fees any more."
    assert page(api, "search")["markdown"].startswith("> Search finds at most")


def test_merge_conflict_leaves_content_unchanged(api: Api) -> None:
    before = api.get(AT_ODDS), api.get(f"{GUIDES}/content"), api.get(f"{AT_ODDS}/content")
    conflicts = [{"of": "page", "id": "search", "what": "body"}]
    for how in ("merge", "update"):
        answer = api.post(f"{AT_ODDS}/{how}")
        assert answer == {"revision": before[0]["revision"], "result": "conflicts", "conflicts": conflicts}
    assert (api.get(AT_ODDS), api.get(f"{GUIDES}/content"), api.get(f"{AT_ODDS}/content")) == before


def test_reference_api_version_omits_merge_conflict_details(reference: Api) -> None:
    answer = reference.post(f"{AT_ODDS}/merge")
    assert answer == {"revision": reference.get(AT_ODDS)["revision"], "result": "conflicts"}


def test_merge_conflict_is_resolved_by_revert_and_update(api: Api) -> None:
    edit(api, AT_ODDS, {"operation": "revert_page", "page": "search"})
    assert api.post(f"{AT_ODDS}/update")["result"] == "update"
    edit(api, AT_ODDS, text("search", "Search is here, for all."))
    assert api.post(f"{AT_ODDS}/merge")["result"] == "merge"
    assert page(api, "search")["markdown"] == "Search is here, for all."


@covers("updateChangeRequest", 200)
def test_change_request_update_merges_in_main_content(api: Api) -> None:
    main = api.get(GUIDES)["revision"]
    answer = api.post(f"{BEHIND}/update")
    assert answer["result"] == "update"
    after = api.get(BEHIND)
    assert (after["status"], after["outdated"]) == ("open", False)
    assert (after["revision"], after["revisionMergedAncestor"]) == (answer["revision"], main)
    assert page(api, "search", BEHIND)["markdown"] == page(api, "search")["markdown"]
    assert page(api, "payments", BEHIND)["markdown"] == "There are no fees any more."
    assert api.get(GUIDES)["revision"] == main
    assert api.post(f"{BEHIND}/update") == answer
    assert api.post(f"{MERGED}/update")["result"] == "update"


def test_change_request_update_then_merge_equals_merge(api: Api, builtin_world: Any) -> None:
    def outcome(*steps: str) -> Any:
        api.server.reset(builtin_world)
        for step in steps:
            assert "conflicts" not in api.post(f"{BEHIND}/{step}")
        return api.get(f"{GUIDES}/content/pages")

    assert outcome("update", "merge") == outcome("merge")


def test_merge_makes_other_change_requests_outdated(api: Api) -> None:
    made = make(api)
    api.post(f"{OPEN}/merge")
    assert api.get(made)["outdated"]
    api.post(f"{made}/update")
    assert not api.get(made)["outdated"]
    assert page(api, "welcome", made)["title"] == "Hello"


def test_reopened_change_request_continues_from_merged_revision(api: Api) -> None:
    merged = api.post(f"{OPEN}/merge")["revision"]
    reopened = api.patch(OPEN, {"status": "open"})
    assert (reopened["status"], reopened["revision"], reopened["outdated"]) == ("open", merged, False)
    assert "revisionMerged" not in reopened
    edit(api, OPEN, title("welcome", "Hello again"))
    assert api.post(f"{OPEN}/merge")["result"] == "merge"
    assert page(api, "welcome")["title"] == "Hello again"


# --- with their space -----------------------------------------------------------------------------


def test_restored_space_keeps_change_requests(api: Api) -> None:
    before = api.get(f"{GUIDES}/content")["pages"], api.items(LIST)
    api.delete(GUIDES)
    api.refused(404, "GET", f"{GUIDES}/content")
    api.refused(404, "GET", OPEN)
    assert api.ids("/orgs/acme/change-requests") == []
    api.clock.pass_by(days=7)
    api.post(f"{GUIDES}/restore")
    pages = api.get(f"{GUIDES}/content")["pages"]
    assert [found["id"] for found in pages] == [found["id"] for found in before[0]]
    assert api.items(LIST) == before[1]


def test_expired_deleted_space_leaves_no_records(api: Api) -> None:
    api.post(f"{OPEN}/comments", {"body": {"markdown": "Hm."}})
    api.delete(GUIDES)
    api.clock.pass_by(days=7, seconds=1)
    api.make("/orgs/acme/spaces", {"title": "Another"})
    every = api.server.run_in_server(lambda: api.app.store.all_records())
    left = [(record.kind, record.id) for record in every if "guides" in (record.scope, record.id)]
    assert left == []


def test_duplicated_space_has_no_change_requests(api: Api) -> None:
    api.post(f"{OPEN}/merge")
    copy = api.make(f"{GUIDES}/duplicate")
    at = f"/spaces/{copy['id']}"
    assert copy["revision"] != api.get(GUIDES)["revision"]
    assert (copy["changeRequests"], titles(api, at)) == (0, titles(api))
    assert api.ids(f"{at}/content/files") == ["overview-png", "price-list"]
    made = make(api, f"{at}/change-requests")
    edit(api, made, title("welcome", "Only here"))
    api.post(f"{made}/merge")
    assert (titles(api, at)[0], titles(api)[0]) == ("Only here", "Hello")


def test_space_transfer_moves_its_change_requests(api: Api) -> None:
    made = make(api, "/spaces/onboarding/change-requests")
    edit(api, made, insert("First day"))
    api.delete("/orgs/acme/sites/internal-handbook/site-spaces/handbook-start-main")
    api.post("/spaces/onboarding/transfer", {"organization": "globex"})
    assert made.rpartition("/")[2] in api.ids("/orgs/globex/change-requests", status="draft")
    assert titles(api, made) == ["First day"]
    assert api.as_("hank-token").post(f"{made}/merge")["result"] == "merge"
    assert titles(api.as_("hank-token"), "/spaces/onboarding") == ["First day"]


def test_space_can_be_created_from_template(api: Api) -> None:
    made = api.make("/orgs/acme/spaces", {"title": "T", "template": {"id": "handbook"}})
    assert titles(api, f"/spaces/{made['id']}") == ["Our values", "People", "Salaries"]
    before = len(api.ids("/orgs/acme/spaces"))
    api.refused(404, "POST", "/orgs/acme/spaces", {"template": {"id": "none"}})
    assert len(api.ids("/orgs/acme/spaces")) == before
