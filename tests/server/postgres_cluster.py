"""A real PostgreSQL for tests: a cluster of its own for each test process, on a socket in a new directory.

Its databases sort text by the rules of a language (ICU), so that what depends on the order of bytes shows.
"""

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest

USER = "dpsync"
NEEDED = "PostgreSQL's own programs are needed to test with: apt-get install postgresql (Debian, Ubuntu)"

_UNTIL_LET_GO = 'cat >/dev/null; "$0" stop --mode immediate --pgdata "$1/data"; rm -rf "$1"'
"""Ends the server and removes its directory when the test process does not hold its input any more, however
that has come to its end.
"""


@dataclass
class Cluster:
    """`directory` holds the socket and the data, `user` runs the server, by `pg_ctl`."""

    directory: Path
    user: str | None
    pg_ctl: Path
    made: int = 0

    def start(self) -> None:
        settings = f"-c listen_addresses= -c unix_socket_directories={self.directory}"
        self._control("start", "--wait", "--log", str(self.directory / "log"), "-o", settings)

    def crash(self) -> None:
        """All its processes end at once, and nothing is written any more."""
        self._control("stop", "--mode", "immediate")

    def _control(self, *command: str) -> None:
        _as(self.user, self.pg_ctl, *command, "--pgdata", self.directory / "data")

    def url(self, database: str) -> str:
        return f"postgresql:///{database}?host={self.directory}&user={USER}"

    def run(self, sql: str) -> None:
        """As the superuser, in no test's database."""
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            connection.execute(sql.encode())

    @contextmanager
    def database(self, options: str = "") -> Iterator[str]:
        """Create an empty database and yield its URL."""
        self.made += 1
        name = f"test_{self.made}"
        self.run(f"CREATE DATABASE {name} {options}")
        try:
            yield self.url(name)
        finally:
            self.run(f"DROP DATABASE {name} WITH (FORCE)")

    def wait_for_disk(self, on: bool) -> None:
        self.run(f"ALTER SYSTEM SET fsync = {'on' if on else 'off'}")
        self.run("SELECT pg_reload_conf()")

    def end_connections(self, url: str) -> None:
        """As a server that is restarted does."""
        name = psycopg.conninfo.conninfo_to_dict(url)["dbname"]
        self.run(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'")


@contextmanager
def cluster() -> Iterator[Cluster]:
    initdb, pg_ctl = _program("initdb"), _program("pg_ctl")
    user = _unprivileged()
    directory = Path(tempfile.mkdtemp(prefix="dpsync-pg-"))
    if user:
        os.chown(directory, pwd.getpwnam(user).pw_uid, -1)
        directory.chmod(0o711)
    with subprocess.Popen(
        ["sh", "-c", _UNTIL_LET_GO, pg_ctl, directory], user=user, cwd="/", start_new_session=True,
        stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    ):  # fmt: skip
        locale = ("--locale", "C", "--locale-provider", "icu", "--icu-locale", "en")
        _as(
            user, initdb, "-D", directory / "data", "-U", USER, "--auth", "trust", "--no-sync", "-E", "UTF8",
            *locale,
        )  # fmt: skip
        made = Cluster(directory, user, pg_ctl)
        made.start()
        made.wait_for_disk(False)
        yield made


def _program(name: str) -> Path:
    """Return the newest version that Debian has installed, else the one in PATH."""
    versions = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"), key=lambda path: int(path.parts[4]))
    found = versions[-1] if versions else shutil.which(name)
    if found is None:
        pytest.fail(NEEDED, pytrace=False)
    return Path(found)


def _unprivileged() -> str | None:
    """Who runs the server in place of root: PostgreSQL refuses to be run by root."""
    if os.geteuid():
        return None
    known = {entry.pw_name for entry in pwd.getpwall()}
    return "postgres" if "postgres" in known else "nobody"


def _as(user: str | None, *command: str | Path) -> None:
    done = subprocess.run(
        [*map(str, command)], user=user, cwd="/", stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        pytest.fail(f"{command[0]}: {done.stdout}", pytrace=False)


@pytest.fixture(scope="session")
def postgres() -> Iterator[Cluster]:
    with cluster() as running:
        yield running


@pytest.fixture
def postgres_url(postgres: Cluster) -> Iterator[str]:
    """Yield the URL of a fresh, empty database."""
    with postgres.database() as url:
        yield url
