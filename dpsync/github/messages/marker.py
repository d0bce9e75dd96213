"""The first line of every text of ours on GitHub: which plan or drift it tells, and by which run.

Its values are numbers, hexadecimal digits and base64url, so that nothing in it can end the HTML comment. It
counts only at the very beginning of a text, and only in a text whose author is us.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable
from typing import Annotated, Final, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from dpsync.github.messages.digests import Shown, read_shown
from dpsync.model.text import json_text

Hex = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]*$", max_length=64)]
Base64url = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]*$", max_length=57_000)]
Moment = Annotated[int, Field(ge=0, lt=2**40)]
"""Seconds since 1970."""
Count = Annotated[int, Field(ge=1, lt=2**31)]
State = Literal["plan", "applied", "converged", "refused"]
M = TypeVar("M", bound="Marker")

FIRST: Final = 500
"""Of what a plan shows, how much the marker of its comment holds: 20,000 characters."""
FURTHER: Final = 1_400
"""How much the marker of each further comment holds."""
COMMENTS: Final = 20
"""How many further ones there may be. Of what does not fit only the plan's digest is kept."""
_FIRST_LINE: Final = re.compile(r"<!-- dpsync:([a-z]+):1 (\{[^<>\r\n]*\}) -->(?:\r?\n|$)")


class Marker(BaseModel):
    """What every marker has."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)
    kind: str = Field(default="", exclude=True)
    key: Hex
    run: Annotated[int, Field(ge=0, lt=2**63)]
    attempt: Annotated[int, Field(ge=0, lt=2**31)] = 1
    sha: Hex = ""
    digest: Hex = ""

    @property
    def age(self) -> tuple[int, int]:
        return self.run, self.attempt


class PlanMarker(Marker):
    """Of a comment that tells a plan. `key` names its platform and organizations, too."""

    kind: Literal["plan"] = Field(default="plan", exclude=True)
    name: Hex = ""
    """The configuration, environment and part: what is known of a plan that could not be made."""
    branch: Hex = ""
    """The digest of the branch that the pull request was for."""
    state: State = "plan"
    """plan: it may still be rewritten; all others are frozen. applied: it counted, and an apply has begun.
    converged: an apply of the commit `applied` has ended it. refused: made after the merge by an apply.
    """
    applied: Hex = ""
    displayed: Base64url | None = None
    """What the plan has shown, or the first part of it; None where it is too much for all comments."""
    approved: dict[Base64url, Hex] = Field(default_factory=dict, max_length=50)
    """Who has approved which plan: names in base64url."""

    @property
    def full(self) -> bool:
        """Whether further comments may hold more of what the plan has shown."""
        return len(shown_in([self.displayed or ""])) >= FIRST


class RestMarker(Marker):
    """Of a comment with more of what the plan with this digest has shown."""

    kind: Literal["rest"] = Field(default="rest", exclude=True)
    part: Annotated[int, Field(ge=1, le=COMMENTS)]
    displayed: Base64url


class DriftMarker(Marker):
    """Of an issue that tells drift."""

    kind: Literal["drift"] = Field(default="drift", exclude=True)
    since: Moment = 0
    """When a check has found drift first, since there was none."""
    checks: Count = 1
    """How many have found some since then."""


class WatchMarker(Marker):
    """Of an issue that says that drift is not being watched."""

    kind: Literal["watch"] = Field(default="watch", exclude=True)


def first_line(marker: Marker) -> str:
    """The marker as the first line of a text, with its line break."""
    return f"<!-- dpsync:{marker.kind}:1 {json_text(marker)} -->\n"


def read_marker(text: str, model: type[M]) -> M | None:
    """The marker that a text begins with; None where it has none, another one, or a damaged one."""
    found = _FIRST_LINE.match(text)
    if found is None or found[1] != model.model_fields["kind"].default:
        return None
    try:
        return model.model_validate_json(found[2])
    except ValidationError:
        return None


def without_marker(text: str) -> str:
    """What people see of a text of ours."""
    found = _FIRST_LINE.match(text)
    return text[found.end() :] if found else text


def base64url(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).decode().rstrip("=")


def name_of(encoded: str) -> str:
    """What `base64url` was made of."""
    return _decoded(encoded).decode(errors="replace")


def marker_values(displayed: tuple[Shown, ...]) -> list[str]:
    """What markers hold of what a plan has shown: the first one's, then those of further comments."""
    if len(displayed) > FIRST + COMMENTS * FURTHER:
        return []
    starts = [0, *range(FIRST, len(displayed), FURTHER)]
    parts = zip(starts, [*starts[1:], len(displayed)], strict=True)
    return [base64url(b"".join(map(bytes, displayed[start:end]))) for start, end in parts]


def shown_in(texts: Iterable[str]) -> tuple[Shown, ...]:
    """What `kept` has kept; a damaged text holds nothing."""
    return tuple(one for text in texts for one in read_shown(_decoded(text)))


def _decoded(text: str) -> bytes:
    try:
        return base64.urlsafe_b64decode(f"{text}==")  # more of them than are needed change nothing
    except ValueError:
        return b""
