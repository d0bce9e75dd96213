"""Markdown as the tests of the documentation need it: headings, and the code blocks below each."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "SECURITY.md",
    ROOT / "benchmarks" / "README.md",
    *sorted(DOCS.rglob("*.md")),
]
_FENCE = re.compile(r"^```(\w*) *(.*)$")
_HEADING = re.compile(r"^(#+) +(.+?) *$")
_NOT_RUN = re.compile(r"^<!-- not run: (.+) -->$")


@dataclass(frozen=True)
class Block:
    """One fenced block. `name` is what stands behind the language: the file that the block is.

    `not_run` is the reason in the comment right above it (`<!-- not run: REASON -->`), None when it is run.
    """

    language: str
    name: str
    text: str
    line: int
    not_run: str | None = None


@dataclass
class Section:
    """A heading with what follows it up to the next one; `above` is the heading that contains it."""

    title: str
    level: int
    above: str = ""
    words: list[str] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)

    def of(self, language: str) -> list[Block]:
        return [block for block in self.blocks if block.language == language]


def sections(path: Path) -> list[Section]:
    """Every section of a page, in order."""
    found = [Section("", 0)]
    fence: tuple[str, str, int, str | None, list[str]] | None = None
    above: re.Match[str] | None = None
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        opened = _FENCE.match(line)
        if fence is not None:
            if line == "```":
                language, name, start, reason, lines = fence
                found[-1].blocks.append(Block(language, name, "\n".join([*lines, ""]), start, reason))
                fence = None
            else:
                fence[4].append(line)
        elif opened:
            fence = (opened[1], opened[2], number, above[1] if above else None, [])
        elif heading := _HEADING.match(line):
            level = len(heading[1])
            container = next((one.title for one in reversed(found) if one.level < level), "")
            found.append(Section(heading[2], level, container))
        else:
            found[-1].words.append(line)
        above = _NOT_RUN.match(line)
    return found


def blocks(path: Path) -> list[Block]:
    """Every block of a page, in order."""
    return [block for section in sections(path) for block in section.blocks]
