"""The documentation as a site for tests and pictures: built with MkDocs, served and searched in a browser."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from playwright.sync_api import Page, expect

from .markdown import ROOT

MKDOCS = ROOT / ".venv-site" / "bin" / "mkdocs"
NEEDED = "MkDocs is needed to build the site: make site"
FOUND = re.compile(r"\d+ matching document|No matching")


def build(folder: Path) -> None:
    """Build the site into a folder. Without MkDocs, skip the test; in CI, fail."""
    if not MKDOCS.is_file():
        if os.environ.get("CI"):
            pytest.fail(NEEDED, pytrace=False)
        pytest.skip(NEEDED)
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "NO_MKDOCS_2_WARNING": "1"}
    command = [str(MKDOCS), "build", "--quiet", "--site-dir", str(folder)]
    subprocess.run(command, cwd=ROOT, env=environment, check=True)


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        """Log nothing."""


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serve a built site, and yield its address."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(folder))) as server:
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def search(opened: Page, address: str, query: str) -> list[str]:
    """Search the site at an address, and return the paths of the results, best first."""
    opened.goto(f"{address}/index.html")
    box = opened.locator("input[data-md-component=search-query]")
    box.click()
    box.fill(query)
    opened.keyboard.press("Shift")  # the site searches when a key is released
    expect(opened.locator(".md-search-result__meta")).to_have_text(FOUND)
    links = opened.locator(".md-search-result__item > .md-search-result__link")
    hrefs: list[str] = links.evaluate_all("links => links.map(link => new URL(link.href).pathname)")
    return [href.removeprefix("/") for href in hrefs]
