"""One dpsync at a time per organization on this machine; in CI the concurrency group does the same."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

from dpsync import disk


class Locked(Exception):
    """Another dpsync is applying to this organization."""

    def __init__(self, organization: str) -> None:
        self.organization = organization
        super().__init__(organization)


class NoState(Exception):
    """The user's state directory cannot be used; the text says which one, and why."""


def state_directory(env: Mapping[str, str]) -> Path:
    """Where dpsync keeps what belongs to the user of this machine. Raises NoState where there is no home."""
    named = Path(env.get("XDG_STATE_HOME", ""))
    if named.is_absolute():  # a relative one means nothing, as the XDG specification says
        return named / "dpsync"
    try:
        return Path.home() / ".local" / "state" / "dpsync"
    except RuntimeError:
        raise NoState(
            "dpsync finds no directory for its lock file: neither HOME nor XDG_STATE_HOME is set"
        ) from None


@contextmanager
def locked(url: str, organizations: Iterable[str]) -> Iterator[None]:
    """Hold the locks of the organizations (by id).

    Raises Locked at once when one is taken, NoState when no lock can be had at all.
    """
    directory = state_directory(os.environ) / "locks"
    with ExitStack() as held:
        for organization in sorted(set(organizations)):
            name = hashlib.sha256(f"{url} {organization}".encode()).hexdigest()
            try:
                disk.make_directory(directory)
                held.enter_context(disk.lock(directory / name))
            except BlockingIOError:
                raise Locked(organization) from None
            except OSError as error:
                raise NoState(f"dpsync cannot write a lock file in {directory}: {disk.why(error)}") from None
        yield
