"""Debian's own Chromium, for the tests of what people see in a browser."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, expect, sync_playwright

from tests.patience import PATIENCE

REBOUND = "rebound.example"
"""A name of another site that leads to this machine, as DNS rebinding does it."""
NEEDED = "Chromium is needed to test the HTML report with: apt-get install chromium (Debian)"


@contextmanager
def chromium() -> Iterator[Browser]:
    """Skipped where there is none, and failed in CI, which must have one."""
    program = shutil.which("chromium")
    if program is None:
        if os.environ.get("CI"):
            pytest.fail(NEEDED, pytrace=False)
        pytest.skip(NEEDED)
    expect.set_options(timeout=PATIENCE * 1000)
    with sync_playwright() as playwright:
        sandbox = [] if os.geteuid() else ["--no-sandbox"]  # Chromium refuses to be run by root with one
        arguments = [*sandbox, f"--host-resolver-rules=MAP {REBOUND} 127.0.0.1"]
        found = playwright.chromium.launch(executable_path=program, args=arguments)
        yield found
        found.close()
