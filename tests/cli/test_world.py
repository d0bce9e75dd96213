"""`dpsync world` saves what is live, `dpsync serve --from-live` serves it; the platform is only read."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import httpx
import pytest

from dpsync.server.process.threaded_server import ThreadedServer
from dpsync.server.store import Record
from dpsync.server.world import read_world
from tests.by_hand import by_hand
from tests.cli.conftest import Run
from tests.no_tls import NO_TLS
from tests.patience import PATIENCE

TEXT = """\
dpsync: 1
organizations:
  acme:
    id: acme
    members: { grace@acme.example: admin }
    spaces: { guides: { title: Guides } }
"""


@pytest.fixture
def directory(platform: ThreadedServer, tmp_path: Path) -> Path:
    del platform
    (tmp_path / "dpsync.yaml").write_text(TEXT)
    return tmp_path


def world(run: Run, directory: Path, *more: str) -> Any:
    ended = run("world", "world.json", "-C", str(directory), *more)
    assert ended.code == 0, ended.err
    return json.loads((directory / "world.json").read_text())


def test_world_command_sends_same_read_requests_as_plan(
    run: Run, directory: Path, platform: ThreadedServer
) -> None:
    platform.app.requests.clear()
    run("plan", "-C", str(directory))
    planned = sorted(platform.app.requests)
    platform.app.requests.clear()
    world(run, directory)
    assert sorted(platform.app.requests) == planned
    assert {method for method, *_ in planned} == {"GET"}


def test_saved_copy_names_platform_without_token(run: Run, directory: Path, platform: ThreadedServer) -> None:
    made = world(run, directory)
    assert (made["origin"]["platform"], made["origin"]["caller"]) == (platform.url, "ada")
    assert "ada-token" not in json.dumps(made)
    assert "tokens" not in made


def test_saved_copy_lists_paths_token_cannot_read(
    run: Run, directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise, what a token may not read looks as if it were not there."""
    monkeypatch.setenv("DPSYNC_TOKEN", "kim-token")
    (directory / "dpsync.yaml").write_text(TEXT + "    saml: { okta: { label: Okta } }\n")
    assert world(run, directory)["origin"]["notRead"] == ["/orgs/acme/saml"]


def test_saved_copy_file_is_readable_only_by_owner(run: Run, directory: Path) -> None:
    """Otherwise, a file that names people may be read by everybody on the machine."""
    (directory / "world.json").write_text("an older one")
    world(run, directory)
    assert (directory / "world.json").stat().st_mode & 0o077 == 0


def test_anonymized_copy_contains_no_people_names(run: Run, directory: Path) -> None:
    made = world(run, directory, "--anonymous")
    text = json.dumps(made).casefold()
    for name in ("byron", "hopper", "ada@", "grace@"):
        assert name not in text
    assert made["origin"]["anonymous"] is True


def places_in(text: str) -> set[str]:
    """Every domain and e-mail address of a text, and the host of every URL."""
    hosts = re.findall(r"[a-z][a-z0-9+.-]*://([^/\s\"'\\\\]+)", text)
    addresses = re.findall(r"[\w.+-]+@([\w-]+(?:\.[\w-]+)+)", text)
    return {host.partition(":")[0] for host in (*hosts, *addresses)}


def test_anonymized_copy_hides_domains_and_can_be_served(
    run: Run, directory: Path, platform: ThreadedServer
) -> None:
    """Somebody attaches it to a public issue: it must not say whose organization it is."""
    (directory / "dpsync.yaml").unlink()
    assert run("import", "-C", str(directory), "--organization", "acme").code == 0
    plain = world(run, directory)
    original = json.dumps(plain["organizations"]).casefold()
    people = [user[name] for user in plain["users"] for name in ("displayName", "email") if name in user]
    domains = {*plain["organizations"][0]["emailDomains"], *places_in(original)}
    assert {"acme.example", "okta.example", "status.globex.example"} <= domains

    made = world(run, directory, "--anonymous")
    text = json.dumps({**made, "origin": None}).casefold()
    for secret in (*people, *domains):
        assert secret.casefold() not in text
    loaded = read_world(directory / "world.json")
    platform.reset(loaded)
    organization = by_hand(platform, "GET", "/orgs/acme", None, grant(platform, made["origin"]["caller"]))
    assert organization["emailDomains"] == ["company-1.example"]


def grant(platform: ThreadedServer, user: str) -> str:
    """Create a token for a user of the world and return it."""
    token = Record("token", "made-up", {}, ref=user)

    def put() -> None:
        with platform.app.store.transaction():
            platform.app.store.put(token)

    platform.run_in_server(put)
    return token.id


def test_saved_copy_masks_token_in_live_values(run: Run, directory: Path, platform: ThreadedServer) -> None:
    def rename() -> None:
        space = platform.app.store.get("space", "guides")
        assert space is not None
        space.doc["title"] = "Guides ada-token"
        with platform.app.store.transaction():
            platform.app.store.put(space)

    platform.run_in_server(rename)
    assert "ada-token" not in json.dumps(world(run, directory))


def test_world_command_rejects_directory_as_target(run: Run, directory: Path) -> None:
    (directory / "there").mkdir()
    ended = run("world", "there", "-C", str(directory))
    assert (ended.code, "is a directory" in ended.err) == (1, True)


@pytest.mark.parametrize("more", [["--world", "dpsync.yaml"], ["--db", "state.db"]])
def test_serve_from_live_rejects_world_and_db_flags(
    run: Run, directory: Path, more: list[str], platform: ThreadedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise, what was asked for with `--world` is passed over.

    Otherwise, what is live is put into a database that somebody keeps.
    """
    monkeypatch.chdir(directory)
    taken = platform.url.rpartition(":")[2]  # nothing can be served there
    ended = run("serve", "--from-live", "--port", taken, *more)
    assert (ended.code, "cannot be combined with --world or --db" in ended.err) == (64, True)


def test_serve_from_live_never_writes_to_platform(
    directory: Path, platform: ThreadedServer, programs: Path
) -> None:
    platform.app.requests.clear()
    command = [str(programs / "dpsync"), "serve", "--from-live", "--port", "0", "-C", str(directory)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        try:
            assert running.stdout is not None
            assert running.stderr is not None
            url = running.stdout.readline().strip()
            banner, export = running.stderr.readline(), running.stderr.readline()
            token = export.removeprefix("export DPSYNC_TOKEN=").split()[0]
            with httpx.Client(base_url=f"{url}/v1", **NO_TLS, timeout=PATIENCE) as http:
                own, other = {"Authorization": f"Bearer {token}"}, {"Authorization": "Bearer ada-token"}
                renamed = http.patch("/spaces/guides", json={"title": "Tried"}, headers=own).json()["title"]
                refused = http.get("/user", headers=other).status_code
        finally:
            running.terminate()
    assert banner.startswith(f"A copy of {platform.url} at 20")
    assert (renamed, refused) == ("Tried", 401)
    assert {method for method, *_ in platform.app.requests} == {"GET"}
