"""What a version number makes a promise about does not change unnoticed (docs/versions.md)."""

from __future__ import annotations

import re
from difflib import ndiff

from dpsync import __version__
from dpsync.model.diagnostic import Exit
from tools.surface import FILE, surface

from .markdown import ROOT


def test_public_interface_matches_recorded_interface_file() -> None:
    before, now = FILE.read_text(encoding="utf-8").splitlines(), surface().splitlines()
    changed = [line for line in ndiff(before, now) if line[0] in "+-"]
    how = "users notice: a line in CHANGELOG.md, the version by docs/versions.md, python -m tools.surface"
    assert changed == [], how


def test_recorded_interface_file_includes_flags_codes_and_inputs() -> None:
    text = surface()
    for line in ("flag plan --format text|", "input command = 'plan'", "output digest", "dpsync.api.load\n"):
        assert line in text
    assert text.count("\nexit code ") == len(Exit)


def test_changelog_starts_with_current_version() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    (first, *_) = re.findall(r"^## (.+)$", text, re.MULTILINE)
    assert re.fullmatch(rf"{re.escape(__version__)} \((unreleased|\d{{4}}-\d\d-\d\d)\)", first)
