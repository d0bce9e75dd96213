"""What content is given as: references to it, Markdown, and templates."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from .base import Body, absent


class ContentRef(BaseModel):
    """A reference to content; which members it has goes by its kind."""

    model_config = ConfigDict(extra="ignore", strict=True, defer_build=True)

    kind: Literal[
        "file", "url", "page", "anchor", "user", "collection", "space", "reusable-content", "tag", "openapi"
    ]
    file: str = absent()
    url: str = absent()
    page: str = absent()
    anchor: str = absent()
    user: str = absent()
    collection: str = absent()
    space: str = absent()
    reusableContent: str = absent()
    tag: str = absent()
    spec: str = absent()


class TemplateParams(Body):
    contentRefs: dict[str, ContentRef] = Field(default_factory=dict)


class Template(Body):
    """`id`: a space whose content is copied."""

    id: str
    params: TemplateParams = absent()


class MarkdownText(Body):
    markdown: str = Field(max_length=1_000_000)
