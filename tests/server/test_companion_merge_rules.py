"""Who may merge a change request, and what reviews have to do with it."""

from typing import Any

import pytest
from change_request_calls import AT_ODDS, BEHIND, GUIDES, LIST, MANUAL, OPEN, edit, insert, make, page, title
from companion_calls import Api
from covers import covers

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
def test_merge_rules_decide_merge_and_permission_flag(api: Api, body: Any, met: bool) -> None:
    for other in (BEHIND, AT_ODDS, f"{LIST}/search-index"):
        api.patch(other, {"status": "archived"})
    api.patch(GUIDES, body)
    assert api.get(GUIDES)["permissions"]["merge"] == met
    assert api.call("POST", f"{OPEN}/merge").status_code == (200 if met else 403)
    assert (api.get(OPEN)["status"] == "merged") == met


@pytest.mark.parametrize("at", [GUIDES, "/orgs/acme"])
@pytest.mark.parametrize("user", ["nobody", "hank", "", "ada@acme.example"], ids=str)
def test_merge_rules_refuse_unknown_member_ids(api: Api, at: str, user: str) -> None:
    before = api.get(at)["mergeRules"]
    for name in ("require_specific_reviewers", "require_one_of_specific_reviewers", "allow_bypass"):
        message = api.refused(404, "PATCH", at, rules("require_agent_review", name, users=["rui", user]))
        assert message == f"body.mergeRules.rules.0.users.1: member {user!r} not found"
    assert api.get(at)["mergeRules"] == before


@pytest.mark.parametrize("at", [GUIDES, "/orgs/acme"])
def test_merge_rules_may_keep_former_members(api: Api, at: str) -> None:
    api.patch(at, rules("require_specific_reviewers", users=["lin", "rui"]))
    api.delete("/orgs/acme/members/lin")
    more = rules("require_specific_reviewers", "allow_bypass", users=["rui", "lin", "eve"])
    assert api.patch(at, more)["mergeRules"] == more["mergeRules"]
    api.patch(at, rules("require_agent_review"))
    api.refused(404, "PATCH", at, more)


@covers("mergeChangeRequest", 403)
def test_refused_merge_shows_message_of_custom_rule(api: Api) -> None:
    api.patch(GUIDES, rules("custom", expression="x", message="Ask Ada first"))
    assert "Ask Ada first" in api.refused(403, "POST", f"{OPEN}/merge")


def test_listed_users_bypass_organization_merge_rule(api: Api) -> None:
    api.patch("/orgs/acme", rules("require_agent_review"))
    api.refused(403, "POST", f"{OPEN}/merge")
    api.patch(GUIDES, {"mergeRules": {"type": "rules", "rules": [
        {"rule": "require_agent_review"}, {"rule": "allow_bypass", "users": ["ada"]},
    ]}})  # fmt: skip
    assert not api.as_("rui-token").get(GUIDES)["permissions"]["merge"]
    assert api.get(GUIDES)["permissions"]["merge"]
    api.as_("rui-token").refused(403, "POST", f"{OPEN}/merge")
    assert api.post(f"{OPEN}/merge")["result"] == "merge"


def test_merge_permission_is_computed_per_caller(api: Api) -> None:
    api.patch(GUIDES, rules("allow_bypass", "require_agent_review", users=["ada"]))
    for token, may in (("ada-token", True), ("grace-token", False), ("ada-token", True)):
        listed = {space["id"]: space for space in api.as_(token).items("/orgs/acme/spaces")}
        assert listed["guides"]["permissions"]["merge"] is may


def test_author_only_merge_rule_allows_author(api: Api) -> None:
    api.patch(GUIDES, rules("require_author_to_merge", "require_up_to_date_change_request"))
    made = make(api, subject="Mine")
    assert api.post(f"{made}/merge")["result"] == "merge"
    api.refused(403, "POST", f"{BEHIND}/merge")


@pytest.mark.parametrize(
    ("token", "edits", "merges"),
    [("rui-token", 200, 200), ("eve-token", 200, 403), ("cam-token", 403, 403), ("kim-token", 403, 403)],
)
def test_editors_edit_and_reviewers_merge_change_requests(
    api: Api, token: str, edits: int, merges: int
) -> None:
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
def test_merge_rule_requires_approving_review(api: Api) -> None:
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


def test_review_is_outdated_after_new_revision(api: Api) -> None:
    (review,) = api.items(f"{OPEN}/reviews")
    assert (review["reviewer"]["id"], review["requestedBy"]["id"]) == ("rui", "lin")
    assert api.ids(f"{OPEN}/reviews", outdated=True) == []
    edit(api, OPEN, title("welcome", "X"))
    assert api.ids(f"{OPEN}/reviews", outdated=True) == [review["id"]]
    assert api.ids(f"{OPEN}/reviews", outdated=False) == []


@covers("submitChangeRequestReview", 403, 409)
@covers("requestReviewersForChangeRequest", 200, 404)
@covers("getRequestedReviewersByChangeRequestId", 200)
def test_review_requires_reviewer_role_or_request(api: Api) -> None:
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


def test_minimal_preference_on_change_request_update_returns_204(api: Api) -> None:
    headers = {"Prefer": "return=minimal"}
    api.ok("PATCH", OPEN, {"subject": "Short"}, 204, headers=headers)
    assert api.get(OPEN)["subject"] == "Short"


def test_page_nesting_is_limited_to_fifty_levels(api: Api) -> None:
    made, inside = make(api), None
    for _ in range(50):
        inside = edit(api, made, insert("Deeper", into=inside))["results"][0]["page"]
    api.refused(400, "POST", f"{made}/content", {"changes": [insert("Too deep", into=inside)]})
    assert api.post(f"{made}/merge")["result"] == "merge"
    assert page(api, inside)["path"].count("/") == 49
