"""Conversations: what is ingested, what the stand-in analyst finds in it, and clusters of it."""

from typing import Any

import pytest
from companion_calls import Api
from covers import covers
from hypothesis import given
from hypothesis import strategies as st

from dpsync.server.jobs.analyst import find_issues, impact_of, topic_of

ACME = "/orgs/acme"
CONVERSATIONS = f"{ACME}/conversations"
ISSUES = f"{ACME}/conversations-issues"
CLUSTERS = f"{ACME}/conversations-clusters"
SEARCH = f"{CLUSTERS}/slow-search"


def says(body: str, role: str = "user") -> dict[str, str]:
    return {"type": "message", "role": role, "body": body}


def conversation(id: str, *bodies: str, **more: Any) -> Any:
    return {"id": id, "parts": [says(body) for body in bodies], **more}


def ingest(api: Api, *given: Any) -> None:
    """All of them at once, and analysed."""
    api.post(CONVERSATIONS, list(given), 204)
    api.server.wait_for_jobs()


def titles(api: Api, **query: Any) -> list[str]:
    return [found["issue"]["title"] for found in api.items(ISSUES, **query)]


# --- ingesting --------------------------------------------------------------------------------------


@covers("ingestConversation", 204)
@covers("getConversationById", 200)
def test_ingested_conversation_is_read_back_unchanged(api: Api) -> None:
    parts = [says("Where is my invoice?"), says("Here.", "team-member"), says("Bye", "assistant")]
    metadata = {
        "url": "https://chat.example/1",
        "attributes": {"plan": "team"},
        "createdAt": "2026-02-20T10:00:00+02:00",
    }
    api.post(CONVERSATIONS, {"id": "a/1 ü", "subject": "Invoice", "parts": parts, "metadata": metadata}, 204)
    api.server.wait_for_jobs()
    found = api.get(f"{CONVERSATIONS}/a%2F1%20%C3%BC")
    assert found["parts"] == parts
    assert found["metadata"] == {**metadata, "createdAt": "2026-02-20T08:00:00.000Z"}
    assert found["conversation"] == {
        "object": "conversation",
        "id": "a/1 ü",
        "subject": "Invoice",
        "createdAt": "2026-02-20T08:00:00.000Z",
        "processedAt": "2026-03-01T00:00:00.000Z",
        "source": "integration:api:ada",
        "impact": "low",
        "urls": {
            "location": f"{api.server.url}/v1/orgs/acme/conversations/a%2F1%20%C3%BC",
            "source": "https://chat.example/1",
        },
    }


@covers("ingestConversation", 204)
@covers("listConversations", 200)
def test_conversation_ingest_accepts_object_or_list(api: Api) -> None:
    before = api.ids(CONVERSATIONS)
    api.post(CONVERSATIONS, conversation("one", "?"), 204)
    api.post(CONVERSATIONS, [conversation("two", "?"), conversation("three", "?")], 204)
    api.post(CONVERSATIONS, [], 204)
    assert api.ids(CONVERSATIONS) == [*before, "one", "two", "three"]


def test_reingested_conversation_replaces_previous_in_place(api: Api) -> None:
    ingest(api, conversation("one", "Where is it?"), conversation("two", "?"))
    before = api.get(f"{CONVERSATIONS}/one")["conversation"]
    order = api.ids(CONVERSATIONS)
    api.clock.pass_by(days=1)
    ingest(api, conversation("one", "Here it is", subject="Found"))
    after = api.get(f"{CONVERSATIONS}/one")["conversation"]
    assert (after["subject"], after["createdAt"]) == ("Found", before["createdAt"])
    assert after["processedAt"] > before["processedAt"]
    assert api.ids(CONVERSATIONS) == order


def test_last_conversation_with_duplicate_id_is_kept(api: Api) -> None:
    before = api.ids(CONVERSATIONS)
    ingest(api, conversation("one", "Where?"), conversation("two", "?"), conversation("one", "When?"))
    assert api.ids(CONVERSATIONS) == [*before, "one", "two"]
    assert titles(api, conversation="one") == ["When?"]


def test_conversation_ids_are_scoped_to_organization(api: Api) -> None:
    ingest(api, conversation("one", "Where?"))
    api.refused(404, "GET", "/orgs/globex/conversations/one")
    api.post("/orgs/globex/conversations", conversation("one", "There!"), 204)
    assert api.get(f"{CONVERSATIONS}/one")["parts"] == [says("Where?")]


@covers("ingestConversation", 400)
@pytest.mark.parametrize(
    "wrong",
    [
        {"id": ""},
        {"id": "i" * 256},
        {"id": "a\x00b"},
        {"subject": "s" * 513},
        {"parts": None},
        {"parts": [{**says("?"), "role": "robot"}]},
        {"parts": [{**says("?"), "type": "note"}]},
        {"metadata": {"createdAt": "yesterday"}},
        {"metadata": {"createdAt": "0001-01-01T00:00:00+23:00"}},
        {"metadata": {"attributes": {"a": 1}}},
        {"metadata": {"url": "no url"}},
    ],
)
def test_invalid_conversation_refuses_whole_ingest(api: Api, wrong: Any) -> None:
    before = api.ids(CONVERSATIONS)
    given = [conversation("good", "?"), {**conversation("bad", "?"), **wrong}]
    assert "body.conversations.1." in api.refused(400, "POST", CONVERSATIONS, given)
    assert api.ids(CONVERSATIONS) == before


def test_longest_conversation_id_and_subject_are_accepted(api: Api) -> None:
    api.post(CONVERSATIONS, conversation("\U0001f680" * 255, "?", subject="s" * 512), 204)
    assert api.items(CONVERSATIONS)[-1]["id"] == "\U0001f680" * 255


@covers("listConversations", 200)
def test_conversations_are_filtered_by_source(api: Api) -> None:
    ingest(api, conversation("one", "?"))
    assert api.ids(CONVERSATIONS, source="integration:api:ada") == ["one"]
    assert api.ids(CONVERSATIONS, source="integration:chat:shop") == ["chat-7"]
    assert api.ids(CONVERSATIONS, source="none") == []


# --- the analysis -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Search is slow", "search-slow"),
        ("The slow SEARCHES of our team", "searche-slow"),
        ("How do I export to PDF?", "export-pdf"),
        ("What is it", "is-what"),
        ("Wie lösche ich ein Konto?", "lösche-wie"),
        ("…", "other"),
        ("", "other"),
    ],
)
def test_conversation_topic_is_first_two_significant_words(text: str, expected: str) -> None:
    assert topic_of(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Everything is down!", "high"),
        ("Slow, and it crashes", "high"),
        ("It is slow", "medium"),
        ("Hi", "low"),
    ],
)
def test_conversation_impact_is_most_severe_keyword(text: str, expected: str) -> None:
    assert impact_of(text) == expected


roles = st.sampled_from(["user", "assistant", "team-member"])


@given(st.text(max_size=20), st.lists(st.builds(lambda body, role: says(body, role), st.text(), roles)))
def test_conversation_issues_have_unique_topics(subject: str, parts: list[dict[str, str]]) -> None:
    found = find_issues(subject, parts)
    assert len({finding.topic for finding in found}) == len(found)
    assert found == find_issues(subject, parts)
    assert all(finding.title.strip() and finding.topic for finding in found)


def test_conversation_issues_come_from_opening_and_later_problems(api: Api) -> None:
    ingest(
        api,
        conversation(
            "one",
            "The invoice of March is missing.",
            "Thanks for looking.",
            "Also: where are the receipts?",
            "The March invoice fails again",
            subject="Invoice of March",
        ),
    )
    found = api.items(ISSUES, conversation="one")
    assert [(item["issue"]["title"], item["issue"]["impact"]) for item in found] == [
        ("Invoice of March", "medium"),
        ("Also: where are the receipts?", "low"),
    ]
    assert [item["conversation"]["id"] for item in found] == ["one", "one"]
    assert found[0]["conversation"]["impact"] == "medium"
    (block,) = found[0]["issue"]["details"]["nodes"]
    assert block["nodes"][0]["leaves"][0]["text"] == "The invoice of March is missing."


def test_conversation_without_user_text_has_no_issue(api: Api) -> None:
    ingest(api, {"id": "one", "parts": [says("Can I help?", "assistant")]}, {"id": "two", "parts": []})
    assert titles(api, conversation="one") == titles(api, conversation="two") == []
    assert api.get(f"{CONVERSATIONS}/one")["conversation"]["impact"] == "low"


def test_issues_with_same_topic_form_a_cluster(api: Api) -> None:
    before = api.ids(CLUSTERS)
    ingest(
        api,
        conversation("one", "Is the login broken?"),
        conversation("two", "Broken login", "Search is slow, too. Really?"),
    )
    (made,) = [cluster for cluster in api.items(CLUSTERS) if cluster["id"] not in before]
    assert (made["label"], made["impact"], made["muted"]) == ("Is the login broken?", "high", False)
    assert made["stats"] == {"issues": 2, "conversations": 2}
    assert made["sources"] == {"integration:api:ada": 2}
    assert titles(api, cluster="slow-search")[-1] == "Search is slow, too"
    assert api.get(SEARCH)["stats"] == {"issues": 4, "conversations": 4}


def test_reingested_conversation_keeps_ids_of_recurring_issues(api: Api) -> None:
    ingest(api, conversation("one", "Invoice missing", "Where are receipts?"))
    invoice, receipts = api.items(ISSUES, conversation="one")
    api.clock.pass_by(days=1)
    ingest(api, conversation("one", "Missing: the invoice", "Who pays refunds?"))
    again, refunds = api.items(ISSUES, conversation="one")
    assert again["issue"]["id"] == invoice["issue"]["id"]
    assert again["issue"]["title"] == "Missing: the invoice"
    assert refunds["issue"]["id"] != receipts["issue"]["id"]
    api.refused(404, "GET", f"{ISSUES}/{receipts['issue']['id']}")
    left = api.get(f"{CLUSTERS}/{receipts['issue']['cluster']}")
    assert left["stats"] == {"issues": 0, "conversations": 0}
    assert "impact" not in left


def test_many_ingested_conversations_are_all_processed(api: Api) -> None:
    ingest(api, *(conversation(f"c{number}", f"Question {number}?") for number in range(45)))
    assert all("processedAt" in found for found in api.items(CONVERSATIONS))
    assert api.server.run_in_server(lambda: api.app.store.count("job", organization="acme")) == 0


def test_unprocessed_conversation_is_processed_after_server_data_reload(api: Api, builtin_world: Any) -> None:
    acme, globex = builtin_world["organizations"]
    waiting = [*acme["conversations"], {"id": "late", "parts": ["Is the login broken?"]}]
    changed = {**builtin_world, "organizations": [{**acme, "conversations": waiting}, globex]}
    api.server.reset(changed)
    api.server.reset(api.state())
    assert "processedAt" not in api.get(f"{CONVERSATIONS}/late")["conversation"]
    api.server.wait_for_jobs()
    assert titles(api, conversation="late") == ["Is the login broken?"]


def test_exported_server_data_reloads_with_same_conversations(api: Api) -> None:
    ingest(api, conversation("one", "Broken login?", "Where is it?"), conversation("two", "The login broke"))
    ingest(api, conversation("one", "Who is it?", "Is the login broken?"))
    before = [api.items(path) for path in (CONVERSATIONS, ISSUES, CLUSTERS)]
    api.server.reset(api.state())
    assert [api.items(path) for path in (CONVERSATIONS, ISSUES, CLUSTERS)] == before


# --- issues -----------------------------------------------------------------------------------------


@covers("getConversationIssueById", 200, 404)
@covers("getConversationById", 404)
@covers("getConversationsIssuesCluster", 404)
def test_conversation_issue_is_returned_with_its_conversation(api: Api) -> None:
    found = api.get(f"{ISSUES}/export-a-page")
    assert (found["issue"]["cluster"], found["issue"]["conversation"]) == ("pdf-export", "mail-2")
    assert found["conversation"] == api.get(f"{CONVERSATIONS}/mail-2")["conversation"]
    for path in (ISSUES, CONVERSATIONS, CLUSTERS):
        api.refused(404, "GET", f"{path}/none")
    api.refused(404, "GET", f"{ISSUES}/alarm-at-night")
    api.refused(404, "GET", f"{CLUSTERS}/reactor-alarm")


@covers("listConversationsIssues", 200)
def test_conversation_issues_are_filtered_by_cluster_and_conversation(api: Api) -> None:
    found = [item["issue"]["id"] for item in api.items(ISSUES)]
    assert found == ["search-ten-seconds", "search-on-phones", "export-a-page", "search-is-down"]
    assert titles(api, cluster="pdf-export") == ["And how do I export to PDF?"]
    assert titles(api, conversation="mail-2", cluster="slow-search") == ["Slow search on the phone"]
    assert titles(api, conversation="none") == []


# --- clusters ---------------------------------------------------------------------------------------


@covers("getConversationsIssuesCluster", 200)
def test_issue_cluster_shows_counts_and_weekly_history(api: Api) -> None:
    found = api.get(SEARCH)
    assert found["stats"] == {"issues": 3, "conversations": 3}
    assert found["sources"] == {"email": 2, "integration:chat:shop": 1}
    assert (found["impact"], found["muted"]) == ("high", False)
    assert found["weeklyPulse"] == [0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 1, 1, 0]
    assert len(found["summary"]["nodes"]) == 3
    api.clock.pass_by(weeks=9)
    assert api.get(SEARCH)["weeklyPulse"] == [0, 1, 1, *[0] * 10]


@covers("conversation_cluster_update", 200, 403, 404)
@covers("getConversationsIssuesCluster", 200)
def test_issue_cluster_muting_requires_create_role(api: Api) -> None:
    lin = api.as_("lin-token")
    muted = lin.patch(SEARCH, {"muted": True})
    assert (muted["muted"], muted["updatedAt"]) == (True, "2026-03-01T00:00:00.000Z")
    assert api.get(SEARCH) == muted
    api.clock.pass_by(hours=1)
    assert lin.patch(SEARCH, {"muted": True})["updatedAt"] == lin.patch(SEARCH, {})["updatedAt"]
    assert lin.patch(SEARCH, {"muted": False})["muted"] is False
    api.as_("rui-token").refused(403, "PATCH", SEARCH, {"muted": True})
    lin.refused(404, "PATCH", f"{CLUSTERS}/none", {"muted": True})
    lin.refused(404, "PATCH", f"{CLUSTERS}/reactor-alarm", {"muted": True})


@covers("listConversationsIssuesClusters", 200)
def test_issue_clusters_are_sorted_by_requested_order(api: Api) -> None:
    api.clock.pass_by(days=1)
    api.patch(f"{CLUSTERS}/pdf-export", {"muted": False})
    api.clock.pass_by(days=1)
    ingest(api, *(conversation(f"c{number}", "Broken login?") for number in range(2)))
    (login,) = [id for id in api.ids(CLUSTERS) if id not in ("slow-search", "pdf-export")]
    by_count = ["slow-search", login, "pdf-export"]
    by_age = [login, "pdf-export", "slow-search"]
    assert api.ids(CLUSTERS, limit=1) == by_age
    assert api.ids(CLUSTERS, orderBy="updatedAt", order="asc", limit=1) == by_age[::-1]
    for counted in ("issues", "conversations"):
        assert api.ids(CLUSTERS, orderBy=counted, limit=1) == by_count
        assert api.ids(CLUSTERS, orderBy=counted, order="asc", limit=2) == by_count[::-1]
    for tasks in ("tasksTotal", "tasksBacklog", "tasksStarted"):
        assert api.ids(CLUSTERS, orderBy=tasks, order="asc", limit=1) == ["slow-search", "pdf-export", login]
    api.refused(400, "GET", f"{CLUSTERS}?orderBy=label")


# --- who may ----------------------------------------------------------------------------------------


@covers("ingestConversation", 403)
def test_conversation_ingest_matches_permission_flag(api: Api) -> None:
    for user in ("ada", "lin", "rui", "kim", "gus"):
        caller = api.as_(f"{user}-token")
        status = caller.call("POST", CONVERSATIONS, conversation(user, "?")).status_code
        assert (status == 204) is caller.get(ACME)["permissions"]["ingestConversations"]
        assert status in (204, 403)


@covers("listConversations", 403)
@covers("getConversationById", 403)
@covers("listConversationsIssues", 403)
@covers("getConversationIssueById", 403)
@covers("listConversationsIssuesClusters", 403)
@covers("getConversationsIssuesCluster", 403)
def test_conversations_are_readable_by_members_but_not_guests(api: Api) -> None:
    paths = (CONVERSATIONS, ISSUES, CLUSTERS)
    items = (f"{CONVERSATIONS}/mail-1", f"{ISSUES}/search-is-down", SEARCH)
    for path in (*paths, *items):
        api.as_("kim-token").get(path)
        api.as_("gus-token").refused(403, "GET", path)
