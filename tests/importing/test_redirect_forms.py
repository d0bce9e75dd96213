"""`import` writes destinations of redirects in the short form, and `--update` keeps the form of a line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from dpsync.server.process.threaded_server import ThreadedServer
from tests.cli.conftest import Run
from tests.cli.test_drift import change
from tests.direct import reading

from .test_command import committed

ROOT = """\
dpsync: 1
policy: {{ prune: [sites/*/redirects] }}
organizations:
  acme:
    id: acme
    sites:
      docs:
        title: Acme Docs
        basename: docs
        redirects:
          /start: {entry}   # for printed links
"""
OTHER = {"kind": "external", "url": "https://b.example/"}


def path_of_redirect(platform: ThreadedServer) -> str:
    """Return the path of the redirect from /start."""
    path = "/orgs/acme/sites/docs/redirects"
    with reading(platform, "ada-token") as client:
        items = client.get(path)["items"]
    return next(f"{path}/{item['id']}" for item in items if item["source"] == "/start")


def test_import_writes_short_redirect_destinations(
    platform: ThreadedServer, run: Run, tmp_path: Path
) -> None:
    change(platform, "/orgs/acme/sites/docs/redirects", "POST", source="/blog", destination=OTHER)
    ended = run("import", "-C", str(tmp_path / "new"), "--organization", "acme")
    assert ended.code in (0, 3), ended.err
    text = (tmp_path / "new/acme/sites/docs.yaml").read_text(encoding="utf-8")
    assert "/blog: { url: https://b.example/" in text


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(
            '{ url: "https://a.example/", draft: true }',
            '{ url: "https://b.example/", draft: true }',
            id="same word",
        ),
        pytest.param(
            "{ section: { id: docs-guides }, draft: true }",
            '{ url: "https://b.example/", draft: true }',
            id="other word",
        ),
        pytest.param(
            "{ destination: { section: { id: docs-guides } }, draft: true }",
            "{ destination: { url: https://b.example/ }, draft: true }",
            id="below destination",
        ),
        pytest.param(
            '{ destination: { kind: external, url: "https://a.example/" }, draft: true }',
            '{ destination: { kind: external, url: "https://b.example/" }, draft: true }',
            id="names of the API",
        ),
    ],
)
def test_import_update_keeps_form_of_redirect_destination(
    before: str, after: str, platform: ThreadedServer, project: Callable[..., Path], run: Run
) -> None:
    directory = project(ROOT.format(entry=before))
    committed(directory)
    ended = run("apply", "-C", str(directory), "--yes")
    assert ended.code == 0, ended.out + ended.err
    change(platform, path_of_redirect(platform), "PATCH", destination=OTHER)
    ended = run("import", "-C", str(directory), "--update", "acme/sites/docs/redirects/*")
    assert ended.code == 0, ended.out + ended.err
    text = (directory / "dpsync.yaml").read_text(encoding="utf-8")
    assert text.replace('"', "") == ROOT.format(entry=after).replace('"', "")
