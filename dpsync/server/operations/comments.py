"""Define the API operations on comments: method, path, models and handler of each.

Topics: comments and replies on a space or a change request.
Output: `OPERATIONS`, one row for each operation, which `operations/__init__.py` collects.
`TITLE` is the heading of these operations in docs/api.md.
"""

from typing import Any

from ..handlers.spaces import comments
from ..models import comments as mc
from .builders import CHANGE_REQUEST, FULL_ONLY, SPACE, delete, get, listing, post, put

TITLE = "Comments"

_AUTHOR_ONLY: Any = {"required_role": None, "error_statuses": (403,)}
_LIST_NOTE = "Lists the newest comments first. You can filter the comments by `targetPage` and `authors`."
_POST_NOTE = (
    "The body contains `markdown` or `document`, or is empty. Returns 404 if the page does not exist."
)
_UPDATE_NOTE = (
    "Only the author can change the text. Callers with the role `comment` can resolve comments and add "
    "reactions."
)
_DELETE_NOTE = "Only the author and admins of the space can call this operation."


def _common_operations(base_path: str, suffix: str) -> list[Any]:
    """Return the operations on comments that a space and a change request share."""
    comment_path = base_path + "/comments/{commentId}"
    return [
        listing(f"listCommentsIn{suffix}", base_path + "/comments", comments.list_comments, mc.Comment,
                mc.CommentsQuery, note=_LIST_NOTE),
        post(f"postCommentIn{suffix}", base_path + "/comments", comments.post_comment, mc.Comment,
             mc.CommentCreate, required_role="comment", note=_POST_NOTE),
        get(f"getCommentIn{suffix}", comment_path, comments.get_comment, mc.Comment, mc.FormatQuery),
        put(f"updateCommentIn{suffix}", comment_path, comments.update_comment, mc.Comment, mc.CommentUpdate,
            note=_UPDATE_NOTE, **_AUTHOR_ONLY),
        delete(f"deleteCommentIn{suffix}", comment_path, comments.delete_comment, note=_DELETE_NOTE,
               **_AUTHOR_ONLY),
    ]  # fmt: skip


_SPACE_REPLIES = SPACE + "/comments/{commentId}/replies"
_SPACE_REPLY = _SPACE_REPLIES + "/{commentReplyId}"
_CR_REPLIES = CHANGE_REQUEST + "/comments/{commentId}/replies"
_CR_REPLY = _CR_REPLIES + "/{commentReplyId}"

OPERATIONS = [
    *_common_operations(SPACE, "Space"),
    listing("listCommentRepliesInSpace", _SPACE_REPLIES, comments.list_replies, mc.CommentReply,
            mc.RepliesQuery, **FULL_ONLY),
    post("postCommentReplyInSpace", _SPACE_REPLIES, comments.post_reply, mc.CommentReply, mc.ReplyCreate,
         required_role="comment"),
    get("getCommentReplyInSpace", _SPACE_REPLY, comments.get_reply, mc.CommentReply, mc.FormatQuery),
    put("updateCommentReplyInSpace", _SPACE_REPLY, comments.update_reply, mc.CommentReply, mc.ReplyUpdate,
        note=_UPDATE_NOTE, **_AUTHOR_ONLY),
    delete("deleteCommentReplyInSpace", _SPACE_REPLY, comments.delete_reply, note=_DELETE_NOTE,
           **_AUTHOR_ONLY,
           **FULL_ONLY),
    *_common_operations(CHANGE_REQUEST, "ChangeRequest"),
    listing("listCommentRepliesInChangeRequest", _CR_REPLIES, comments.list_replies, mc.CommentReply,
            mc.RepliesQuery),
    post("postCommentReplyInChangeRequest", _CR_REPLIES, comments.post_reply, mc.CommentReply,
         mc.ReplyCreate, query_model=mc.FormatQuery, required_role="comment"),
    get("getCommentReplyInChangeRequest", _CR_REPLY, comments.get_reply, mc.CommentReply, mc.FormatQuery,
        **FULL_ONLY),
    put("updateCommentReplyInChangeRequest", _CR_REPLY, comments.update_reply, mc.CommentReply,
        mc.ReplyUpdate, note=_UPDATE_NOTE, **_AUTHOR_ONLY, **FULL_ONLY),
    delete("deleteCommentReplyInChangeRequest", _CR_REPLY, comments.delete_reply, note=_DELETE_NOTE,
           **_AUTHOR_ONLY, **FULL_ONLY),
]  # fmt: skip
