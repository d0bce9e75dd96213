"""Comments and replies: what is said, changed and deleted, and how it is listed and told."""

from typing import Any

import pytest
from cases.comments_cases import with_change
from comment_calls import CHANGE, HOURS, SPACE, YES, paragraph, places, post, reply, text
from companion_calls import Api
from covers import covers


@pytest.fixture
def acme(api: Api, builtin_world: Any) -> Api:
    """Load the built-in world with a change request of the space `support`."""
    api.server.reset(with_change(builtin_world))
    return api


# --- posting and reading ----------------------------------------------------------------------------


@covers("postCommentInSpace", 200)
@covers("postCommentInChangeRequest", 200)
@covers("getCommentInSpace", 200, 404)
@covers("getCommentInChangeRequest", 200, 404)
def test_posted_comment_is_read_back_unchanged(acme: Api) -> None:
    for where in places(acme):
        made = post(acme.as_("cam-token"), where, "Well *done*")
        assert (made["status"], made["body"]) == ("open", {"markdown": "Well *done*"})
        assert (made["replies"], made["repliers"], made["reactions"]) == (0, [], [])
        assert (made["postedBy"]["id"], made["postedAt"]) == ("cam", "2026-03-01T00:00:00.000Z")
        assert "editedAt" not in made
        assert made["urls"]["location"].endswith(f"/v1{where}/comments/{made['id']}")
        assert acme.as_("cam-token").get(f"{where}/comments/{made['id']}") == made
        acme.refused(404, "GET", f"{where}/comments/none")


@covers("getCommentInSpace", 404)
@covers("getCommentInChangeRequest", 404)
def test_change_request_comments_are_separate_from_space_comments(acme: Api) -> None:
    on_space, on_change = post(acme)["id"], post(acme, CHANGE)["id"]
    assert on_change not in acme.ids(f"{SPACE}/comments")
    assert acme.ids(f"{CHANGE}/comments") == [on_change]
    acme.refused(404, "GET", f"{SPACE}/comments/{on_change}")
    acme.refused(404, "GET", f"{CHANGE}/comments/{on_space}")
    acme.refused(404, "GET", f"/spaces/guides/comments/{on_space}")
    acme.refused(404, "GET", f"/spaces/support/change-requests/none/comments/{on_change}")
    assert acme.get(f"{SPACE}/change-requests/1/comments/{on_change}")["target"] == {
        "space": "support",
        "revision": acme.get(CHANGE)["revision"],
        "changeRequest": "change-a",
    }


def test_comment_target_names_page_node_and_cell(acme: Api) -> None:
    cell = {"record": "r1", "definition": "d1"}
    made = post(acme, page="intro", node="n4", tableCell=cell)
    assert made["target"] == {
        "space": "support",
        "revision": acme.get(SPACE)["revision"],
        "page": {"id": "intro"},
        "node": {"id": "n4"},
        "tableCell": cell,
    }


@pytest.mark.parametrize("page", ["p" * 256, "a\x00b", 1, None])
def test_comment_with_invalid_page_id_is_refused(acme: Api, page: Any) -> None:
    assert "body.page" in acme.refused(400, "POST", f"{SPACE}/comments", {**text("?"), "page": page})


def test_comment_page_filter_refuses_nul_character(acme: Api) -> None:
    assert "query.targetPage" in acme.refused(400, "GET", f"{SPACE}/comments?targetPage=a%00b")
    assert acme.ids(f"{SPACE}/comments", targetPage="p" * 300) == []


@covers("postCommentInSpace", 404)
@covers("postCommentInChangeRequest", 404)
def test_comment_on_missing_page_is_refused(acme: Api, builtin_world: Any) -> None:
    content = {"pages": [{"id": "intro", "title": "Intro", "markdown": "Welcome"}]}
    acme.server.reset(with_change(builtin_world, content))
    assert post(acme, page="intro")["target"]["page"] == {"id": "intro"}
    assert post(acme, CHANGE, page="intro")["target"]["page"] == {"id": "intro"}
    acme.refused(404, "POST", f"{SPACE}/comments", {**text("?"), "page": "none"})
    acme.refused(404, "POST", f"{CHANGE}/comments", {**text("?"), "page": "none"})


# --- texts ------------------------------------------------------------------------------------------


def test_comment_body_is_returned_in_requested_format(acme: Api) -> None:
    document = {"object": "document", "nodes": [paragraph(("Well ", []), ("done", ["bold"]))]}
    for body in ({"markdown": "Well **done**"}, {"document": document}):
        made = acme.post(f"{SPACE}/comments", {"body": body})
        at = f"{SPACE}/comments/{made['id']}"
        assert made["body"] == acme.get(at, format="markdown")["body"] == {"markdown": "Well **done**"}
        (block,) = acme.get(at, format="document")["body"]["document"]["nodes"]
        assert block["type"] == "paragraph"
        leaves = block["nodes"][0]["leaves"]
        assert [(leaf["text"], len(leaf["marks"])) for leaf in leaves] == [("Well ", 0), ("done", 1)]


def test_empty_comment_body_is_accepted(acme: Api) -> None:
    made = acme.post(f"{SPACE}/comments", {"body": {}})
    assert made["body"] == {"markdown": ""}
    shown = acme.get(f"{SPACE}/comments/{made['id']}", format="document")
    assert shown["body"]["document"]["nodes"] == []


@covers("postCommentInSpace", 400)
@pytest.mark.parametrize(
    "body",
    [None, "text", {"markdwon": "x"}, {"markdown": 1}, {"markdown": "a", "document": {"nodes": []}}],
)
def test_malformed_comment_body_is_refused(acme: Api, body: Any) -> None:
    assert "body.body" in acme.refused(400, "POST", f"{SPACE}/comments", {"body": body})


@pytest.mark.parametrize("query", ["format=html", "status=done", "order=up"])
def test_comment_list_refuses_unknown_enum_values(acme: Api, query: str) -> None:
    acme.refused(400, "GET", f"{SPACE}/comments?{query}")


# --- lists ------------------------------------------------------------------------------------------


@covers("listCommentsInSpace", 200)
@covers("listCommentsInChangeRequest", 200)
def test_comments_are_newest_first_by_default(acme: Api) -> None:
    for where in places(acme):
        before = acme.ids(f"{where}/comments", order="asc")
        made = []
        for _ in range(3):
            made.append(post(acme, where)["id"])
            acme.clock.pass_by(seconds=1)
        made.append(post(acme, where)["id"])
        made.append(post(acme, where)["id"])
        assert acme.ids(f"{where}/comments", order="asc", limit=2) == [*before, *made]
        assert acme.ids(f"{where}/comments", limit=2) == [*before, *made][::-1]


@covers("listCommentsInSpace", 200)
@covers("listCommentsInChangeRequest", 200)
def test_comments_are_filtered_by_status_page_and_author(acme: Api) -> None:
    for where in places(acme):
        for comment in acme.ids(f"{where}/comments"):
            acme.delete(f"{where}/comments/{comment}")
        page = post(acme, where, page="intro")["id"]
        eves = post(acme.as_("eve-token"), where)["id"]
        cams = post(acme.as_("cam-token"), where)["id"]
        acme.put(f"{where}/comments/{eves}", {"resolved": True})

        def found(at: str = f"{where}/comments", **query: Any) -> list[str]:
            return acme.ids(at, order="asc", **query)

        assert found(status="all") == [page, eves, cams]
        assert found(status="open") == [page, cams]
        assert found(status="resolved") == [eves]
        assert found(targetPage="intro") == [page]
        assert found(targetPage="none") == []
        assert found(authors=["eve", "cam"]) == found(authors="eve,cam") == [eves, cams]
        assert found(authors="cam", status="open") == [cams]
        assert found(authors="nobody") == []


# --- replies ----------------------------------------------------------------------------------------


@covers("postCommentReplyInSpace", 200)
@covers("postCommentReplyInChangeRequest", 200)
@covers("getCommentReplyInSpace", 200, 404)
@covers("getCommentReplyInChangeRequest", 200, 404)
@covers("listCommentRepliesInSpace", 200)
@covers("listCommentRepliesInChangeRequest", 200)
def test_comment_counts_replies_per_user(acme: Api) -> None:
    for where in places(acme):
        comment = f"{where}/comments/{post(acme, where)['id']}"
        first = reply(acme.as_("cam-token"), comment)
        acme.clock.pass_by(minutes=1)
        second = reply(acme.as_("eve-token"), comment)
        third = reply(acme.as_("cam-token"), comment)
        assert [found["id"] for found in acme.items(f"{comment}/replies", limit=1)] == [
            made["id"] for made in (first, second, third)
        ]
        shown = acme.get(comment)
        assert shown["replies"] == 3
        assert [(one["user"]["id"], one["count"], one["updatedAt"]) for one in shown["repliers"]] == [
            ("cam", 2, third["postedAt"]),
            ("eve", 1, second["postedAt"]),
        ]
        assert acme.as_("cam-token").get(f"{comment}/replies/{first['id']}") == first
        assert first["urls"]["location"].endswith(f"/v1{comment}/replies/{first['id']}")
        acme.refused(404, "GET", f"{comment}/replies/none")
        other = f"{where}/comments/{post(acme, where)['id']}"
        acme.refused(404, "GET", f"{other}/replies/{first['id']}")


def test_reply_body_is_returned_in_requested_format(acme: Api) -> None:
    comment = f"{CHANGE}/comments/{post(acme, CHANGE)['id']}"
    made = acme.ok("POST", f"{comment}/replies", text("Hi"), params={"format": "document"})
    assert made["body"]["document"]["nodes"][0]["type"] == "paragraph"
    assert acme.items(f"{comment}/replies", format="document")[0]["body"] == made["body"]


@covers("deleteCommentInSpace", 204)
@covers("deleteCommentInChangeRequest", 204)
def test_deleting_comment_deletes_its_replies(acme: Api) -> None:
    for where in places(acme):
        comment = f"{where}/comments/{post(acme, where)['id']}"
        reply(acme, comment)
        reply(acme, comment)
        kept = acme.app.store.count("comment-reply")
        acme.delete(comment)
        acme.delete(comment)
        acme.refused(404, "GET", comment)
        assert acme.app.store.count("comment-reply") == kept - 2


@covers("deleteCommentReplyInSpace", 204)
@covers("deleteCommentReplyInChangeRequest", 204)
def test_deleting_reply_keeps_other_replies(acme: Api) -> None:
    for where in places(acme):
        comment = f"{where}/comments/{post(acme, where)['id']}"
        gone, kept = reply(acme, comment)["id"], reply(acme, comment)["id"]
        acme.delete(f"{comment}/replies/{gone}")
        acme.delete(f"{comment}/replies/{gone}")
        assert acme.ids(f"{comment}/replies") == [kept]
        assert acme.get(comment)["replies"] == 1


# --- changing ---------------------------------------------------------------------------------------


@covers("updateCommentInSpace", 200)
@covers("updateCommentInChangeRequest", 200)
@covers("updateCommentReplyInSpace", 200)
@covers("updateCommentReplyInChangeRequest", 200)
def test_author_can_edit_comment_and_reply(acme: Api) -> None:
    for where in places(acme):
        cam = acme.as_("cam-token")
        comment = f"{where}/comments/{post(cam, where)['id']}"
        answer = f"{comment}/replies/{reply(cam, comment)['id']}"
        acme.clock.pass_by(hours=1)
        for at in (comment, answer):
            changed = cam.put(at, text("Better"))
            assert (changed["body"]["markdown"], changed["editedAt"]) == (
                "Better",
                "2026-03-01T01:00:00.000Z",
            )
            assert cam.get(at) == changed
            assert cam.put(at, {}) == changed


@covers("updateCommentInSpace", 200)
@covers("updateCommentInChangeRequest", 200)
def test_comment_can_be_resolved_and_reopened(acme: Api) -> None:
    for where in places(acme):
        comment = f"{where}/comments/{post(acme, where)['id']}"
        resolved = acme.as_("cam-token").put(comment, {"resolved": True})
        assert (resolved["status"], resolved["resolvedBy"]["id"]) == ("resolved", "cam")
        assert "editedAt" not in resolved
        acme.clock.pass_by(hours=1)
        again = acme.put(comment, {"resolved": True})
        assert (again["resolvedAt"], again["resolvedBy"]["id"]) == (resolved["resolvedAt"], "cam")
        opened = acme.put(comment, {"resolved": False})
        assert opened["status"] == "open"
        assert not {"resolvedAt", "resolvedBy"} & opened.keys()


def test_reaction_counts_once_per_user_and_emoji(acme: Api) -> None:
    cam = acme.as_("cam-token")
    for at in (HOURS, YES):
        acme.put(at, {"removedReactions": ["1f44d"]})
        acme.put(at, {"addedReactions": ["1f680", "1f680"]})
        cam.put(at, {"addedReactions": ["2728", "1f680"]})
        cam.put(at, {"addedReactions": ["1f680"], "removedReactions": ["2728"]})
        (rocket,) = acme.get(at)["reactions"]
        assert (rocket["emoji"], rocket["count"]) == ("1f680", 2)
        assert [one["user"]["id"] for one in rocket["users"]] == ["ada", "cam"]


@pytest.mark.parametrize("emoji", ["", "x" * 51, 1])
def test_invalid_emoji_is_refused_in_comment_reactions(acme: Api, emoji: Any) -> None:
    for name in ("addedReactions", "removedReactions"):
        assert f"body.{name}.0" in acme.refused(400, "PUT", HOURS, {name: [emoji]})
    assert acme.put(HOURS, {"addedReactions": ["x" * 50]})["reactions"][-1]["emoji"] == "x" * 50
