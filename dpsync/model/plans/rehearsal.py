"""What the rehearsal of a plan has shown, and what it could not show. Frozen data, no secrets."""

from __future__ import annotations

from typing import Literal

from dpsync.model.frozen import Frozen
from dpsync.model.plans.plan import Origin

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
    def fit(self) -> bool:
        """Whether everything went as planned."""
        return not self.deviations and all(run.good for run in self.faults)
