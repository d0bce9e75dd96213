"""An organization that was written down on one platform, planned on another one that has the same."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dpsync.api import Imported, Session, import_, load
from dpsync.importing.files import CachingClient, write_files
from dpsync.kinds.registry import build_registry as load_registry
from dpsync.model.plan import Plan
from dpsync.server.http.app import build_companion
from dpsync.server.process.threaded_server import ThreadedServer
from dpsync.server.store import open_store
from tests.direct import reading, writing

TOKEN = "ada-token"


@pytest.fixture(scope="module")
def platforms() -> Iterator[dict[str, ThreadedServer]]:
    """Each serves the built-in world."""
    running = {
        profile: ThreadedServer(build_companion(open_store(":memory:"), profile=profile))
        for profile in ("full", "reference", "published")
    }
    for server in running.values():
        server.__enter__()
        server.reset()
    yield running
    for server in running.values():
        server.__exit__(None, None, None)


def moved(platforms: dict[str, ThreadedServer], source: str, target: str, directory: Path) -> Plan:
    """Import from one platform and return the plan of the imported files on the other."""
    with CachingClient(platforms[source].url, TOKEN) as client:
        made = import_(client, load_registry(source), ["acme"])
    write_files(directory, made.made.files)
    desired = load(directory / "dpsync.yaml", {}, profile=target)
    with reading(platforms[target], TOKEN) as client:
        return Session(desired, load_registry(target)).plan(client).plan


def test_import_omits_customization_inherited_from_site(
    platforms: dict[str, ThreadedServer],
) -> None:
    """Otherwise, what a space has from its site is written as its own, and stays when the site changes."""
    place = "/orgs/acme/sites/docs/site-spaces/docs-api-changelog/customization"
    with writing(platforms["published"], TOKEN) as client:
        client.send("PATCH", place, {"styling": {"corners": "straight"}}, repeatable=True)
    with CachingClient(platforms["published"].url, TOKEN) as client:
        made = import_(client, load_registry("published"), ["acme"], full=True)
    assert made.proven
    desired, _ = made.made.load(load_registry("published"))
    own = [item.fields for item in desired.entries.values() if item.kind == "site_space_customization"]
    assert [fields for fields in own if fields] == [{"styling": {"corners": "straight"}}]


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("reference", "published"),
        ("published", "reference"),
        ("full", "published"),
        ("published", "full"),
    ],
)
def test_import_has_no_differences_on_other_api_version(
    platforms: dict[str, ThreadedServer], source: str, target: str, tmp_path: Path
) -> None:
    plan = moved(platforms, source, target, tmp_path)
    assert plan.refusals == ()
    # Without one answer for the whole navigation nobody knows what stands between its kinds of entries.
    assert all(change.moved and not change.differences for change in plan.changes)
    assert source == "reference" or plan.changes == ()
    for item in plan.blocked:
        assert f"the API version {target} has no operation for " in item.reason, item
        assert plan.origins[item.address].file


def import_organization(server: ThreadedServer, spaces: Any = (), **site: Any) -> Imported:
    """Import an organization that has one site and these spaces."""
    docs = {"id": "docs", "title": "Docs", **site}
    acme = {"id": "acme", "title": "Acme", "members": [{"user": "ada", "role": "admin"}]}
    acme |= {"sites": [docs], "spaces": list(spaces)}
    ada = {"id": "ada", "displayName": "Ada", "email": "ada@acme.example"}
    server.reset({"users": [ada], "tokens": {TOKEN: "ada"}, "organizations": [acme]})
    try:
        with CachingClient(server.url, TOKEN) as client:
            return import_(client, load_registry(server.app.profile))
    finally:
        server.reset()


@pytest.mark.parametrize("source", ["/a b", "/*", "/old/", "/"])
def test_import_omits_redirect_refused_by_api_version(
    platforms: dict[str, ThreadedServer], source: str
) -> None:
    """A site may have older redirects whose sources the API no longer accepts."""
    redirect = {"source": source, "destination": {"kind": "external", "url": "https://acme.example/"}}
    made = import_organization(platforms["published"], redirects=[redirect, {**redirect, "source": "/kept"}])
    assert (made.problems, made.proven) == ((), True)
    written = made.made.files["acme/sites/docs.yaml"].decode()
    assert "/kept" in written
    omitted = [note for note in made.made.left_out if "/redirects/" in note.address]
    assert [(note.field, "the source cannot be the key of an entry" in note.why) for note in omitted] == [
        (None, True)
    ]


@pytest.mark.parametrize("profile", ["full", "published"])
def test_import_pins_only_one_of_duplicate_share_links(
    platforms: dict[str, ThreadedServer], profile: str
) -> None:
    """Otherwise, the plan of the imported files asks which of the two is meant."""
    links = [{"id": id, "name": "partners"} for id in ("first", "second")]
    made = import_organization(platforms[profile], visibility="share-link", shareLinks=links)
    assert (made.problems, made.proven) == ((), True)
    desired, _ = made.made.load(load_registry(profile))
    assert [entry.pin for entry in desired.entries.values() if entry.kind == "share_link"] == ["first"]
    assert [note.address for note in made.made.left_out if "second" in note.why] == ["acme/sites/docs"]


@pytest.mark.parametrize("profile", ["full", "reference", "published"])
def test_import_prefers_emoji_over_icon(platforms: dict[str, ThreadedServer], profile: str) -> None:
    """An entry cannot have both, but the API may return both."""
    space = {"id": "s1", "title": "Guides", "emoji": "1f600", "icon": "https://acme.example/icon.png"}
    made = import_organization(platforms[profile], [space])
    assert (made.problems, made.proven) == ((), True)
    omitted = [note.field for note in made.made.left_out if note.address == "acme/spaces/guides"]
    assert omitted == ["icon"]
