"""Every environment variable that the code reads is in `dpsync help environment`."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache

from click.testing import CliRunner

from dpsync.cli.main import root

from .markdown import DOCS, ROOT, sections

SOURCE = ROOT / "dpsync"
HELP = CliRunner().invoke(root, ["help", "environment"]).output
PAGE = "\n".join(
    word for one in sections(DOCS / "plan.md") if one.title == "Environment" for word in one.words
)
OURS = re.compile(r"\b(?:DPSYNC|GITHUB|XDG)_[A-Z_]+\b")
_MAPPING = re.compile(r"(os\.environ|env|environ)$")
_MAY_READ = re.compile(rf"env|{OURS.pattern}")
"""A file without any of this reads no variable: it need not be parsed."""


def _read(tree: ast.AST) -> Iterator[str]:
    """Yield the names in `os.environ.get("X")`, `env["X"]`, `os.getenv("X")` and in a flag's `envvar="X"`."""
    for node in ast.walk(tree):
        name: ast.AST | None = None
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
            of = ast.unparse(node.func.value)
            if (node.func.attr == "get" and _MAPPING.search(of)) or ast.unparse(node.func) == "os.getenv":
                name = node.args[0]
        elif isinstance(node, ast.Subscript) and _MAPPING.search(ast.unparse(node.value)):
            name = node.slice
        elif isinstance(node, ast.keyword) and node.arg == "envvar":
            name = node.value
        elif isinstance(node, ast.Constant) and OURS.fullmatch(str(node.value)):
            name = node  # given to a function that reads it
        if isinstance(name, ast.Constant) and isinstance(name.value, str):
            yield name.value


@cache
def variables() -> set[str]:
    texts = (file.read_text(encoding="utf-8") for file in SOURCE.rglob("*.py"))
    return {name for text in texts if _MAY_READ.search(text) for name in _read(ast.parse(text))}


def test_source_scan_finds_known_environment_variables() -> None:
    assert {"DPSYNC_URL", "DPSYNC_PROFILE", "DPSYNC_ENV", "XDG_STATE_HOME", "GITHUB_BASE_REF"} <= variables()


def test_help_explains_every_environment_variable() -> None:
    assert {name for name in variables() if not re.search(rf"\b{name}\b", HELP)} == set()


def test_docs_mention_only_existing_environment_variables() -> None:
    assert {*OURS.findall(HELP), *OURS.findall(PAGE)} <= variables()
