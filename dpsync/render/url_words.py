"""Describe changes of public URLs, and suggest redirects for old URLs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from dpsync.model.change import UrlImpact
from dpsync.model.plan import Plan
from dpsync.model.text import format_count
from dpsync.render.visible import visible


def readers_figure_text(urls: int, broken: int, navigations: int) -> str:
    """Behind the number of public URLs and navigations that change: how many of each."""
    parts = [format_count(urls, "public URL") + (f" ({broken} broken)" if broken else "")] if urls else []
    parts += [format_count(navigations, "navigation")] if navigations else []
    return ": ".join(filter(None, ("to change for readers", ", ".join(parts))))


def is_broken(item: UrlImpact) -> bool:
    """Whether nothing is at the old URL any more, and nothing leads on from it."""
    return item.known and item.before is not None and item.shows is None and item.redirected is None


def url_change_text(item: UrlImpact) -> tuple[str, str]:
    """Return what happens to a URL and the URLs. Not escaped for any medium."""
    if not item.known:
        return "URL", f"{item.before or '(none)'} → not known yet: {item.why}"
    if item.before is None:
        return "new URL", str(item.after)
    return ("URL", f"{item.before} → {item.after}") if item.after else ("old URL", item.before)


def old_url_outcomes(items: Iterable[UrlImpact], plan: Plan) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield what becomes of old URLs, each time with the lines that redirect them."""
    ending: dict[str, list[UrlImpact]] = defaultdict(list)
    for item in items:
        if item.shows is not None:
            yield f"{visible(item.before or '')} will show {visible(item.shows)}.", ()
        if item.redirected is not None:
            yield f"{visible(item.redirected)} redirects {visible(item.before or '')}.", ()
        if is_broken(item):
            ending[item.place if item.redirect is not None else ""].append(item)
    for place, found in ending.items():
        those, them = ("The old URL", "it") if len(found) == 1 else (f"{len(found)} old URLs", "them")
        said = f"{those} will stop working."
        if place:
            owner, _, key = place.rpartition("/")
            origin = plan.origins.get(owner)
            where = f"{visible(origin.file)} under {visible(key)}:" if origin else f"{visible(place)}:"
            said = f"{said} To redirect {them}, add to {where}"
        yield said, tuple(filter(None, map(redirect_line, found)))


def redirect_line(item: UrlImpact) -> str:
    """Return the entry of a suggested redirect as a line of YAML in the style of `import`."""
    if item.redirect is None:
        return ""
    from dpsync.importing.write_yaml import on_one_line  # it loads much, and few plans need it

    return visible(on_one_line(item.redirect).removeprefix("{ ").removesuffix(" }"))
