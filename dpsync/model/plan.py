"""Define a plan: immutable data with a canonical JSON form, a version, and no secrets.

All outputs come from a `Plan`. Its values are plain JSON with the markers of model/values.py.
`Plan.canonical_json` is the canonical form and `Plan.digest` its hash; neither depends on `origins`
(positions in files), so the same configuration and platform give the same bytes. `Rehearsal` is the result
of a rehearsal, `Saved` the content of a saved plan, and `DeleteDecision` what a person must still decide
about deletes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Final, Literal

from msgspec import Struct, to_builtins
from pydantic import Field
from pydantic_core import to_json

from dpsync.model.change import (
    Addressed,
    Blocked,
    Change,
    Exposure,
    Kept,
    NavigationChange,
    Note,
    PlatformTrouble,
    SitePreview,
    Unwatched,
    UrlImpact,
    Waiting,
)
from dpsync.model.deferred import LazySerializable
from dpsync.model.frozen import Frozen
from dpsync.model.nodes import Span
from dpsync.model.question import Refusal
from dpsync.model.text import format_count
from dpsync.model.urls import is_loopback


class DeleteCount(Struct, frozen=True):
    """The numbers of objects that the plan deletes directly (`direct`), and by cascade (`cascaded`)."""

    direct: int
    cascaded: int

    @property
    def total(self) -> int:
        """Return the total number, which `--confirm "delete N"` needs."""
        return self.direct + self.cascaded

    @property
    def cascade_text(self) -> str:
        """Return what one delete cascades to: `deleting this object also deletes 2 other objects`, or ""."""
        others = format_count(self.cascaded, "other object")
        return f"deleting this object also deletes {others}" if self.cascaded else ""


def count_deletes(changes: Iterable[Change]) -> DeleteCount:
    """Count the objects that these changes delete, directly and by cascade."""
    deletes = [change for change in changes if change.action == "delete"]
    return DeleteCount(len(deletes), sum(effect.counts for change in deletes for effect in change.effects))


class DeleteDecision(Frozen):
    """The open part of the decision. Without both parts, deletes are confirmed with the rest of the plan."""

    number: int | None = None
    """How many objects the plan deletes, if a person must confirm this number (`delete N`)."""
    names: tuple[str, ...] = ()
    """The addresses of objects that a person must name, each by itself (`delete ADDRESS`)."""

    @property
    def answers(self) -> tuple[str, ...]:
        """Return the answers that make the decision, as `--confirm` takes them."""
        number = () if self.number is None else (f"delete {self.number}",)
        return (*number, *(f"delete {name}" for name in self.names))


APPROVED_DIGEST_DIGITS: Final = 32
"""Digits of a plan's digest that are shown, and that name it: 128 bits."""


class Origin(Frozen):
    file: str
    line: int = Field(ge=1)
    column: int = Field(ge=1)

    @staticmethod
    def of(span: Span) -> Origin:
        """Return the start of a span."""
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
    origins: Annotated[Mapping[str, Origin], LazySerializable()] = Field(default_factory=dict)
    """Where entries, fields and lines of the policy are written."""

    @property
    def comparison_fields(self) -> dict[str, Any]:
        """Return each of these fields by its name, to copy them to another value."""
        return {name: getattr(self, name) for name in Comparison.model_fields}


_NOT_IN_DIGEST: Final = (
    "origins", "requests", "base", "base_from", "waiting", "unwatched", "trouble", "accepted",
    "delete_decision", "previews", "reverts", "renamed_keys", "pages",
)  # fmt: skip
"""Fields of a plan that do not change what an apply does."""


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
        """Return the address of the platform for digests; "" for a platform on this machine."""
        return "" if is_loopback(self.platform) else self.platform

    @property
    def can_apply(self) -> bool:
        """Return whether the plan has no refusal."""
        return not self.refusals

    @property
    def empty(self) -> bool:
        """Return whether the plan changes nothing."""
        return not self.changes

    @property
    def deletes(self) -> int:
        """Return the number of objects that the plan deletes, which `--confirm "delete N"` needs."""
        return count_deletes(self.changes).total

    @property
    def digest(self) -> str:
        """Return the SHA-256 of the canonical JSON, which identifies the plan for an approval."""
        return hashlib.sha256(self.canonical_json()).hexdigest()

    def canonical_json(self) -> bytes:
        """Return the JSON from which the digest of the plan is computed: only what an approval must cover.

        The JSON excludes the fields in `_NOT_IN_DIGEST`, such as the number of requests, the compared commit,
        and GitBook's own work and problems. It also excludes: of changes, labels, password digests and what
        a deleted object was; of candidates, times and page counts; of notes, details, and notes without
        consequences. So a digest that was approved before a merge also approves the same operations after it.
        The platform URL stays, so no plan approves another platform, but a local server has no URL here,
        because its port changes.
        """
        excluded: dict[str, Any] = dict.fromkeys(_NOT_IN_DIGEST, True)
        excluded_labels = {"__all__": {"cause", "masked"}}
        excluded["changes"] = {
            "__all__": {"cause": True, "was": True, "removed": True, "differences": excluded_labels}
        }
        excluded["refusals"] = {"__all__": {"candidates": {"__all__": {"changed", "pages"}}}}
        excluded["notes"] = {"__all__": {"detail"}}
        notes = tuple(note for note in self.notes if note.consequence)
        digested_plan = self.model_copy(update={"notes": notes, "platform": self.target})
        return to_json(to_builtins(digested_plan.model_dump(mode="json", exclude=excluded), order="sorted"))


DeviationKind = Literal["loading", "step", "convergence", "public", "stopped"]
UnprovenKind = Literal[
    "token", "secrets", "content", "scripts", "fetched", "refused", "unread", "assumed", "unknown",
    "differing", "platform", "public",
]  # fmt: skip


class Deviation(Frozen):
    """Something that went otherwise than the plan says.

    loading: the companion gives another answer than the platform. step: a step was not carried out.
    convergence: a new plan would do something more. public: something was public that is public neither
    before nor afterwards. stopped: the apply did not go on.
    """

    what: DeviationKind
    message: str
    address: str | None = None
    step: str | None = None
    status: int | None = None
    origin: Origin | None = None


class Unproven(Frozen):
    """Something that a rehearsal cannot show, in words, and what it is about."""

    what: UnprovenKind
    message: str
    about: tuple[str, ...] = ()


class Estimate(Frozen):
    """How long an apply will take. `seconds` are those of its three parts together.

    `reading` is what the plan's reading took; an apply reads twice. `writing` is worked out from the graph of
    the steps: `parallelism` at once, each as many requests as the rehearsal sent for it, each request taking
    `latency` seconds, the median of the plan's own.
    """

    seconds: float
    reading: float
    writing: float
    latency: float
    parallelism: int


class FaultRun(Frozen):
    """One rehearsal with faults: which, and what one clean apply made of it."""

    seed: int
    faults: tuple[str, ...]
    good: bool
    end: str
    """What became of it, in words."""


class Rehearsal(Frozen):
    """A plan was carried out on a companion that held what is live. Nothing was sent to the platform but GET.

    `fit` is false where anything went otherwise than planned; `deviations` say what.
    """

    format: Literal["dpsync.rehearsal/1"] = "dpsync.rehearsal/1"
    plan: str
    """The digest of the plan that was rehearsed."""
    platform: str = ""
    profile: str = "full"
    steps: int = 0
    done: int = 0
    """How many steps were carried out."""
    converged: bool = False
    """Whether a new plan had nothing to do afterwards."""
    complete: bool = False
    """Whether an apply would have nothing to tell but success: nothing is left to people either."""
    reads: int = 0
    writes: int = 0
    moves: int = 0
    """How many of the steps move something among its siblings."""
    looked: int = 0
    """After how many writes it was looked at what is public."""
    deviations: tuple[Deviation, ...] = ()
    unproven: tuple[Unproven, ...] = ()
    time: Estimate | None = None
    seed: int | None = None
    """What the faults were drawn from; None where there were none."""
    faults: tuple[FaultRun, ...] = ()

    @property
    def went_as_planned(self) -> bool:
        """Return whether everything went as planned."""
        return not self.deviations and all(run.good for run in self.faults)


class Saved(Frozen):
    """A plan and its digest. What it was made with is in it, so that the digest covers that, too."""

    format: Literal["dpsync.saved-plan/1"] = "dpsync.saved-plan/1"
    digest: str
    plan: Plan
    rehearsal: Rehearsal | None = None
    """What its rehearsal has shown. It is in no digest: it says nothing about what will be done."""
