"""How an ordinary family is served: under its owner, by id, each operation with its usual meaning.

What is not ordinary about one is said by the functions `begin` and `write`; an operation that means something
else has a handler of its own. `handlers.ordinary` has the handlers, `operations.rows` the rows.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .models.base import Answer, Body
from .store import Record

if TYPE_CHECKING:
    from .context import Context

Json = dict[str, Any]


def _begin(ctx: "Context", record: Record) -> None:
    record.doc = {"createdAt": ctx.stamp}


def _write(ctx: "Context", record: Record, given: Json) -> None:
    record.doc.update(given)


@dataclass(frozen=True)
class Resource:
    """`path` is below that of the owner, `parameter` names one below that, `what` in messages.

    `begin` fills in what a new record has before the members of the body, `write` takes those of a body that
    creates or updates: by default they are the document. `answer` is its rendering, of the model `item`.
    """

    what: str
    path: str
    parameter: str
    answer: "Callable[[Context, Record], Json]"
    item: type[Answer]
    create: type[Body] | None = None
    update: type[Body] | None = None
    begin: "Callable[[Context, Record], None]" = _begin
    write: "Callable[[Context, Record, Json], None]" = _write
