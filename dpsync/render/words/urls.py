"""The words in which every output tells which public URLs change, and the redirect that would lead on."""

from __future__ import annotations

from collections.abc import Iterator

from dpsync.model.plans.impact import UrlImpact
from dpsync.model.plans.plan import Plan
from dpsync.model.texts.words import counted


def urls_headline(plan: Plan) -> str:
    """How many URLs change, how many are new, and how many of the old ones lead nowhere then."""
    broken, new = sum(map(breaks, plan.urls)), sum(item.before is None for item in plan.urls)
    parts = []
    if changing := len(plan.urls) - new:
        parts.append(f"{counted(changing, 'public URL')} will change")
    if new:
        parts.append(f"{new} new" if changing else counted(new, "new public URL"))
    if broken:
        parts.append(f"{broken} of the old ones will lead nowhere")
    return f"URLS: {', '.join(parts)}"


def readers_glance(urls: int, broken: int, navigations: int) -> str:
    """Behind the number of public URLs and navigations that change: how many of each."""
    parts = [counted(urls, "public URL") + (f" ({broken} broken)" if broken else "")] if urls else []
    parts += [counted(navigations, "navigation")] if navigations else []
    return ": ".join(filter(None, ("to change for readers", ", ".join(parts))))


def url_sign(item: UrlImpact) -> str:
    if not item.known:
        return "?"
    return "+" if item.before is None else "-" if item.after is None else "~"


def breaks(item: UrlImpact) -> bool:
    """Whether nothing is at the old URL any more, and nothing leads on from it."""
    return item.known and item.before is not None and item.shows is None and item.redirected is None


def url_words(item: UrlImpact) -> Iterator[str]:
    """Before and after, then what becomes of the old one. Not escaped for any medium."""
    if not item.known:
        yield f"{item.before or '(none)'} → not known before: {item.why}"
    elif item.before is None:
        yield str(item.after)
    else:
        yield f"{item.before} → {item.after or '(none)'}"
    if item.shows is not None:
        yield f"the old one shows {item.shows} then"
    if item.redirected is not None:
        yield f"{item.redirected} leads on from the old one"
    if item.redirect is not None:
        yield f"to lead on from the old one, in {item.place}:"
        yield redirect_line(item)


def redirect_line(item: UrlImpact) -> str:
    """The entry of a suggested redirect as a line of YAML, as import would write it."""
    if item.redirect is None:
        return ""
    from dpsync.importing.yaml_text.emit import on_one_line  # it loads much, and few plans need it

    return on_one_line(item.redirect).removeprefix("{ ").removesuffix(" }")
