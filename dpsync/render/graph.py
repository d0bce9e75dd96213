"""Draw the declared organization, and the changes of a plan, as Mermaid or as DOT for Graphviz.

`make_graph` makes the boxes and arrows, `as_mermaid` and `as_dot` print them. A solid line leads to a child;
a dashed arrow with the name of a field leads to an object that the field refers to. Titles are foreign
text: each passes `visible()`, and is then escaped for the language.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
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

_ACTION_COLORS: Final = {"create": "#d2f4d2", "update": "#fff3c4", "delete": "#fbd5d5"}
_UNESCAPED: Final = frozenset(" /()")


class Box(Struct, frozen=True):
    """An object: its id in the picture, its text, and the action of the plan ("" for none)."""

    id: str
    text: str
    action: str = ""


class Arrow(Struct, frozen=True):
    """A line from an object to a child, or an arrow by a field to an object that the field refers to."""

    start: str
    end: str
    field: str = ""


class Graph(Struct, frozen=True):
    """The boxes and lines of a picture."""

    boxes: tuple[Box, ...]
    arrows: tuple[Arrow, ...]


def make_graph(
    desired: Desired,
    registry: Registry,
    plan: Plan | None = None,
    selected: Collection[Address] | None = None,
) -> Graph:
    """Return the boxes and arrows of all declared objects, marked with what a plan does with them.

    The graph also has the objects that the plan deletes.

    Args:
        selected: Show only these objects, the objects that their fields refer to, and all their parents.
    """
    changes = {change.address: change for change in plan.changes} if plan is not None else {}
    declared = {str(address): entry for address, entry in desired.entries.items()}
    all_names = declared.keys() | changes.keys()
    names = sorted(
        all_names if selected is None else all_names & _with_references_and_parents(selected, declared)
    )
    ids = {name: f"n{number}" for number, name in enumerate(names)}
    boxes = [_box(ids[name], name, declared.get(name), registry, changes.get(name)) for name in names]
    text_counts = Counter(box.text for box in boxes)
    unique_boxes = [
        replace(box, text=f"{box.text} {visible(name)}") if text_counts[box.text] > 1 else box
        for box, name in zip(boxes, names, strict=True)
    ]
    arrows: dict[Arrow, None] = {}  # in order, and each once
    for name, id in ids.items():
        entry = declared.get(name)
        parent = entry.holder or entry.parent if entry is not None else None
        if parent is not None:
            parent_name = str(parent)
        else:
            ancestors = (str(address) for address in list(Address.parse(name).self_and_ancestors())[1:])
            parent_name = next((ancestor for ancestor in ancestors if ancestor in ids), "")
        if parent_name in ids:
            arrows[Arrow(ids[parent_name], id)] = None
        for field, value in sorted(entry.fields.items()) if entry is not None else ():
            targets = sorted(str(address) for address in references(value))
            for target in targets:
                if target in ids and target != parent_name:
                    arrows[Arrow(id, ids[target], field)] = None
    return Graph(tuple(unique_boxes), tuple(arrows))


def _with_references_and_parents(addresses: Iterable[Address], declared: Mapping[str, Entry]) -> set[str]:
    """Return addresses, the addresses that their fields refer to, and the parents of all of these.

    The result also has the navigation nodes that directly contain one of them (`holder`).
    """
    names_with_references = set(addresses)
    for address in addresses:
        entry = declared.get(str(address))
        for value in entry.fields.values() if entry is not None else ():
            names_with_references |= {*references(value)}
    names = {str(relative) for address in names_with_references for relative in address.self_and_ancestors()}
    holders = {str(entry.holder) for name in names if (entry := declared.get(name)) and entry.holder}
    return names | holders


def _box(id: str, name: str, entry: Entry | None, registry: Registry, change: Change | None) -> Box:
    """Return the box of an object, such as `+ Docs (site)`.

    `id` names the box in the graph, and `name` is the address. `entry` is None for an object that the plan
    deletes, and `change` is None for an object that it does not change.
    """
    if entry is not None:
        kind = registry.with_all_kinds[entry.kind]
        title, noun = entry.fields.get(kind.title_field), kind.noun
    else:
        assert change is not None
        title, noun = change.label, kind_noun(change.kind)
    name_text = title if isinstance(title, str) and title else plain_segment(Address.parse(name).last_segment)
    sign = f"{SIGNS[change.action]} " if change is not None else ""
    return Box(id, visible(f"{sign}{name_text} ({noun})"), change.action if change is not None else "")


def as_mermaid(graph: Graph) -> str:
    """Return a graph as a Mermaid flowchart.

    All characters except plain letters, digits and a few others become numeric entities. So does the first
    character unless it is a letter: Mermaid reads labels as Markdown, and would make a list of "- Old" and
    an emphasis of "_new_".
    """
    lines = ["flowchart LR"]
    lines += [f'  {box.id}["{_with_entities(box.text)}"]' for box in graph.boxes]
    for arrow in graph.arrows:
        line = f' -. "{_with_entities(arrow.field)}" .-> ' if arrow.field else " --- "
        lines.append(f"  {arrow.start}{line}{arrow.end}")
    for action, colour in _ACTION_COLORS.items():
        ids = [box.id for box in graph.boxes if box.action == action]
        if ids:
            lines += [f"  classDef {action} fill:{colour},color:#111", f"  class {','.join(ids)} {action}"]
    return "\n".join(lines)


def _with_entities(text: str) -> str:
    """Return a text for a Mermaid label, with numeric entities in place of special characters."""
    return "".join(
        character
        if (character.isalnum() or character in _UNESCAPED) and (position or character.isalpha())
        else f"#{ord(character)};"
        for position, character in enumerate(text)
    )


def as_dot(graph: Graph) -> str:
    """Return a graph in the DOT language for Graphviz, which reads HTML entities in a label."""
    lines = ["digraph dpsync {", "  rankdir=LR;", "  node [shape=box, style=filled, fillcolor=white];"]
    for box in graph.boxes:
        colour = f', fillcolor="{_ACTION_COLORS[box.action]}"' if box.action else ""
        lines.append(f"  {box.id} [label={_quoted(box.text)}{colour}];")
    for arrow in graph.arrows:
        style = f"style=dashed, label={_quoted(arrow.field)}" if arrow.field else "dir=none"
        lines.append(f"  {arrow.start} -> {arrow.end} [{style}];")
    return "\n".join([*lines, "}"])


def _quoted(text: str) -> str:
    """Return a text as a quoted string of the DOT language."""
    escaped = text.replace("&", "&amp;").replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


GRAPH_WRITERS: Final[dict[str, Callable[[Graph], str]]] = {"mermaid": as_mermaid, "dot": as_dot}
