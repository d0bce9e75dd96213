"""Define request and response models of translations of a space, and of the glossary.

The local server validates bodies with these pydantic models, and derives the OpenAPI document from them.
"""

from typing import Annotated, Literal

from pydantic import Field

from .base import AnswerBody, Body, Id, Paged, RichTextDocument, Timestamp, Urls, optional_field
from .content import Language


class TranslationSource(AnswerBody):
    space: Id
    language: Language


class TranslationResult(AnswerBody):
    space: Id
    revision: Id
    language: Language = optional_field()


class TranslationStats(AnswerBody):
    runs: int
    totalWords: int
    totalPages: int
    totalDuration: int
    latestRunDuration: int
    latestPages: int
    latestWords: int


class TranslationPermissions(AnswerBody):
    view: bool
    edit: bool


class Translation(AnswerBody):
    object: Literal["translation"]
    id: Id
    status: Literal["pending", "running", "completed"]
    source: TranslationSource
    language: Language
    instructions: RichTextDocument
    result: TranslationResult = optional_field()
    createdAt: Timestamp
    updatedAt: Timestamp
    stats: TranslationStats
    permissions: TranslationPermissions
    urls: Urls


class TranslationSourceCreate(Body):
    space: str
    language: Language = optional_field(description="Default: the language of the space")


class TranslationCreate(Body):
    source: TranslationSourceCreate
    language: Language
    instructions: RichTextDocument = optional_field()


class TranslationUpdate(Body):
    instructions: RichTextDocument


Term = Annotated[str, Field(min_length=1, max_length=255, pattern=r"^[^\r\n]+$")]
Terms = Annotated[dict[Language, Term], Field(min_length=1)]


class GlossaryEntry(AnswerBody):
    object: Literal["glossary-entry"]
    id: Id
    translations: Terms
    createdAt: Timestamp
    updatedAt: Timestamp
    urls: Urls


class GlossaryQuery(Paged):
    orderBy: Language | None = Field(
        default=None, description="The language to sort by. Entries without a term in this language come last"
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
