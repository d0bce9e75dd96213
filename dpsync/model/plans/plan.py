"""A plan: frozen data, canonical JSON, versioned, no secrets.

Everything that is written or shown comes from here. Values inside are plain JSON with the markers of
model/entries/values.py. Where things were written is in `origins`, which is in no digest: the same
configuration and platform give the same bytes without it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal

from msgspec import to_builtins
from pydantic import Field
from pydantic_core import to_json

from dpsync.model.deferred import Deferrable
from dpsync.model.findings.question import Refusal
from dpsync.model.findings.span import Span
from dpsync.model.frozen import Frozen
from dpsync.model.plans.addressed import Addressed
from dpsync.model.plans.change import Change
from dpsync.model.plans.delete_count import count_deletes
from dpsync.model.plans.delete_decision import DeleteDecision
from dpsync.model.plans.impact import Exposure, NavigationChange, SitePreview, UrlImpact
from dpsync.model.plans.remark import Blocked, Kept, Note, PlatformTrouble, Unwatched, Waiting
from dpsync.model.texts.loopback import is_loopback

DIGITS: Final = 32
"""Digits of a plan's digest that are shown, and that name it: 128 bits."""


class Origin(Frozen):
    file: str
    line: int = Field(ge=1)
    column: int = Field(ge=1)

    @staticmethod
    def of(span: Span) -> Origin:
        return Origin(file=span.file, line=span.line, column=span.column)


class Prerequisite(Addressed):
    """What was not selected and is planned all the same, because something selected needs it."""

    needed_by: str


class Part(Frozen):
    """Which part of the configuration was planned."""

    select: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    also: tuple[Prerequisite, ...] = ()


class Reverted(Frozen):
    """The apply that a plan reverts."""

    file: str
    """The journal or saved plan of the apply, as `dpsync revert` takes it."""
    left: tuple[str, ...] = ()
    """The addresses of the objects and fields that the plan does not restore."""


class Organization(Frozen):
    """An organization that is planned, and the id that it was found by."""

    address: str
    id: str


class Comparison(Frozen):
    """What was compared with what, and what was seen beside the differences: in a plan and in its drift."""

    platform: str = ""
    """The address of the platform, without /v1."""
    organizations: tuple[Organization, ...] = ()
    base: str | None = None
    """The git commit that served as the base."""
    base_from: str = ""
    """What that commit is for people ("HEAD"), or why there is no base."""
    environment: str | None = None
    environments: tuple[str, ...] = ()
    """Those of the root file: with none chosen, its top-level values were taken."""
    profile: str = "full"
    """Which operations the server was taken to have."""
    part: Part | None = None
    """What was selected; None for everything."""
    blocked: tuple[Blocked, ...] = ()
    waiting: tuple[Waiting, ...] = ()
    trouble: tuple[PlatformTrouble, ...] = ()
    """What the platform reports as wrong by itself: nothing that an apply would mend."""
    accepted: tuple[PlatformTrouble, ...] = ()
    """The same, if `policy: accept` has a pattern for it: people know of it, and no command lists it."""
    refusals: tuple[Refusal, ...] = ()
    """Why the plan cannot be applied."""
    kept: tuple[Kept, ...] = ()
    notes: tuple[Note, ...] = ()
    unwatched: Unwatched = Unwatched()
    requests: int = 0
    """How many requests the reading took."""
    pages: dict[str, dict[str, str]] = Field(default_factory=dict)
    """The paths of pages in changed fields: by the address or id of a site space, and by the page's id."""
    origins: Annotated[Mapping[str, Origin], Deferrable()] = Field(default_factory=dict)
    """Where entries, fields and lines of the policy are written."""

    @property
    def comparison(self) -> dict[str, Any]:
        """Each of these by its name, to be said by another value, too."""
        return {name: getattr(self, name) for name in Comparison.model_fields}


class Plan(Comparison):
    """What would be done. `can_apply` is decided here and nowhere else."""

    format: Literal["dpsync.plan/1"] = "dpsync.plan/1"
    reverts: Reverted | None = None
    """Of the plan of a revert, the reverted apply. It is in no digest."""
    renamed_keys: dict[str, str] = Field(default_factory=dict)
    """For each entry with a new key and no change: the new address, and the address in the ids file.

    An apply writes the new address to the ids file. It is in no digest.
    """
    confirmed: tuple[str, ...] = ()
    """The answers (`--confirm`) to what it asks."""
    deleting: bool = True
    """Whether anything may be deleted (not with `--no-delete`)."""
    delete_decision: DeleteDecision = DeleteDecision()
    """What a person must still decide about the deletes. It is in no digest: it follows from the refusals."""
    changes: tuple[Change, ...] = ()
    """By address, siblings that have an order in that order; deletes last."""
    exposures: tuple[Exposure, ...] = ()
    """What becomes more visible or more powerful by the changes."""
    navigation: tuple[NavigationChange, ...] = ()
    """Of every site whose navigation changes."""
    urls: tuple[UrlImpact, ...] = ()
    """Which public URLs change."""
    previews: tuple[SitePreview, ...] = ()
    """The previews of the live sites that change. They are in no digest: the platform chooses the URLs."""
    unproven: tuple[str, ...] = ()
    """In a plan that proves an apply: fields that cannot be read back and that the git base has otherwise.

    They are sent again by every apply until the files are committed.
    """
    bindings: dict[str, str] = Field(default_factory=dict)
    """Which live id each recognised address has."""

    @property
    def target(self) -> str:
        """The address of the platform, as digests name it: "" for what is on this machine."""
        return "" if is_loopback(self.platform) else self.platform

    @property
    def can_apply(self) -> bool:
        return not self.refusals

    @property
    def empty(self) -> bool:
        return not self.changes

    @property
    def deletes(self) -> int:
        """How many things will be gone: the number for `--confirm "delete N"`."""
        return count_deletes(self.changes).number

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.bytes()).hexdigest()

    def bytes(self) -> bytes:
        """The canonical form.

        It is without `origins`, times, how much reading it took, what the platform is at work on or reports
        as wrong, and what is not watched. Platform and organizations are named by address and id, so that a
        plan for one never approves another; but for the address of what is on this machine, which has
        another port each time.
        Which commit was the base is not in it either, nor what is only told because of it, as labels and
        notes but those of consequences: what the base has a say in are changes and refusals. So a digest that
        was approved before a merge names the same operations after it.
        """
        words = "origins requests base base_from waiting unwatched trouble accepted delete_decision previews"
        left_out: dict[str, Any] = dict.fromkeys([*words.split(), "reverts", "renamed_keys", "pages"], True)
        told = {"__all__": {"cause", "masked"}}
        left_out["changes"] = {"__all__": {"cause": True, "was": True, "removed": True, "differences": told}}
        left_out["refusals"] = {"__all__": {"candidates": {"__all__": {"changed", "pages"}}}}
        left_out["notes"] = {"__all__": {"detail"}}
        notes = tuple(note for note in self.notes if note.consequence)
        agreed = self.model_copy(update={"notes": notes, "platform": self.target})
        return to_json(to_builtins(agreed.model_dump(mode="json", exclude=left_out), order="sorted"))
