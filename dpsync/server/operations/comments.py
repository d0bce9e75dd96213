"""Parts 4.1 and 4.2: comments on spaces and on change requests."""

from typing import Any

from ..handlers.spaces import comments
from ..models import comments as mc
from .rows import ADDED, CR, SP, delete, get, listing, post, put

_BY_AUTHOR: Any = {"needs": None, "errors": (403,)}
_PLACES = (
    "targetPage names the page. Order is that of posting; authors may be repeated or joined by commas. "
    "Without a format, texts are markdown."
)
_TOLD = "The format is markdown (the default) or document, whichever the text was written as."
_POSTED = (
    "body is {markdown}, {document} or {}, an empty comment. A page that the space does not have is 404 "
    "where it has content. Needs the role comment."
)
_CHANGED = (
    "The text is changed by its author (403 for others), the status and reactions by whoever has the role "
    "comment; resolved false opens it again."
)
_DELETED = "By its author or an admin of the space; 204 also when it is not there."
_GONE = _DELETED + " Its replies go with it."


def _rows(at: str, where: str) -> list[Any]:
    """The operations on comments that a space and a change request have in common."""
    one = at + "/comments/{commentId}"
    return [
        listing(f"listCommentsIn{where}", at + "/comments", comments.list_comments, mc.Comment,
                mc.CommentsQuery, decided=_PLACES),
        post(f"postCommentIn{where}", at + "/comments", comments.post_comment, mc.Comment,
             mc.CommentCreate, needs="comment", decided=_POSTED),
        get(f"getCommentIn{where}", one, comments.get_comment, mc.Comment, mc.FormatQuery,
            decided=_TOLD),
        put(f"updateCommentIn{where}", one, comments.update_comment, mc.Comment, mc.CommentUpdate,
            decided=_CHANGED, **_BY_AUTHOR),
        delete(f"deleteCommentIn{where}", one, comments.delete_comment, decided=_GONE, **_BY_AUTHOR),
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
         needs="comment", decided="A comment that is resolved can be replied to."),
    get("getCommentReplyInSpace", _SPACE_REPLY, comments.get_reply, mc.CommentReply, mc.FormatQuery),
    put("updateCommentReplyInSpace", _SPACE_REPLY, comments.update_reply, mc.CommentReply, mc.ReplyUpdate,
        decided="As of a comment.", **_BY_AUTHOR),
    delete("deleteCommentReplyInSpace", _SPACE_REPLY, comments.delete_reply, decided=_DELETED, **_BY_AUTHOR,
           **ADDED),
    *_rows(CR, "ChangeRequest"),
    listing("listCommentRepliesInChangeRequest", _CR_REPLIES, comments.list_replies, mc.CommentReply,
            mc.RepliesQuery, decided="In order of creation."),
    post("postCommentReplyInChangeRequest", _CR_REPLIES, comments.post_reply, mc.CommentReply,
         mc.ReplyCreate, query=mc.FormatQuery, needs="comment"),
    get("getCommentReplyInChangeRequest", _CR_REPLY, comments.get_reply, mc.CommentReply, mc.FormatQuery,
        **ADDED),
    put("updateCommentReplyInChangeRequest", _CR_REPLY, comments.update_reply, mc.CommentReply,
        mc.ReplyUpdate, decided="As of a comment.", **_BY_AUTHOR, **ADDED),
    delete("deleteCommentReplyInChangeRequest", _CR_REPLY, comments.delete_reply, decided=_DELETED,
           **_BY_AUTHOR, **ADDED),
]  # fmt: skip
