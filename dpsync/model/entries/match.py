"""Which live object an entry is, and by what it was recognised."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct


class MatchedBy(StrEnum):
    """By what an entry was recognised. Rules compare these; the words for people are in `render`."""

    PIN = "pin"
    LINE = "line"
    """Its line in the ids file."""
    OTHER_LINE = "line of another entry"
    """The line of an entry that has gone, of which this one has a new key: `detail` is that one's address."""
    PREVIOUSLY = "previously"
    BASE = "base"
    """The name that it had in the git base."""
    EARLIER_COMMIT = "earlier commit"
    """The name that it had in a commit before the git base: `detail` is the id of the commit."""
    KEY = "key"
    """Its first natural key."""
    LATER_KEY = "later key"
    """Another natural key, or one that it had earlier: `detail` names the fields."""
    PLACE = "place"
    """It is the only one that can be there."""
    TEMPORARY_NAME = "temporary name"
    """The name that dpsync gave it while names went round."""
    CONTENTS = "contents"
    """What it holds."""
    LOOKS = "looks"


class Match(Struct, frozen=True):
    """The live object that an entry is: its id, and by what it was recognised."""

    id: str
    by: MatchedBy
    detail: str = ""
    """For people: the fields of a later key, or the address of another entry."""
