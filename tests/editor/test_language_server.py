"""An editor tells what the schema says: what a word means, what may stand here, what is wrong.

It needs what `make clients` installs; without that it is skipped.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dpsync.importing.layout import SCHEMA_FILE, root_file, schema_file
from dpsync.kinds.registry import build_registry as load_registry
from dpsync.model.urls import DOCS_URL
from tests.editor.language_server import SERVER, LanguageServer

NODE = shutil.which("node")
pytestmark = pytest.mark.skipif(NODE is None or not SERVER.exists(), reason="make clients installs it")
BODY = """\
defaultRole: boss
titel: Acme
spaces:
  {}
sites:
  docs:
    title: Docs
    visibility: public
    {}
"""


class Editor:
    """A file that is open, and what is shown of it."""

    def __init__(self, server: LanguageServer, folder: Path) -> None:
        self._server = server
        self._folder = folder
        self._files = 0

    def opens(self, text: str) -> list[Any]:
        """Open a new file with this text and return its diagnostics."""
        self._files += 1
        self.text = text
        self._uri = (self._folder / f"{self._files}" / "dpsync.yaml").as_uri()
        text = text.replace(f"$schema=./{SCHEMA_FILE}", f"$schema=../{SCHEMA_FILE}")
        document = {"uri": self._uri, "languageId": "yaml", "version": 1, "text": text}
        self._server.tell("textDocument/didOpen", {"textDocument": document})
        while (told := self._server.told("textDocument/publishDiagnostics"))["uri"] != self._uri:
            pass
        return list(told["diagnostics"])

    def at(self, word: str, after: int = 0) -> dict[str, Any]:
        """Return the position of a word, or of `after` characters behind its start."""
        before = self.text[: self.text.index(word) + after]
        place = {"line": before.count("\n"), "character": len(before) - before.rfind("\n") - 1}
        return {"textDocument": {"uri": self._uri}, "position": place}

    def hover(self, word: str) -> str:
        return str(self._server.ask("textDocument/hover", self.at(word, 1))["contents"]["value"])

    def completion(self, word: str, after: int = 0) -> dict[str, Any]:
        """Return the offered completions by label."""
        found = self._server.ask("textDocument/completion", self.at(word, after))
        return {item["label"]: item for item in found["items"]}


@pytest.fixture(scope="module")
def editor(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Editor]:
    folder = tmp_path_factory.mktemp("editor")
    (folder / SCHEMA_FILE).parent.mkdir()
    (folder / SCHEMA_FILE).write_bytes(schema_file(load_registry().with_all_kinds))
    assert NODE is not None
    with LanguageServer(NODE, folder) as server:
        yield Editor(server, folder)


def test_editor_reports_no_problems_in_init_file(editor: Editor) -> None:
    assert editor.opens(root_file("acme").decode()) == []


def test_editor_marks_invalid_value_and_unknown_key(editor: Editor) -> None:
    problems = editor.opens(root_file("acme").decode() + BODY.format("", ""))
    marked = {one["range"]["start"]["line"]: one["message"] for one in problems}
    lines = editor.text.splitlines()
    said = {lines[number].strip(): message for number, message in marked.items()}
    assert 'Valid values: "admin", "create"' in said["defaultRole: boss"]
    assert "titel" in said["titel: Acme"]


def test_editor_hover_shows_field_documentation(editor: Editor) -> None:
    editor.opens(root_file("acme").decode() + BODY.format("", ""))
    said = editor.hover("visibility")
    assert "The people who can read the published site." in said
    assert "* `share-link`: Everyone who has a share link can read the site" in said
    assert f"More: `dpsync explain site.visibility`, [site]({DOCS_URL}/kinds/site.md)" in said
    assert "```yaml\npublic\n```" in said


def test_editor_hover_explains_policy_settings(editor: Editor) -> None:
    editor.opens("policy: { prune: [] }\n" + root_file("acme").decode())
    assert f"{DOCS_URL}/configuration.md#policy" in editor.hover("prune")


def test_editor_completes_keys_with_documentation(editor: Editor) -> None:
    editor.opens(root_file("acme").decode() + BODY.format("", "BEHIND"))
    offered = editor.completion("BEHIND")
    assert {"basename", "structure", "published"} <= set(offered)
    assert "title" not in offered
    assert f"{DOCS_URL}/kinds/site.md" in str(offered["basename"]["documentation"])


def test_editor_completes_values_with_documentation(editor: Editor) -> None:
    editor.opens(root_file("acme").decode() + BODY.format("", ""))
    offered = editor.completion("public")
    assert list(offered) == ["public", "unlisted", "share-link", "visitor-auth"]
    assert offered["share-link"]["documentation"] == "Everyone who has a share link can read the site."


def test_editor_completes_new_entry_as_snippet(editor: Editor) -> None:
    editor.opens(root_file("acme").decode() + "spaces:\n  \n")
    item = editor.completion("spaces:\n  ", len("spaces:\n  "))["new space"]
    assert item["insertText"].startswith("${1:guides-en}:")
    assert "title: ${2:Guides}" in item["insertText"]
