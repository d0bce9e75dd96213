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
def test_what_holds_against_a_threat_is_shown_by_tests_that_exist(threat: str) -> None:
    links = LINK.findall(threat)
    assert links
    for target, name in links:
        assert name in functions(ROOT / target), f"{target}::{name}"


def test_there_are_the_threats_that_a_user_asks_about() -> None:
    named = " ".join(threat.splitlines()[0].lower() for threat in THREATS)
    for who in ("fork", "comments", "write access", "title", "server in between", "laptop"):
        assert who in named
