"""A plan: frozen data, canonical JSON, versioned, no secrets.

Everything that is written or shown comes from here. Values inside are plain JSON with the markers of
model/values.py. Where things were written is in `origins`, which is in no digest: the same configuration and
platform give the same bytes without it.
"""

from __future__ import annotations

import hashlib
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic_core import to_json

from dpsync.model.cause import Cause

Action = Literal["create", "update", "delete"]
Verb = Literal["create", "restore", "transfer", "update", "move", "act", "await", "delete"]

Phase = Literal["free", "place", "link", "default", "withdraw", "expose", "clear"]
"""What a step stands where it does for. A plain one has none.

free: gives up a value that somebody else is about to take. place: brings into what it will lie in. link: a
field with a request of its own. default: an exclusive flag. withdraw, expose: less or more visible, before
and after all else. clear: deletes before what comes in its place, and not at the end.
"""

Repeat = Literal["safe", "look_up", "never"]
"""Whether a request may be sent again when nobody knows what became of it. No method says so: each call does.

safe: sent twice it does the same as sent once. look_up: sent twice it may make two; what it makes is looked
for, and it is not sent again. never: it only acts, and nothing that could be read tells whether it did.
"""


class Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Difference(Frozen):
    """One field: what is live and what is wanted. `known` is false where the live value cannot be read."""

    field: str
    before: Any = None
    after: Any = None
    known: bool = True
    cause: Cause = "origin unknown"
    """By the git base: who has moved. For people; nothing that is done depends on it."""


class Gives(Frozen):
    """After the step this address has the id at `pointer` in the answer (or `id`, when known before)."""

    address: str
    pointer: str | None = None
    id: Any = None


class Step(Frozen):
    """A single request.

    `path` and `body` hold ids of what is live and markers for what is not made yet. `needs` must have
    succeeded, `follows` must have ended. `repeat` says whether it may be sent again when its outcome is
    unknown: `safe`, `look_up` (what it makes is looked for instead) or `never`.
    """

    id: str
    verb: Verb
    phase: Phase | None = None
    method: str
    path: str
    body: Any = None
    gives: tuple[Gives, ...] = ()
    needs: tuple[str, ...] = ()
    follows: tuple[str, ...] = ()
    repeat: Repeat
    answers: str | None = None
    whole: bool = False
    summary: str = ""


class Effect(Frozen):
    """What goes or changes along with a delete, without a request of its own."""

    address: str
    what: str
    counts: bool = True


class Change(Frozen):
    """One address: why it changes, how, and by which requests in which order."""

    address: str
    kind: str
    action: Action
    label: str = ""
    """What people know it by: its title."""
    id: str | None = None
    matched: str | None = None
    """The natural key it was recognised by, where that is not the first one; or "pin"."""
    digest: str | None = None
    """Of the live object, as it was when the plan was made."""
    watched: tuple[str, ...] = ()
    """The fields of the digest: declared ones that are not ignored; for a delete all that last."""
    inside: str | None = None
    """Of a new node the one that encloses it (its group), where the address does not say that."""
    differences: tuple[Difference, ...] = ()
    moved: str | None = None
    cause: Cause | None = None
    """Why it is made, removed, brought back or moved; None where nothing but fields differs."""
    effects: tuple[Effect, ...] = ()
    steps: tuple[Step, ...] = ()

    @property
    def causes(self) -> tuple[Cause, ...]:
        """Of everything that it is made of."""
        return (
            *(item.cause for item in self.differences),
            *((self.cause,) if self.cause is not None else ()),
        )

    @property
    def done(self) -> Change:
        """What is done, without what is told of its causes: they follow from the base that was found."""
        differences = tuple(item.model_copy(update={"cause": "origin unknown"}) for item in self.differences)
        return self.model_copy(update={"cause": None, "differences": differences})


class Blocked(Frozen):
    """Wanted, but not to be done by this tool: the reason, and what a person must do."""

    address: str
    reason: str
    todo: str = ""
    because: str | None = None


class Waiting(Frozen):
    """Work that the platform does by itself."""

    address: str
    what: str


class PlatformTrouble(Frozen):
    """What the platform reports as wrong with something declared: no request of a plan changes it."""

    address: str
    what: str


class Candidate(Frozen):
    """A live object that an entry could be, and that nobody claims."""

    address: str
    id: str
    title: str
    why: str = ""
    """What speaks for it; empty where nothing does but that it is there."""
    changed: str | None = None
    """When it was last changed, as the platform says it."""
    shown_in: tuple[str, ...] = ()
    """The addresses of what shows it, as far as was read."""
    pages: int | None = None
    """How many pages it holds, where that could be read."""


class WayOut(Frozen):
    """One answer to a refusal: what to add to the entry at `address`, or to say on the command line."""

    address: str
    add: str
    means: str


class Refusal(Frozen):
    """Why the plan may not be applied, and the way out: in words, and where it is a question as data."""

    code: str
    address: str
    message: str
    way_out: str
    candidates: tuple[Candidate, ...] = ()
    answers: tuple[WayOut, ...] = ()


class Exposure(Frozen):
    """Something that becomes more visible or more powerful.

    `field` is empty where the thing itself does it: it is new, or goes and kept people out.
    """

    address: str
    field: str = ""
    before: Any = None
    after: Any = None
    words: str
    """What happens, for people."""


class UrlImpact(Frozen):
    """A public URL that changes, begins or ends. Both ends are None while people see nothing there.

    Where the new one cannot be told before, `known` is false and `why` says why.
    """

    address: str
    before: str | None = None
    after: str | None = None
    known: bool = True
    why: str = ""
    shows: str | None = None
    """The address of what is seen at the old URL afterwards."""
    redirected: str | None = None
    """The address of a redirect that leads on from the old URL already."""
    place: str = ""
    """The mapping of entries that a redirect belongs in."""
    redirect: dict[str, Any] | None = None
    """The entry to add there that leads from the old URL to where this is then: its key with its fields."""


class NavigationNode(Frozen):
    """A group, section, place or link of a navigation, as readers see it."""

    address: str
    kind: str
    title: str
    path: str | None = None
    """Its segment in URLs, or where it leads."""
    marks: tuple[str, ...] = ()
    """Its flags that are set: default, hidden, draft."""
    inside: tuple[NavigationNode, ...] = ()


class NavigationChange(Frozen):
    """A navigation that changes, from its root down. `known` is false where nobody can tell."""

    address: str
    before: tuple[NavigationNode, ...] = ()
    after: tuple[NavigationNode, ...] = ()
    known: bool = True


class Kept(Frozen):
    """Live things in a declared place that nobody declares and nothing prunes."""

    place: str
    addresses: tuple[str, ...]


class Unwatched(Frozen):
    """What no entry names, so that drift does not see it move: places, and fields of `things` entries."""

    places: int = 0
    fields: int = 0
    things: int = 0


class Note(Frozen):
    """Something worth knowing that changes nothing.

    `address` is what it is about: an address, or a pattern of the policy or an answer as it was written.
    """

    address: str
    text: str
    severity: Literal["note", "warning"] = "note"
    permanent: bool = False
    """Every plan says it again, and nobody could do anything about it: it is counted for people."""
    consequence: bool = False
    """It tells what the changes bring with them: whoever agrees to them agrees to it, too."""


class Origin(Frozen):
    file: str
    line: int
    column: int


class Also(Frozen):
    """What was not selected and is planned all the same, because something selected needs it."""

    address: str
    needed_by: str


class Part(Frozen):
    """Which part of the configuration was planned."""

    select: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    also: tuple[Also, ...] = ()


class Organization(Frozen):
    """An organization that is planned, and the id that it was found by."""

    address: str
    id: str


class Plan(Frozen):
    """What would be done. `can_apply` is decided here and nowhere else."""

    format: Literal["dpsync.plan/1"] = "dpsync.plan/1"
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
    confirmed: tuple[str, ...] = ()
    """The answers that it was made with (`--confirm`)."""
    deleting: bool = True
    """Whether anything may be deleted (not with `--no-delete`)."""
    changes: tuple[Change, ...] = ()
    """By address, siblings that have an order in that order; deletes last."""
    exposures: tuple[Exposure, ...] = ()
    """What becomes more visible or more powerful by the changes."""
    navigation: tuple[NavigationChange, ...] = ()
    """Of every site whose navigation changes."""
    urls: tuple[UrlImpact, ...] = ()
    """Which public URLs change."""
    blocked: tuple[Blocked, ...] = ()
    waiting: tuple[Waiting, ...] = ()
    trouble: tuple[PlatformTrouble, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    kept: tuple[Kept, ...] = ()
    notes: tuple[Note, ...] = ()
    unwatched: Unwatched = Unwatched()
    same_edit_twice: tuple[str, ...] = ()
    """Fields ("ADDRESS#field") that were edited here and are live as they are here: no change."""
    unproven: tuple[str, ...] = ()
    """In a plan that proves an apply: fields that cannot be read back and that the git base has otherwise.

    They are sent again by every apply until the files are committed.
    """
    bindings: dict[str, str] = Field(default_factory=dict)
    """Which live id each recognised address has."""
    requests: int = 0
    """How many requests the reading took."""
    origins: dict[str, Origin] = Field(default_factory=dict)

    @property
    def can_apply(self) -> bool:
        return not self.refusals

    @property
    def empty(self) -> bool:
        return not self.changes

    @property
    def deletes(self) -> int:
        """How many things go: deletes, and what goes along with them."""
        found = [change for change in self.changes if change.action == "delete"]
        return len(found) + sum(effect.counts for change in found for effect in change.effects)

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.bytes()).hexdigest()

    def bytes(self) -> bytes:
        """The canonical form.

        It is without `origins`, times, how much reading it took, what the platform is at work on or reports
        as wrong, what is not watched, and the platform's address: a companion has another port each time.
        Which commit was the base is not in it either, nor what is only told because of it, as causes and
        notes but those of consequences: what the base has a say in are changes and refusals. So a digest that
        was approved before a merge names the same operations after it.
        """
        words = "origins requests base base_from waiting platform organizations unwatched trouble"
        left_out: dict[str, Any] = dict.fromkeys([*words.split(), "same_edit_twice"], True)
        left_out["changes"] = {"__all__": {"cause": True, "differences": {"__all__": {"cause"}}}}
        left_out["refusals"] = {"__all__": {"candidates": {"__all__": {"changed", "pages"}}}}
        agreed = self.model_copy(update={"notes": tuple(note for note in self.notes if note.consequence)})
        return to_json(_ordered(agreed.model_dump(mode="json", exclude=left_out)))


def _ordered(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _ordered(value[key]) for key in sorted(value)}
    if isinstance(value, list):
        return [_ordered(item) for item in value]
    return value
