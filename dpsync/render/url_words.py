"""Describe changes of public URLs in sentences, and suggest redirects for old URLs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from dpsync.model.change import UrlImpact
from dpsync.model.plan import Plan
from dpsync.model.text import format_count
from dpsync.render.visible import visible


def readers_figure_text(urls: int, broken: int, navigations: int) -> str:
    """Return the text behind the number of URLs and navigations that change: how many of each.

    Args:
        urls: The number of changing public URLs.
        broken: The number of these URLs that stop working.
        navigations: The number of changing navigations.
    """
    parts = [format_count(urls, "public URL") + (f" ({broken} broken)" if broken else "")] if urls else []
    parts += [format_count(navigations, "navigation")] if navigations else []
    return ": ".join(filter(None, ("to change for readers", ", ".join(parts))))


def is_broken(impact: UrlImpact) -> bool:
    """Return whether an old URL stops working: no object is at the URL any more, and no redirect leads on."""
    return impact.known and impact.before is not None and impact.shows is None and impact.redirected is None


def url_change_text(impact: UrlImpact) -> tuple[str, str]:
    """Return the label and the text of a URL change: ("URL", "https://old → https://new").

    The text is not escaped for any format.
    """
    if not impact.known:
        return "URL", f"{impact.before or '(none)'} → not known yet: {impact.why}"
    if impact.before is None:
        return "new URL", str(impact.after)
    return ("URL", f"{impact.before} → {impact.after}") if impact.after else ("old URL", impact.before)


def old_url_outcomes(impacts: Iterable[UrlImpact], plan: Plan) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield what becomes of old URLs as a sentence, each with the lines of files that would redirect them.

    Old URLs that stop working are grouped by the key of the files under which their redirects belong.
    """
    broken_by_redirects_key: dict[str, list[UrlImpact]] = defaultdict(list)
    for impact in impacts:
        if impact.shows is not None:
            yield f"{visible(impact.before or '')} will show {visible(impact.shows)}.", ()
        if impact.redirected is not None:
            yield f"{visible(impact.redirected)} redirects {visible(impact.before or '')}.", ()
        if is_broken(impact):
            broken_by_redirects_key[impact.place if impact.redirect is not None else ""].append(impact)
    for redirects_key, broken in broken_by_redirects_key.items():
        subject, object_pronoun = (
            ("The old URL", "it") if len(broken) == 1 else (f"{len(broken)} old URLs", "them")
        )
        text = f"{subject} will stop working."
        if redirects_key:
            owner, _, key = redirects_key.rpartition("/")
            origin = plan.origins.get(owner)
            location = (
                f"{visible(origin.file)} under {visible(key)}:" if origin else f"{visible(redirects_key)}:"
            )
            text = f"{text} To redirect {object_pronoun}, add to {location}"
        yield text, tuple(filter(None, map(redirect_line, broken)))


def redirect_line(impact: UrlImpact) -> str:
    """Return the entry of a suggested redirect as a line of YAML in the style of `import`."""
    if impact.redirect is None:
        return ""
    from dpsync.importing.write_yaml import on_one_line  # it loads much, and few plans need it

    return visible(on_one_line(impact.redirect).removeprefix("{ ").removesuffix(" }"))
