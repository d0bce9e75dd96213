"""Comments: who may do what, what becomes of them with their space, and any sequence of it all."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import pytest
from cases.comments_cases import with_change
from comment_calls import CHANGE, HOURS, PLACES, SPACE, YES, paragraph, places, post, reply, text
from companion_calls import Api
from covers import covers
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.soak import examples


def allowed(status: int) -> bool:
    assert status in (200, 204, 403)
    return status != 403


@pytest.fixture
def acme(api: Api, builtin_world: Any) -> Api:
    """Load the built-in world with a change request of the space `support`."""
    api.server.reset(with_change(builtin_world))
    return api


# --- who may ----------------------------------------------------------------------------------------

ROLES = ("ada", "lin", "rui", "eve", "cam", "kim")


@covers("updateCommentInSpace", 200, 403)
@covers("updateCommentInChangeRequest", 200, 403)
@covers("deleteCommentInSpace", 204, 403)
@covers("deleteCommentInChangeRequest", 204, 403)
@covers("postCommentReplyInSpace", 200, 403)
@covers("postCommentReplyInChangeRequest", 200, 403)
def test_comment_permission_flags_match_allowed_requests(acme: Api) -> None:
    for where in places(acme):
        for user in ROLES:
            comment = f"{where}/comments/{post(acme.as_('cam-token'), where)['id']}"
            caller = acme.as_(f"{user}-token")
            assert caller.get(comment)["permissions"] == {
                "view": True,
                "reply": allowed(caller.call("POST", f"{comment}/replies", text("?")).status_code),
                "edit": allowed(caller.call("PUT", comment, text("?")).status_code),
                "delete": allowed(caller.call("DELETE", comment).status_code),
            }, user


@covers("updateCommentReplyInSpace", 200, 403)
@covers("updateCommentReplyInChangeRequest", 200, 403)
@covers("deleteCommentReplyInSpace", 204, 403)
@covers("deleteCommentReplyInChangeRequest", 204, 403)
def test_reply_permission_flags_match_allowed_requests(acme: Api) -> None:
    for where in places(acme):
        comment = f"{where}/comments/{post(acme, where)['id']}"
        for user in ROLES:
            at = f"{comment}/replies/{reply(acme.as_('cam-token'), comment)['id']}"
            caller = acme.as_(f"{user}-token")
            assert caller.get(at)["permissions"] == {
                "view": True,
                "reply": allowed(caller.call("POST", f"{comment}/replies", text("?")).status_code),
                "edit": allowed(caller.call("PUT", at, text("?")).status_code),
                "delete": allowed(caller.call("DELETE", at).status_code),
            }, user


@covers("postCommentInSpace", 403)
@covers("postCommentInChangeRequest", 403)
@covers("updateCommentInSpace", 403)
def test_reader_cannot_post_resolve_or_react(acme: Api) -> None:
    kim = acme.as_("kim-token")
    for where in PLACES:
        kim.refused(403, "POST", f"{where}/comments", text("?"))
    kim.refused(403, "PUT", HOURS, {"resolved": True})
    kim.refused(403, "PUT", HOURS, {"addedReactions": ["1f44d"]})
    kim.refused(403, "PUT", YES, {"addedReactions": ["1f44d"]})
    assert kim.get(HOURS)["id"] == "support-hours"


def test_demoted_author_keeps_control_of_comment(acme: Api) -> None:
    acme.patch("/orgs/acme/members/cam", {"role": "read"})
    cam = acme.as_("cam-token")
    assert cam.get(HOURS)["permissions"] == {"view": True, "edit": True, "reply": False, "delete": True}
    assert cam.put(HOURS, text("Hours, please"))["body"] == {"markdown": "Hours, please"}
    cam.delete(HOURS)


# --- with the space ---------------------------------------------------------------------------------


def test_space_counts_its_open_comments(acme: Api) -> None:
    before = acme.get(SPACE)["comments"]
    made = post(acme)["id"]
    post(acme, CHANGE)
    assert acme.get(SPACE)["comments"] == before + 1
    assert acme.get(CHANGE)["comments"] == 1
    acme.put(f"{SPACE}/comments/{made}", {"resolved": True})
    assert acme.get(SPACE)["comments"] == before


def test_restored_space_keeps_its_comments(acme: Api) -> None:
    before = acme.items(f"{SPACE}/comments")
    acme.delete(SPACE)
    acme.refused(404, "GET", HOURS)
    acme.post(f"{SPACE}/restore")
    assert acme.items(f"{SPACE}/comments") == before


def test_expired_deleted_space_loses_its_comments(acme: Api) -> None:
    acme.delete(SPACE)
    acme.clock.pass_by(days=8)
    acme.refused(404, "POST", f"{SPACE}/restore")
    acme.delete("/spaces/archive")
    kept = acme.state()["organizations"][0]["comments"]
    assert {comment["space"] for comment in kept} == {"handbook", "guides"}


def test_comments_move_with_transferred_space(acme: Api) -> None:
    made = acme.make("/orgs/acme/spaces", {"title": "Moving"})["id"]
    comment = f"/spaces/{made}/comments/{post(acme, f'/spaces/{made}')['id']}"
    reply(acme, comment)
    acme.post(f"/spaces/{made}/transfer", {"organization": "globex"})
    shown = acme.as_("hank-token").get(comment)
    assert (shown["replies"], shown["permissions"]["delete"]) == (1, True)
    acme.as_("lin-token").refused(404, "GET", comment)


def test_exported_server_data_reloads_with_same_comments(acme: Api) -> None:
    document = {"object": "document", "nodes": [paragraph(("Hi", ["bold"]))]}
    cell = {"record": "r1", "definition": "d1"}
    acme.post(f"{CHANGE}/comments", {"body": {"document": document}, "node": "n1", "tableCell": cell})
    acme.as_("cam-token").put(HOURS, {"addedReactions": ["2728"], "body": {}})
    paths = (f"{SPACE}/comments", f"{CHANGE}/comments", f"{HOURS}/replies")
    before = [acme.items(path, format=form) for path in paths for form in ("markdown", "document")]
    acme.server.reset(acme.state())
    assert [acme.items(path, format=form) for path in paths for form in ("markdown", "document")] == before


@pytest.mark.parametrize(
    "comment",
    [
        {"space": "none", "postedBy": "ada", "body": "?"},
        {"space": "support", "changeRequest": "none", "postedBy": "ada", "body": "?"},
        {"space": "support", "body": "?"},
        {"space": "support", "postedBy": "ada"},
    ],
)
def test_server_data_with_invalid_comment_is_refused(acme: Api, builtin_world: Any, comment: Any) -> None:
    before = acme.state()
    first, second = builtin_world["organizations"]
    with pytest.raises((ValueError, KeyError)):
        acme.server.reset({**builtin_world, "organizations": [{**first, "comments": [comment]}, second]})
    assert acme.state() == before


# --- any sequence -----------------------------------------------------------------------------------

SPEAKERS = ("ada", "lin", "cam", "kim")
who, which = st.sampled_from(SPEAKERS), st.integers(0, 3)
steps = st.lists(
    st.one_of(
        st.tuples(st.just("post"), who, st.sampled_from(PLACES)),
        st.tuples(st.sampled_from(["reply", "delete", "settle", "delete reply"]), who, which),
    ),
    max_size=12,
)


@dataclass
class Said:
    """A comment as it should be. `replies` are the ids of replies and who gave them."""

    place: str
    by: str
    is_open: bool = True
    replies: dict[str, str] = field(default_factory=dict)


def step(api: Api, said: dict[str, Said], does: str, user: str, on: Any) -> None:
    """One request and what it means; `on` is a place, or the number of a comment."""
    caller, speaks = api.as_(f"{user}-token"), user != "kim"
    if does == "post":
        answer = caller.call("POST", f"{on}/comments", text("?"))
        assert allowed(answer.status_code) is speaks
        if speaks:
            said[answer.json()["id"]] = Said(on, user)
    elif on < len(said):
        id, comment = list(said.items())[on]
        at = f"{comment.place}/comments/{id}"
        if does == "reply":
            answer = caller.call("POST", f"{at}/replies", text("!"))
            assert allowed(answer.status_code) is speaks
            if speaks:
                comment.replies[answer.json()["id"]] = user
        elif does == "settle":
            settles = caller.call("PUT", at, {"resolved": comment.is_open})
            assert allowed(settles.status_code) is speaks
            comment.is_open ^= speaks
        elif does == "delete":
            may = user in ("ada", comment.by)
            assert allowed(caller.call("DELETE", at).status_code) is may
            if may:
                del said[id]
        elif comment.replies:
            reply_id, by = next(iter(comment.replies.items()))
            may = user in ("ada", by)
            assert allowed(caller.call("DELETE", f"{at}/replies/{reply_id}").status_code) is may
            if may:
                del comment.replies[reply_id]


@settings(
    max_examples=examples(12, soak=250),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(steps)
def test_random_comment_requests_match_reference_model(
    api: Api, builtin_world: Any, taken: list[tuple[str, str, Any]]
) -> None:
    world = with_change(builtin_world)
    world["organizations"][0]["comments"] = []
    api.server.reset(world)
    said: dict[str, Said] = {}
    for one in taken:
        step(api, said, *one)
    for place in PLACES:
        here = {id: comment for id, comment in said.items() if comment.place == place}
        shown = {comment["id"]: comment for comment in api.items(f"{place}/comments", order="asc", limit=2)}
        assert list(shown) == list(here)
        assert api.get(place)["comments"] == sum(comment.is_open for comment in here.values())
        for id, comment in here.items():
            assert (shown[id]["status"] == "open") is comment.is_open
            assert api.ids(f"{place}/comments/{id}/replies") == list(comment.replies)
            counts = {one["user"]["id"]: one["count"] for one in shown[id]["repliers"]}
            assert counts == Counter(comment.replies.values())
