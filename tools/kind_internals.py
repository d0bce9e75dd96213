"""Write docs/kind-internals.md: how dpsync reads, writes and compares each field of each kind.

    python -m tools.kind_internals > docs/kind-internals.md

The page is for contributors. The pages for users are docs/kinds/ (tools/kinds_page.py).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dpsync.importing.yaml_text.emit import on_one_line
from dpsync.kinds.kind import (
    ANY,
    ByHand,
    Call,
    Field,
    Kind,
    Lifecycle,
    ListOrder,
    PlatformWork,
    Synced,
)
from dpsync.kinds.meanings import page_name
from dpsync.kinds.profiles import PROFILES
from dpsync.kinds.registry import Registry, load
from dpsync.kinds.types import Json, Many, Object, OneOf, Table, Text
from dpsync.kinds.types.texts import Certificate, Markdown
from dpsync.render.words.fields import listed, value_sentences
from dpsync.render.words.kinds import heading

_HEAD = """\
# Kind internals

This page is for contributors. It lists how dpsync reads, writes and compares each field of each object type
(kind). The pages about [object types](kinds/index.md) describe the fields for users. The page is generated
from the declarations in `dpsync/kinds/` by `python -m tools.kind_internals`.

How to read the tables:

- **written**: the requests that send the field. *create*: the creating request. *update*: the updating
  request. A request that sends only this field is shown.
- **null**: the effect of `null` in the file.
- **read**: the path of the value in a response, if the path is not the name of the field.
- **unset**: the value that a response without the field stands for.
- **compared**: how dpsync compares the value in the file with the live value.

In request paths, `{self}` is the URL of the object and `{parent}` is the URL of its parent, both below `/v1`.
"""
_TAIL = """\
## The words of a declaration

A kind is one module in `dpsync/kinds/declarations/` with a `Kind`. The file format, its schema, reading,
matching, planning and the pages about kinds follow from the declaration. The tables below explain its words.
"""


def page(registry: Registry) -> str:
    """Return the whole page as Markdown; `registry` has every kind."""
    parts = [_HEAD, *(_kind(registry, kind) for kind in sorted(registry.ordered, key=heading)), _TAIL]
    for of, name in _DECLARED.items():
        rows = [f"| `{word}` | {WORDS[of][word]} |" for word in words_of(of)]
        parts.append("\n".join([f"| word of a {name} | meaning |", "|---|---|", *rows]))
    return "\n\n".join(part.strip("\n") for part in parts) + "\n"


def _kind(registry: Registry, kind: Kind) -> str:
    facts = [
        f"- Name in code: `{kind.name}`. Page: [{kind.noun}](kinds/{page_name(kind.noun)}).",
        f"- Create: {_creation(kind)}.",
        f"- Update: {_call(kind.update) if kind.update else 'never'}.",
        f"- Delete: {_call(kind.delete) if kind.delete else 'never'}.",
        *(f"- {sentence}" for sentence in _rules(registry, kind)),
        *(f"- {sentence}" for sentence in _profiles(registry, kind)),
    ]
    rows = [_row(kind, field) for field in kind.fields if not field.nest]
    head = ["| field | written | null | read | unset | compared |", "|---|---|---|---|---|---|"]
    return "\n\n".join([f"## {heading(kind)}", "\n".join(facts), "\n".join([*head, *rows])])


def _creation(kind: Kind) -> str:
    match kind.create:
        case Call():
            return _call(kind.create) + (", with the first child" if kind.create.also_creates else "")
        case ByHand():
            return "by a person"
    return "with the parent"


def _rules(registry: Registry, kind: Kind) -> Iterator[str]:
    if kind.update and kind.update.complete:
        yield "An update sends every field. For undeclared fields, an update sends the live value again."
    elif kind.update and kind.update.whole:
        yield "An update replaces the object. For undeclared fields, an update sends the live value again."
    for word, call in kind.platform.acts.items():
        yield f'`--confirm "{word} ADDRESS"` sends {_call(call)}.'
    if watched := [f"`{field.name}`" for field in kind.fields if field.security]:
        yield f"`dpsync import` always writes {listed(watched)}, so that `drift` reports changes."
    defaults = [item for item in kind.fields if item.security and item.watchable and not item.required]
    if defaults:
        names = listed((f"`{field.name}`" for field in defaults), "or")
        yield f"If {names} has its default, `import` adds the field to `policy: watch` instead."
    for holder, order in registry.list_orders(kind.name).items():
        if order.order:
            yield f"Their order in {registry[holder].one} (`{order.name}`): {_call(order.order.call)}."
    if kind.order:
        yield f"The order of siblings: {_call(kind.order.call)}."


def _profiles(registry: Registry, kind: Kind) -> Iterator[str]:
    """Yield how each API version (profile) differs."""
    for profile in PROFILES.values():
        there = Registry(registry.declared.values(), profile)
        where = f"API version `{profile.name}`"
        if kind.name not in there:
            yield f"{where}: not supported."
            continue
        supported = there[kind.name]
        phrases = [f"no request for {word}" for word in sorted(supported.unsupported)]
        phrases += [
            f"`{field.name}`: some values cannot be written"
            for field in kind.fields
            if field.name in supported.unsupported_fields
        ]
        phrases += _differences(registry, kind, supported, kind.on_profiles.get(profile.name, {}))
        if phrases:
            yield f"{where}: {'; '.join(phrases)}."


def _differences(registry: Registry, kind: Kind, there: Kind, own: Mapping[str, Any]) -> Iterator[str]:
    if "read" in own:
        yield f"read at `{there.read.path}`"
    if "update" in own and there.update:
        yield f"an update sends only the declared fields, by {_call(there.update)}"
    if there.inherits:
        yield f"responses show the value of the {registry[there.inherits].noun} where the object has none"
    for before in kind.fields:
        after = there.field(before.name)
        path = f"{kind.name}.{before.name}"
        said = [one.rstrip(".") for one in value_sentences(registry, after.type, path)]
        if said != [one.rstrip(".") for one in value_sentences(registry, before.type, path)]:
            yield f"`{before.name}`: {', '.join(said)}"
        if after.required and not before.required:
            yield f"`{before.name}` is required"
        if after.null != before.null:
            yield f"`{before.name}`: null is {after.null}"


def _row(kind: Kind, field: Field) -> str:
    cells = [
        f"`{field.name}`",
        _written(kind, field),
        _null(kind, field),
        _read(field),
        "" if field.absent is None else f"`{on_one_line(field.absent)}`",
        _compared(kind, field),
    ]
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def _call(call: Call) -> str:
    return f"`{call.method} {call.path}`"


def _written(kind: Kind, field: Field) -> str:
    if field.via is not None:
        created = ["create"] if field.on in ("create", "both") and isinstance(kind.create, Call) else []
        return ", ".join([*created, *_own_calls(field.via)])
    if field.name == kind.natural or not field.declarable:
        return "never"
    if isinstance(field, ListOrder):
        return "as the order of siblings"
    if not isinstance(kind.create, Call):
        return "update"
    return {"create": "create", "update": "update", "both": "create, update"}[field.on]


def _own_calls(via: Call | Mapping[Any, Call]) -> list[str]:
    if isinstance(via, Call):
        return [_call(via)]
    return [
        f"{'other values' if value == ANY else f'`{on_one_line(value)}`'} by {_call(call)}"
        for value, call in via.items()
    ]


def _null(kind: Kind, field: Field) -> str:
    if field.name == kind.natural or not field.declarable:
        return ""
    return {
        "refused": "refused",
        "clear": "sends null",
        "empty": "sends an empty string",
        "by hand": "expects no value; no request clears the field",
    }[field.null]


def _read(field: Field) -> str:
    if isinstance(field, ListOrder):
        return "from another list" if field.present else "from its own list"
    match field.source:
        case None:
            return "never"
        case str(path):
            return "" if path == field.name else f"`{path}`"
        case parts:
            return ", ".join(f"`{name}` at `{path}`" for name, path in parts.items())


def _compared(kind: Kind, field: Field) -> str:
    if isinstance(field, ListOrder):
        return "as the order of siblings"
    if field.source is None:
        return "with the value in the base commit"
    if not field.declarable and field.name != kind.natural:
        return ""
    match field.type:
        case Many(as_set=as_set):
            return "as a set" if as_set else "in order"
        case Object() | OneOf():
            return "only the written keys"
        case Json(partial=partial):
            return "as JSON, only the written keys" if partial else "as JSON"
        case Table():
            return "as a whole"
        case Certificate():
            return "ignoring header, footer and line breaks"
        case Markdown():
            return "as formatted text, ignoring Markdown style"
        case Text(form="email") | Text(caseless=True):
            return "ignoring case"
    return "exactly"


# The words of declarations.

_DECLARED: Mapping[type, str] = {
    Kind: "kind", Lifecycle: "lifecycle", PlatformWork: "platform", Synced: "synced", Field: "field",
    ListOrder: "list order", Call: "call",
}  # fmt: skip

WORDS: dict[type, dict[str, str]] = {
    Kind: {
        "name": "its name in code and plans",
        "parent": "the kind it belongs to; several, the first one that fits; none for the root",
        "key": "the YAML key below the parent that holds its entries",
        "shape": "`Entries` (a mapping), `Single` (one per parent) or `Node` (of an ordered tree)",
        "at": "its own URL",
        "read": "where it is read: `Pages` (a list), `One` (its URL), `Tree` or `Lists` (all nodes)",
        "fields": "what is managed",
        "label": "what people call it, where that is not the name",
        "list_noun": "the noun in the lists of plans and drift, if it is not the usual one",
        "delete_noun": "the noun by which deletes are counted, if it is not the one of the lists",
        "id": "where an answer has its id; a text with such names in braces where its URL needs several",
        "of_output": "whether it is a part of what its parent puts out: its id is that of the output then",
        "own_id": "whether the id names one thing everywhere, or one below each parent",
        "title": "the field that people know an undeclared one by",
        "title_at": "path in an API answer to the title of the object to which the title field refers",
        "url": "where people see it: in an answer, and what it is made of",
        "visible_when": "the values of fields with which people see it, and what is in it",
        "redirects": "the field with the path from which it leads people elsewhere, and the entry that does",
        "changed": "where an answer says when it was last changed",
        "identity": "natural keys in the order in which they are tried: a field, a member of one, several",
        "tie_breakers": "fields that break a tie between several with one key; they never make a key",
        "sole_key": "a field that identifies one when no natural key does, where nothing else could be meant",
        "find": "where it is looked up when it has no parent",
        "create": "the creating request, or `ByHand`: what a person must do",
        "update": "the changing request",
        "delete": "the deleting request; without one it is never deleted",
        "order": "the request that orders siblings",
        "shorthand": "the field that an entry may be shortened to",
        "content": "something hangs on one that a new one would not have: pages, members, children, sign-in",
        "can_be_empty": "nothing hangs on one without children and without anything that refers to it",
        "after": "kinds of the same place whose steps come first",
        "guard": "a value that somebody must always hold",
        "lifecycle": "what happens to one between being made and being deleted; see below",
        "platform": "what the platform does with one; see below",
        "security": "one more of them makes something more visible or more powerful",
        "lets_in": "what shows it, shows what it belongs to: it lets people in there",
        "keeps_out": "one fewer of them does: it kept people out",
        "pages": "where the pages that one holds are read, to say how many there are",
        "others": "by member the values with which what its list has is something else",
        "shown_in": "the list of the things that show it",
        "inherits": "the kind whose values answers have where it has none; import leaves those out",
        "on_profiles": "by profile the words that are others there; those of fields stand at these",
        "synced": "what the platform itself syncs with a repository; see below",
    },
    Synced: {
        "at": "where an answer has an object while one is synced",
        "repository": "in that object: the name of the repository",
        "provider": "in that object: which service has the repository",
        "status": "in that object: how it is connected",
        "together": "in that object: what is there where one is synced together with what shows it",
        "installation": "in that object: the id of the platform's installation",
        "fields": "the fields that the repository decides",
        "inherited": "those that it decides, too, where one is synced together with what shows it",
        "tree": "whether it decides every node of the tree that one holds",
        "asked_again": "whether it is read again before a node of the tree is written",
    },
    Lifecycle: {
        "restore": "the request that brings a deleted one back, and what an answer has as long as that works",
        "transfer": "the request that gives it, with what is in it, to another of what it belongs to",
        "add": "the request that makes one under the id of its pin, and the field that asks for it",
        "on_delete": "what becomes of what is placed in it: `gone` with it, or `lifted` out",
    },
    PlatformWork: {
        "outputs": "things of another kind that the platform makes for it",
        "busy": "a field, and its values while the platform is at work on it",
        "trouble": "a field by which the platform says that something is wrong, and the values that are fine",
        "processed": "the field whose value the platform processes after it has answered",
        "acts": "what one can be told to do, each with its request; only done when asked for",
    },
    Field: {
        "name": "its name in YAML, and on the wire unless said otherwise",
        "type": "what it may hold; see `dpsync/kinds/types/`",
        "on": "which request takes it: `create`, `update`, `both`, `neither`",
        "read": "where an answer has it, or each of its parts; nothing: it cannot be read",
        "own_read": "parts of it that have a request of their own, sent for the entries that declare them",
        "write": "its name in a request",
        "create_as": "its name in the creating request, where that is yet another",
        "via": "a request of its own that sets it, or one for each value",
        "otherwise": "its own request where the updating one of a server does not take it",
        "null": "clearing is `refused`, sends null (`clear`) or an empty text (`empty`), or is `by hand`",
        "absent": "what an answer that lacks it means",
        "nest": "it is set by where the node stands in the tree",
        "one_per": "only one in this kind of thing (or beside its siblings) may have it",
        "instead_of": "another field: one of the two has a value, and giving it takes the other away",
        "unique": "no two in this kind of thing (or beside their siblings) may share a value",
        "after": "fields that are written before it",
        "exposure": "its values from least to most exposed, or what binds: more is written last, less first",
        "security": "by it something becomes more visible or more powerful: import writes it, default or not",
        "raised": "by which change: a later one of these, what is `Lifted`, `changed`, `set` (to a value), "
        "`added`, `linked` (to a URL) or another of `hosts`",
        "access": "what it says about who may do what: `who` has which `role`, the `level` of everybody "
        "else, what it is `inside`, what it `shows`",
        "required": "an entry must have it",
        "inline": "the words of its short forms may be in the entry itself",
        "in_answers": "whether each answer has it: `always`, `or null`, `sometimes`",
        "formed_by": "another field, by whose value this one has one of its `forms`, and by others none",
        "forms": "by that value which members a value must have, and may have",
        "means": "the kind of thing whose id this text is; without that thing this one cannot be",
        "platform_default": "what a new one has where nothing is said; import leaves it out",
        "on_profiles": "by profile the words that are others there: `{published: {null: refused}}`",
    },
    ListOrder: {
        "of": "the kind of what is in the list; a list order is a field, with a field's words",
        "by": "the field of that kind which places one in this kind of thing; null: in what it belongs to",
        "present": "where the present order is read; nothing: the list of all of that kind has it",
        "order": "the request that moves one among the others",
    },
    Call: {
        "method": "`Post`, `Put`, `Patch` or `Delete`; it says nothing about what the request does",
        "path": "where it is sent, below `/v1`",
        "body": "a template: `$fields` is everything that goes along, `$NAME` a field or an id",
        "gives": "where the answer has the new id, or the field that is the id",
        "also_creates": "where the answer has the id of the first child that is made along with it",
        "whole": "it replaces what there is: what is not declared is sent again as it is live",
        "read_only": "members of an answer that the body of a `whole` call does not take",
        "complete": "every field goes along, as it is declared, else as it is live",
        "answers": "the `object` of a proper answer; another one means that it did not happen",
        "repeat": "when its answer was lost: `safe` to send again, `look_up` what it makes, or `never` again",
    },
}


def words_of(of: type) -> list[str]:
    """What can be said in a declaration of this type, without what every field can say."""
    every = _fields(Field) if of is not Field and issubclass(of, Field) else ()
    return [word for word in _fields(of) if word not in every]


def _fields(of: type) -> tuple[str, ...]:
    """The fields of a struct by name: their annotations may name what is imported for type checkers alone."""
    found: tuple[str, ...] = of.__struct_fields__  # type: ignore[attr-defined]
    return found


if __name__ == "__main__":
    print(page(load().whole), end="")
