"""docs/python.md names all that `dpsync.api` has, and no more. Its program is run by test_examples.py."""

from __future__ import annotations

import re

import dpsync.api

from .markdown import DOCS

PAGE = (DOCS / "python.md").read_text(encoding="utf-8")


def test_python_page_lists_exactly_the_public_api() -> None:
    rows = re.findall(r"^\| (`[^|]+`) \|", PAGE, re.MULTILINE)
    assert sorted(name for row in rows for name in re.findall(r"`(\w+)`", row)) == sorted(dpsync.api.__all__)


def test_public_api_names_have_docstrings() -> None:
    assert [name for name in dpsync.api.__all__ if not getattr(dpsync.api, name).__doc__] == []


def test_api_docstring_uses_only_public_names() -> None:
    called = set(re.findall(r"\b(\w+)\(", str(dpsync.api.__doc__)))
    methods = {name for name in called if hasattr(dpsync.api.Session, name)}
    assert called - methods - {"Path"} <= {*dpsync.api.__all__}
