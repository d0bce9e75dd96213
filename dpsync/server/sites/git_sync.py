"""Find the sites and spaces with a Git Sync installation, and compute the state of their git repositories.

Git Sync keeps a site or space in step with a repository. The local server contacts no repository.
"""

from collections.abc import Iterator

from ..request.context import Context
from ..store import Json, Record


def repository_state(record: Record) -> Json:
    """Return the state of Git Sync on a site or a space that has an installation."""
    return {
        "installationProvider": "github",
        "installationStatus": "active",
        "installationId": f"git-{record.id}",
        **record.doc["gitSync"],
    }


def objects_with_git_sync(ctx: Context) -> Iterator[Record]:
    """Yield every site and space that has an installation, whether or not the caller may see it."""
    for kind in ("site", "space"):
        yield from (record for record in ctx.store.find(kind) if record.doc.get("gitSync"))


def find_installation_target(ctx: Context, id: str) -> Record | None:
    """Return the site or space with this installation, or None."""
    return next(
        (record for record in objects_with_git_sync(ctx) if repository_state(record)["installationId"] == id),
        None,
    )
