"""Models of Git Sync: the git repository of a site or a space, and its installation."""

from typing import Annotated, Literal

from pydantic import Field

from .base import AnswerBody, Body, Id, Stamp, Url, Urls, absent

Status = Literal["unauthenticated", "active", "pending"]
Provider = Literal["github", "gitlab", "github-legacy"]


class GitSync(AnswerBody):
    """The state of it. With the profiles before today's edition, that of a space alone, without the ids."""

    repoName: str = absent()
    installationStatus: Status = absent()
    installationProvider: Provider = absent()
    integration: str = absent()
    installationId: Id = absent()
    parentInstallationId: Id = absent()
    url: Url = absent()
    updatedAt: Stamp = absent()


class OfSpace(Body):
    type: Literal["space"]
    spaceId: Id
    siteId: Id = absent(description="The synced site that contains the space")


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

    repositoryId: int = absent()
    projectId: int = absent()
    accessToken: str = absent(description="Never answered")
    customInstanceURL: Url | None = absent()
    branch: str = absent(pattern=r"^refs/heads/.+$")


AgentFile = Literal["agents", "claude"]


class ConfigureGitSync(Body):
    provider: Literal["github", "gitlab"]
    providerConfiguration: ProviderConfiguration
    projectDirectory: str = absent()
    commitMessageTemplate: str = absent()
    previewExternalBranches: bool = absent()
    agentInstructions: list[AgentFile] = absent()
    priority: Literal["git", "gitbook"] = absent()
    childInstallationProjectDirectories: dict[str, str] = absent()


class GitState(GitSync):
    """The same where there is one for certain."""

    installationStatus: Status
    installationProvider: Provider
    installationId: Id


class TargetShown(AnswerBody):
    type: Literal["space", "site"]
    spaceId: Id = absent()
    siteId: Id = absent()


class ConfigurationShown(AnswerBody):
    repositoryId: int = absent()
    projectId: int = absent()
    customInstanceURL: Url | None = absent()
    branch: str = absent()


class GitRef(AnswerBody):
    object: Literal["git-repository-ref"]
    id: Id
    name: str
    type: Literal["branch"]
    updatedAt: Stamp


class GitInstallation(AnswerBody):
    object: Literal["git-sync-installation"]
    id: Id
    provider: Literal["github", "gitlab"]
    providerConfiguration: ConfigurationShown
    projectDirectory: str = absent()
    commitMessageTemplate: str = absent()
    previewExternalBranches: bool = absent()
    agentInstructions: list[AgentFile] = absent()
    priority: Literal["git", "gitbook"] = absent()
    parentInstallationId: Id = absent()
    target: TargetShown
    status: Status
    repositoryRef: GitRef = absent()
    createdAt: Stamp
    createdBy: Id
    updatedAt: Stamp
    urls: Urls


class GitInstallations(AnswerBody):
    items: list[GitInstallation]
