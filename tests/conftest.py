"""For every test: properties have no deadline, since machines are shared; in CI they never vary.

Of a property that says nothing else 50 examples are drawn, in a soak 1,000.

One companion for each test process, which each test resets to a world of its own.
"""

from __future__ import annotations

import gc
import os
import re
import shutil
import signal
import tempfile
from collections import Counter
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

from dpsync.collector import collector_paused
from dpsync.server.http.app import build_companion
from dpsync.server.process.threaded_server import ThreadedServer
from dpsync.server.store import open_store
from tests.soak import examples
from tests.warm import program

if TYPE_CHECKING:
    from playwright.sync_api import Browser

settings.register_profile("everywhere", deadline=None, print_blob=True, max_examples=examples(50, soak=1000))
settings.register_profile("ci", settings.get_profile("everywhere"), derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "everywhere")
# What a script starts in the background ignores it, and so would everything that is started here.
signal.signal(signal.SIGINT, signal.default_int_handler)


_MEMORY = "/dev/shm"
_ROOM = 3 << 30
"""Bytes that must be free in memory for the temporary files of a whole run."""


def _has_room_in_memory() -> bool:
    if not os.path.ismount(_MEMORY):
        return False
    memory = os.statvfs(_MEMORY)
    return memory.f_bavail * memory.f_frsize >= _ROOM and not memory.f_flag & os.ST_NOEXEC


def pytest_configure(config: pytest.Config) -> None:
    """Create temporary files in memory: each git command and each database writes dozens of small files.

    They are deleted at the end. To keep the files, or to use a disk, set TMPDIR.
    """
    if "TMPDIR" not in os.environ and _has_room_in_memory():
        folder = tempfile.mkdtemp(prefix="dp-", dir=_MEMORY)
        Path(folder).chmod(0o755)  # PostgreSQL runs as another user
        os.environ["TMPDIR"] = tempfile.tempdir = folder
        config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))


_DIRECTORIES: Counter[str] = Counter()


@pytest.fixture
def tmp_path(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Create a directory for one test: pytest's own fixture lists the directories of all tests before it."""
    name = re.sub(r"\W", "_", request.node.name)[:30]
    path = tmp_path_factory.getbasetemp() / f"{name}-{_DIRECTORIES[name.lower()]}"
    _DIRECTORIES[name.lower()] += 1
    path.mkdir(mode=0o700)
    return path


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Pause the garbage collector during collection; freeze what was collected, so later runs skip it."""
    with collector_paused():
        collected = yield
        gc.freeze()
    return collected


def _serving(profile: str) -> Iterator[ThreadedServer]:
    store = open_store(":memory:")
    with ThreadedServer(build_companion(store, profile=profile)) as running:
        yield running
    store.close()


@pytest.fixture(scope="session")
def server() -> Iterator[ThreadedServer]:
    yield from _serving("full")


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One for all tests of a process: there cannot be two."""
    from tests.browser import chromium

    with chromium() as found:
        yield found


@pytest.fixture(scope="session")
def published_server() -> Iterator[ThreadedServer]:
    """Serve the API as its vendor publishes it today."""
    yield from _serving("published")


@pytest.fixture(scope="session")
def programs() -> Iterator[Path]:
    """Yield a directory for PATH whose `dpsync` runs in a process that is already started (warm.py)."""
    with program() as folder:
        yield folder
