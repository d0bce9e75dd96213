"""Change requests. What one is answered as stands with the revisions, which name it."""

from typing import Literal

from pydantic import Field

from .base import Answer, Body, Document, Id, Paged, Query, Url, absent
from .templates import Template

Status = Literal["draft", "open", "archived", "merged"]


class ChangeRequestCreate(Body):
    subject: str = Field(default="", max_length=100)
    template: Template = absent()


class ChangeRequestUpdate(Body):
    subject: str = absent(max_length=100)
    description: Document = absent()
    status: Status = absent(description="`merged` only where it is that already: merging makes it so")


class _Filters(Paged):
    creator: str | None = None
    contributor: str | None = None
    requestedReviewer: str | None = None
    conversationsIssuesCluster: str | None = None


class SpaceChangeRequestsQuery(_Filters):
    status: Status = "open"


class OrganizationChangeRequestsQuery(_Filters):
    lists = frozenset({"status"})

    status: list[Status] = Field(default=["open"])


class PdfQuery(Query):
    only: bool = Field(default=False, description="That page alone, without those below it")
    page: str | None = Field(default=None, description="The id of a page")


class Conflict(Answer):
    """`of`: page, file, reusable-content or variable; `what` both sides have changed."""

    of: str
    id: str
    what: str


class Merged(Answer):
    revision: Id
    result: Literal["merge", "conflicts"]
    conflicts: list[Conflict] = absent()


class Updated(Answer):
    revision: Id
    result: Literal["update", "conflicts"]
    conflicts: list[Conflict] = absent()


class Pdf(Answer):
    url: Url
