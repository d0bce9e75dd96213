"""Markdown and Documents: both ways, and what each makes of what the other cannot say."""

from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from dpsync.server.content.markdown import to_markdown
from dpsync.server.content.page_refs import document_sections, page_anchors
from dpsync.server.content.rich_text import plain_text, to_document

Json = dict[str, Any]

WRITTEN = [
    "Plain text.\n",
    "# One\n\n## Two\n\n### Three\n",
    "*It* is **bold**, `code`, ~~gone~~ and ***both***.\n",
    "- one\n- two\n\n  more\n\n  - inside\n",
    "3. three\n4. four\n",
    "- [x] done\n- [ ] to do\n",
    "> quoted\n>\n> twice\n",
    "```python\nprint('`')\n```\n",
    "````\n```\n````\n",
    "---\n",
    "![A cat](https://cat.example/cat.png)\n",
    "A ![cat](/files/cat) inside.\n",
    "[page](/pages/a), [anchor](/pages/a#b), [other](/spaces/s/pages/a), [space](/spaces/s), [web](https://x.y/z?a=b_c*d)\n",
    "[user](/users/ada) [collection](/collections/c) [spec](/openapi/shop)\n",
    '{% include "note" %}\n',
    'Version <code class="expression">space.vars.my_version</code>.\n',
    "| a | b |\n| :-- | --: |\n| **1** | [x](y.md) |\n",
    "1\\. is no list, \\# no heading, \\- no list, a\\_b no accent, \\<b\\> no tag\n",
]


@pytest.mark.parametrize("markdown", WRITTEN, ids=lambda text: str(text.split("\n")[0][:30]))
def test_written_markdown_is_read_as_same_document(markdown: str) -> None:
    document = to_document(markdown)
    assert to_document(to_markdown(document)) == document


words = st.text(
    st.characters(categories=("L", "N", "P", "S"), exclude_characters="\x85"), min_size=1, max_size=8
)
sentences = st.lists(words, min_size=1, max_size=6).map(" ".join)


def paragraph(text: str, *marks: str) -> Json:
    leaf = {"object": "leaf", "text": text, "marks": [{"object": "mark", "type": mark} for mark in marks]}
    return {"object": "block", "type": "paragraph", "nodes": [{"object": "text", "leaves": [leaf]}]}


@given(st.lists(sentences, min_size=1, max_size=4))
def test_document_text_survives_markdown_round_trip(texts: list[str]) -> None:
    """Whatever stands in a text of a Document, it is that text after both conversions."""
    document = {"object": "document", "nodes": [paragraph(text) for text in texts]}
    back = to_document(to_markdown(document))
    assert [plain_text(node).rstrip("\n") for node in back["nodes"]] == texts
    assert {node["type"] for node in back["nodes"]} == {"paragraph"}


@given(st.text(st.characters(exclude_categories=("Cs",)), max_size=200))
def test_any_markdown_converts_to_document(markdown: str) -> None:
    document = to_document(markdown)
    assert plain_text(to_document(to_markdown(document))) is not None
    named = {anchor for anchor, _, _ in document_sections(document) if anchor}
    assert page_anchors({"body": {"markdown": markdown}}) == named


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.fixed_dictionaries(
            {},
            optional={
                "object": st.sampled_from(["block", "inline", "text", "leaf", "fragment"]),
                "type": st.sampled_from(
                    ["paragraph", "heading-1", "list-ordered", "list-tasks", "table", "code", "images",
                     "link", "expression", "emoji", "hint", "tabs", "reusable-content"]
                ),
                "nodes": inner, "leaves": inner, "fragments": inner, "data": inner, "text": inner,
                "marks": inner, "ref": inner, "definition": inner, "records": inner, "view": inner,
            },
        )
    ),
    max_leaves=20,
)  # fmt: skip


blocks = st.fixed_dictionaries({"object": st.just("block"), "type": st.text(max_size=4), "nodes": anything})


@settings(phases=[Phase.generate])  # what fails is large: making it small takes minutes
@given(st.lists(blocks, max_size=4))
def test_any_document_converts_to_markdown(nodes: list[Json]) -> None:
    document = {"object": "document", "data": {}, "nodes": nodes}
    assert isinstance(to_markdown(document), str)
    assert isinstance(plain_text(document["nodes"]), str)
    assert isinstance(document_sections(document), list)


def test_unsupported_block_is_written_as_its_content() -> None:
    hint = {"object": "block", "type": "hint", "data": {"style": "info"}, "nodes": [paragraph("Mind.")]}
    tab = {
        "object": "block",
        "type": "tabs-item",
        "data": {"title": "T"},
        "nodes": [paragraph("Inside.", "bold")],
    }
    tabs = {"object": "block", "type": "tabs", "nodes": [tab]}
    assert to_markdown({"nodes": [hint, tabs]}) == "> Mind.\n\n**Inside.**\n"


def test_document_is_split_into_sections_by_headings() -> None:
    found = document_sections(to_document("Before.\n\n## Setup\n\nDo *it*.\n\n## Setup\n\nAgain.\n"))
    assert found == [("", "", "Before."), ("setup", "Setup", "Do it."), ("setup-2", "Setup", "Again.")]
