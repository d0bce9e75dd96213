"""The reference page of all kinds, docs/kinds.md, derived from their declarations.

    python -m tools.kinds_page > docs/kinds.md

Says nothing that a declaration does not say. What a declaration is made of is explained at its end.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import Any

from dpsync.kinds.kind import (
    ANY,
    ByHand,
    Call,
    Entries,
    Field,
    Kind,
    Lifecycle,
    ListOrder,
    Node,
    PlatformWork,
    Single,
)
from dpsync.kinds.profiles import PROFILES
from dpsync.kinds.registry import Registry, load
from dpsync.kinds.types import Enum, Flag, Json, Many, Object, OneOf, Reference, Table, Text, Type
from dpsync.kinds.types.texts import Certificate, LongText, Markdown
from dpsync.model.texts.words import plural

_HEAD = """\
# Kinds

A kind is a thing that dpsync manages. This page lists all of them, with every field. It is generated from
their declarations in `dpsync/kinds/` by `python -m tools.kinds_page`.

How to read the tables:

- **Value**: what may be written. A reference is a local key of the configuration, or `{id: …}` for
  something that is not managed here. A field in bold is required.
- **Written**: by which requests. *created*: it goes along when the thing is created, and cannot be changed
  later. *changed*: it is set by an update, also right after the creation. A call of its own is named.
- **Null**: what `null` does. *refused*: the field cannot be cleared. Every field that is absent is left
  alone.
- **Read**: where an answer has it, when that is not the field's own name.
- **Unset**: what an answer that lacks the field means.
- **Compared**: how the file and the platform are held against each other.

`id:` pins an entry to a live thing; every kind takes it but those that are one per parent. In paths
`{self}` is the thing's own URL, `{parent}` that of what it belongs to, all below `/v1`.
"""

_TAIL = """\
## The words of a declaration

For those who declare a kind. A kind is one file in `dpsync/kinds/` that holds a `Kind`; everything else
follows from it: the configuration, its schema, reading, matching, planning and this page.
"""


def kinds_reference(registry: Registry, premises: Mapping[str, str] | None = None) -> str:
    """The whole page as Markdown. `premises` says in a sentence or two what each kind is, by its name."""
    kinds = _from_the_top(registry, registry.root)
    contents = "\n".join(f"- [{_title(kind)}](#{_anchor(kind)})" for kind in kinds)
    parts = [_HEAD, contents, *(_kind(registry, kind, (premises or {}).get(kind.name, "")) for kind in kinds)]
    parts += [_TAIL, _words(Kind, "kind"), _words(Lifecycle, "lifecycle")]
    parts += [_words(PlatformWork, "platform"), _words(Field, "field")]
    parts += [_words(ListOrder, "list order"), _words(Call, "call")]
    return "\n\n".join(part.strip("\n") for part in parts) + "\n"


def premises(registry: Registry) -> dict[str, str]:
    """What the files of the kinds say at their top."""
    modules = {name: import_module(f"dpsync.kinds.declarations.{name}") for name in registry.kinds}
    return {name: re.sub(r"\s+", " ", module.__doc__ or "").strip() for name, module in modules.items()}


def _from_the_top(registry: Registry, kind: Kind) -> list[Kind]:
    """Each kind before what stands below it, as people meet them in the file."""
    found: list[Kind] = []
    waiting = [kind]
    while waiting:
        at = waiting.pop(0)
        if at not in found:
            found.append(at)
            waiting[0:0] = sorted(registry.children(at.name), key=lambda child: (child.key, child.name))
    return found


def _title(kind: Kind) -> str:
    return kind.noun[0].upper() + kind.noun[1:]


def _anchor(kind: Kind) -> str:
    return kind.noun.replace(" ", "-").lower()


def _kind(registry: Registry, kind: Kind, premise: str) -> str:
    facts = [
        f"- In the file: {_place(registry, kind)}.",
        f"- Address: {' or '.join(f'`{address}`' for address in _addresses(registry, kind))}.",
        f"- Recognised by: {_identity(registry, kind)}.",
        f"- Created: {_made(kind)}.",
        f"- Changed: {_call(kind.update) if kind.update else 'never'}.",
        f"- Deleted: {_deleted(kind)}.",
        *(f"- {sentence}" for sentence in _rules(registry, kind)),
        *(f"- {sentence}" for sentence in _profiles(registry, kind)),
    ]
    parts = [f"## {_title(kind)}", premise, "\n".join(facts), _table(registry, kind)]
    return "\n\n".join(part for part in parts if part)


def _profiles(registry: Registry, kind: Kind) -> Iterable[str]:
    """What servers with fewer operations lack."""
    verbs = {"create": "created", "update": "changed", "delete": "deleted", "order": "put in order"}
    for profile in PROFILES.values():
        there = Registry(registry.declared.values(), profile)
        where = f"With the [profile](plan.md#profiles) `{profile.name}`"
        if kind.name not in there:
            yield f"{where}: not managed."
            continue
        supported = there[kind.name]
        fewer = [item.name for item in kind.fields if item.name in supported.unsupported_fields]
        lacks = [verbs[word] for word in sorted(supported.unsupported)]
        phrases = [f"not {_listed(lacks, 'or')}"] if lacks else []
        phrases += (
            [f"not every value of {_listed((f'`{name}`' for name in fewer), 'and')} is written"]
            if fewer
            else []
        )
        if phrases:
            yield f"{where}: {'; '.join(phrases)}."


# Where it stands and how it is found.


def _place(registry: Registry, kind: Kind) -> str:
    parents = [registry[name] for name in kind.parents]
    match kind.shape:
        case Node(type=type_):
            roots = [parent.one for parent in parents if not isinstance(parent.shape, Node)]
            where = [f"at the root of the `{kind.key}` of {owner}" for owner in roots]
            holders = [other for other in registry.kinds.values() if kind.name in _holds(other)]
            where += [f"among the `children` of {holder.one}" for holder in holders]
            return f"a node of `type: {type_}`, {' or '.join(where)}; `key` is its local key"
        case Entries(natural=natural, default=default):
            at = f"of {_listed((parent.one for parent in parents), 'or')}" if parents else "at the top"
            key = f"its `{natural}`" if natural else "a local name"
            if default:
                key += f", and its `{default}` where that is not written"
            return f"entries of `{kind.key}:` {at}; the key of an entry is {key}{_short(kind)}"
    return f"`{kind.key}:` of {parents[0].one}, one each{_short(kind)}"


def _short(kind: Kind) -> str:
    if kind.shorthand is None:
        return ""
    if kind.only_short:
        return f"; the value is the `{kind.shorthand}` itself"
    return f"; `{{ {kind.shorthand}: … }}` may be shortened to its value"


def _holds(kind: Kind) -> tuple[str, ...]:
    return kind.shape.holds if isinstance(kind.shape, Node) else ()


def _addresses(registry: Registry, kind: Kind) -> list[str]:
    """One for each kind that it may belong to."""
    own = kind.name.upper()
    if kind.parent is None:
        return [own]
    found = []
    for parent in (registry[name] for name in kind.parents):
        inside = isinstance(kind.shape, Node) and isinstance(parent.shape, Node)
        for above in _addresses(registry, parent):
            place = above if inside else f"{above}/{kind.key.replace('.', '/')}"
            found.append(place if isinstance(kind.shape, Single) else f"{place}/{own}")
    return found


def _identity(registry: Registry, kind: Kind) -> str:
    if isinstance(kind.shape, Single):
        return f"its place: {registry[kind.parents[0]].one} has one"
    members = {str(key).partition(".")[0] for key in kind.identity if "." in str(key) and "$" not in str(key)}
    ways = ["`id:`", *(f"any member of `{name}`" for name in sorted(members))]
    for key in kind.identity if not members else ():
        names = (key,) if isinstance(key, str) else key
        ways.append(" with ".join(_key_name(name) for name in names))
    if kind.sole_key is not None:
        ways.append(f"`{kind.sole_key}` where a single unclaimed one has it")
    tie_breakers = _listed(f"`{name}`" for name in kind.tie_breakers) if kind.tie_breakers else ""
    return ", then ".join(ways) + (
        f"; of several, the one with the same {tie_breakers}" if tie_breakers else ""
    )


def _key_name(name: str) -> str:
    of_child = name.removeprefix("$child.")
    return f"`{name}`" if of_child == name else f"the `{of_child}` of its first child"


# What can be done with it.


def _call(call: Call) -> str:
    return f"`{call.method} {call.path}`"


def _made(kind: Kind) -> str:
    match kind.create:
        case Call():
            along = ", together with its first child" if kind.create.also_creates else ""
            return _call(kind.create) + along
        case ByHand() if kind.parent is None:
            return "never; it is found, or nothing is planned"
        case ByHand(todo=todo):
            return f"by a person only ({todo.format(key='them')}); until then the entry is blocked"
    return "along with what it belongs to"


def _deleted(kind: Kind) -> str:
    if kind.delete is None:
        return "never"
    only = ", and only when it is empty" if kind.lifecycle.on_delete == "lifted" else ""
    return f"{_call(kind.delete)}, where `prune` covers it{only}"


def _rules(registry: Registry, kind: Kind) -> Iterable[str]:
    if kind.update and kind.update.complete:
        yield "Changing sends every field: as it is declared, else as it is live."
    elif kind.update and kind.update.whole:
        yield "Changing replaces; what is not declared is sent again as it is live."
    for word, call in kind.platform.acts.items():
        yield f'`--confirm "{word} ADDRESS"` sends {_call(call)}.'
    if kind.platform.outputs:
        made = registry[kind.platform.outputs.kind].noun
        yield f"Its key also names the {made} that the platform makes for it."
    if watched := [f"`{field.name}`" for field in kind.fields if field.security]:
        yield f"`dpsync import` writes {_listed(watched)} whatever the value is."
        defaults = [f"`{field.name}`" for field in kind.fields if field.security and field.watchable]
        if defaults := [name for name in defaults if not kind.field(name.strip("`")).required]:
            said = f"Where {_listed(defaults)} is the platform's default"
            yield f"{said}, it writes no line and has `policy: watch` watch that."
    if kind.content:
        yield "It is content: not replaced to change a field, nor deleted without an answer that names it."
    if kind.mistakable:
        yield "Where one could be there already under another name, it is asked before one is made."
    if kind.guard:
        yield f"Somebody always stays `{kind.guard.value}`: a plan that leaves nobody is refused."
        if kind.guard.own:
            yield f"The token's own user never stops being `{kind.guard.value}`."
    for holder, listed in registry.list_orders(kind.name).items():
        if listed.order:
            where = f"in {registry[holder].one} is managed where it has `{listed.name}:`"
            yield f"Their order {where}, by {_call(listed.order.call)}."
    if kind.order:
        yield f"Siblings stand in the order of the file, by {_call(kind.order.call)}."
    if isinstance(kind.shape, Node) and kind.shape.holds:
        least = f", at least {kind.shape.least}" if kind.shape.least else ""
        nouns = " and ".join(plural(registry[name].noun) for name in kind.shape.holds)
        yield f"Its `children` are {nouns}{least}."


# Fields.


def _table(registry: Registry, kind: Kind) -> str:
    rows = [
        "| field | value | written | null | read | unset | compared |",
        "|---|---|---|---|---|---|---|",
        *(_row(registry, kind, field) for field in kind.fields if not field.nest),
    ]
    return "\n".join(rows)


def _row(registry: Registry, kind: Kind, field: Field) -> str:
    name = f"`{field.name}`"
    cells = [
        f"**{name}**" if field.required else name,
        _value(registry, kind, field),
        _written(kind, field),
        _null(kind, field),
        _read(field),
        "" if field.absent is None else f"`{_yaml(field.absent)}`",
        _compared(kind, field),
    ]
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def _value(registry: Registry, kind: Kind, field: Field) -> str:
    words = _type(registry, field.type)
    if field.name == kind.natural:
        words = f"the entry's key: {words}"
    if field.unique:
        scope = "among its siblings" if field.unique == "parent" else f"in its {registry[field.unique].noun}"
        words += f"; unique {scope}"
    if field.one_per:
        scope = "among its siblings" if field.one_per == "parent" else f"in a {registry[field.one_per].noun}"
        words += f"; one {scope}"
    return words


def _type(registry: Registry, type_: Type) -> str:
    match type_:
        case Text():
            return _text(type_)
        case Flag():
            return "`true` or `false`"
        case Enum(words=words, nil=nil):
            return ", ".join(f"`{word}`" for word in (*words, *([nil] if nil else [])))
        case Reference(kinds=kinds):
            return f"reference: {' or '.join(registry[name].noun for name in kinds if name in registry)}"
        case Object(parts=parts, one=one):
            inside = ", ".join(f"`{name}`: {_type(registry, part)}" for name, part in parts.items())
            return f"mapping of {'one of ' if one else ''}{inside}" if parts else "nothing more"
        case OneOf(tag=tag, forms=forms):
            return f"mapping with `{tag}:` {_forms(registry, forms)}"
        case Many(of=of, as_set=as_set):
            return f"{'set' if as_set else 'list'} of{_many(type_)}: {_type(registry, of)}"
        case Json(secrets=secrets):
            form = {"object": "mapping of any JSON", "array": "list of any JSON"}.get(
                type_.shape.get("type", "")
            )
            leaves = "; a leaf may be a secret, as `{env: NAME}`" if secrets else ""
            return f"{form or 'JSON'}, in place or as `{{file: PATH}}`{leaves}"
        case Table(keys=keys, values=values):
            return f"mapping from {_type(registry, keys)} to {_type(registry, values)}{_many(type_)}"
        case Markdown():
            return "Markdown, in place or as `{file: PATH}`"
        case LongText():
            what = "certificate as PEM" if isinstance(type_, Certificate) else "text"
            most = f", up to {type_.most} characters" if type_.most else ""
            hidden = " (in no list)" if type_.unreadable else ""
            return f"{what}{most}{hidden}, in place or as `{{file: PATH}}`"
    raise TypeError(f"no words for {type(type_).__name__}")


def _many(type_: Many | Table) -> str:
    return f" up to {type_.most}" if type_.most is not None else ""


def _forms(registry: Registry, forms: Mapping[str, Object]) -> str:
    """The words of a tag, those that go with the same parts together."""
    known_forms: list[tuple[Object, list[str]]] = []
    for word, form in forms.items():
        known = next((words for other, words in known_forms if other == form), None)
        if known is None:
            known_forms.append((form, [f"`{word}`"]))
        else:
            known.append(f"`{word}`")
    return "; ".join(_listed(words, "or") + _parts(registry, form) for form, words in known_forms)


def _parts(registry: Registry, form: Object) -> str:
    return f" with {_type(registry, form).removeprefix('mapping of ')}" if form.parts else " alone"


def _text(type_: Text) -> str:
    if type_.secret:
        return "secret, as `{env: NAME}`"
    what = {"email": "e-mail address", "url": "URL (http or https)", None: "text"}[type_.form]
    if type_.meaning:
        what = f"text: {type_.meaning}"
    if type_.most is None:
        return what if type_.least <= 1 else f"{what}, from {type_.least} characters"
    least = f"{type_.least} to " if type_.least else "up to "
    return f"{what}, {least}{type_.most} characters"


def _written(kind: Kind, field: Field) -> str:
    if field.via is not None:
        created = ["created"] if field.on in ("create", "both") and isinstance(kind.create, Call) else []
        return ", ".join([*created, *_own_calls(field.via)])
    if field.name == kind.natural:
        return "never"
    if isinstance(field, ListOrder):
        return "as the order"
    if not field.declarable:
        return "never"
    if not isinstance(kind.create, Call):
        return "changed"
    return {"create": "created", "update": "changed", "both": "created, changed"}[field.on]


def _own_calls(via: Call | Mapping[Any, Call]) -> list[str]:
    if isinstance(via, Call):
        return [_call(via)]
    return [
        f"{'others' if value == ANY else f'`{_yaml(value)}`'} by {_call(call)}" for value, call in via.items()
    ]


def _null(kind: Kind, field: Field) -> str:
    if field.name == kind.natural or not field.declarable:
        return ""
    return {
        "refused": "refused",
        "clear": "clears",
        "empty": "clears (sends an empty text)",
        "by hand": "means none; only a person can take one away",
    }[field.null]


def _read(field: Field) -> str:
    if isinstance(field, ListOrder):
        return "elsewhere" if field.present else "from their list"
    match field.source:
        case None:
            return "not at all"
        case str(path):
            return "" if path == field.name else f"`{path}`"
        case parts:
            return ", ".join(f"`{name}` at `{path}`" for name, path in parts.items())


def _compared(kind: Kind, field: Field) -> str:
    if isinstance(field, ListOrder):
        return "as the order"
    if field.source is None:
        return "with the git base"
    if not field.declarable and field.name != kind.natural:
        return ""
    match field.type:
        case Many(as_set=as_set):
            return "as a set" if as_set else "in order"
        case Object() | OneOf():
            return "by the parts that are written"
        case Json(partial=partial):
            return "as JSON, by the members that are written" if partial else "as JSON"
        case Table():
            return "as a whole"
        case Certificate():
            return "without its frame and line breaks"
        case Markdown():
            return "as Documents that say the same"
        case Text(form="email"):
            return "in any case of letters"
    return "as it is"


def _yaml(value: object) -> str:
    match value:
        case bool():
            return str(value).lower()
        case dict():
            return "{ " + ", ".join(f"{name}: {_yaml(part)}" for name, part in value.items()) + " }"
    return str(value)


def _listed(words: Iterable[str], link: str = "and") -> str:
    *most, last = words
    return f"{', '.join(most)} {link} {last}" if most else last


# The words themselves.

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
        "id": "where an answer has its id; a text with such names in braces where its URL needs several",
        "of_output": "whether it is a part of what its parent puts out: its id is that of the output then",
        "own_id": "whether the id names one thing everywhere, or one below each parent",
        "title": "the field that people know an undeclared one by",
        "url": "where people see it: in an answer, and what it is made of",
        "seen": "the values of fields with which people see it, and what is in it",
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
        "after": "kinds of the same place whose steps come first",
        "guard": "a value that somebody must always hold",
        "lifecycle": "what happens to one between being made and being deleted; see below",
        "platform": "what the platform does with one; see below",
        "security": "one more of them makes something more visible or more powerful",
        "lets_in": "what shows it, shows what it belongs to: it lets people in there",
        "keeps_out": "one fewer of them does: it kept people out",
        "pages": "where the pages that one holds are read, to say how many there are",
        "shown_in": "the list of the things that show it",
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
        "unique": "no two in this kind of thing (or beside their siblings) may share a value",
        "after": "fields that are written before it",
        "exposure": "its values from least to most exposed, or what binds: more is written last, less first",
        "security": "by it something becomes more visible or more powerful: import writes it, default or not",
        "raised": "by which change: a later one of these, what is `Lifted`, `changed`, `set` (to a value), "
        "`moved`, `added`, `linked` (to a URL) or another of `hosts`",
        "required": "an entry must have it",
        "in_answers": "whether each answer has it: `always`, `or null`, `sometimes`",
        "means": "the kind of thing whose id this text is; without that thing this one cannot be",
        "platform_default": "what a new one has where nothing is said; import leaves it out",
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


def _words(of: type, name: str) -> str:
    rows = [f"| `{word}` | {WORDS[of][word]} |" for word in words_of(of)]
    return "\n".join([f"| word of a {name} | meaning |", "|---|---|", *rows])


def page() -> str:
    """docs/kinds.md as it has to be."""
    registry = load()
    return kinds_reference(registry, premises(registry))


if __name__ == "__main__":
    print(page(), end="")
