"""Lists of comments and conversations, page by page: nothing twice, nothing left out, limits kept."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from cases.comments_cases import with_change
from companion_calls import Api

from dpsync.server.operations import comments, conversations
from dpsync.server.request.operation import Operation

COUNT = 5
SPACE = "/spaces/support"
CHANGE = f"{SPACE}/change-requests/change-a"
ACME = "/orgs/acme"
TEXT = {"body": {"markdown": "Again"}}


@dataclass(frozen=True)
class Listing:
    """`more` makes a few more items."""

    path: str
    more: Callable[[Api], None]


def posts(path: str) -> Callable[[Api], None]:
    def more(api: Api) -> None:
        for _ in range(COUNT):
            api.post(path, TEXT)

    return more


def replies(where: str) -> Listing:
    path = f"{where}/comments/comment-1/replies"

    def more(api: Api) -> None:
        assert api.post(f"{where}/comments", TEXT)["id"] == "comment-1"
        posts(path)(api)

    return Listing(path, more)


def talk(api: Api) -> None:
    """Each on a topic of its own."""
    for word in ("alpha", "beta", "gamma", "delta", "omega"):
        part = {"type": "message", "role": "user", "body": f"{word} {word}s?"}
        api.post(f"{ACME}/conversations", {"id": word, "parts": [part]}, 204)
    api.server.wait_for_jobs()


LISTS = {
    "listCommentsInSpace": Listing(f"{SPACE}/comments", posts(f"{SPACE}/comments")),
    "listCommentsInChangeRequest": Listing(f"{CHANGE}/comments", posts(f"{CHANGE}/comments")),
    "listCommentRepliesInSpace": replies(SPACE),
    "listCommentRepliesInChangeRequest": replies(CHANGE),
    "listConversations": Listing(f"{ACME}/conversations", talk),
    "listConversationsIssues": Listing(f"{ACME}/conversations-issues", talk),
    "listConversationsIssuesClusters": Listing(f"{ACME}/conversations-clusters", talk),
}
every_list = pytest.mark.parametrize("name", LISTS)


def is_list(row: Operation) -> bool:
    return "limit" in row.query_model.model_fields


@pytest.fixture
def acme(api: Api, builtin_world: Any) -> Api:
    api.server.reset(with_change(builtin_world))
    return api


def listing(api: Api, name: str) -> str:
    LISTS[name].more(api)
    return LISTS[name].path


def test_paging_tests_include_every_list_operation() -> None:
    rows = (*comments.OPERATIONS, *conversations.OPERATIONS)
    assert {row.id for row in rows if is_list(row)} == set(LISTS)


@every_list
def test_list_pages_of_any_size_form_whole_list(acme: Api, name: str) -> None:
    path = listing(acme, name)
    whole = acme.get(path, limit=1000)
    assert "next" not in whole
    assert whole["count"] == len(whole["items"]) >= COUNT
    for limit in range(1, whole["count"] + 2):
        assert acme.items(path, limit=limit) == whole["items"]
        assert acme.get(path, limit=limit)["count"] == whole["count"]


@every_list
def test_limit_zero_returns_count_only(acme: Api, name: str) -> None:
    path = listing(acme, name)
    assert acme.get(path, limit=0) == {"count": acme.get(path)["count"], "items": []}


@every_list
def test_invalid_limit_or_cursor_is_refused(acme: Api, name: str) -> None:
    path = listing(acme, name)
    for limit in ("1001", "-1", "many", ""):
        assert acme.refused(400, "GET", f"{path}?limit={limit}").startswith("query.limit")
    for cursor in ("nonsense", "", "W10", "bnVsbA", "W1s5OTldLDFd"):
        assert acme.refused(400, "GET", f"{path}?page={cursor}").startswith("query.page"), cursor


@every_list
def test_item_created_between_pages_shifts_no_others(acme: Api, name: str) -> None:
    path = listing(acme, name)
    whole = acme.get(path)["items"]
    first = acme.get(path, limit=2)
    acme.clock.pass_by(seconds=1)
    if "/conversations" in path:
        part = {"type": "message", "role": "user", "body": "Something else?"}
        acme.post(f"{ACME}/conversations", {"id": "late", "parts": [part]}, 204)
        acme.server.wait_for_jobs()
    else:
        acme.post(path, TEXT)
    rest = acme.items(path, limit=2, page=first["next"]["page"])
    assert [*first["items"], *rest][: len(whole)] == whole
