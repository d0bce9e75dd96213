"""The words `new` and `takeover`: what an entry says about itself by true or false, beside its fields."""

from __future__ import annotations

from dpsync.config.declaring.declare import Declaration
from dpsync.kinds.types import Parsing
from dpsync.model.nodes import Node, Scalar


def new(entry: Declaration, parsing: Parsing) -> bool:
    """Whether an entry is declared to be a new thing, whatever is live."""
    possible, why = (
        entry.kind.content,
        f'"new" has no effect, because dpsync creates {entry.kind.one} without a question',
    )
    return _flag(entry.new, parsing, None if possible else why)


def takeover(entry: Declaration, parsing: Parsing) -> bool:
    """Whether an entry is to be written although the platform keeps a part of it as a repository has it."""
    why = f'"takeover" has no effect, because GitBook cannot sync {entry.kind.one} with a repository'
    return _flag(entry.takeover, parsing, None if entry.kind.synced else why)


def _flag(said: tuple[Scalar, Node] | None, parsing: Parsing, impossible: str | None) -> bool:
    if said is None:
        return False
    key, node = said
    if impossible is not None:
        parsing.error("DP228", impossible, key.span, "delete the line")
        return False
    if not isinstance(node, Scalar) or not isinstance(node.value, bool):
        parsing.error("DP202", f"{key.text} must be true or false", node.span)
        return False
    return node.value
