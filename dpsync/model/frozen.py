"""Define the immutable base class of JSON models, and mappings that are computed on first use.

A mapping in a model that is made when somebody looks into it: most of a large plan is never looked at.

The base of what is saved and printed as JSON: it never changes, and has no member that is not declared.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict

if TYPE_CHECKING:
    pass


class Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")
