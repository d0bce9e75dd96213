"""The organization as declared, and what a plan changes of it, as a picture: mermaid, or dot for Graphviz.

What is in what is a line; what names what is a dashed arrow with the name of the field. Titles are foreign
text: each passes visible(), and then what the language of the picture needs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from dpsync.kinds.registry import Registry
from dpsync.model.address import Address, plain_segment
from dpsync.model.change import Change
from dpsync.model.desired import Desired, Entry
from dpsync.model.plan import Plan
from dpsync.model.values import references
from dpsync.render.names import kind_noun
from dpsync.render.plan_words import SIGNS
from dpsync.render.visible import visible

_COLOURS: Final = {"create": "#d2f4d2", "update": "#fff3c4", "delete": "#fbd5d5"}
_PLAIN: Final = frozenset(" /()")


class Box(Struct, frozen=True):
    """A thing: its number, its words, and what a plan does with it ("" for nothing)."""

    id: str
    text: str
    action: str = ""


class Arrow(Struct, frozen=True):
    """From one thing to another: to what is in it, or by a field to what it names."""

    start: str
    end: str
    field: str = ""


class Graph(Struct, frozen=True):
    boxes: tuple[Box, ...]
    lines: tuple[Arrow, ...]


def graph(
    desired: Desired,
    registry: Registry,
    plan: Plan | None = None,
    wanted: Collection[Address] | None = None,
) -> Graph:
    """Everything that is declared, with what a plan does with it and what it deletes.

    `wanted`: only these, with what their fields name and what all of that is in.
    """
    changes = {change.address: change for change in plan.changes} if plan is not None else {}
    declared = {str(address): entry for address, entry in desired.resources.items()}
    every = declared.keys() | changes.keys()
    names = sorted(every if wanted is None else every & _with_surroundings(wanted, declared))
    ids = {name: f"n{number}" for number, name in enumerate(names)}
    boxes = [_box(ids[name], name, declared.get(name), registry, changes.get(name)) for name in names]
    found = dict.fromkeys(_lines(ids, declared))
    return Graph(tuple(_told_apart(boxes, names)), tuple(found))


def _with_surroundings(wanted: Iterable[Address], declared: Mapping[str, Entry]) -> set[str]:
    """Addresses, those that their fields name, and those around all of them."""
    found = set(wanted)
    for address in wanted:
        entry = declared.get(str(address))
        for value in entry.fields.values() if entry is not None else ():
            found |= {*references(value)}
    around = {str(one) for address in found for one in address.upward()}
    holders = {str(entry.holder) for name in around if (entry := declared.get(name)) and entry.holder}
    return around | holders


def _told_apart(boxes: list[Box], names: list[str]) -> Iterator[Box]:
    """Boxes of which no two have the same words: those that would have their address, too."""
    often = Counter(box.text for box in boxes)
    for box, name in zip(boxes, names, strict=True):
        same = often[box.text] > 1
        yield replace(box, text=f"{box.text} {visible(name)}") if same else box


def _box(id: str, name: str, entry: Entry | None, registry: Registry, change: Change | None) -> Box:
    if entry is not None:
        kind = registry.whole[entry.kind]
        title, word = entry.fields.get(kind.title), kind.noun
    else:
        assert change is not None
        title, word = change.label, kind_noun(change.kind)
    said = title if isinstance(title, str) and title else plain_segment(Address.parse(name).last)
    sign = f"{SIGNS[change.action]} " if change is not None else ""
    return Box(id, visible(f"{sign}{said} ({word})"), change.action if change is not None else "")


def _lines(ids: dict[str, str], declared: dict[str, Entry]) -> Iterator[Arrow]:
    for name, id in ids.items():
        entry = declared.get(name)
        around = entry.holder or entry.parent if entry is not None else None
        above = str(around) if around is not None else _around(name, ids)
        if above in ids:
            yield Arrow(ids[above], id)
        if entry is None:
            continue
        for field in sorted(entry.fields):
            named = sorted(str(address) for address in references(entry.fields[field]))
            yield from (Arrow(id, ids[other], field) for other in named if other in ids and other != above)


def _around(name: str, ids: dict[str, str]) -> str:
    """What an undeclared thing is in: the nearest thing around it that is there."""
    above = (str(address) for address in list(Address.parse(name).upward())[1:])
    return next((one for one in above if one in ids), "")


# The languages.


def as_mermaid(found: Graph) -> str:
    """A flowchart. Whatever is not a plain letter or digit is written as its number.

    So is the first character unless it is a letter, and what may be Markdown: mermaid reads labels as such,
    and would make a list of "- Old" and an emphasis of "_new_".
    """
    lines = ["flowchart LR"]
    lines += [f'  {box.id}["{_numbered(box.text)}"]' for box in found.boxes]
    for line in found.lines:
        arrow = f' -. "{_numbered(line.field)}" .-> ' if line.field else " --- "
        lines.append(f"  {line.start}{arrow}{line.end}")
    for action, colour in _COLOURS.items():
        those = [box.id for box in found.boxes if box.action == action]
        if those:
            lines += [f"  classDef {action} fill:{colour},color:#111", f"  class {','.join(those)} {action}"]
    return "\n".join(lines)


def _numbered(text: str) -> str:
    return "".join(
        one if (one.isalnum() or one in _PLAIN) and (place or one.isalpha()) else f"#{ord(one)};"
        for place, one in enumerate(text)
    )


def as_dot(found: Graph) -> str:
    """A directed graph for Graphviz, which reads the entities of HTML in a label."""
    lines = ["digraph dpsync {", "  rankdir=LR;", "  node [shape=box, style=filled, fillcolor=white];"]
    for box in found.boxes:
        colour = f', fillcolor="{_COLOURS[box.action]}"' if box.action else ""
        lines.append(f"  {box.id} [label={_quoted(box.text)}{colour}];")
    for line in found.lines:
        how = f"style=dashed, label={_quoted(line.field)}" if line.field else "dir=none"
        lines.append(f"  {line.start} -> {line.end} [{how}];")
    return "\n".join([*lines, "}"])


def _quoted(text: str) -> str:
    escaped = text.replace("&", "&amp;").replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


LANGUAGES: Final[dict[str, Callable[[Graph], str]]] = {"mermaid": as_mermaid, "dot": as_dot}
