"""Where a world was read: of which platform, when, and what was not read of it.

A world that somebody wrote has no origin. One that was read from a platform has one, which stays with the
state for as long as it is kept. Its texts are printed and sent in a header: only plain ones are taken.
"""

from collections.abc import Iterable
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ..store import Json, Record, Store

KIND = "origin"
FORMAT = "dpsync.world/1"
"""What a file names as its format: another number has another meaning."""
HEADER = "Dpsync-World-Origin"
"""The header of every answer to a GET from a world that was read from a platform."""
_ONE = "origin"

_Moment = Annotated[str, Field(pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")]
_Printable = Annotated[str, Field(pattern=r"^[!-~]{1,500}$")]


class WorldOrigin(BaseModel):
    """`caller`: who may do everything in this world. `notRead`: the paths of which the world has nothing."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    platform: Annotated[str, Field(pattern=r"^https?://[!-~]{1,300}$")]
    readAt: _Moment
    profile: Literal["full", "reference", "published"] = "full"
    anonymous: bool = False
    caller: str | None = None
    notRead: tuple[_Printable, ...] = ()

    @property
    def private(self) -> bool:
        """Whether it may name people of a real organization."""
        return not self.anonymous

    @property
    def sentence(self) -> str:
        """What people are told of this world."""
        replaced = " People, domains and URLs are replaced." if self.anonymous else ""
        return (
            f"A copy of {self.said} (API version {self.profile}). Changes never reach the original.{replaced}"
        )

    @property
    def said(self) -> str:
        """One line for people: where and when."""
        return f"{self.platform} at {self.readAt}"


def checked(given: Any) -> WorldOrigin:
    """An origin as a world says it. ValueError: it is none."""
    try:
        return WorldOrigin.model_validate(given)
    except ValidationError as error:
        first = error.errors()[0]
        raise ValueError(f"origin.{'.'.join(map(str, first['loc']))}: {first['msg']}") from None


def record_of(given: Any) -> Record:
    return Record(KIND, _ONE, checked(given).model_dump(mode="json"))


def check_origin(records: Iterable[Record]) -> None:
    """ValueError: a world says in its records what is no origin."""
    for record in records:
        if record.kind == KIND:
            checked(record.doc)


def origin_of(store: Store) -> WorldOrigin | None:
    """Where the world of a store was read; None of one that somebody wrote."""
    record = store.get(KIND, _ONE)
    return checked(record.doc) if record is not None else None


def check_format(world: Json) -> None:
    """ValueError: the file of another version of dpsync."""
    if (given := world.get("format", FORMAT)) != FORMAT:
        said = repr(given) if isinstance(given, str) and len(given) < 60 else "something else"
        raise ValueError(f"the format is {said}, but this version of dpsync reads {FORMAT}")
