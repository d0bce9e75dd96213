"""Define request and response models of Git Sync: the repository of a site or space, its installation.

The local server validates bodies with these pydantic models, and derives the OpenAPI document from them.
"""

from typing import Annotated, Literal

from pydantic import Field

from .base import AnswerBody, Body, Id, Timestamp, Url, Urls, optional_field

Status = Literal["unauthenticated", "active", "pending"]
Provider = Literal["github", "gitlab", "github-legacy"]


class GitSync(AnswerBody):
    """The state of it. With the profiles before today's edition, that of a space alone, without the ids."""

    repoName: str = optional_field()
    installationStatus: Status = optional_field()
    installationProvider: Provider = optional_field()
    integration: str = optional_field()
    installationId: Id = optional_field()
    parentInstallationId: Id = optional_field()
    url: Url = optional_field()
    updatedAt: Timestamp = optional_field()


class OfSpace(Body):
    type: Literal["space"]
    spaceId: Id
    siteId: Id = optional_field(description="The synced site that contains the space")


class OfSite(Body):
    type: Literal["site"]
    siteId: Id


Target = Annotated[OfSpace | OfSite, Field(discriminator="type")]


class InstallGitSync(Body):
    provider: Literal["github", "gitlab"]
    target: Target


Branch = Annotated[str, Field(pattern=r"^refs/heads/.+$")]


class ProviderConfiguration(Body):
    """Which repository. One of GitHub has a `repositoryId`; one of GitLab a `projectId` and a token."""

    repositoryId: int = optional_field()
    projectId: int = optional_field()
    accessToken: str = optional_field(description="Never answered")
    customInstanceURL: Url | None = optional_field()
    branch: str = optional_field(pattern=r"^refs/heads/.+$")


AgentFile = Literal["agents", "claude"]


class ConfigureGitSync(Body):
    provider: Literal["github", "gitlab"]
    providerConfiguration: ProviderConfiguration
    projectDirectory: str = optional_field()
    commitMessageTemplate: str = optional_field()
    previewExternalBranches: bool = optional_field()
    agentInstructions: list[AgentFile] = optional_field()
    priority: Literal["git", "gitbook"] = optional_field()
    childInstallationProjectDirectories: dict[str, str] = optional_field()


class GitState(GitSync):
    """The same where there is one for certain."""

    installationStatus: Status
    installationProvider: Provider
    installationId: Id


class TargetShown(AnswerBody):
    type: Literal["space", "site"]
    spaceId: Id = optional_field()
    siteId: Id = optional_field()


class ConfigurationShown(AnswerBody):
    repositoryId: int = optional_field()
    projectId: int = optional_field()
    customInstanceURL: Url | None = optional_field()
    branch: str = optional_field()


class GitRef(AnswerBody):
    object: Literal["git-repository-ref"]
    id: Id
    name: str
    type: Literal["branch"]
    updatedAt: Timestamp


class GitInstallation(AnswerBody):
    object: Literal["git-sync-installation"]
    id: Id
    provider: Literal["github", "gitlab"]
    providerConfiguration: ConfigurationShown
    projectDirectory: str = optional_field()
    commitMessageTemplate: str = optional_field()
    previewExternalBranches: bool = optional_field()
    agentInstructions: list[AgentFile] = optional_field()
    priority: Literal["git", "gitbook"] = optional_field()
    parentInstallationId: Id = optional_field()
    target: TargetShown
    status: Status
    repositoryRef: GitRef = optional_field()
    createdAt: Timestamp
    createdBy: Id
    updatedAt: Timestamp
    urls: Urls


class GitInstallations(AnswerBody):
    items: list[GitInstallation]
