"""Define request and response models of invites, invite links, SAML providers, and the search results.

The local server validates bodies with these pydantic models, and derives the OpenAPI document from them.
"""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from .base import AnswerBody, Body, Id, Paged, Role, Timestamp, Url, Urls, User, optional_field
from .content import Collection, Space
from .organizations import Team


class LinkInviteUrls(AnswerBody):
    location: Url
    app: Url


class LinkInvite(AnswerBody):
    """To the organization with a role, or to a space or collection with a level."""

    object: Literal["link-invite", "invite"]
    id: Id
    redundant: bool = optional_field()
    role: Role = optional_field()
    level: Role = optional_field()
    space: Id | Space = optional_field()
    collection: Id | Collection = optional_field()
    createdAt: Timestamp
    createdBy: User
    urls: LinkInviteUrls


class LinkInviteCreate(Body):
    role: Role = optional_field(description="A role in the organization")
    level: Role = optional_field(description="A level on the named space or collection")
    space: str = optional_field()
    collection: str = optional_field()

    @model_validator(mode="after")
    def _check_one_target(self) -> "LinkInviteCreate":
        """Check that the invite has a role (in the organization), or a level and its space or collection."""
        if self.model_fields_set not in ({"role"}, {"level", "space"}, {"level", "collection"}):
            raise ValueError("set a role, or a level and a space, or a level and a collection")
        return self


class LinkInviteUpdate(Body):
    role: Role = optional_field(description="For an invite to the organization")
    level: Role = optional_field(description="For an invite to a space or collection")


Email = Annotated[str, Field(max_length=320, pattern=r"^[^@\s\x00]+@[^@\s\x00]+$")]


class EmailRole(Body):
    email: Email
    role: Role | None


class Invites(Body):
    emails: list[Email | EmailRole]
    role: Role | None = optional_field(
        description="Role of invited users without a role. Default: the default role"
    )
    sso: bool = False

    def roles_by_email(self, default: Role | None) -> dict[str, Role | None]:
        """Return the roles by email address in lower case. The last role of an address counts."""
        common = self.role if "role" in self.model_fields_set else default
        pairs = [
            (user.email, user.role) if isinstance(user, EmailRole) else (user, common) for user in self.emails
        ]
        return {email.casefold(): role for email, role in pairs}


class Joined(AnswerBody):
    """An object without members."""


class Invited(AnswerBody):
    users: list[Id]
    invited: int
    failedSSOEmails: list[str]


class SearchQuery(Paged):
    query: str = Field(max_length=512)


class HitUrls(AnswerBody):
    app: Url


class SectionHit(AnswerBody):
    id: Id
    title: str
    path: str
    score: float = optional_field()
    body: str
    urls: HitUrls


class AncestorHit(AnswerBody):
    title: str


class PageHit(AnswerBody):
    id: Id
    title: str
    description: str = optional_field()
    path: str
    score: float = optional_field()
    rank: int = optional_field()
    sections: list[SectionHit]
    ancestors: list[AncestorHit]
    urls: HitUrls


class SpaceHit(AnswerBody):
    type: Literal["space"] = optional_field()
    id: Id
    title: str
    score: float = optional_field()
    pages: list[PageHit]


class SamlService(AnswerBody):
    acsURL: Url
    startURL: Url
    entityID: Url


class SamlProvider(AnswerBody):
    object: Literal["saml-provider"]
    id: Id
    label: str = Field(min_length=1, max_length=30)
    ssoURL: Url | Literal[""] = optional_field(
        description="Absent if not set, or an empty text with `published`"
    )
    entityID: str = Field(max_length=1024)
    certificate: str = Field(max_length=10000)
    defaultTeam: Team = optional_field()
    defaultRole: Role | None
    createdAt: Timestamp
    status: Literal["active", "pending"]
    service: SamlService
    urls: Urls


class SamlProviderUpdate(Body):
    label: str = optional_field(min_length=1, max_length=30)
    ssoURL: Url = optional_field()
    entityID: str = optional_field(max_length=1024)
    certificate: str = optional_field(max_length=10000)
    defaultTeam: str = optional_field(description="The id of a team. A response contains the whole team")
    defaultRole: Role | None = optional_field()


class SamlProviderCreate(SamlProviderUpdate):
    label: str = Field(default="Untitled", min_length=1, max_length=30)


class SsoLogin(AnswerBody):
    id: Id
    label: str
    startURL: Url


class SsoLogins(AnswerBody):
    items: list[SsoLogin]
