"""The first line of every text of ours on GitHub: which plan or drift it tells, and by which run.

Its values are numbers, hexadecimal digits and base64url, so that nothing in it can end the HTML comment. It
counts only at the very beginning of a text, and only in a text whose author is us.
"""

from __future__ import annotations

import base64
import hashlib
import re
from itertools import zip_longest
from typing import Annotated, Any, Final, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from dpsync.model.change import Change
from dpsync.model.json_text import json_text
from dpsync.model.plan import Plan

Hex = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]*$", max_length=64)]
Base64url = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]*$", max_length=20_000)]
Moment = Annotated[int, Field(ge=0, lt=2**40)]
"""Seconds since 1970."""
Count = Annotated[int, Field(ge=1, lt=2**31)]
State = Literal["plan", "applied", "refused"]
M = TypeVar("M", bound="Marker")

LISTED: Final = 1000
"""Changes whose digests are in a marker; of a larger plan only the digest of the whole is."""
_SIZE: Final = 9
"""Bytes of a change's digest, 12 characters: enough that none can be made to fit."""
_NAME: Final = 6
"""Characters of an address's digest. Only words depend on these."""
_MATERIAL: Final[Any] = {
    **dict.fromkeys(("address", "kind", "action", "id", "inside", "differences", "moved", "effects"), True),
    "steps": {"__all__": {"verb", "answers"}},
}
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
    """Of a comment that tells a plan."""

    kind: Literal["plan"] = Field(default="plan", exclude=True)
    state: State = "plan"
    """plan: it may still be rewritten. applied: frozen. refused: made after the merge, approved by nobody."""
    changes: Base64url | None = None
    """The digests of the changes, one after the other; None where there are too many."""
    addresses: Base64url | None = None
    """The digests of what they change, in the same order."""
    approved: dict[Base64url, Hex] = Field(default_factory=dict, max_length=50)
    """Who has approved which plan: names in base64url."""

    @property
    def known(self) -> dict[str, str] | None:
        """By the digest of each change that of its address; None where there are too many."""
        if self.changes is None:
            return None
        addresses = _parted(self.addresses or "", _NAME)
        return dict(zip_longest(_parted(self.changes, _SIZE * 4 // 3), addresses, fillvalue=""))


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
    return _FIRST_LINE.sub("", text, count=1)


def base64url(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).decode().rstrip("=")


def name_of(encoded: str) -> str:
    """What `base64url` was made of."""
    try:
        return base64.urlsafe_b64decode(encoded + "=" * (-len(encoded) % 4)).decode(errors="replace")
    except ValueError:
        return "somebody"


def change_digests(plan: Plan) -> dict[str, Change]:
    """The changes of a plan by the digest of what each does to its object.

    How its requests are sent is left out: what is left of a plan after half of it was done has the same
    changes, with ids where addresses were.
    """
    return {_digest(change): change for change in plan.changes}


def listed(plan: Plan) -> str | None:
    """The digests of the changes as a marker has them."""
    return "".join(change_digests(plan)) if len(plan.changes) <= LISTED else None


def listed_addresses(plan: Plan) -> str | None:
    """The digests of the addresses, in the order of the changes, as a marker has them."""
    changes = change_digests(plan).values()
    return "".join(map(address_digest, changes)) if len(plan.changes) <= LISTED else None


def address_digest(change: Change) -> str:
    return base64url(hashlib.sha256(change.address.encode("utf-8", "surrogatepass")).digest())[:_NAME]


def _parted(digests: str, width: int) -> list[str]:
    return [digests[at : at + width] for at in range(0, len(digests), width)]


def _digest(change: Change) -> str:
    content = json_text(_ordered(change.done.model_dump(mode="json", include=_MATERIAL)))
    return base64url(hashlib.sha256(content.encode()).digest()[:_SIZE])


def _ordered(value: object) -> object:
    if isinstance(value, dict):
        return {key: _ordered(value[key]) for key in sorted(value)}
    return [_ordered(item) for item in value] if isinstance(value, list) else value
