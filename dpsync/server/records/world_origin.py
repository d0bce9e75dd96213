"""Check and store the origin of a world: the platform that it was read from, when, and what was not read.

A world is the data that the local server starts with. A world that somebody wrote has no origin; otherwise
the state keeps the origin. The texts of an origin are printed and sent in a header, so only printable ASCII
is valid.
"""

from collections.abc import Iterable
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ..store import Json, Record, Store

KIND = "origin"
WORLD_FORMAT = "dpsync.world/1"
"""The format of a world file. A file of another format cannot be loaded."""
ORIGIN_HEADER = "Dpsync-World-Origin"
"""The response header that names the origin of a world that was read from a platform."""
_RECORD_ID = "origin"

_Timestamp = Annotated[str, Field(pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")]
_Printable = Annotated[str, Field(pattern=r"^[!-~]{1,500}$")]


class WorldOrigin(BaseModel):
    """The origin of a world.

    `caller` is the user who may do everything in this world. `notRead` has the paths that the world lacks.
    """

    model_config = ConfigDict(extra="ignore", frozen=True)

    platform: Annotated[str, Field(pattern=r"^https?://[!-~]{1,300}$")]
    readAt: _Timestamp
    profile: Literal["full", "reference", "published"] = "full"
    anonymous: bool = False
    caller: str | None = None
    notRead: tuple[_Printable, ...] = ()

    @property
    def has_personal_data(self) -> bool:
        """Return whether the world may contain names of people in a real organization."""
        return not self.anonymous

    @property
    def notice(self) -> str:
        """Return the notice about the origin of this world (the server's data)."""
        replaced = " People, domains and URLs are replaced." if self.anonymous else ""
        return (
            f"A copy of {self.summary} (API version {self.profile}). "
            f"Changes never reach the original.{replaced}"
        )

    @property
    def summary(self) -> str:
        """Return the platform and the time in one line."""
        return f"{self.platform} at {self.readAt}"


def parse_origin(data: Any) -> WorldOrigin:
    """Return the origin in a world (the server's data). Raise ValueError if it is invalid."""
    try:
        return WorldOrigin.model_validate(data)
    except ValidationError as error:
        first_error = error.errors()[0]
        raise ValueError(f"origin.{'.'.join(map(str, first_error['loc']))}: {first_error['msg']}") from None


def origin_record(data: Any) -> Record:
    """Return the record in which a store keeps the origin of its world. Raise ValueError if it is invalid."""
    return Record(KIND, _RECORD_ID, parse_origin(data).model_dump(mode="json"))


def check_origin(records: Iterable[Record]) -> None:
    """Raise ValueError if the records of a world (the server's data) contain an invalid origin."""
    for record in records:
        if record.kind == KIND:
            parse_origin(record.doc)


def load_origin(store: Store) -> WorldOrigin | None:
    """Return the origin of the world (the server's data) in a store, or None if somebody wrote the world."""
    record = store.get(KIND, _RECORD_ID)
    return parse_origin(record.doc) if record is not None else None


def check_format(world: Json) -> None:
    """Raise ValueError if the file belongs to another version of dpsync."""
    if (format := world.get("format", WORLD_FORMAT)) != WORLD_FORMAT:
        shown = repr(format) if isinstance(format, str) and len(format) < 60 else "something else"
        raise ValueError(f"the format is {shown}, but this version of dpsync reads {WORLD_FORMAT}")
