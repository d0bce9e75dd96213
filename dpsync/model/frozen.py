"""Define the immutable base class of JSON models, and mappings that are computed on first use.

`Frozen` is the base of all values that dpsync saves or prints as JSON. A `Deferred` mapping saves time,
because most mappings of a large plan are never used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict

if TYPE_CHECKING:
    pass


class Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")
