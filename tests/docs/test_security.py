"""Each threat of SECURITY.md is answered by tests that exist."""

from __future__ import annotations

import re

import pytest

from .markdown import ROOT
from .test_promises import functions

LINK = re.compile(r'\[\d+\]\(([^) ]+) "(test_\w+)"\)')
PAGE = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
THREATS = re.split(r"^(?=### )", PAGE, flags=re.MULTILINE)[1:]


@pytest.mark.parametrize("threat", THREATS, ids=lambda text: text.splitlines()[0][4:])
def test_security_threat_links_to_existing_tests(threat: str) -> None:
    links = LINK.findall(threat)
    assert links
    for target, name in links:
        assert name in functions(ROOT / target), f"{target}::{name}"


def test_security_page_covers_common_threats() -> None:
    named = " ".join(threat.splitlines()[0].lower() for threat in THREATS)
    for who in ("fork", "comments", "write access", "title", "server in between", "laptop"):
        assert who in named
