"""Git Sync: which sites and spaces have an installation, and what is known of its repository."""

from collections.abc import Iterator

from ..request.context import Context
from ..store import Json, Record


def state(record: Record) -> Json:
    """What is known of the repository of a site or a space that has one."""
    return {
        "installationProvider": "github",
        "installationStatus": "active",
        "installationId": f"git-{record.id}",
        **record.doc["gitSync"],
    }


def synced(ctx: Context) -> Iterator[Record]:
    """Every site and space that has an installation, whoever may see it."""
    for kind in ("site", "space"):
        yield from (one for one in ctx.store.find(kind) if one.doc.get("gitSync"))


def installed(ctx: Context, id: str) -> Record | None:
    """What an installation is on; None where there is none of this id."""
    return next((one for one in synced(ctx) if state(one)["installationId"] == id), None)
