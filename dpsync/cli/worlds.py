"""Read a live organization as a world, for `dpsync world` and `dpsync serve --from-live`.

A world is a copy of the live objects that dpsync's local server can load.
"""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from dpsync.cli.connection import Connection
from dpsync.cli.output import Output

if TYPE_CHECKING:
    from dpsync.client.client import ReadClient


if TYPE_CHECKING:
    from dpsync.client.client import ReadClient

    ConnectionT = TypeVar("ConnectionT", bound=Connection | None)
    ClientT = TypeVar("ClientT", bound=ReadClient)
from dpsync.cli.session import plan_now, reading_session


def read_world(
    out: Output, files: tuple[str, ...], directory: Path, environment: str | None, *,
    ids_in: Path | None = None, profile: str | None = None, parallelism: int = 4,
    timeout: float = 30.0, anonymous: bool = False,
) -> dict[str, Any]:  # fmt: skip
    """Return a copy of the live objects as `dpsync world` saves it, without secrets.

    The local server that imitates GitBook can start with this copy. `anonymous`: whether to replace names of
    people, domains and URLs. Raises ClickException if the local server cannot load the copy, or if its
    packages are not installed.
    """
    from dpsync.api import Options
    from dpsync.client.recording import Recording
    from dpsync.model.values import Secret, leaves
    from dpsync.rehearse.faults import RehearsalSetup
    from dpsync.rehearse.replica import NoCompanionError, WorldLoadError, check_world
    from dpsync.rehearse.world import SavedFrom, world_file

    recording = Recording()
    with reading_session(
        out, files, directory, environment, ids_in, profile, parallelism, None, timeout, recording
    ) as (session, client):  # fmt: skip
        planned = plan_now(out, session, client, Options())
        recording.stop()
        values = (value for entry in session.desired.entries.values() for value in entry.fields.values())
        names = {leaf.variable for value in values for leaf in leaves(value) if isinstance(leaf, Secret)}
        out.mask.add([os.environ[name] for name in sorted(names) if os.environ.get(name)])
        try:
            world = RehearsalSetup(session, planned, recording).world()
            forbidden_paths = {answer.path for answer in recording.joined_answers() if answer.status == 403}
            origin = SavedFrom(
                platform=client.url,
                read_at=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
                profile=session.registry.profile.name,
                not_read=(*forbidden_paths, *(unknown.path for unknown in world.unknown)),
            )
            content = world_file(world, origin, out.mask, anonymous=anonymous)
            check_world(content)
        except (WorldLoadError, NoCompanionError) as error:
            raise click.ClickException(str(error)) from None
        return content
    raise AssertionError
