"""How readable the texts are that people read (`python -m tools.readability`).

The texts are the pages of the documentation, what `--help` prints, and the messages in the code. The report
counts words and sentences and lists

- unknown words: they are neither in the dictionary of pyspellchecker nor in docs/glossary.md nor in
  tools/words.txt, which has the names and terms of the field;
- long sentences: those of more than 30 words.

Code (in backticks and fences) is not read: a piece of it counts as one word of its sentence. Pages that are
generated (docs/api.md, docs/kinds.md) have their words from the declarations, and are left to those.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from keyword import iskeyword
from pathlib import Path

import click
from markdown_it import MarkdownIt
from markdown_it.token import Token
from spellchecker import SpellChecker

ROOT = Path(__file__).resolve().parents[1]
TERMS = ROOT / "tools" / "words.txt"
GLOSSARY = ROOT / "docs" / "glossary.md"
GENERATED = {"docs/api.md", "docs/kinds.md"}
LONGEST = 30
"""The words of a sentence that is not long."""
CODE = "0"
"""What stands in a text for a piece of code. It is one word, and no spelling of it is wrong."""

_END = re.compile(r"(?<=[.!?])[\"')\]]*\s+(?=[\"'(\[*]*(?:[A-Z0-9`$/]|dpsync\b))")
_PIECE = re.compile(r"[^\s,;()\"`]+")
_WORD = re.compile(r"[A-Za-z]+(?:['’][a-z]+)?")
_NAME = re.compile(r"[\w*]*[_/@=<>{}$\\#%*~^|\d]\S*|\S*\w\.\w\S*|--?\w\S*|\S+\(\)|[a-z]+[A-Z]\w*|…")
"""What is a name, a path, an address or a number."""


@dataclass(frozen=True)
class Text:
    """A paragraph, an item of a list, a cell of a table or a message, and where it is."""

    place: str
    words: str

    def sentences(self) -> list[str]:
        return [one for one in _END.split(re.sub(r"\s+", " ", self.words).strip()) if one]


@dataclass(frozen=True)
class Report:
    """What a set of texts says of itself."""

    words: int
    sentences: int
    unknown: Counter[str]
    where: dict[str, str]
    """The first place of each unknown word."""
    long: list[tuple[str, int, str]]
    """Place, number of words and text of each long sentence."""


def pages() -> list[Path]:
    """The pages that people have written, README first."""
    found = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
    return [page for page in found if page.relative_to(ROOT).as_posix() not in GENERATED]


def of_page(page: Path) -> Iterator[Text]:
    """The texts of a page: headings, paragraphs, items and cells, without code."""
    name, line = page.relative_to(ROOT).as_posix(), 0
    for token in MarkdownIt("commonmark").enable("table").parse(page.read_text(encoding="utf-8")):
        line = token.map[0] + 1 if token.map else line
        if token.type == "inline":
            yield Text(f"{name}:{line}", "".join(_said(token.children or [])))


def _said(tokens: Iterable[Token]) -> Iterator[str]:
    for token in tokens:
        if token.type == "text":
            yield token.content
        elif token.type == "code_inline":
            yield CODE
        elif token.type in {"softbreak", "hardbreak"}:
            yield " "
        elif token.type == "image":
            yield token.content


def of_help() -> Iterator[Text]:
    """What `--help` says of each command and each option."""
    from dpsync.cli.main import COMMANDS, root

    commands: list[tuple[str, click.Command]] = [("dpsync", root)]
    for name in COMMANDS:
        module = import_module(f"dpsync.cli.commands.{name.replace('-', '_')}{'_' * iskeyword(name)}")
        commands.append((f"dpsync {name}", module.command))
    for name, command in commands:
        for paragraph in (command.help or "").replace("\b", "").split("\n\n"):
            yield Text(f"{name} --help", re.sub(r"`[^`]*`", CODE, paragraph))
        for option in command.params:
            if isinstance(option, click.Option) and option.help:
                yield Text(f"{name} {option.opts[0]}", option.help)


def of_messages() -> Iterator[Text]:
    """The sentences in the code that are no docstrings: messages, hints, titles."""
    for file in sorted((ROOT / "dpsync").rglob("*.py")):
        if "server" in file.relative_to(ROOT).parts:
            continue
        tree = ast.parse(file.read_bytes())
        nodes = list(ast.walk(tree))
        inside = {id(part) for node in nodes if isinstance(node, ast.JoinedStr) for part in node.values}
        skipped = inside | {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
        for node in nodes:
            text = _constant(node) if id(node) not in skipped else ""
            for line in text.split("\n"):
                if _is_message(line):
                    yield Text(f"{file.relative_to(ROOT).as_posix()}:{getattr(node, 'lineno', 0)}", line)


def _constant(node: ast.AST) -> str:
    """The text of a string or an f-string; what is put into it counts as code."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return re.sub(r"\{\w*\}|`[^`]*`", CODE, node.value)
    if isinstance(node, ast.JoinedStr):
        parts = (str(part.value) if isinstance(part, ast.Constant) else CODE for part in node.values)
        return "".join(parts)
    return ""


def _is_message(text: str) -> bool:
    """Whether people read a string: four words at least, and nothing of a program or a pattern in it."""
    return len(re.findall(r"\b[a-z']{2,}\b", text)) > 3 and not re.search(
        r"[<>{}\\$^|]|\(\?| = |-src |/0", text
    )


@cache
def _dictionary() -> SpellChecker:
    return SpellChecker()


@cache
def terms() -> frozenset[str]:
    """The words of tools/words.txt, in small letters."""
    lines = TERMS.read_text(encoding="utf-8").splitlines()
    return frozenset(word.lower() for line in lines if not line.startswith("#") for word in line.split())


@cache
def glossary() -> frozenset[str]:
    """The words that docs/glossary.md defines, as they stand in its headings."""
    headings = re.findall(r"^## (.+)$", GLOSSARY.read_text(encoding="utf-8"), re.MULTILINE)
    return frozenset(heading.lower() for heading in headings)


@cache
def is_known(word: str) -> bool:
    """Whether a word is in the dictionary, the glossary or the terms, possibly as a plural."""
    small = word.lower().replace("’", "'").removesuffix("'s")
    defined = {part for entry in glossary() for part in entry.split()}
    return any(
        one in _dictionary() or one in terms() or one in defined
        for one in {small, small.removesuffix("s"), small.removesuffix("es")}
    )


def spelled(sentence: str) -> Iterator[str]:
    """The words of a sentence whose spelling can be right or wrong: no names, no numbers, no code."""
    for piece in _PIECE.findall(sentence):
        bare = piece.strip(".,;:!?()[]\"'“”‘’*→—-")
        if not _NAME.fullmatch(bare) and bare != CODE:
            yield from (word for word in _WORD.findall(bare) if len(word) > 1)


def report(texts: Iterable[Text]) -> Report:
    """The unknown words and long sentences of some texts."""
    unknown: Counter[str] = Counter()
    where: dict[str, str] = {}
    words = sentences = 0
    long = []
    for text in texts:
        for sentence in text.sentences():
            length = sum(1 for piece in _PIECE.findall(sentence) if re.search(r"\w", piece))
            words, sentences = words + length, sentences + 1
            if length > LONGEST:
                long.append((text.place, length, sentence))
            for word in spelled(sentence):
                if not is_known(word):
                    unknown[word] += 1
                    where.setdefault(word, text.place)
    return Report(words, sentences, unknown, where, long)


def reports() -> dict[str, Report]:
    """The report of each sort of text."""
    return {
        "pages": report(text for page in pages() for text in of_page(page)),
        "help": report(of_help()),
        "messages": report(of_messages()),
    }


def main() -> None:
    """Print the report."""
    for name, found in reports().items():
        mean = found.words / max(found.sentences, 1)
        print(f"{name}: {found.words} words, {found.sentences} sentences, {mean:.1f} words a sentence")
        print(f"  unknown words: {len(found.unknown)}")
        for word, times in found.unknown.most_common():
            print(f"    {word} ({times}): {found.where[word]}")
        print(f"  sentences of more than {LONGEST} words: {len(found.long)}")
        for place, length, sentence in sorted(found.long):
            print(f"    {place} ({length}): {sentence}")


if __name__ == "__main__":
    main()
