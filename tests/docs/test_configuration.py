"""Every configuration that docs/configuration.md shows is valid; its tables are those of the kinds."""

from __future__ import annotations

import re
import textwrap
from dataclasses import replace
from pathlib import Path

import pytest

from dpsync.kinds.kind import TreeNode

from .examples import REGISTRY, Reader, read
from .markdown import DOCS, Block, Section, sections

PAGE = DOCS / "configuration.md"
SECTIONS = sections(PAGE)
EXAMPLES = [
    pytest.param(section, block, id=f"{section.title or 'top'}:{block.line}")
    for section in SECTIONS
    for block in section.of("yaml")
    if not block.name
]


def whole(block: Block) -> Block:
    """Return a complete configuration for a block that starts below an organization."""
    if "dpsync: 1" in block.text:
        return block
    above = "dpsync: 1\norganizations:\n  acme:\n    id: acme\n"
    return replace(block, text=above + textwrap.indent(block.text, "    "))


@pytest.mark.parametrize(("section", "block"), EXAMPLES)
def test_configuration_page_example_is_valid(section: Section, block: Block, tmp_path: Path) -> None:
    beside = [other for other in section.blocks if other.name or other.language == "sh"]
    with Reader(tmp_path / "project") as reader:
        reader.work_through([*beside, whole(block)])
    overlays = re.findall(r"-f (\S+\.yaml)", "\n".join(section.words))[1:]
    desired, found = read(reader.folder, reader.env, tuple(overlays))
    assert not found
    assert desired is not None
    assert desired.entries
    assert {other.name for other in beside if other.name} <= set(desired.texts)


def test_configuration_page_blocks_are_all_tested() -> None:
    shown = {id(section) for section in SECTIONS if section.blocks}
    assert shown == {id(parameters.values[0]) for parameters in EXAMPLES}
    assert {block.language for section in SECTIONS for block in section.blocks if not block.name} == {
        "yaml",
        "sh",
    }


def test_configuration_page_lists_navigation_fields() -> None:
    section = next(one for one in SECTIONS if one.title == "The navigation of a site")
    for kind in REGISTRY.tree_kinds("structure"):
        assert isinstance(kind.shape, TreeNode)
        row = next(line for line in section.words if line.startswith(f"| `{kind.shape.yaml_type}` |"))
        shown = set(re.findall(r"`(\w+)`", row.split("|")[2]))
        assert shown == {"key", *(field.name for field in kind.fields if not field.is_parent_reference)}
