"""Define drift, and the differences between two versions of the files. Both contain no secrets.

A plan says what an apply would write. `Drift` compares the same files and live objects and says what is live
instead, and who changed it, if git knows. `Edits` compares the files with those of an earlier commit, without
any platform.
"""

from __future__ import annotations

from typing import Any, Literal

from dpsync.model.change import Addressed, Cause
from dpsync.model.frozen import Frozen
from dpsync.model.plan import Comparison, Origin

DriftKind = Literal["different", "missing", "undeclared"]
"""different: on both sides, not alike. missing: in the files only. undeclared: on the platform only, where
what nobody declares is deleted or, when everything is asked for, watched."""


class FieldDrift(Frozen):
    """One field. `known` is false where the platform does not say what it is."""

    field: str
    live: Any = None
    file: Any = None
    known: bool = True
    cause: Cause | None = None
    """The label: who changed the value, as far as git knows."""
    watched: bool = False
    """No entry declares it: `file` is the platform's default, which the policy watches."""
    opens: bool = False
    """Whether the live value opens more access than that of the file."""


class Renamed(Frozen):
    """Something live that nobody declares, and that an entry is perhaps called now."""

    address: str
    id: str
    label: str


class LastEvent(Frozen):
    """What was done last to an object, who did it and when, by the platform's audit events.

    It is a fact about the object, not a proof that it made the difference.
    """

    action: str
    actor: str
    at: str


class Drifted(Addressed):
    """One address whose two sides are not alike."""

    kind: str
    what: DriftKind
    label: str = ""
    id: str | None = None
    fields: tuple[FieldDrift, ...] = ()
    place: str | None = None
    """Where the files put it among its siblings, when it stands elsewhere."""
    order: str | None = None
    """The list that says so, as ADDRESS#FIELD; None where it stands elsewhere in a tree."""
    cause: Cause | None = None
    """The label of a missing, undeclared or moved object; None without a label."""
    renamed: tuple[Renamed, ...] = ()
    """Of what is missing: what a plan asks about, or proposes, as what it could be; the likeliest first."""
    in_tree: bool = False
    """It is undeclared and a node of a navigation: a person must say where it belongs."""
    kept: bool = False
    """It is undeclared and no plan deletes it: its place is only watched, or it is blocked.

    If `what` is "different", the live value differs from the value in a `policy: watch` pattern.
    """
    confirm: tuple[str, ...] = ()
    """It is undeclared, and a plan deletes it: the answers that an apply of its delete alone asks for."""
    along: int = 0
    """It is undeclared, and a plan deletes it: how many other things go with that."""
    last_event: LastEvent | None = None
    """Of what was not changed by the files; None where the platform has no audit events, or tells none."""
    opens: bool = False
    """Whether the platform opens more access here than the files say."""


class Line(Frozen):
    """What is not watched, and the line that would watch it: of an entry, or of the policy for a place.

    Where no line does, `why` says so. `address` is that of a place, or of the entry that has the `field`.
    """

    address: str
    field: str | None = None
    line: str | None = None
    why: str | None = None


class Drift(Comparison):
    """Everything that was found. Only `found` is drift; the rest was seen and is told beside it."""

    format: Literal["dpsync.drift/1"] = "dpsync.drift/1"
    overlay: str | None = None
    """The file that goes over all others: what is put there concerns no other environment."""
    found: tuple[Drifted, ...] = ()
    ignored: tuple[Drifted, ...] = ()
    """Differences that the policy says to leave alone."""
    unread: tuple[str, ...] = ()
    """Declared addresses about which nothing is known, since this token may not read them."""
    unwatched_lines: tuple[Line, ...] = ()
    """What is not watched, one by one, where that was asked for."""

    @property
    def drifted(self) -> bool:
        """Return whether there is any drift."""
        return bool(self.found)


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
