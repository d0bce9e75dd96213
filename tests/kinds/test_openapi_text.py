"""Invalid OpenAPI texts are reported before dpsync sends them to the platform."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dpsync.model.diagnostic import Diagnostic
from tests.config.loading import loaded, organization

ENTRY = organization("openapi: { shop: { source: { text: { file: shop.yaml } } } }")


def _findings(tmp_path: Path, text: str) -> list[Diagnostic]:
    return loaded(tmp_path, ENTRY, {"shop.yaml": text})[1]


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        pytest.param("<!doctype html><title>Sign in</title>\n", "1:1", "a web page", id="a web page"),
        pytest.param("\n<HTML>\n", "1:1", "a web page", id="a web page after an empty line"),
        pytest.param("openapi: 3.1.0\ninfo: [\n", "3:1", "neither JSON nor YAML", id="an open bracket"),
        pytest.param("openapi: 3.1.0\npaths:\n\t/a: {}\n", "3:1", "neither JSON nor YAML", id="a tab"),
        pytest.param('{"openapi": "3.1.0",, }\n', "1:21", "neither JSON nor YAML", id="a mistake in JSON"),
        pytest.param("{}\n", "1:1", 'the key "openapi" or "swagger"', id="an empty object"),
        pytest.param("# a comment\n", "1:1", 'the key "openapi" or "swagger"', id="a comment alone"),
        pytest.param("- openapi: 3.1.0\n", "1:1", 'the key "openapi" or "swagger"', id="a list"),
        pytest.param("[openapi, 3.1.0]\n", "1:1", 'the key "openapi" or "swagger"', id="a list on one line"),
        pytest.param("a: { openapi: 3.1.0 }\n", "1:1", 'the key "openapi" or "swagger"', id="a deeper key"),
        pytest.param("title: openapi\n", "1:1", 'the key "openapi" or "swagger"', id="a value of that name"),
    ],
)
def test_non_openapi_text_fails(tmp_path: Path, text: str, place: str, words: str) -> None:
    (finding,) = _findings(tmp_path, text)
    assert (finding.code, str(finding.span)) == ("DP240", f"shop.yaml:{place}")
    assert words in finding.message


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("openapi: 3.1.0\ninfo: { title: S, version: '1' }\npaths: {}\n", id="YAML"),
        pytest.param("swagger: '2.0'\npaths: {}\n", id="Swagger"),
        pytest.param(json.dumps({"info": {"title": "S"}, "openapi": "3.0.0"}, indent="\t"), id="tabs"),
        pytest.param("base: &b { a: 1 }\nmore: { <<: *b }\nopenapi: 3.1.0\n", id="anchors and merge keys"),
        pytest.param("paths: {}\npaths: {}\nopenapi: 3.1.0\n", id="a key twice"),
        pytest.param("? [a, b]\n: c\nopenapi: 3.1.0\n", id="a key that is a list"),
    ],
)
def test_valid_openapi_text_has_no_errors(tmp_path: Path, text: str) -> None:
    """The YAML restrictions of configuration files do not apply to texts for the platform."""
    assert _findings(tmp_path, text) == []


def test_broken_inline_openapi_text_fails_at_its_line(tmp_path: Path) -> None:
    text = organization(
        "openapi:\n  shop:\n    source:\n      text: |\n        openapi: 3.1.0\n        info: [\n"
    )
    (finding,) = loaded(tmp_path, text)[1]
    assert (finding.code, str(finding.span)) == ("DP240", "dpsync.yaml:8:17")
    assert "line 3 of the text" in finding.message
