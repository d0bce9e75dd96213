"""A text on GitHub as people see it there: its Markdown by GitHub's own parser, in our own style."""

from __future__ import annotations

import re
from html import escape
from pathlib import Path

import cmarkgfm
from cmarkgfm.cmark import Options

PAGE = (Path(__file__).parent / "pictures" / "page.html").read_text(encoding="utf-8")
_ALERT = re.compile(r"<blockquote>\n<p>\[!([A-Z]+)\]\n(.*?)</blockquote>", re.DOTALL)
_DIFF = re.compile(r'(<pre lang="diff"><code>)(.*?)(</code></pre>)', re.DOTALL)


def as_html(markdown: str) -> str:
    """Render a text as GitHub does: alerts and the colors of a diff are added after the parser."""
    html = cmarkgfm.github_flavored_markdown_to_html(markdown, Options.CMARK_OPT_UNSAFE)
    html = _ALERT.sub(_alert, html)
    return _DIFF.sub(
        lambda found: found[1] + "\n".join(map(_coloured, found[2].split("\n"))) + found[3], html
    )


def comment(markdown: str, by: str = "github-actions", said: str = "commented") -> str:
    head = f"<header><b>{escape(by)}</b> {escape(said)} <i>bot</i></header>"
    return f'<div class="comment">{head}<div class="text">{as_html(markdown)}</div></div>'


def title(state: str, text: str) -> str:
    return f'<h1><b class="{state.lower()}">{state}</b>{escape(text)}</h1>'


def page(*parts: str) -> str:
    return PAGE + "".join(parts)


def _alert(found: re.Match[str]) -> str:
    kind = found[1].lower()
    return f'<div class="alert {kind}"><p class="kind">{kind.capitalize()}</p><p>{found[2]}</div>'


def _coloured(line: str) -> str:
    name = {"+": "plus", "-": "minus", "@": "at"}.get(line[:1])
    return f'<span class="{name}">{line}</span>' if name else line
