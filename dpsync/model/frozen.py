"""The base of what is saved and printed as JSON: it never changes, and has no member that is not declared."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")
