"""SAML providers and the links that start a login."""

from typing import Literal

from pydantic import Field

from .base import Answer, Body, Id, Role, Stamp, Url, absent
from .organizations import Team


class SamlService(Answer):
    acsURL: Url
    startURL: Url
    entityID: Url


class SamlUrls(Answer):
    location: Url


class SamlProvider(Answer):
    object: Literal["saml-provider"]
    id: Id
    label: str = Field(min_length=1, max_length=30)
    ssoURL: Url | Literal[""]
    entityID: str = Field(max_length=1024)
    certificate: str = Field(max_length=10000)
    defaultTeam: Team = absent()
    defaultRole: Role | None
    createdAt: Stamp
    status: Literal["active", "pending"]
    service: SamlService
    urls: SamlUrls


class SamlProviderUpdate(Body):
    label: str = absent(min_length=1, max_length=30)
    ssoURL: Url | Literal[""] = absent(description="As it is read: empty while there is none")
    entityID: str = absent(max_length=1024)
    certificate: str = absent(max_length=10000)
    defaultTeam: str = absent(description="The id of a team; read as the team itself")
    defaultRole: Role | None = absent()


class SamlProviderCreate(SamlProviderUpdate):
    label: str = Field(default="Untitled", min_length=1, max_length=30)


class SsoLogin(Answer):
    id: Id
    label: str
    startURL: Url


class SsoLogins(Answer):
    items: list[SsoLogin]
