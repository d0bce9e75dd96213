"""Define request and response models of the OpenAPI specifications of an organization.

The local server validates bodies with these pydantic models, and derives the OpenAPI document from them.
"""

from typing import Annotated, Any, Literal

from pydantic import Field, RootModel, model_validator

from .base import AnswerBody, Body, Id, Timestamp, Url, Urls, optional_field

MAX_SLUG_LENGTH = 100
SLUG_PATTERN = r"^[a-zA-Z0-9]+(?:-[a-zA-Z0-9]+)*$"
Slug = Annotated[str, Field(min_length=1, max_length=MAX_SLUG_LENGTH, pattern=SLUG_PATTERN)]
SpecVisibility = Literal["private", "public"]


class ProcessedError(AnswerBody):
    message: str
    code: str


class SpecPermissions(AnswerBody):
    view: bool
    edit: bool


class SpecUrls(AnswerBody):
    location: Url
    app: Url
    published: Url = optional_field()


class OpenAPISpec(AnswerBody):
    object: Literal["openapi-spec"]
    id: Id
    createdAt: Timestamp
    updatedAt: Timestamp
    slug: Slug
    sourceURL: Url = optional_field()
    processingState: Literal["pending", "progress", "complete"]
    visibility: SpecVisibility
    lastVersion: Id = optional_field()
    lastProcessedAt: Timestamp = optional_field()
    lastProcessErrorCode: Literal["FETCH_TIMEOUT", "FETCH_ERROR", "PARSE_ERROR"] = optional_field()
    lastProcessedErrors: list[ProcessedError] = optional_field()
    lastProcessedErrorCount: int = optional_field()
    permissions: SpecPermissions
    urls: SpecUrls


class SpecSource(Body):
    url: Url = optional_field()
    text: str = optional_field(min_length=1)

    @model_validator(mode="after")
    def _check_one_source(self) -> "SpecSource":
        """Check that exactly one of `url` and `text` is set."""
        if (self.url is None) == (self.text is None):
            raise ValueError("set either url or text")
        return self


class SpecPut(Body):
    source: SpecSource


class SpecCreate(SpecPut):
    slug: Slug


class SpecUpdate(Body):
    visibility: SpecVisibility


class OpenAPISpecVersion(AnswerBody):
    object: Literal["openapi-spec-version"]
    id: Id
    createdAt: Timestamp
    sourceURL: Url = optional_field()
    url: Url = optional_field()
    urls: Urls


class ContentFile(AnswerBody):
    filename: str
    isEntrypoint: bool
    specification: dict[str, Any]


class ContentUrls(AnswerBody):
    source: Url
    public: Url | None


class VersionContent(AnswerBody):
    """The document of a version, read."""

    object: Literal["openapi-spec-version-content"] = optional_field()
    url: Url = optional_field()
    filesystem: list[ContentFile] | dict[str, Any]
    urls: ContentUrls = optional_field()


class RawContent(RootModel[str]):
    """The document of a version as its source had it: JSON or YAML."""
