"""Models of link invites, SAML providers, and the results of a search in an organization."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from .base import AnswerBody, Body, Id, Paged, Role, Stamp, Url, Urls, User, absent
from .content import Collection, Space
from .organizations import Team


class LinkInviteUrls(AnswerBody):
    location: Url
    app: Url


class LinkInvite(AnswerBody):
    """To the organization with a role, or to a space or collection with a level."""

    object: Literal["link-invite", "invite"]
    id: Id
    redundant: bool = absent()
    role: Role = absent()
    level: Role = absent()
    space: Id | Space = absent()
    collection: Id | Collection = absent()
    createdAt: Stamp
    createdBy: User
    urls: LinkInviteUrls


class LinkInviteCreate(Body):
    role: Role = absent(description="A role in the organization")
    level: Role = absent(description="A level on the named space or collection")
    space: str = absent()
    collection: str = absent()

    @model_validator(mode="after")
    def _one_target(self) -> "LinkInviteCreate":
        if self.model_fields_set not in ({"role"}, {"level", "space"}, {"level", "collection"}):
            raise ValueError("set a role, or a level and a space, or a level and a collection")
        return self


class LinkInviteUpdate(Body):
    role: Role = absent(description="For an invite to the organization")
    level: Role = absent(description="For an invite to a space or collection")


Email = Annotated[str, Field(max_length=320, pattern=r"^[^@\s\x00]+@[^@\s\x00]+$")]


class EmailRole(Body):
    email: Email
    role: Role | None


class Invites(Body):
    emails: list[Email | EmailRole]
    role: Role | None = absent(description="Role of invited users without a role. Default: the default role")
    sso: bool = False

    def roles(self, default: Role | None) -> dict[str, Role | None]:
        """Return the roles by email address in lower case. The last role of an address counts."""
        common = self.role if "role" in self.model_fields_set else default
        pairs = [
            (one.email, one.role) if isinstance(one, EmailRole) else (one, common) for one in self.emails
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
    score: float = absent()
    body: str
    urls: HitUrls


class AncestorHit(AnswerBody):
    title: str


class PageHit(AnswerBody):
    id: Id
    title: str
    description: str = absent()
    path: str
    score: float = absent()
    rank: int = absent()
    sections: list[SectionHit]
    ancestors: list[AncestorHit]
    urls: HitUrls


class SpaceHit(AnswerBody):
    type: Literal["space"] = absent()
    id: Id
    title: str
    score: float = absent()
    pages: list[PageHit]


class SamlService(AnswerBody):
    acsURL: Url
    startURL: Url
    entityID: Url


class SamlProvider(AnswerBody):
    object: Literal["saml-provider"]
    id: Id
    label: str = Field(min_length=1, max_length=30)
    ssoURL: Url | Literal[""] = absent(description="Absent if not set, or an empty text with `published`")
    entityID: str = Field(max_length=1024)
    certificate: str = Field(max_length=10000)
    defaultTeam: Team = absent()
    defaultRole: Role | None
    createdAt: Stamp
    status: Literal["active", "pending"]
    service: SamlService
    urls: Urls


class SamlProviderUpdate(Body):
    label: str = absent(min_length=1, max_length=30)
    ssoURL: Url = absent()
    entityID: str = absent(max_length=1024)
    certificate: str = absent(max_length=10000)
    defaultTeam: str = absent(description="The id of a team. A response contains the whole team")
    defaultRole: Role | None = absent()


class SamlProviderCreate(SamlProviderUpdate):
    label: str = Field(default="Untitled", min_length=1, max_length=30)


class SsoLogin(AnswerBody):
    id: Id
    label: str
    startURL: Url


class SsoLogins(AnswerBody):
    items: list[SsoLogin]
