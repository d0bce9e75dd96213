"""Comments."""

from typing import Any

from ..handlers.spaces import comments
from ..models import comments as mc
from .rows import ADDED, CR, SP, delete, get, listing, post, put

_BY_AUTHOR: Any = {"needs": None, "errors": (403,)}
_LISTED = "Lists the newest comments first. You can filter the comments by `targetPage` and `authors`."
_POSTED = "The body contains `markdown` or `document`, or is empty. Returns 404 if the page does not exist."
_CHANGED = (
    "Only the author can change the text. Callers with the role `comment` can resolve comments and add "
    "reactions."
)
_DELETED = "Only the author and admins of the space can call this operation."


def _rows(at: str, where: str) -> list[Any]:
    """Return the operations on comments that a space and a change request share."""
    one = at + "/comments/{commentId}"
    return [
        listing(f"listCommentsIn{where}", at + "/comments", comments.list_comments, mc.Comment,
                mc.CommentsQuery, note=_LISTED),
        post(f"postCommentIn{where}", at + "/comments", comments.post_comment, mc.Comment,
             mc.CommentCreate, needs="comment", note=_POSTED),
        get(f"getCommentIn{where}", one, comments.get_comment, mc.Comment, mc.FormatQuery),
        put(f"updateCommentIn{where}", one, comments.update_comment, mc.Comment, mc.CommentUpdate,
            note=_CHANGED, **_BY_AUTHOR),
        delete(f"deleteCommentIn{where}", one, comments.delete_comment, note=_DELETED, **_BY_AUTHOR),
    ]  # fmt: skip


_SPACE_REPLIES = SP + "/comments/{commentId}/replies"
_SPACE_REPLY = _SPACE_REPLIES + "/{commentReplyId}"
_CR_REPLIES = CR + "/comments/{commentId}/replies"
_CR_REPLY = _CR_REPLIES + "/{commentReplyId}"

OPERATIONS = [
    *_rows(SP, "Space"),
    listing("listCommentRepliesInSpace", _SPACE_REPLIES, comments.list_replies, mc.CommentReply,
            mc.RepliesQuery, **ADDED),
    post("postCommentReplyInSpace", _SPACE_REPLIES, comments.post_reply, mc.CommentReply, mc.ReplyCreate,
         needs="comment"),
    get("getCommentReplyInSpace", _SPACE_REPLY, comments.get_reply, mc.CommentReply, mc.FormatQuery),
    put("updateCommentReplyInSpace", _SPACE_REPLY, comments.update_reply, mc.CommentReply, mc.ReplyUpdate,
        note=_CHANGED, **_BY_AUTHOR),
    delete("deleteCommentReplyInSpace", _SPACE_REPLY, comments.delete_reply, note=_DELETED, **_BY_AUTHOR,
           **ADDED),
    *_rows(CR, "ChangeRequest"),
    listing("listCommentRepliesInChangeRequest", _CR_REPLIES, comments.list_replies, mc.CommentReply,
            mc.RepliesQuery),
    post("postCommentReplyInChangeRequest", _CR_REPLIES, comments.post_reply, mc.CommentReply,
         mc.ReplyCreate, query=mc.FormatQuery, needs="comment"),
    get("getCommentReplyInChangeRequest", _CR_REPLY, comments.get_reply, mc.CommentReply, mc.FormatQuery,
        **ADDED),
    put("updateCommentReplyInChangeRequest", _CR_REPLY, comments.update_reply, mc.CommentReply,
        mc.ReplyUpdate, note=_CHANGED, **_BY_AUTHOR, **ADDED),
    delete("deleteCommentReplyInChangeRequest", _CR_REPLY, comments.delete_reply, note=_DELETED,
           **_BY_AUTHOR, **ADDED),
]  # fmt: skip
