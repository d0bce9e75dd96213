"""A saved plan as it is in its file."""

from __future__ import annotations

from typing import Literal

from dpsync.model.frozen import Frozen
from dpsync.model.plans.plan import Plan
from dpsync.model.plans.rehearsal import Rehearsal


class Saved(Frozen):
    """A plan and its digest. What it was made with is in it, so that the digest covers that, too."""

    format: Literal["dpsync.saved-plan/1"] = "dpsync.saved-plan/1"
    digest: str
    plan: Plan
    rehearsal: Rehearsal | None = None
    """What its rehearsal has shown. It is in no digest: it says nothing about what will be done."""
