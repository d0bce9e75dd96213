"""Which public URLs change, as a block of lines for a terminal."""

from __future__ import annotations

from dpsync.model.plans.plan import Plan
from dpsync.render.terminal.paint import Paint
from dpsync.render.words.urls import breaks, url_sign, url_words, urls_headline
from dpsync.render.words.visible import visible

_STYLES = {"+": "green", "-": "red", "~": "yellow", "?": "magenta"}


def render_urls(plan: Plan, paint: Paint, *, quiet: bool = False, summary: bool = False) -> str:
    """A headline and each URL; nothing where none changes. `quiet`: only what breaks or is not known."""
    listed = [item for item in plan.urls if not quiet or breaks(item) or not item.known]
    if not listed:
        return ""
    lines = [paint(urls_headline(plan), "bold")]
    for item in listed:
        head = paint(f"  {url_sign(item)} {visible(item.address)}", _STYLES[url_sign(item)])
        said = [visible(text) for text in url_words(item)]
        lines += [f"{head}  {said[0]}"] if summary else [head, *(f"      {text}" for text in said)]
    return "\n".join(lines)
