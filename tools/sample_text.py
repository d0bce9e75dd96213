"""Print random sentences of the user docs and random strings of messages, for somebody to read cold.

    python -m tools.sample_text --seed 7

Each line stands below what a reader sees in front of it: the heading, the example and the sentence before,
or the field, the option or the rest of the message. Ask a reader who has never seen dpsync to mark each
numbered line that needs a second reading.
"""

from __future__ import annotations

import argparse
import ast
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from tools.user_words import DOCS, ROOT, user_words

FEWEST_WORDS: Final = 5
_DATA: Final = re.compile(r'^\{"|^(?:query|mutation) .*\{|\b[a-z]+_[a-z]+ [a-z_]+ |\(\?|\\[d(.]')
"""Match JSON, GraphQL, lists of Python names and regular expressions, which are not messages."""


class Line(NamedTuple):
    """A text for somebody to read, and what stands before it on the page or in the output."""

    text: str
    before: str


def user_pages() -> list[Path]:
    """Return README.md, SECURITY.md and each docs page that mkdocs.yml lists outside "For contributors"."""
    return [ROOT / "README.md", ROOT / "SECURITY.md", *(DOCS / name for name in user_words())]


def sentences(page: Path) -> Iterator[Line]:
    """Yield the sentences of a page with what precedes each, as on the page.

    This is the introduction of the page, the heading, an example, the two sentences before, and for a table
    row the header of the table. Code blocks, comments, headings and table rules are no sentences, and a link
    is its text. Links to tests are left out.
    """
    text = page.read_text(encoding="utf-8")
    text = re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)
    text = re.sub(r"(?:Tests?: )?\[`?test[^]]*\]\([^()]*tests/[^()]*\)[,.]?", "", text)
    text = re.sub(r"!?\[((?:[^][]|\[[^]]*\])*)\]\([^()]*\)", r"\1", text)
    heading, names, before, introduction = "", "", "", ""
    for part in re.split(r"^( *```.*?^ *```)$", text, flags=re.DOTALL | re.MULTILINE):
        if part.lstrip().startswith("```"):
            before = f"{before} ⟨example: {_first_lines(part)}⟩"
            continue
        for block in re.split(r"\n\s*\n|\n(?=\s*(?:[-*|#]|\d+\.) ?)", part):
            line = " ".join(block.split())
            if line.startswith("#"):
                introduction = introduction or (before and f"page: {before}; ")
                heading, names, before = line.lstrip("# "), "", ""
            elif not line or set(line) <= set("|-: "):
                continue
            elif line.startswith("|"):
                if names and _has_enough_words(line):
                    yield Line(
                        line, f"{introduction}{heading}{': … ' if before else ''}{before}; table: {names}"
                    )
                names = names or " · ".join(cell.strip() for cell in line.strip("|").split("|"))
            else:
                names = ""
                item = re.match(r"([-*]|\d+\.) ", line)
                lead = before
                for sentence in _split(line[item.end() :] if item else line):
                    if _has_enough_words(sentence):
                        yield Line(sentence, f"{introduction}{heading}{': … ' if before else ''}{before}")
                    before = f"{before.rpartition('⟩ ')[2].rpartition('. ')[2]} {sentence}".strip()
                if item:  # the next item of the list follows the sentence that introduces the list
                    before = lead


def _first_lines(block: str) -> str:
    """Return the first lines of a code block, on one line."""
    lines = [line.strip() for line in block.strip().splitlines()[1:-1]]
    return " ⏎ ".join(lines[:8]) + (" ⏎ …" if len(lines) > 8 else "")


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


def messages(module: Path) -> Iterator[Line]:
    """Yield the strings in a module that read like messages; f-string values are shown as `{name}`.

    Each is preceded by what belongs to it: the field or variable, and other texts of the same call.
    """
    tree = ast.parse(module.read_text(encoding="utf-8"))
    for statement in ast.walk(tree):
        if isinstance(statement, ast.stmt) and not hasattr(statement, "body"):
            if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant | ast.JoinedStr):
                continue  # a docstring
            yield from _messages_in(statement, [])


def _messages_in(node: ast.AST, before: list[str]) -> Iterator[Line]:
    """Yield the messages in a part of a statement, each after the texts that belong to it."""
    text = _text(node)
    if text is not None:
        if (
            len(text.split()) >= FEWEST_WORDS
            and re.search(r"[a-z]{3} [a-z]", text)
            and not _DATA.search(text)
        ):
            yield Line(text, " · ".join(other for other in before if other and other != text))
        return
    if isinstance(node, ast.Dict):
        for key, value in zip(node.keys, node.values, strict=True):
            yield from _messages_in(value, [*before, (_text(key) if key else None) or ""])
        return
    if isinstance(node, ast.Assign | ast.AnnAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        before = [*before, *(target.id for target in targets if isinstance(target, ast.Name))]
    if isinstance(node, ast.Call):
        arguments = [*node.args, *(keyword.value for keyword in node.keywords)]
        before = [*before, *(_text(argument) or "" for argument in arguments)]
    for child in ast.iter_child_nodes(node):
        yield from _messages_in(child, before)


def _text(node: ast.AST) -> str | None:
    """Return a string on one line, with `{name}` for each value, or None for anything else."""
    if isinstance(node, ast.JoinedStr):
        parts = (
            str(part.value) if isinstance(part, ast.Constant) else _placeholder(part) for part in node.values
        )
        return " ".join("".join(parts).split())
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return " ".join(node.value.split())
    return None


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
    for title, (lines, count) in samples.items():
        print(f"# {title} ({len(lines)} in all, seed {options.seed})\n")
        for number, line in enumerate(random_numbers.sample(lines, min(count, len(lines))), 1):
            print(f"   ({line.before})\n{number}. {line.text}\n")
        print()


if __name__ == "__main__":
    main()
