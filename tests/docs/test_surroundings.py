"""Every variable of the environment that the code reads is in --help and in the documentation."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import pytest
from click.testing import CliRunner

from dpsync.cli.main import root

from .markdown import DOCS, ROOT, sections

SOURCE = ROOT / "dpsync"
HELP = CliRunner().invoke(root, ["--help"]).output
PAGE = "\n".join(
    word for one in sections(DOCS / "plan.md") if one.title == "Environment" for word in one.words
)
OURS = re.compile(r"\b(?:DPSYNC|GITHUB|XDG)_[A-Z_]+\b")
_MAPPING = re.compile(r"(os\.environ|env|environ)$")


def _read(tree: ast.AST) -> Iterator[str]:
    """The names in `os.environ.get("X")`, `env["X"]`, `os.getenv("X")` and in a flag's `envvar="X"`."""
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


VARIABLES = sorted(
    {name for file in SOURCE.rglob("*.py") for name in _read(ast.parse(file.read_text(encoding="utf-8")))}
)


def test_the_code_reads_variables_where_they_are_looked_for() -> None:
    assert {"DPSYNC_URL", "DPSYNC_PROFILE", "DPSYNC_ENV", "XDG_STATE_HOME", "GITHUB_BASE_REF"} <= {*VARIABLES}


@pytest.mark.parametrize("name", VARIABLES)
def test_a_variable_that_is_read_is_explained(name: str) -> None:
    assert re.search(rf"\b{name}\b", HELP)
    assert f"`{name}`" in PAGE


def test_no_other_variable_is_promised() -> None:
    assert {*OURS.findall(HELP), *OURS.findall(PAGE)} <= {*VARIABLES}
