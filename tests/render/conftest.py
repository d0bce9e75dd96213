"""A browser for the tests of the HTML report: Debian's own Chromium, one for the whole session."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, sync_playwright

NEEDED = "Chromium is needed to test the HTML report with: apt-get install chromium (Debian)"


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Skipped where there is none, and failed in CI, which must have one."""
    program = shutil.which("chromium")
    if program is None:
        if os.environ.get("CI"):
            pytest.fail(NEEDED, pytrace=False)
        pytest.skip(NEEDED)
    with sync_playwright() as playwright:
        sandbox = [] if os.geteuid() else ["--no-sandbox"]  # Chromium refuses to be run by root with one
        found = playwright.chromium.launch(executable_path=program, args=sandbox)
        yield found
        found.close()
