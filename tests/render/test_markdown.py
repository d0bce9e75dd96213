"""A plan as Markdown: whatever it says, its parse has our words and code, and what is hidden is counted."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from html.parser import HTMLParser

import cmarkgfm
import pytest
from cmarkgfm.cmark import Options
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from dpsync.model.change import (
    Change,
    Difference,
    Effect,
    Exposure,
    NavigationChange,
    NavigationNode,
    SitePreview,
)
from dpsync.model.plan import Origin, Plan
from dpsync.model.question import Refusal
from dpsync.render.documents import Finding, FindingsDocument, PlanDocument, Related
from dpsync.render.json_conversion import plan_document
from dpsync.render.markdown import code_span, escape_prose, prose_html, render_markdown, utf16_length
from dpsync.render.views import make_view
from dpsync.render.visible import visible
from tests.render.hostile import DOCUMENTS, TEXT
from tests.soak import examples

OURS = {"h3", "h4", "p", "ul", "li", "code", "pre", "strong", "details", "summary", "sub", "br"}
UNWELCOME = re.compile(r"[@#<>`*_~|\[\]{}\\&$/]|://|www\.")
"""What GitHub makes something of outside of code."""


@dataclass
class Tree(HTMLParser):
    """What a page shows: its elements, the texts that are not code, and the codes of each entry."""

    tags: Counter[str] = field(default_factory=Counter)
    words: list[str] = field(default_factory=list)
    entries: list[list[str]] = field(default_factory=list)
    strange: list[str] = field(default_factory=list)
    stack: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        if tag not in OURS or attrs not in ([], [("lang", "diff")]):
            self.strange.append(f"{tag} {attrs}")
        if tag == "br":
            return
        if tag == "li" and self.stack.count("ul") == 1:
            self.entries.append([])
        if tag == "code" and self.entries and self.stack.count("ul") == 1:
            self.entries[-1].append("")
        self.stack.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag != "br" and (not self.stack or self.stack.pop() != tag):
            self.strange.append(f"</{tag}>")

    def handle_data(self, data: str) -> None:
        if "code" not in self.stack:
            self.words.append(data)
        elif self.entries and self.entries[-1] and self.stack.count("ul") == 1:
            self.entries[-1][-1] += data

    def handle_comment(self, data: str) -> None:
        self.strange.append(f"<!--{data}-->")

    handle_decl = unknown_decl = handle_pi = handle_comment


def parsed(text: str) -> Tree:
    tree = Tree()
    tree.feed(cmarkgfm.github_flavored_markdown_to_html(text, Options.CMARK_OPT_UNSAFE))
    tree.close()
    return tree


def trusted(tree: Tree) -> None:
    """Nothing in it comes from a foreign text but text."""
    assert tree.strange == []
    assert tree.stack == []
    assert not UNWELCOME.search(" ".join(tree.words)), tree.words


def hidden(text: str) -> tuple[int, int, int] | None:
    """Shown, total and hidden as the text says it."""
    found = re.search(r"\*\*Shown: (\d+) of (\d+) items?, (\d+) hidden", text)
    return (int(found[1]), int(found[2]), int(found[3])) if found else None


def with_blank_message(code: str, message: str) -> FindingsDocument:
    """Return a document whose first entry has a line below the entry, but no words of its own."""
    related = Related(text="first entry", at=Origin(file="dpsync.yaml", line=4, column=1))
    found = (
        Finding(code=code, severity="warning", message=message, related=(related,)),
        Finding(code="DP202", severity="warning", message="second entry"),
    )
    return FindingsDocument(exit=5, findings=found)


@settings(max_examples=40, deadline=None)
@example(with_blank_message("DP201", " "), 60_000)
@example(with_blank_message("", ""), 60_000)
@given(DOCUMENTS, st.sampled_from([1000, 2500, 6000, 60_000]))
def test_markdown_of_random_document_parses_as_expected(document: BaseModel, limit: int) -> None:
    shown = make_view(document)
    text = render_markdown(shown, limit)
    text.encode()
    assert utf16_length(text) <= limit
    tree = parsed(text)
    trusted(tree)
    said = hidden(text)
    assert said is None or said[0] + said[2] == said[1] == shown.entry_count + shown.left_out
    if said is None or said[0] == shown.entry_count:
        signs = [entry.sign for entry in shown]
        found = [codes[:1] for codes in tree.entries]
        assert all(sign in codes or not sign for sign, codes in zip(signs, found, strict=True))


PREVIEW = "https://app.gitbook.com/preview/sites/site_1"


def with_previews(*previews: tuple[str, str]) -> str:
    found = (SitePreview(address="acme/sites/docs", title=title, url=url) for title, url in previews)
    return render_markdown(make_view(plan_document(Plan(previews=tuple(found)))))


@settings(max_examples=examples(80, soak=2000), deadline=None)
@given(TEXT)
def test_preview_title_cannot_break_markdown_link(title: str) -> None:
    """A title in a link text could end the link and name another URL."""
    tree = parsed(with_previews((title, PREVIEW)))
    assert tree.strange == [f"a {[('href', PREVIEW)]}"]
    assert not UNWELCOME.search(" ".join(tree.words)), tree.words


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)", "data:text/html,x", "//evil.example", "https://a b.example/",
        f"{PREVIEW}) [x](https://evil.example", f"{PREVIEW}?key=s3cret", f"{PREVIEW}#s3cret",
        "https://ada:s3cret@app.gitbook.com/", f"{PREVIEW}\"><script>", "https://[::1]/", "",
    ],
)  # fmt: skip
def test_forged_preview_url_is_not_linked(url: str) -> None:
    """Anybody may write the JSON that `dpsync show` reads."""
    text = with_previews(("Docs", url), ("Help", PREVIEW))
    assert f"\n\nPreview: [Help]({PREVIEW})" in text
    assert "Docs" not in text


def test_preview_links_are_limited_to_twenty() -> None:
    text = with_previews(*((f"Site {number}", PREVIEW) for number in range(30)))
    assert text.count(PREVIEW) == 20
    assert "and 10 more" in text


@settings(max_examples=examples(80, soak=2000), deadline=None)
@given(TEXT)
def test_markdown_prose_escapes_random_text(text: str) -> None:
    said = re.sub(r" +", " ", visible(text)).strip()
    for made in (
        escape_prose(text),
        f"- {escape_prose(text)}",
        f"x {escape_prose(text)} y",
        f"<details>{prose_html(text)}</details>",
    ):
        tree = parsed(made)
        trusted(tree)
        assert tree.tags.keys() <= {"p", "code", "ul", "li", "details"}
    html = re.sub(r"<[^>]+>", "", cmarkgfm.github_flavored_markdown_to_html(f"x {escape_prose(text)}"))
    shown = cmarkgfm.github_flavored_markdown_to_html(f"x {code_span(said)}") if said else "<p>x</p>"
    assert re.sub(r"\s+", " ", html).strip() == re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", shown)).strip()


@pytest.mark.parametrize(
    ("text", "markdown"),
    [
        ("6 things would be deleted (limits)", "6 things would be deleted (limits)"),
        ("invite zoe@acme.example, then wait.", "invite `zoe@acme.example`, then wait."),
        ('new team "Support"', 'new team "Support"'),
        ('new team "a `b` c"', 'new team "a `` `b` `` c"'),
        ("see [Help center] at https://x.y.", "see `[Help center]` at `https://x.y`."),
        ("1. first", "`1.` first"),
        ("deadbeef closes #4", "`deadbeef` closes `#4`"),
    ],
)  # fmt: skip
def test_markdown_prose_keeps_plain_words(text: str, markdown: str) -> None:
    assert escape_prose(text) == markdown


@settings(max_examples=50, deadline=None)
@given(TEXT)
def test_random_name_becomes_one_code_span(text: str) -> None:
    tree = parsed(f"- {code_span(text)}")
    trusted(tree)
    assert tree.entries == [[visible(text) or " "]]


def many(number: int, lines: int = 1) -> PlanDocument:
    """Return a plan with this number of changes and lines per value; every tenth change is a delete."""
    item = Difference(field="text", before="", after="line\n" * lines)
    goes = number // 10
    changed = [
        Change(
            address=f"acme/spaces/s{n}", kind="space", action="create", label=f"S {n}", differences=(item,)
        )
        for n in range(number - goes)
    ]
    deleted = [
        Change(address=f"acme/teams/[T{n}]", kind="team", action="delete", label="T") for n in range(goes)
    ]
    return plan_document(Plan(changes=(*changed, *deleted)))


@pytest.mark.parametrize(
    ("document", "shown", "details"),
    [
        (many(20, 30), 20, True),
        (many(20, 2000), 20, True),
        (many(600, 30), 600, False),
        (many(5000, 3), 50, False),
    ],
)
def test_larger_markdown_plan_shows_fewer_details(document: PlanDocument, shown: int, details: bool) -> None:
    text = render_markdown(make_view(document))
    assert utf16_length(text) <= 60_000
    trusted(parsed(text))
    total = len(document.plan.changes)
    if shown == total and details:
        assert hidden(text) is None
    else:
        assert hidden(text) == (shown, total, total - shown)
    assert ("```diff" in text) == details


def test_oversized_markdown_plan_omits_deletes_last() -> None:
    text = render_markdown(make_view(many(5000)))
    assert sum(f"team `[T{n}]`" in text for n in range(500)) == 50
    assert "`acme/spaces`: `+` 4500" in text
    assert "`acme/teams`: `-` 500" in text


def test_tiny_markdown_plan_shows_only_counts() -> None:
    text = render_markdown(make_view(many(5000)), 1000)
    assert hidden(text) == (0, 5000, 5000)
    assert "Changes (5000 items)" in text


def test_cut_markdown_value_counts_missing_lines() -> None:
    text = render_markdown(make_view(many(2, 3000)), 5000)
    assert text.count("+ line") == 2 * 19 - 2
    assert "… 2982 more lines" in text


def test_markdown_labels_are_shown_beside_their_field() -> None:
    here = Difference(field="title", before="A", after="B", cause="edited here")
    there = Difference(field="visibility", before="x", after="y", cause="changed outside")
    changed = Change(address="acme/sites/docs", kind="site", action="update", differences=(here, there))
    exposed = Exposure(address="acme/sites/docs", field="visibility", words="visibility raised: x → y")
    plan = Plan(changes=(changed,), exposures=(exposed,), base="0" * 40, base_from="HEAD")
    text = render_markdown(make_view(plan_document(plan)))
    assert '+ title: "B" (edited here)' in text
    assert '+ visibility: "y" (changed outside, opens access)' in text


def test_markdown_shows_navigation_as_one_diff_tree() -> None:
    def node(name: str, title: str) -> NavigationNode:
        return NavigationNode(address=f"acme/sites/docs/structure/{name}", kind="section", title=title)

    change = NavigationChange(
        address="acme/sites/docs",
        before=(node("api", "API ```"), node("news", "News")),
        after=(node("news", "News"), node("new", "@new")),
    )
    text = render_markdown(make_view(plan_document(Plan(navigation=(change,)))))
    trusted(parsed(text))
    assert (
        "before and after</summary>\n\n- `~` navigation of `acme/sites/docs`\n\n  ````diff\n  - API ```\n"
        in text
    )
    assert "  + @new\n  ````" in text


def test_markdown_plan_matches_expected_output() -> None:
    plan = Plan(
        changes=(
            Change(
                address="acme/sites/docs", kind="site", action="update", label="Docs",
                differences=(Difference(field="title", before="Acme", after="Acme *Docs*"),),
            ),
            Change(
                address="acme/teams/[Old]", kind="team", action="delete", label="Old",
                effects=(Effect(address="acme/teams/[Old]/[ada]", what="goes with it"),),
            ),
        ),
        refusals=(Refusal(code="limits", address="acme", message="2 would go", way_out="say so"),),
        origins={"acme/sites/docs": Origin(file="dpsync.yaml", line=4, column=7)},
    )  # fmt: skip
    assert render_markdown(make_view(plan_document(plan))) == GOLDEN.replace("DIGEST", plan.digest[:32])


GOLDEN = """\
### Plan: 1 to change, 2 to delete (1 team, 1 object). This plan cannot be applied, for 1 reason.

- `~` site docs · `dpsync.yaml:4`

  ```diff
  - title: "Acme"
  + title: "Acme *Docs*"
  ```

- `-` team `[Old]`

  - also removes 1 object

- `x` acme: 2 would go `limits`

  - say so

<sub>digest `DIGEST` · 0 requests to read, 0 to write</sub>"""


def test_copyable_markdown_line_is_one_code_span() -> None:
    """Otherwise, backticks cut through the line, and what a person copies is not valid YAML."""
    line = 'removed: ["acme/teams/[Legacy~legacy]", "acme/teams/[Old team~old]"]'
    flags = '--confirm "delete 2" --confirm "delete acme/teams/[Legacy]"'
    refusal = Refusal(
        code="content", address="acme", message="two teams", way_out=f"add {flags}; or add {line} to policy"
    )
    text = render_markdown(make_view(plan_document(Plan(refusals=(refusal,)))))
    assert f"`{line}`" in text
    assert f"`{flags}`" in text
