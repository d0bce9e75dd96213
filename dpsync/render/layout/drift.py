"""Drift → the blocks of a view: what was there already first, then what is edited here and not live yet."""

from __future__ import annotations

from collections.abc import Iterator

from dpsync.model.entries.address import Address, FieldAddress
from dpsync.model.plans.cause import Group
from dpsync.model.plans.drift import Drifted, FieldDrift
from dpsync.model.plans.grouping import drifted_parts
from dpsync.render.json.documents import DriftDocument
from dpsync.render.layout.plan import beside, refusals
from dpsync.render.layout.view import Block, Blocks, ViewEntry, ViewField, Word
from dpsync.render.words import plan as words
from dpsync.render.words.drift import SIGNS, WHAT, along
from dpsync.render.words.plan import SHOWN
from dpsync.render.words.visible import visible

_TITLES: dict[Group, str] = {
    "there already": "Changed outside of the files",
    "this change": "Edited here, and not live yet",
    "origin unknown": "What is live and not as the files say",
}


def drift_blocks(document: DriftDocument) -> list[Block]:
    drift, blocks = document.drift, Blocks()
    for part in drifted_parts(drift):
        found = (_drifted(document, item) for item in part.items)
        blocks.add("drift", f"{_TITLES[part.group]}: {{}}", "warning", found, fails=True)
    blocks.add("refusal", "An apply would be refused", "error", refusals(drift))
    unread = (_unread(document, address) for address in drift.unread)
    blocks.add("unread", "Not looked at: {}", "warning", unread)
    ignored = (_drifted(document, item) for item in drift.ignored)
    blocks.add("ignored", "Ignored, as the policy says: {}", "none", ignored)
    unwatched = (_line(item.address, item.field, item.line or item.why) for item in drift.unwatched_lines)
    blocks.add("unwatched", "Not watched: {}", "none", unwatched)
    return [*blocks.found, *beside(drift)]


def _unread(document: DriftDocument, address: str) -> ViewEntry:
    where = words.origin(document.drift, address)
    return ViewEntry(visible(address), "this token may not read it", "!", where=where, enclosing=where)


def _line(address: str, field: str | None, text: str | None) -> ViewEntry:
    return ViewEntry(visible(str(FieldAddress(Address.parse(address), field))), visible(text or ""))


def _drifted(document: DriftDocument, item: Drifted) -> ViewEntry:
    return ViewEntry(
        address=visible(item.address),
        gist=_gist(document, item),
        sign=SIGNS[item.what],
        where=document.drift.origins.get(item.address),
        enclosing=words.around(document.drift, item.address),
        words=tuple(_words(document, item)),
        fields=tuple(
            ViewField(part.field, part.live, part.file, part.known, _label(document, part))
            for part in item.fields
        ),
        sides=("live", "file"),
    )


def _label(document: DriftDocument, part: FieldDrift) -> str:
    why = words.why(document.drift, part.cause)
    return ", ".join(filter(None, ("the platform's default" if part.watched else "", why)))


def _words(document: DriftDocument, item: Drifted) -> Iterator[Word]:
    for one in item.renamed[:SHOWN]:
        yield Word(f'"{visible(one.label)}" ({visible(one.id)})', "renamed on the platform")
    if item.place:
        yield Word(f"file: {visible(item.place)}, live: elsewhere")
    if out := document.ways_out.get(item.address):
        for about, text in (("undo", out.platform), ("keep", out.files or out.by_hand or "")):
            yield Word(text, about, command=text.startswith("dpsync "))


def _gist(document: DriftDocument, item: Drifted) -> str:
    what = f'{words.noun(item.kind)} "{visible(item.label)}"'
    names = [part.field for part in item.fields] + (["place"] if item.place else [])
    text = {
        "missing": f"the {what} is not live",
        "undeclared": ", ".join(filter(None, (f"the {what} is live and not in the files", along(item)))),
        "different": f"{what} differs: {', '.join(names)}",
    }[item.what]
    why = words.why(document.drift, item.cause, WHAT[item.what])
    return f"{text} ({why})" if why else text
