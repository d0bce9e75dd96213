"""What the files say otherwise than those of a base. It is about files alone: no platform is in it."""

from __future__ import annotations

from typing import Any, Literal

from dpsync.model.frozen import Frozen
from dpsync.model.plans.plan import Origin


class EditedField(Frozen):
    """A field with both sides. `declared` says on which of them it is: elsewhere it is not managed."""

    field: str
    before: Any = None
    after: Any = None
    declared: Literal["both", "before", "after"] = "both"


class Edit(Frozen):
    """One entry or place, the policy, or the environment.

    `kind` is a word for people; `before` the address that a renamed entry had; `inside` how many entries went
    with a removed one.
    """

    address: str
    what: Literal["removed", "renamed", "changed", "added"]
    kind: str = ""
    label: str = ""
    before: str | None = None
    inside: int = 0
    fields: tuple[EditedField, ...] = ()
    at: Origin | None = None


class Edits(Frozen):
    """All of them. `base` is the commit, null where there is none; `base_from` what it is, or why none is."""

    base: str | None = None
    base_from: str = ""
    found: tuple[Edit, ...] = ()
