"""Git Sync: what an answer says of the repository that a site or a space is kept in step with."""

from typing import Literal

from .base import AnswerBody, Id, Stamp, Url, absent

Provider = Literal["github", "gitlab", "github-legacy"]


class GitSync(AnswerBody):
    """The state of it. With the profiles before today's edition, that of a space alone, without the ids."""

    repoName: str = absent()
    installationStatus: Literal["unauthenticated", "active", "pending"] = absent()
    installationProvider: Provider = absent()
    integration: str = absent()
    installationId: Id = absent()
    parentInstallationId: Id = absent()
    url: Url = absent()
    updatedAt: Stamp = absent()
