"""Translations of a space into another language."""

from typing import Literal

from .base import Answer, Body, Document, Id, Stamp, Url, absent
from .content import Language


class TranslationSource(Answer):
    space: Id
    language: Language


class TranslationResult(Answer):
    space: Id
    revision: Id


class TranslationStats(Answer):
    runs: int
    totalWords: int
    totalPages: int
    totalDuration: int
    latestRunDuration: int
    latestPages: int
    latestWords: int


class TranslationPermissions(Answer):
    view: bool
    edit: bool


class TranslationUrls(Answer):
    location: Url


class Translation(Answer):
    object: Literal["translation"]
    id: Id
    status: Literal["pending", "running", "completed"]
    source: TranslationSource
    language: Language
    instructions: Document
    result: TranslationResult = absent()
    createdAt: Stamp
    updatedAt: Stamp
    stats: TranslationStats
    permissions: TranslationPermissions
    urls: TranslationUrls


class TranslationSourceCreate(Body):
    space: str
    language: Language = absent(description="Left out: that of the space")


class TranslationCreate(Body):
    source: TranslationSourceCreate
    language: Language
    instructions: Document = absent()


class TranslationUpdate(Body):
    instructions: Document
