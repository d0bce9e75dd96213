"""One dpsync at a time per organization on this machine; in CI the concurrency group does the same."""

from __future__ import annotations

import fcntl
import hashlib
import os
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path


class Locked(Exception):
    """Another dpsync is applying to this organization."""

    def __init__(self, organization: str) -> None:
        self.organization = organization
        super().__init__(organization)


@contextmanager
def locked(url: str, organizations: Iterable[str]) -> Iterator[None]:
    """Hold the locks of the organizations (by id); raises Locked at once when one is taken."""
    directory = (
        Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state") / "dpsync" / "locks"
    )
    directory.mkdir(parents=True, exist_ok=True)
    with ExitStack() as held:
        for organization in sorted(set(organizations)):
            name = hashlib.sha256(f"{url} {organization}".encode()).hexdigest()[:32]
            file = held.enter_context((directory / name).open("w"))
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise Locked(organization) from None
        yield
