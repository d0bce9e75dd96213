"""Whole configurations as text, in which `▸` marks where an error is expected; it is taken out first."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent, indent

from dpsync.config.load import load
from dpsync.kinds.registry import build_registry as load_registry
from dpsync.model.desired import Desired
from dpsync.model.diagnostic import Diagnostic

MARK = "▸"
REGISTRY = load_registry()


def organization(body: str, head: str = "") -> str:
    """Return a root file with one organization whose keys are in `body`."""
    below = indent(dedent(body).strip("\n"), "    ")
    return f"dpsync: 1\n{dedent(head)}organizations:\n  acme:\n    id: acme\n{below}\n"


def site(structure: str) -> str:
    """Return a root file with the spaces `en`, `fr` and `de`, and one site with this navigation."""
    below = indent(dedent(structure).strip("\n"), "      ")
    spaces = "spaces: { en: { title: EN }, fr: { title: FR }, de: { title: DE } }"
    return organization(f"{spaces}\nsites:\n  docs:\n    title: Docs\n    structure:\n{below}")


def marked(text: str) -> tuple[str, list[str]]:
    """Return the text without its marks, and the place of each mark as "line:column"."""
    places = []
    lines = text.split("\n")
    for number, line in enumerate(lines, 1):
        while (at := line.find(MARK)) >= 0:
            places.append(f"{number}:{at + 1}")
            line = line[:at] + line[at + 1 :]
        lines[number - 1] = line
    return "\n".join(lines), places


def loaded(
    directory: Path, text: str, files: dict[str, str] | None = None, env: dict[str, str] | None = None
) -> tuple[Desired, list[Diagnostic]]:
    for name, content in {"dpsync.yaml": text, **(files or {})}.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
    desired, diagnostics = load(directory / "dpsync.yaml", REGISTRY, env or {})
    return desired, list(diagnostics)


def expect(
    directory: Path, text: str, code: str, words: str = "", files: dict[str, str] | None = None
) -> None:
    """One kind of finding, at every mark and nowhere else, with these words in its message or hint."""
    plain, places = marked(text)
    diagnostics = loaded(directory, plain, files)[1]
    found = sorted(f"{item.code} {item.span.line}:{item.span.column}" for item in diagnostics if item.span)
    assert found == sorted(f"{code} {place}" for place in places), diagnostics
    assert any(words in f"{item.message}; {item.hint}" for item in diagnostics), diagnostics
