"""Models of OpenAPI specifications."""

from typing import Annotated, Any, Literal

from pydantic import Field, RootModel, model_validator

from .base import AnswerBody, Body, Id, Stamp, Url, Urls, absent

LONGEST_SLUG = 100
SLUG = r"^[a-zA-Z0-9]+(?:-[a-zA-Z0-9]+)*$"
Slug = Annotated[str, Field(min_length=1, max_length=LONGEST_SLUG, pattern=SLUG)]
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
    published: Url = absent()


class OpenAPISpec(AnswerBody):
    object: Literal["openapi-spec"]
    id: Id
    createdAt: Stamp
    updatedAt: Stamp
    slug: Slug
    sourceURL: Url = absent()
    processingState: Literal["pending", "progress", "complete"]
    visibility: SpecVisibility
    lastVersion: Id = absent()
    lastProcessedAt: Stamp = absent()
    lastProcessErrorCode: Literal["FETCH_TIMEOUT", "FETCH_ERROR", "PARSE_ERROR"] = absent()
    lastProcessedErrors: list[ProcessedError] = absent()
    lastProcessedErrorCount: int = absent()
    permissions: SpecPermissions
    urls: SpecUrls


class SpecSource(Body):
    url: Url = absent()
    text: str = absent(min_length=1)

    @model_validator(mode="after")
    def _one_of_both(self) -> "SpecSource":
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
    createdAt: Stamp
    sourceURL: Url = absent()
    url: Url = absent()
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

    object: Literal["openapi-spec-version-content"] = absent()
    url: Url = absent()
    filesystem: list[ContentFile] | dict[str, Any]
    urls: ContentUrls = absent()


class RawContent(RootModel[str]):
    """The document of a version as its source had it: JSON or YAML."""
