"""Collections and spaces, and what is in a space. A deleted space keeps its own until it is erased."""

from ..answers.comments import COMMENT, REPLY
from ..content.revisions import KIND as REVISION
from ..context import CHANGE_REQUEST
from ..family import Columns, Family, Link
from ..store import Record


def _in_comment(comment: Record) -> Columns:
    return {"organization": comment.organization, "parent": comment.id}


FAMILIES = (
    Family("collection", owner="organization"),
    Family("space", owner="organization", also="deleted-space"),
    Family("deleted-space", owner="organization"),
    Family(REVISION, owner="space"),
    Family(CHANGE_REQUEST, owner="space"),
    Family(COMMENT, owner="space"),
    Family(REPLY, owner="space", links=(Link(COMMENT, _in_comment),)),
)
