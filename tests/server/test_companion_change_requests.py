"""Change requests: their life, what merging and updating do, and who may."""

from typing import Any

import pytest
from companion_calls import Api
from covers import covers

GUIDES = "/spaces/guides"
LIST = f"{GUIDES}/change-requests"
OPEN, BEHIND, AT_ODDS, ARCHIVED, MERGED = (
    f"{LIST}/{id}" for id in ("better-welcome", "new-fees", "other-search", "no-payments", "first-search")
)
MANUAL = "/spaces/manual/change-requests"
IMAGE = {"contentType": "image/png"}


def make(api: Api, at: str = LIST, **body: Any) -> str:
    return f"{at}/{api.make(at, body)['id']}"


def edit(api: Api, at: str, *changes: Any) -> Any:
    return api.post(f"{at}/content", {"changes": list(changes)})


def text(page: str, markdown: str) -> dict[str, Any]:
    return {"operation": "update_page", "page": page, "document": {"markdown": markdown}}


def title(page: str, title: str) -> dict[str, Any]:
    return {"operation": "update_page", "page": page, "title": title}


def insert(title: str, **more: Any) -> dict[str, Any]:
    return {"operation": "insert_page", "title": title, **more}


def page(api: Api, id: str, at: str = GUIDES) -> Any:
    return api.get(f"{at}/content/page/{id}")


def titles(api: Api, at: str = GUIDES) -> list[str]:
    return [found["title"] for found in api.get(f"{at}/content/pages")["pages"]]


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
def test_change_requests_of_a_space_are_found_by_what_they_are(
    api: Api, query: dict[str, str], expected: list[str]
) -> None:
    assert api.ids(LIST, **query) == expected
    assert api.ids(LIST, limit=1, **query) == expected


@covers("listChangeRequestsForOrganization", 200)
def test_those_of_an_organization_are_of_every_status_or_of_the_one_asked_for(api: Api) -> None:
    at = "/orgs/acme/change-requests"
    assert len(api.ids(at, limit=2)) == 6
    assert api.ids(at, status="merged") == ["first-search"]
    assert set(api.ids(at, status=["merged", "archived"])) == {"first-search", "no-payments"}
    assert api.ids(at, creator="lin", status="open") == ["better-welcome"]
    assert api.ids(at, conversationsIssuesCluster="slow-search") == ["search-index"]
    assert set(api.ids("/orgs/globex/change-requests")) == {"alarms-page", "reviewed-start"}


def test_those_of_a_space_that_the_caller_may_not_view_are_not_listed(api: Api) -> None:
    api.patch(GUIDES, {"defaultLevel": None})
    assert api.as_("kim-token").ids("/orgs/acme/change-requests") == []
    api.as_("kim-token").refused(404, "GET", OPEN)


# --- one ------------------------------------------------------------------------------------------


@covers("createChangeRequest", 201)
@covers("getChangeRequestById", 200)
def test_a_new_one_is_a_draft_of_the_main_content_with_the_next_number(api: Api) -> None:
    made = api.as_("grace-token").make(LIST, {"subject": "New", "anything": {"else": 1}})
    revision = api.get(GUIDES)["revision"]
    assert (made["status"], made["subject"], made["number"]) == ("draft", "New", 7)
    assert made["createdBy"]["id"] == "grace"
    assert (made["revision"], made["revisionInitial"], made["outdated"]) == (revision, revision, False)
    assert api.get(f"{LIST}/7") == api.get(f"{LIST}/{made['id']}") == made
    assert api.get(f"{LIST}/{made['id']}/content")["pages"][0]["id"] == "welcome"
    assert api.make("/spaces/archive/change-requests")["number"] == 1
    api.refused(404, "GET", f"/spaces/archive/change-requests/{made['id']}")
    api.refused(404, "GET", f"{LIST}/8")


def test_a_template_is_the_content_of_another_space(api: Api) -> None:
    made = make(api, template={"id": "handbook", "params": {"contentRefs": {}}})
    assert titles(api, made)[-3:] == ["Our values", "People", "Salaries"]
    assert titles(api) == titles(api, made)[:-3]
    api.refused(404, "POST", LIST, {"template": {"id": "none"}})
    api.patch("/spaces/handbook", {"defaultLevel": None})
    api.patch(GUIDES, {"defaultLevel": "edit"})
    api.as_("eve-token").refused(404, "POST", LIST, {"template": {"id": "handbook"}})


@covers("updateChangeRequestById", 200)
def test_one_takes_a_subject_a_description_and_a_status(api: Api) -> None:
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


def test_a_space_counts_its_change_requests(api: Api) -> None:
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


def test_open_comments_are_counted_where_they_are(api: Api) -> None:
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
def test_a_merge_makes_a_revision_of_the_main_content(api: Api) -> None:
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
def test_one_that_is_done_is_not_merged(api: Api, at: str) -> None:
    before = api.get(GUIDES)["revision"]
    api.refused(409, "POST", f"{at}/merge")
    assert api.get(GUIDES)["revision"] == before


def test_one_without_changes_can_be_merged(api: Api) -> None:
    made, before = make(api), api.get(f"{GUIDES}/content/pages")
    assert api.post(f"{made}/merge")["result"] == "merge"
    assert api.get(f"{GUIDES}/content/pages") == before


def test_one_that_is_behind_is_merged_into_what_there_is_by_then(api: Api) -> None:
    assert api.get(BEHIND)["outdated"]
    assert page(api, "search", BEHIND)["markdown"] == "Search is to come."
    assert api.post(f"{BEHIND}/merge")["result"] == "merge"
    assert page(api, "payments")["markdown"] == "There are no fees any more."
    assert page(api, "search")["markdown"].startswith("> Search finds at most")


def test_conflicts_change_nothing_and_are_told(api: Api) -> None:
    before = api.get(AT_ODDS), api.get(f"{GUIDES}/content"), api.get(f"{AT_ODDS}/content")
    conflicts = [{"of": "page", "id": "search", "what": "body"}]
    for how in ("merge", "update"):
        answer = api.post(f"{AT_ODDS}/{how}")
        assert answer == {"revision": before[0]["revision"], "result": "conflicts", "conflicts": conflicts}
    assert (api.get(AT_ODDS), api.get(f"{GUIDES}/content"), api.get(f"{AT_ODDS}/content")) == before


def test_with_the_reference_alone_conflicts_are_only_said_to_be(reference: Api) -> None:
    answer = reference.post(f"{AT_ODDS}/merge")
    assert answer == {"revision": reference.get(AT_ODDS)["revision"], "result": "conflicts"}


def test_a_conflict_is_settled_by_putting_back_updating_and_changing_again(api: Api) -> None:
    edit(api, AT_ODDS, {"operation": "revert_page", "page": "search"})
    assert api.post(f"{AT_ODDS}/update")["result"] == "update"
    edit(api, AT_ODDS, text("search", "Search is here, for all."))
    assert api.post(f"{AT_ODDS}/merge")["result"] == "merge"
    assert page(api, "search")["markdown"] == "Search is here, for all."


@covers("updateChangeRequest", 200)
def test_an_update_takes_the_main_content_in(api: Api) -> None:
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


def test_updating_and_then_merging_is_the_same_as_merging(api: Api, builtin_world: Any) -> None:
    def outcome(*steps: str) -> Any:
        api.server.reset(builtin_world)
        for step in steps:
            assert "conflicts" not in api.post(f"{BEHIND}/{step}")
        return api.get(f"{GUIDES}/content/pages")

    assert outcome("update", "merge") == outcome("merge")


def test_every_other_one_is_outdated_after_a_merge(api: Api) -> None:
    made = make(api)
    api.post(f"{OPEN}/merge")
    assert api.get(made)["outdated"]
    api.post(f"{made}/update")
    assert not api.get(made)["outdated"]
    assert page(api, "welcome", made)["title"] == "Hello"


def test_one_that_was_merged_goes_on_from_what_the_merge_made(api: Api) -> None:
    merged = api.post(f"{OPEN}/merge")["revision"]
    reopened = api.patch(OPEN, {"status": "open"})
    assert (reopened["status"], reopened["revision"], reopened["outdated"]) == ("open", merged, False)
    assert "revisionMerged" not in reopened
    edit(api, OPEN, title("welcome", "Hello again"))
    assert api.post(f"{OPEN}/merge")["result"] == "merge"
    assert page(api, "welcome")["title"] == "Hello again"


# --- who may merge --------------------------------------------------------------------------------


def rules(*names: str, **more: Any) -> dict[str, Any]:
    return {"mergeRules": {"type": "rules", "rules": [{"rule": name, **more} for name in names]}}


@pytest.mark.parametrize(
    ("body", "met"),
    [
        (rules("require_specific_reviewers", users=["rui"]), True),
        (rules("require_specific_reviewers", users=["rui", "ada"]), False),
        (rules("require_one_of_specific_reviewers", users=["rui", "ada"]), True),
        (rules("require_one_of_specific_reviewers", users=["ada"]), False),
        (rules("require_at_least_one_review"), True),
        (rules("require_at_least_one_approved_review", "require_all_reviews_approved"), True),
        (rules("require_agent_review"), False),
        (rules("require_up_to_date_change_request"), True),
        (rules("require_change_request_subject", "require_change_request_description"), True),
        (rules("require_author_to_merge"), False),
        (rules("custom", expression="true", message="Ask Ada first"), False),
        ({"mergeRules": {"type": "none"}}, True),
    ],
    ids=str,
)
def test_merge_rules_decide_and_the_permission_says_so(api: Api, body: Any, met: bool) -> None:
    for other in (BEHIND, AT_ODDS, f"{LIST}/search-index"):
        api.patch(other, {"status": "archived"})
    api.patch(GUIDES, body)
    assert api.get(GUIDES)["permissions"]["merge"] == met
    assert api.call("POST", f"{OPEN}/merge").status_code == (200 if met else 403)
    assert (api.get(OPEN)["status"] == "merged") == met


@covers("mergeChangeRequest", 403)
def test_the_message_of_a_rule_is_told(api: Api) -> None:
    api.patch(GUIDES, rules("custom", expression="x", message="Ask Ada first"))
    assert "Ask Ada first" in api.refused(403, "POST", f"{OPEN}/merge")


def test_a_rule_may_be_of_the_organization_and_may_be_passed_by(api: Api) -> None:
    api.patch("/orgs/acme", rules("require_agent_review"))
    api.refused(403, "POST", f"{OPEN}/merge")
    api.patch(GUIDES, {"mergeRules": {"type": "rules", "rules": [
        {"rule": "require_agent_review"}, {"rule": "allow_bypass", "users": ["ada"]},
    ]}})  # fmt: skip
    assert not api.as_("rui-token").get(GUIDES)["permissions"]["merge"]
    assert api.get(GUIDES)["permissions"]["merge"]
    api.as_("rui-token").refused(403, "POST", f"{OPEN}/merge")
    assert api.post(f"{OPEN}/merge")["result"] == "merge"


def test_two_callers_with_the_same_roles_are_not_shown_each_others_permissions(api: Api) -> None:
    api.patch(GUIDES, rules("allow_bypass", "require_agent_review", users=["ada"]))
    for token, may in (("ada-token", True), ("grace-token", False), ("ada-token", True)):
        listed = {space["id"]: space for space in api.as_(token).items("/orgs/acme/spaces")}
        assert listed["guides"]["permissions"]["merge"] is may


def test_the_author_merges_where_only_the_author_may(api: Api) -> None:
    api.patch(GUIDES, rules("require_author_to_merge", "require_up_to_date_change_request"))
    made = make(api, subject="Mine")
    assert api.post(f"{made}/merge")["result"] == "merge"
    api.refused(403, "POST", f"{BEHIND}/merge")


@pytest.mark.parametrize(
    ("token", "edits", "merges"),
    [("rui-token", 200, 200), ("eve-token", 200, 403), ("cam-token", 403, 403), ("kim-token", 403, 403)],
)
def test_who_edits_proposes_and_who_reviews_merges(api: Api, token: str, edits: int, merges: int) -> None:
    api.patch(GUIDES, {"defaultLevel": "inherit", "mergeRules": {"type": "none"}})
    api.post("/spaces/guides/move", {"parent": None})
    caller = api.as_(token)
    flags = caller.get(GUIDES)["permissions"]
    assert (flags["edit"], flags["merge"]) == (edits == 200, merges == 200)
    body = {"changes": [title("welcome", "Changed")]}
    assert caller.call("POST", f"{OPEN}/content", body).status_code == edits
    assert caller.call("POST", f"{OPEN}/update").status_code == edits
    assert caller.call("PATCH", OPEN, {"subject": "S"}).status_code == edits
    assert caller.call("POST", f"{OPEN}/merge").status_code == merges


# --- reviews --------------------------------------------------------------------------------------


@covers("submitChangeRequestReview", 201)
@covers("getReviewsByChangeRequestId", 200)
@covers("getChangeRequestReviewById", 200, 404)
def test_a_review_is_what_a_rule_waits_for(api: Api) -> None:
    at = f"{MANUAL}/alarms-page"
    api.refused(403, "POST", f"{at}/merge")
    body = {"status": "changes-requested", "comment": {"markdown": "Who is *Hank*?"}}
    first = api.make(f"{at}/reviews", body)
    assert (first["reviewer"]["id"], first["status"]) == ("ada", "changes-requested")
    assert first["revision"] == api.get(at)["revision"]
    assert first["comment"]["body"] == {"markdown": "Who is *Hank*?"}
    assert api.ids(f"{at}/comments") == [first["comment"]["id"]]
    api.refused(403, "POST", f"{at}/merge")
    api.clock.pass_by(seconds=1)
    second = api.make(f"{at}/reviews", {"status": "approved"})
    assert (second["id"], second["createdAt"]) == (first["id"], first["createdAt"])
    assert second["updatedAt"] > first["updatedAt"]
    assert api.items(f"{at}/reviews") == [second]
    assert api.get(f"{at}/reviews/{first['id']}") == second
    api.refused(404, "GET", f"{at}/reviews/none")
    assert api.post(f"{at}/merge")["result"] == "merge"


def test_reviews_of_another_revision_are_outdated(api: Api) -> None:
    (review,) = api.items(f"{OPEN}/reviews")
    assert (review["reviewer"]["id"], review["requestedBy"]["id"]) == ("rui", "lin")
    assert api.ids(f"{OPEN}/reviews", outdated=True) == []
    edit(api, OPEN, title("welcome", "X"))
    assert api.ids(f"{OPEN}/reviews", outdated=True) == [review["id"]]
    assert api.ids(f"{OPEN}/reviews", outdated=False) == []


@covers("submitChangeRequestReview", 403, 409)
@covers("requestReviewersForChangeRequest", 200, 404)
@covers("getRequestedReviewersByChangeRequestId", 200)
def test_who_reviews_or_was_asked_to_submits_a_review(api: Api) -> None:
    body = {"status": "approved"}
    for user in ("rui", "lin"):
        assert api.as_(f"{user}-token").get(GUIDES)["permissions"]["review"] is False
    api.as_("rui-token").make(f"{OPEN}/reviews", body)
    api.as_("lin-token").refused(403, "POST", f"{OPEN}/reviews", body)
    asked = api.post(f"{OPEN}/requested-reviewers", {"users": ["lin", "rui"], "subject": "Please"})["users"]
    assert [(one["user"]["id"], one["requestedBy"]["id"]) for one in asked] == [
        ("rui", "lin"),
        ("lin", "ada"),
    ]
    assert api.get(OPEN)["subject"] == "Please"
    listed = api.items(f"{OPEN}/requested-reviewers", limit=1)
    assert [one["user"]["id"] for one in listed] == ["rui", "ada", "lin"]
    assert api.ids(LIST, requestedReviewer="lin") == ["better-welcome"]
    api.as_("lin-token").make(f"{OPEN}/reviews", body)
    api.refused(404, "POST", f"{OPEN}/requested-reviewers", {"users": ["gus"]})
    api.refused(404, "POST", f"{OPEN}/requested-reviewers", {"users": ["nobody"]})
    api.post(f"{OPEN}/merge")
    api.refused(409, "POST", f"{OPEN}/reviews", body)


def test_a_minimal_answer_to_a_change_is_none(api: Api) -> None:
    headers = {"Prefer": "return=minimal"}
    api.ok("PATCH", OPEN, {"subject": "Short"}, 204, headers=headers)
    assert api.get(OPEN)["subject"] == "Short"


def test_pages_are_nested_so_deep_and_no_deeper(api: Api) -> None:
    made, inside = make(api), None
    for _ in range(50):
        inside = edit(api, made, insert("Deeper", into=inside))["results"][0]["page"]
    api.refused(400, "POST", f"{made}/content", {"changes": [insert("Too deep", into=inside)]})
    assert api.post(f"{made}/merge")["result"] == "merge"
    assert page(api, inside)["path"].count("/") == 49


# --- content --------------------------------------------------------------------------------------


@covers("updateChangeRequestContent", 200)
def test_pages_are_inserted_updated_moved_and_deleted(api: Api) -> None:
    made, before = make(api), api.get(f"{GUIDES}/content")
    answer = edit(
        api,
        made,
        insert("Last", document={"markdown": "# Last\n"}),
        insert("Inside", into="welcome", slug="in-it", emoji="1f44b"),
        insert("Second", position={"after": "welcome"}, type="group"),
        {"operation": "update_page", "page": "search", "title": "Find", "icon": None, "hidden": True},
        {"operation": "update_page", "page": "payments", "into": None, "position": {"before": "search"}},
        {"operation": "delete_page", "page": "status"},
    )
    last, inside, second = (result["page"] for result in answer["results"][:3])
    content = api.get(f"{made}/content")
    assert content["id"] == answer["revision"] == api.get(made)["revision"]
    assert [found["id"] for found in content["pages"]] == [
        "welcome", second, "getting-started", "payments", "search", "shop-api", last,
    ]  # fmt: skip
    assert [found["path"] for found in content["pages"][0]["pages"]] == ["welcome/in-it"]
    found = page(api, "search", made)
    assert (found["title"], found["hidden"], found["slug"], "icon" in found) == (
        "Find",
        True,
        "search",
        False,
    )
    assert api.get(f"{GUIDES}/content") == before
    api.post(f"{made}/merge")
    assert api.get(f"{GUIDES}/content")["pages"][0]["pages"][0]["id"] == inside


def test_a_page_takes_its_title_from_its_text_and_a_slug_that_is_free(api: Api) -> None:
    made = make(api)
    answer = edit(
        api,
        made,
        {"operation": "insert_page", "document": {"markdown": "Hi\n\n# Wel*come*\n"}},
        {"operation": "insert_page"},
    )
    first, second = (page(api, result["page"], made) for result in answer["results"])
    assert (first["title"], first["path"]) == ("Welcome", "welcome-2")
    assert (second["title"], second["markdown"]) == ("Untitled", "")


def test_a_text_may_be_a_document(api: Api) -> None:
    leaf = {"object": "leaf", "text": "Text", "marks": [{"object": "mark", "type": "bold"}]}
    block = {"object": "block", "type": "paragraph", "nodes": [{"object": "text", "leaves": [leaf]}]}
    document = {"object": "document", "data": {}, "nodes": [block]}
    made = make(api)
    edit(api, made, {"operation": "update_page", "page": "welcome", "document": document})
    assert page(api, "welcome", made)["markdown"] == "**Text**\n"
    shown = api.get(f"{made}/content/page/welcome", format="document")["document"]
    assert shown["nodes"][0]["nodes"][0]["leaves"] == [leaf]


def test_files_are_inserted_and_texts_lead_to_them(api: Api) -> None:
    made = make(api)
    answer = edit(
        api,
        made,
        {"operation": "insert_page", "title": "P", "document": {"markdown": "![It](./it.png)"}},
        {
            "operation": "insert_files",
            "files": [{"ref": "it.png", "name": "it.png", "url": "https://files.example/it.png"} | IMAGE],
        },
    )
    inserted, file = answer["results"][0]["page"], answer["results"][1]["files"][0]
    assert page(api, inserted, made)["markdown"] == f"![It](/files/{file})"
    kept = api.get(f"{made}/content/files/{file}")
    assert (kept["downloadURL"], kept["contentType"]) == ("https://files.example/it.png", "image/png")
    links = api.items(f"{made}/content/page/{inserted}/links")
    assert [(link["status"], link["targetReference"]["file"]["id"]) for link in links] == [("ok", file)]


@pytest.mark.parametrize("deleted", [False, True])
def test_a_page_is_put_back_as_it_was(api: Api, deleted: bool) -> None:
    made, before = make(api), page(api, "first-steps")
    change = {"operation": "delete_page", "page": "first-steps"} if deleted else title("first-steps", "X")
    edit(api, made, change)
    edit(api, made, {"operation": "revert_page", "page": "first-steps"})
    after = page(api, "first-steps", made)
    assert {**after, "urls": before["urls"]} == before


def test_a_page_that_was_not_there_is_taken_away_by_putting_it_back(api: Api) -> None:
    made = make(api)
    new = edit(api, made, insert("New"))["results"][0]["page"]
    edit(api, made, {"operation": "revert_page", "page": new})
    assert titles(api, made) == titles(api)


@covers("updateChangeRequestContent", 400, 404)
@pytest.mark.parametrize(
    ("status", "change"),
    [
        (404, title("none", "X")),
        (404, {"operation": "delete_page", "page": "none"}),
        (404, {"operation": "revert_page", "page": "none"}),
        (404, insert("X", into="none")),
        (400, insert("X", position={"after": "none"})),
        (400, insert("X", position={"after": "welcome", "before": "welcome"})),
        (400, {"operation": "update_page", "page": "getting-started", "into": "payments"}),
        (400, {"operation": "update_page", "page": "welcome", "into": "welcome"}),
        (400, {"operation": "update_page", "page": "welcome", "title": ""}),
        (400, {"operation": "rename_page", "page": "welcome"}),
        (400, {"operation": "insert_files", "files": []}),
    ],
    ids=str,
)
def test_changes_are_made_all_or_none(api: Api, status: int, change: Any) -> None:
    made = make(api)
    before = api.get(made)
    api.refused(status, "POST", f"{made}/content", {"changes": [title("welcome", "First"), change]})
    assert api.get(made) == before
    # Each of the two statuses is seen at least once in every case.
    api.refused(404, "POST", f"{made}/content", {"changes": [title("none", "X")]})
    for changes in ([], [title("welcome", "X")] * 51):
        api.refused(400, "POST", f"{made}/content", {"changes": changes})


@covers("updateChangeRequestContent", 409)
@pytest.mark.parametrize("at", [MERGED, ARCHIVED])
def test_the_content_of_one_that_is_done_does_not_change(api: Api, at: str) -> None:
    api.refused(409, "POST", f"{at}/content", {"changes": [title("welcome", "X")]})


def test_who_changes_the_content_is_a_contributor(api: Api) -> None:
    api.patch(GUIDES, {"defaultLevel": "edit"})
    edit(api.as_("rui-token"), OPEN, title("welcome", "X"))
    assert api.ids(LIST, contributor="rui") == ["better-welcome"]


# --- templates ------------------------------------------------------------------------------------


@covers("applyTemplateToSpace", 201)
def test_a_template_is_put_behind_what_there_is_with_new_ids(api: Api) -> None:
    before = titles(api, "/spaces/handbook")
    api.make("/spaces/handbook/content/template", {"id": "handbook"})
    assert titles(api, "/spaces/handbook") == [*before, *before]
    pages = api.get("/spaces/handbook/content/pages")["pages"]
    assert len({found["id"] for found in pages}) == 6
    assert pages[3]["path"] == "our-values-2"


def test_links_by_id_go_along_with_a_template_and_names_lead_where_the_caller_says(api: Api) -> None:
    source = make(api, "/spaces/news/change-requests")
    new = edit(api, source, insert("A"))["results"][0]["page"]
    edit(api, source, insert("B", document={"markdown": f"[a](/pages/{new}) [f](./the-file)"}))
    api.post(f"{source}/merge")
    refs = {"the-file": {"kind": "file", "file": "price-list", "space": "guides"}}
    api.make("/spaces/support/content/template", {"id": "news", "params": {"contentRefs": refs}})
    a, b = api.get("/spaces/support/content/pages")["pages"]
    assert a["id"] != new
    assert b["markdown"] == f"[a](/pages/{a['id']}) [f](/spaces/guides/files/price-list)"
    assert api.items("/spaces/support/links", status="broken") == []


@covers("applyTemplateToSpace", 404, 409)
def test_a_template_does_not_get_into_content_that_is_locked_or_done(api: Api) -> None:
    at = f"{GUIDES}/content/template"
    api.refused(404, "POST", at, {"id": "none"})
    api.refused(404, "POST", at, {"id": "handbook", "changeRequestId": "none"})
    api.refused(409, "POST", at, {"id": "handbook", "changeRequestId": "first-search"})
    api.patch(GUIDES, {"editMode": "locked"})
    api.refused(409, "POST", at, {"id": "handbook"})
    api.make(at, {"id": "handbook", "changeRequestId": "2"})
    assert titles(api, OPEN)[-1] == "Salaries"
    assert "Salaries" not in titles(api)


# --- with their space -----------------------------------------------------------------------------


def test_a_deleted_space_keeps_everything_for_seven_days(api: Api) -> None:
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


def test_after_that_nothing_is_left_of_it(api: Api) -> None:
    api.post(f"{OPEN}/comments", {"body": {"markdown": "Hm."}})
    api.delete(GUIDES)
    api.clock.pass_by(days=7, seconds=1)
    api.make("/orgs/acme/spaces", {"title": "Another"})
    every = api.server.call(lambda: api.app.store.every())
    left = [(record.kind, record.id) for record in every if "guides" in (record.scope, record.id)]
    assert left == []


def test_a_copy_has_the_content_and_no_change_requests(api: Api) -> None:
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


def test_change_requests_go_along_to_another_organization(api: Api) -> None:
    made = make(api, "/spaces/onboarding/change-requests")
    edit(api, made, insert("First day"))
    api.delete("/orgs/acme/sites/internal-handbook/site-spaces/handbook-start-main")
    api.post("/spaces/onboarding/transfer", {"organization": "globex"})
    assert made.rpartition("/")[2] in api.ids("/orgs/globex/change-requests")
    assert titles(api, made) == ["First day"]
    assert api.as_("hank-token").post(f"{made}/merge")["result"] == "merge"
    assert titles(api.as_("hank-token"), "/spaces/onboarding") == ["First day"]


def test_a_space_is_made_from_a_template(api: Api) -> None:
    made = api.make("/orgs/acme/spaces", {"title": "T", "template": {"id": "handbook"}})
    assert titles(api, f"/spaces/{made['id']}") == ["Our values", "People", "Salaries"]
    before = len(api.ids("/orgs/acme/spaces"))
    api.refused(404, "POST", "/orgs/acme/spaces", {"template": {"id": "none"}})
    assert len(api.ids("/orgs/acme/spaces")) == before
