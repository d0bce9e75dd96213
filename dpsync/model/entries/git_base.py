"""The git base: the configuration as an earlier commit has it. It tells a rename from a new thing."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from dpsync.model.entries.desired import Desired
from dpsync.model.entries.ids import NO_IDS, IdsFile
from dpsync.model.findings.diagnostic import Diagnostic


class Base(Struct, frozen=True):
    """The configuration of an earlier commit, or why there is none.

    `name` is what people call the base; without `desired` there is none, and `name` is the reason.

    `warning` is for a base that should have been there.
    """

    name: str
    commit: str | None = None
    desired: Desired | None = None
    warning: Diagnostic | None = None
    lacking: bool = False
    """There is such a commit, and this clone does not have it."""
    present: bool = False
    """It is HEAD itself: nothing says that it was ever applied."""
    ids: IdsFile = NO_IDS
    """The ids file of that commit."""
    earlier: Iterable[Desired] = ()
    """The configuration in some commits before that one, the latest first; read when somebody looks."""


NOT_ASKED = Base("")
"""Nobody looked for a base."""
