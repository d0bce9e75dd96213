"""The glossary that translations of an organization keep to."""

from typing import Annotated, Literal

from pydantic import Field

from .base import Answer, Body, Id, Paged
from .content import Language

Term = Annotated[str, Field(min_length=1, max_length=255, pattern=r"^[^\r\n]+$")]
Terms = Annotated[dict[Language, Term], Field(min_length=1)]


class GlossaryEntry(Answer):
    object: Literal["translations-glossary-entry"]
    id: Id
    translations: Terms


class GlossaryQuery(Paged):
    orderBy: Language | None = Field(
        default=None, description="Sorted by the terms of this language; entries without one come last"
    )


class Insert(Body):
    type: Literal["insert"]
    translations: Terms


class Update(Body):
    type: Literal["update"]
    id: str
    translations: Terms


class Delete(Body):
    type: Literal["delete"]
    id: str


class GlossaryChanges(Body):
    operations: list[Annotated[Insert | Update | Delete, Field(discriminator="type")]]
