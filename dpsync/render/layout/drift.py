"""Drift → its view: what was there already first, then what is edited here and not live yet."""

from __future__ import annotations

from collections.abc import Iterator

from dpsync.model.entries.address import Address, FieldAddress
from dpsync.model.plans.cause import Group
from dpsync.model.plans.drift import Drift, Drifted, FieldDrift
from dpsync.model.plans.drift import Line as UnwatchedLine
from dpsync.model.plans.grouping import drifted_parts
from dpsync.model.texts.words import counted
from dpsync.render.json.documents import DriftDocument
from dpsync.render.json.ways_out import WaysOut
from dpsync.render.layout.plan import about, foot, refusal_blocks, side_blocks
from dpsync.render.layout.view import (
    Block,
    Blocks,
    OutlineLine,
    View,
    ViewEntry,
    ViewField,
    ViewLine,
    Word,
)
from dpsync.render.words import drift as words
from dpsync.render.words import plan as plan_words
from dpsync.render.words.natural_order import in_natural_order
from dpsync.render.words.plan import SHOWN
from dpsync.render.words.visible import visible

_TITLES: dict[Group, str] = {
    "there already": "Changed outside of the files",
    "this change": "Edited here, and not live yet",
    "origin unknown": "What is live and not as the files say",
}


def drift_view(document: DriftDocument) -> View:
    """All that is told of a drift."""
    found = in_natural_order(document.drift.found, lambda one: one.location, lambda one: False)
    drift = document.drift.model_copy(update={"found": found})
    document = document.model_copy(update={"drift": drift})
    verdict = [ViewLine(words.verdict(drift), "strong" if drift.drifted or drift.unread else "good")]
    if more := words.left_alone(drift):
        verdict.append(ViewLine(more))
    return View(
        tuple(verdict),
        about(drift),
        tuple(drift_blocks(document)),
        foot(drift),
        name="drift",
        addition=plan_words.in_trouble(drift),
        effort=f"({counted(drift.requests, 'request')} to read)",
        outline=tuple(_outlined(drift, item) for item in drift.found),
    )


def drift_blocks(document: DriftDocument) -> list[Block]:
    drift, blocks = document.drift, Blocks()
    found_parts = drifted_parts(drift)
    for part in found_parts:
        found = (_drifted(drift, item, document.ways_out.get(item.address)) for item in part.items)
        headline = f"{part.title}:" if len(found_parts) > 1 else ""
        blocks.add(
            "drift", f"{_TITLES[part.group]}: {{}}", "warning", found,
            fails=True, headline=headline, shape="paragraphs", outlined=True,
        )  # fmt: skip
    blocks.found += refusal_blocks(drift, "An apply would be refused")
    unread = (_unread(document, address) for address in drift.unread)
    blocks.add("unread", "Not looked at: {}", "warning", unread, folded="")
    ignored = (_drifted(drift, item) for item in drift.ignored)
    headline = "Ignored, as the policy says"
    blocks.add("ignored", f"{headline}: {{}}", "none", ignored, headline=f"{headline}:", tone="plain")
    unwatched = (_line(drift, item) for item in drift.unwatched_lines)
    blocks.add(
        "unwatched", "Not compared: {}", "none", unwatched, headline="Not compared:", tone="plain", asked=True
    )
    return [*blocks.found, *side_blocks(drift)]


def _unread(document: DriftDocument, address: str) -> ViewEntry:
    where = plan_words.origin(document.drift, address)
    return ViewEntry(visible(address), "this token may not read it", "!", where=where, enclosing=where)


def _line(drift: Drift, item: UnwatchedLine) -> ViewEntry:
    """What no entry names, with the line that would watch it, or why there is none."""
    name = FieldAddress(Address.parse(item.address), item.field)
    return ViewEntry(
        visible(str(name)),
        visible(item.line or item.why or ""),
        where=drift.origins.get(item.address),
        owner=visible(item.address),
        short="" if item.line else f"{visible(item.field or '')}: ({visible(item.why or '')})",
    )


def _drifted(drift: Drift, item: Drifted, out: WaysOut | None = None) -> ViewEntry:
    """What differs of one thing. `out`: of what is ignored nobody is told what would end it."""
    cause = words.cause(drift, item)
    gist = _gist(item)
    return ViewEntry(
        address=visible(item.address),
        gist=f"{gist} ({cause})" if cause and item.what == "different" else gist,
        sign=words.SIGNS[item.what],
        where=plan_words.edit_location(drift, item.address, (part.field for part in item.fields)),
        enclosing=plan_words.enclosing_origin(drift, item.address),
        lead=tuple(_renamed(item)),
        words=tuple(_words(drift, item, out)),
        fields=tuple(_field(drift, part) for part in item.fields),
        sides=("live", "policy" if item.kept else "file"),
        cause=cause if item.what != "different" else "",
        summed_up=item.what == "different",
        outline=_outlined(drift, item),
    )


def _field(drift: Drift, part: FieldDrift) -> ViewField:
    cause = plan_words.why(drift, part.cause)
    return ViewField(part.field, part.live, part.file, part.known, cause, default=part.watched)


def _outlined(drift: Drift, item: Drifted) -> OutlineLine:
    said = {"missing": "not live", "undeclared": "not in the files", "different": ""}[item.what]
    place = "in another place" if item.place else ""
    gist = ", ".join(
        filter(None, (said, words.cascade_count(item), *(part.field for part in item.fields), place))
    )
    causes = [*(plan_words.why(drift, part.cause) for part in item.fields), words.cause(drift, item)]
    cause = ", ".join(filter(None, dict.fromkeys(causes)))
    return OutlineLine(words.SIGNS[item.what], visible(item.address), gist, cause, level="warning")


def _renamed(item: Drifted) -> Iterator[Word]:
    for one in item.renamed[:SHOWN]:
        yield Word(f'"{visible(one.label)}" ({visible(one.id)})', "renamed on the platform? live")
    if (more := len(item.renamed) - SHOWN) > 0:
        yield Word(f"and {more} more that it could be")


def _words(drift: Drift, item: Drifted, out: WaysOut | None) -> Iterator[Word]:
    if item.place:
        cause = words.cause(drift, item)
        yield Word(f"file: {visible(item.place)}, live: elsewhere", cause=cause)
    if item.last_event is not None:
        yield Word(words.last_event(item.last_event), "last event")
    if out is not None:
        for about, text in (("undo", out.platform), ("keep", out.files or out.by_hand or "")):
            yield Word(text, about, command=text.startswith("dpsync "))


def _gist(item: Drifted) -> str:
    what = f'{plan_words.noun(item.kind)} "{visible(item.label)}"'
    names = [part.field for part in item.fields] + (["place"] if item.place else [])
    if item.what == "different":
        return f"{what} differs: {', '.join(names)}"
    if item.what == "missing":
        return f"the {what} is not live"
    return ", ".join(filter(None, (f"the {what} is live and not in the files", words.cascade_count(item))))
