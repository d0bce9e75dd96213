"""Comments on a space and on a change request."""

from typing import Any

_TEXT = {"body": {"markdown": "Changed"}}
_NAMES = (
    "listComments", "postComment", "getComment", "updateComment", "deleteComment", "listCommentReplies",
    "postCommentReply", "getCommentReply", "updateCommentReply", "deleteCommentReply",
)  # fmt: skip
_ON_A_SPACE = {"spaceId": "support"}
_ON_A_CHANGE = {"spaceId": "guides", "commentId": "welcome-length", "commentReplyId": "length-is-fine"}

IDS = {"commentId": "support-hours", "commentReplyId": "hours-yes"}
OTHER_IDS = {f"{name}InSpace": _ON_A_SPACE for name in _NAMES} | {
    f"{name}InChangeRequest": _ON_A_CHANGE for name in _NAMES
}
BODIES: dict[str, Any] = {
    "postCommentInSpace": _TEXT,
    "updateCommentInSpace": {"resolved": True},
    "postCommentReplyInSpace": _TEXT,
    "updateCommentReplyInSpace": {"addedReactions": ["1f44d"]},
    "postCommentInChangeRequest": _TEXT,
    "updateCommentInChangeRequest": {"resolved": True},
    "postCommentReplyInChangeRequest": _TEXT,
    "updateCommentReplyInChangeRequest": {"addedReactions": ["1f44d"]},
}


def with_change(world: Any, content: Any = None) -> Any:
    """Return the world with a change request without comments, on a space with comments."""
    acme = world["organizations"][0]
    change = {"id": "change-a", "subject": "A change", "status": "open", "createdBy": "eve"}
    more = {"changeRequests": [change], **({"content": content} if content else {})}
    spaces = [{**space, **more} if space["id"] == "support" else space for space in acme["spaces"]]
    return {**world, "organizations": [{**acme, "spaces": spaces}, *world["organizations"][1:]]}
