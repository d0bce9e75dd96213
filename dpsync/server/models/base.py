"""Define the base classes and types of all request and response models.

A request ignores unknown members; a response may not have undeclared members. A field made with
`optional_field` may be omitted; it accepts null only if its type does.
"""

from typing import Annotated, Any, ClassVar, Generic, Literal, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, model_validator

Role = Literal["admin", "create", "review", "edit", "comment", "read"]
Level = Role | Literal["inherit"] | None
SortOrder = Literal["asc", "desc"]
Id = Annotated[str, Field(pattern=r"^[a-zA-Z0-9_-]+$")]
TextWithoutNul = Annotated[str, Field(pattern=r"^[^\x00]*$")]
"""A text that may be stored in a column, which cannot contain NUL."""
Url = Annotated[str, Field(max_length=2048, pattern=r"^[A-Za-z][A-Za-z0-9+.-]*:\S*$")]
Timestamp = Annotated[str, Field(pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$")]


def optional_field(**limits: Any) -> Any:
    """Declare a field that may be omitted."""
    return Field(default=None, **limits)


class Body(BaseModel):
    model_config = ConfigDict(extra="ignore", strict=True, defer_build=True)

    def sent_fields(self) -> dict[str, Any]:
        """Return the fields that the caller sent, including null."""
        return self.model_dump(exclude_unset=True)


class Query(BaseModel):
    """A parameter named in `repeatable` may be repeated; of any other, the last one counts."""

    model_config = ConfigDict(extra="ignore", defer_build=True)

    repeatable: ClassVar[frozenset[str]] = frozenset()

    @classmethod
    def can_be_invalid(cls) -> bool:
        """Return whether a parameter can be missing or have an invalid value."""
        return any(
            field.is_required() or field.metadata or field.annotation not in (str, str | None)
            for field in cls.model_fields.values()
        )

    @classmethod
    def collect_values(cls, pairs: list[tuple[str, str]]) -> dict[str, Any]:
        """Return the parameters of a query string by name, with a list for each repeatable one."""
        lists = {name: [value for key, value in pairs if key == name] for name in cls.repeatable}
        return {name: lists.get(name, value) for name, value in pairs}


class AnswerBody(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, defer_build=True)


class Paged(Query):
    page: str | None = Field(default=None, description="The value of `next.page` from the previous page")
    limit: int = Field(default=50, ge=0, le=1000)


class Urls(AnswerBody):
    """`location`: its own address in the API."""

    location: Url


class Next(AnswerBody):
    page: str


T = TypeVar("T")


class Page(AnswerBody, Generic[T]):
    next: Next = optional_field()
    count: int
    items: list[T]


class Empty(Body):
    """A body of which nothing is read."""


class User(AnswerBody):
    object: Literal["user"]
    id: Id
    displayName: str
    email: str = optional_field()
    photoURL: str = optional_field()
    urls: Urls


class ErrorDetail(AnswerBody):
    code: int
    message: str


class Error(AnswerBody):
    error: ErrorDetail


class OpenShape(BaseModel):
    """A part of a rich-text document.

    Undeclared members are kept unchanged, because documents have more members than the API describes.
    """

    model_config = ConfigDict(extra="allow", strict=True, defer_build=True)


class Leaf(OpenShape):
    object: Literal["leaf"]
    text: str
    marks: list[dict[str, Any]] = optional_field()


class DocumentNode(OpenShape):
    """A node at any depth. Blocks and inlines say of which type they are."""

    object: Literal["block", "inline", "text", "fragment"]
    type: str = optional_field()
    key: str = optional_field()
    isVoid: bool = optional_field()
    data: dict[str, Any] = optional_field()
    nodes: list["DocumentNode"] = optional_field()
    fragments: list["DocumentNode"] = optional_field()
    leaves: list[Leaf] = optional_field()

    @model_validator(mode="after")
    def _check_type(self) -> Self:
        """Check that a node has a type, unless it is a text."""
        if self.object in ("block", "inline") and self.type is None:
            raise ValueError(f"{self.object}: a type is required")
        return self


class DocumentBlock(DocumentNode):
    """A node of the outermost level."""

    object: Literal["block"]
    type: str


class DocumentData(OpenShape):
    schemaVersion: int = optional_field()


class DocumentMeta(OpenShape):
    token: str = optional_field()


class RichTextDocument(OpenShape):
    """A rich-text document.

    `object` and `nodes` are required. Without them, any object would be a document and could clear existing
    content.
    """

    object: Literal["document"]
    data: DocumentData = Field(default_factory=DocumentData)
    nodes: list[DocumentBlock]
    meta: DocumentMeta = optional_field()


class InheritRules(AnswerBody):
    model_config = ConfigDict(extra="ignore", strict=True, defer_build=True)
    type: Literal["inherit"]


class NoRules(AnswerBody):
    model_config = ConfigDict(extra="ignore", strict=True, defer_build=True)
    type: Literal["none"]


class MergeRule(AnswerBody):
    model_config = ConfigDict(extra="ignore", strict=True, defer_build=True)

    rule: Literal[
        "require_specific_reviewers",
        "require_one_of_specific_reviewers",
        "allow_bypass",
        "require_at_least_one_review",
        "require_at_least_one_approved_review",
        "require_all_reviews_approved",
        "require_agent_review",
        "require_up_to_date_change_request",
        "require_change_request_subject",
        "require_change_request_description",
        "require_author_to_merge",
        "custom",
    ]
    users: list[str] = optional_field()
    expression: str = optional_field(max_length=1024)
    message: str = optional_field()


class OwnMergeRules(AnswerBody):
    model_config = ConfigDict(extra="ignore", strict=True, defer_build=True)
    type: Literal["rules"]
    rules: list[MergeRule]


MergeRules = Annotated[InheritRules | NoRules | OwnMergeRules, Field(discriminator="type")]
