"""Print random sentences of the user docs and random strings of messages, for somebody to read cold.

    python -m tools.sample_text --seed 7

Ask a reader who has never seen dpsync to mark each line that needs a second reading.
"""

from __future__ import annotations

import argparse
import ast
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tools.user_words import DOCS, ROOT, user_words

FEWEST_WORDS: Final = 5


def user_pages() -> list[Path]:
    """Return README.md, SECURITY.md and each docs page that mkdocs.yml lists outside "For contributors"."""
    return [ROOT / "README.md", ROOT / "SECURITY.md", *(DOCS / name for name in user_words())]


def sentences(page: Path) -> Iterator[str]:
    """Yield the sentences of a page, each after its heading, a table row also after the table's header.

    Code blocks, comments, headings and table rules are left out, and a link is its text, as on the page.
    Links to tests are left out, too.
    """
    text = page.read_text(encoding="utf-8")
    text = re.sub(r"^ *```.*?^ *```$", "", text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)
    text = re.sub(r"(?:Tests?: )?\[`?test[^]]*\]\([^()]*\)[,.]?", "", text)
    text = re.sub(r"!?\[((?:[^][]|\[[^]]*\])*)\]\([^()]*\)", r"\1", text)
    heading, names = "", ""
    for block in re.split(r"\n\s*\n|\n(?=\s*(?:[-*|#]|\d+\.) ?)", text):
        line = " ".join(block.split())
        if line.startswith("#"):
            heading, names = line.lstrip("# "), ""
        elif not line or set(line) <= set("|-: "):
            continue
        elif line.startswith("|"):
            if names and _has_enough_words(line):
                yield f"({heading}; {names}) {line}"
            names = names or " · ".join(cell.strip() for cell in line.strip("|").split("|"))
        else:
            names = ""
            for sentence in _split(re.sub(r"^([-*]|\d+\.) ", "", line)):
                if _has_enough_words(sentence):
                    yield f"({heading}) {sentence}"


def _split(line: str) -> list[str]:
    """Split a line into sentences, but not inside code: `{ env: NAME }` stays whole."""
    codes = re.findall(r"`[^`]*`", line)
    found = re.split(r"(?<=[.!?:]) +(?=[A-Z`*])", re.sub(r"`[^`]*`", "``", line))
    rest = iter(codes)
    return [re.sub(r"``", lambda _: next(rest), sentence) for sentence in found]


def _has_enough_words(text: str) -> bool:
    """Whether a text has five words, three of them outside code: a path alone is no sentence."""
    words = re.compile(r"[A-Za-z]{2,}")
    return len(words.findall(text)) >= FEWEST_WORDS and len(words.findall(re.sub(r"`[^`]*`", "", text))) >= 3


def messages(module: Path) -> Iterator[str]:
    """Yield the strings in a module that read like messages; f-string values are shown as `{name}`."""
    tree = ast.parse(module.read_text(encoding="utf-8"))
    docstrings = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant | ast.JoinedStr)
    }
    parts = {
        id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in ast.walk(node)
    } - {id(node) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr)}
    for node in ast.walk(tree):
        if id(node) in docstrings or id(node) in parts:
            continue
        if isinstance(node, ast.JoinedStr):
            text = "".join(
                str(part.value) if isinstance(part, ast.Constant) else _placeholder(part)
                for part in node.values
            )
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            text = node.value
        else:
            continue
        line = " ".join(text.split())
        if len(line.split()) >= FEWEST_WORDS and re.search(r"[a-z]{3} [a-z]", line):
            yield line


def _placeholder(part: ast.expr) -> str:
    """Return the last name in an f-string value's expression, in braces: {address} for `change.address`."""
    names = [
        node.attr if isinstance(node, ast.Attribute) else node.id
        for node in ast.walk(part)
        if isinstance(node, ast.Attribute | ast.Name)
    ]
    return f"{{{names[0].strip('_') if names else '…'}}}"


def main() -> None:
    """Print the samples."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--sentences", type=int, default=100)
    parser.add_argument("--messages", type=int, default=50)
    options = parser.parse_args()
    random_numbers = random.Random(options.seed)  # noqa: S311 (a sample, no secret)
    modules = [path for path in sorted((ROOT / "dpsync").rglob("*.py")) if "server" not in path.parts]
    samples = {
        "Sentences of the user docs": (
            sorted({s for page in user_pages() for s in sentences(page)}),
            options.sentences,
        ),
        "Strings of messages": (
            sorted({s for module in modules for s in messages(module)}),
            options.messages,
        ),
    }
    for title, (texts, count) in samples.items():
        print(f"# {title} ({len(texts)} in all, seed {options.seed})\n")
        for number, text in enumerate(random_numbers.sample(texts, min(count, len(texts))), 1):
            print(f"{number}. {text}")
        print()


if __name__ == "__main__":
    main()
