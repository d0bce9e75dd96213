"""What changes at one address: the differences, their labels, what goes along, and the steps."""

from __future__ import annotations

from typing import Any, Literal

from dpsync.model.entries.match import MatchedBy
from dpsync.model.entries.values import digest
from dpsync.model.frozen import Frozen
from dpsync.model.plans.addressed import Addressed
from dpsync.model.plans.cause import Cause
from dpsync.model.plans.step import Step
from dpsync.model.texts.json_text import json_text
from dpsync.model.texts.mask import HIDDEN
from dpsync.model.texts.web_address import mask_passwords

Action = Literal["create", "update", "delete"]


class Difference(Frozen):
    """One field: what is live and what is wanted. `known` is false where the live value cannot be read."""

    field: str
    before: Any = None
    after: Any = None
    known: bool = True
    cause: Cause | None = None
    """The label: who changed the value, as far as git knows. Nothing that dpsync does depends on it."""
    inherited: str | None = None
    """Whose value it is so far: that one changes in this plan, and so the value is written as its own."""
    taken_from: str | None = None
    """The id of the sibling that loses this flag, if only one sibling can have the flag."""
    masked: str | None = None
    """Digest of both original values if a URL password was masked: an approval covers the password."""

    def after_masking(self, original: Difference) -> Difference:
        """Return this masked difference, with a digest of the original values if they had a URL password."""
        values = json_text([original.before, original.after])
        if mask_passwords(values, HIDDEN) == values:
            return self
        return self.model_copy(update={"masked": digest([original.before, original.after])})


class Effect(Addressed):
    """What goes or changes along with a delete or another change, without a request of its own."""

    what: str
    counts: bool = True
    kind: str = ""
    """Of the object at the address, or of the object whose field it names."""
    label: str = ""


class Removed(Frozen):
    """The entry that a deleted object had: its address, and the file that it stood in."""

    address: str
    file: str


class Change(Addressed):
    """One address: why it changes, how, and by which requests in which order."""

    kind: str
    action: Action
    label: str = ""
    """What people know it by: its title."""
    id: str | None = None
    matched: MatchedBy | None = None
    """By what its object was recognised, where that was neither its line nor its first natural key."""
    matched_detail: str = ""
    """The fields of a later natural key, or the address of the entry whose line it was."""
    digest: str | None = None
    """Of the live object, as it was when the plan was made."""
    watched: tuple[str, ...] = ()
    """The fields of the digest: declared ones that are not ignored; for a delete all that last."""
    inside: str | None = None
    """Of a new node the one that encloses it (its group), where the address does not say that."""
    differences: tuple[Difference, ...] = ()
    moved: str | None = None
    cause: Cause | None = None
    """The label of a create, delete, restore or move; None if git does not know, or only fields differ."""
    effects: tuple[Effect, ...] = ()
    was: tuple[Difference, ...] = ()
    """Of what is deleted the values that it has so far: those that a request writes, and none that may be
    secret. By these a revert makes it anew. It is in no digest: `digest` stands for all of its values."""
    removed: Removed | None = None
    """Of what is deleted the entry that the git base has for it. It is in no digest."""
    steps: tuple[Step, ...] = ()

    @property
    def done(self) -> Change:
        """Return the change without its label and history, which do not affect an apply."""
        left_out = {"cause": None, "taken_from": None}
        differences = tuple(item.model_copy(update=left_out) for item in self.differences)
        return self.model_copy(update={"cause": None, "differences": differences, "was": (), "removed": None})
