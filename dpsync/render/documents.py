"""Define the JSON that commands print, as versioned models. `schemas/` is derived from these models."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from dpsync.model.drift import Drift, Edits
from dpsync.model.frozen import Frozen
from dpsync.model.journal import Report
from dpsync.model.plan import Organization, Origin, Plan, Rehearsal, Saved
from dpsync.model.question import Candidate, WayOut
from dpsync.model.snapshot import MatchedBy
from dpsync.render.resolutions import WaysOut


class Printed(Frozen):
    """A part of a document. What writes it is made when it is used first: a command prints one document.

    Only for what one thread makes and prints: two that use a model first at the same time would both make it.
    """

    model_config = ConfigDict(defer_build=True)


class PlanDocument(Printed):
    """What `plan --format json` prints. With `can_apply` false, apply would refuse; `refusals` say why.

    `deletes` is how many things will be gone, the number for `--confirm`. `counts` has the addresses of
    `plan.changes` by what becomes of them, without what goes along with a delete.
    """

    format: Literal["dpsync.plan-output/1"] = "dpsync.plan-output/1"
    platform: str
    organizations: tuple[Organization, ...]
    digest: str
    can_apply: bool
    deletes: int
    counts: dict[str, int]
    plan: Plan
    rehearsal: Rehearsal | None = None
    """What its rehearsal has shown, where there was one (`--rehearse`)."""


class ApplyDocument(Printed):
    """What `apply --format json` prints. `report` is null when nothing was carried out."""

    format: Literal["dpsync.apply-output/1"] = "dpsync.apply-output/1"
    exit: int
    converged: bool
    plan: PlanDocument
    report: Report | None = None


class RehearseDocument(Printed):
    """What `rehearse --format json` prints. `rehearsal` is null when there was nothing to rehearse.

    `fit`: everything went as planned, so that apply may carry the plan out.
    """

    format: Literal["dpsync.rehearse-output/1"] = "dpsync.rehearse-output/1"
    exit: int
    fit: bool
    plan: PlanDocument
    rehearsal: Rehearsal | None = None


class DriftDocument(Printed):
    """What `drift --format json` prints. A check that failed prints findings instead: it is not "no drift".

    `ways_out` has the two ways to end each difference, by address.
    """

    format: Literal["dpsync.drift-output/1"] = "dpsync.drift-output/1"
    exit: int
    drifted: bool
    drift: Drift
    ways_out: dict[str, WaysOut]


class IdsLine(Printed):
    """A line of the ids file: what it says, and what was recognised. Ids as the file has them.

    missing: it has no line. wrong: it is another one than its line says. gone: the object of the line is not
    there, and no other one was recognised. moved: another address has that object now. no entry: the line is
    for nothing that is declared. written and removed: what was asked for.
    """

    address: str
    what: Literal["missing", "wrong", "gone", "moved", "no entry", "written", "removed"]
    recorded: str | None = None
    found: str | None = None


class IdsDocument(Printed):
    """What `ids --format json` prints. `recognised` counts entries; null where no platform was read."""

    format: Literal["dpsync.ids-output/1"] = "dpsync.ids-output/1"
    exit: int
    file: str
    platform: str
    recognised: int | None = None
    written: bool
    """Whether the missing and wrong lines are in the file now."""
    lines: tuple[IdsLine, ...] = ()


class Related(Printed):
    """A further place of a finding, and what is there."""

    text: str
    at: Origin


class Finding(Printed):
    """One diagnostic. `environments` are those that it is found with, where it is not found without one."""

    code: str
    severity: Literal["error", "warning"]
    message: str
    at: Origin | None = None
    address: str | None = None
    hint: str | None = None
    related: tuple[Related, ...] = ()
    repeated: int = 0
    """At how many further places the same cause shows."""
    environments: tuple[str, ...] = ()
    candidates: tuple[Candidate, ...] = ()
    """Of a question about who is who: the live objects that the entry could be."""
    answers: tuple[WayOut, ...] = ()
    """Of a question: what can be said to it."""


class FindingsDocument(Printed):
    """What `validate --format json` prints, and every command that ends with diagnostics.

    Of very many findings the first are there, 50 of a code and 200 in all; `left_out` counts the others.
    `edits` is what `validate --changes` has found, null where nobody asked. `profile` is the one that valid
    files were checked for.
    """

    format: Literal["dpsync.findings/1"] = "dpsync.findings/1"
    exit: int
    findings: tuple[Finding, ...] = ()
    left_out: dict[str, int] = Field(default_factory=dict)
    edits: Edits | None = None
    profile: str | None = None


class ImportedFile(Printed):
    """A file of an import, relative to the project."""

    path: str
    state: Literal["new", "replaced", "unchanged"]


class SecretToSet(Printed):
    """A variable that must hold a secret before `apply` can write the field."""

    name: str
    address: str
    field: str


class NotImported(Printed):
    """Something that is live and not in the files; without `field` the whole object or place.

    `at` is where it stands in a file that was taken over.
    """

    address: str
    field: str | None = None
    why: str
    at: Origin | None = None


class TakenOver(Printed):
    """A field that has its live value in the file now, and where it stood."""

    address: str
    field: str | None
    at: Origin


class ImportDocument(Printed):
    """What `import --format json` prints.

    `proven`: a plan of what was written is empty; null where no plan was made. `taken` is what `--update` has
    put into which line.
    """

    format: Literal["dpsync.import-output/1"] = "dpsync.import-output/1"
    exit: int
    proven: bool | None
    requests: int = 0
    taken: tuple[TakenOver, ...] = ()
    shared_with: tuple[str, ...] = ()
    """The environments that share a line which `--update` has written."""
    files: tuple[ImportedFile, ...] = ()
    secrets: tuple[SecretToSet, ...] = ()
    left_out: tuple[NotImported, ...] = ()
    differences: tuple[Finding, ...] = ()


class UsedVariable(Printed):
    """A variable in a value; where it is not set, or empty, its default stands for it."""

    name: str
    is_set: bool


class ValueOrigin(Printed):
    """Where a value is written. `pointer` is where it is in `configuration` (RFC 6901)."""

    pointer: str
    at: Origin
    variables: tuple[UsedVariable, ...] = ()


class ConfigDocument(Printed):
    """What `config --format json` prints: the configuration after includes, overlays and variables.

    `files` are those that were read, by their names in the project. `origins` has one for each value that
    holds no others. A secret is the name of its variable: `{ "env": NAME }`.
    """

    format: Literal["dpsync.config-output/1"] = "dpsync.config-output/1"
    environment: str | None = None
    files: tuple[str, ...]
    configuration: dict[str, JsonValue]
    origins: tuple[ValueOrigin, ...]


class SyncedWith(Printed):
    """The repository that the platform itself keeps a part of a thing in step with, and what does it."""

    repository: str
    installation: str | None = None


class ListedEntry(Printed):
    """An entry: where it is declared, and which live object it is. `id` is null where none is known.

    `recognised` is by what the object was found, as a pin or a natural key; null where nothing was found.
    `why_not` says why it could not be read. `url` is where people see it now; `domain` is a custom domain,
    which only the platform sets; `synced` is its other owner.
    """

    address: str
    kind: str
    at: Origin
    id: str | None = None
    recognised: MatchedBy | None = None
    detail: str = ""
    why_not: str | None = None
    url: str | None = None
    domain: str | None = None
    synced: SyncedWith | None = None


class ListDocument(Printed):
    """What `list --format json` prints. `platform` is null where ids are those of the files alone."""

    format: Literal["dpsync.list-output/1"] = "dpsync.list-output/1"
    platform: str | None = None
    entries: tuple[ListedEntry, ...]


class HistoryEntry(Printed):
    """One apply of a checkout. `journal` is a file name; `problem` says why the journal cannot be read.

    `result`: complete, partial (something failed, is left, or is unknown), interrupted, or nothing-sent.
    """

    journal: str
    began: datetime | None = None
    user: str | None = None
    organizations: tuple[str, ...] = ()
    changes: int = 0
    """The number of objects that the plan of the apply changes."""
    applied: dict[str, int] = Field(default_factory=dict)
    """The number of objects that the apply created, changed, moved and deleted. No number is 0."""
    addresses: tuple[str, ...] = ()
    """The addresses of these objects, without the objects that a delete removes by cascade."""
    result: Literal["complete", "partial", "interrupted", "nothing-sent"] | None = None
    exit: int | None = None
    reverts: str | None = None
    reverted_by: str | None = None
    problem: str | None = None


class HistoryDocument(Printed):
    """What `history --format json` prints: the applies of a checkout, the newest first."""

    format: Literal["dpsync.history-output/1"] = "dpsync.history-output/1"
    directory: str
    applies: tuple[HistoryEntry, ...]


class Check(Printed):
    """One thing that `doctor` has looked at. `mend` says what to do where `level` is not ok."""

    topic: str
    level: Literal["ok", "note", "problem"]
    said: str
    source: str | None = None
    """Where a setting is from: a flag, a variable, a file. Of an object: the file and line of its entry."""
    mend: str | None = None
    address: str | None = None
    """The address of the object that the check is about; null for all other checks."""


class KindAccess(Printed):
    """What the token may do with a kind in an organization, or in an object; null: it cannot be told."""

    organization: str
    kind: str
    read: bool | None
    write: bool | None


class DoctorDocument(Printed):
    """What `doctor --format json` prints: all that was looked at, and what the token may read and write."""

    format: Literal["dpsync.doctor-output/1"] = "dpsync.doctor-output/1"
    exit: int
    checks: tuple[Check, ...]
    access: tuple[KindAccess, ...] = ()


class VersionDocument(Printed):
    """What `version --json` prints. `profiles` are the editions of the platform that it knows."""

    format: Literal["dpsync.version-output/1"] = "dpsync.version-output/1"
    version: str
    python: str
    system: str
    profiles: tuple[str, ...]


DOCUMENTS: dict[str, type[BaseModel]] = {
    "plan": PlanDocument,
    "apply": ApplyDocument,
    "rehearse": RehearseDocument,
    "drift": DriftDocument,
    "saved-plan": Saved,
    "import": ImportDocument,
    "ids": IdsDocument,
    "findings": FindingsDocument,
    "config": ConfigDocument,
    "list": ListDocument,
    "history": HistoryDocument,
    "doctor": DoctorDocument,
    "version": VersionDocument,
}
