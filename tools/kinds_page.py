"""The reference page of all kinds, docs/kinds.md, derived from their declarations.

    python -m tools.kinds_page > docs/kinds.md

Says nothing that a declaration does not say. What a declaration is made of is explained at its end.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from dpsync.kinds.examples import entry_example
from dpsync.kinds.kind import Call, Field, Kind, Lifecycle, ListOrder, PlatformWork, Synced
from dpsync.kinds.meanings import meaning
from dpsync.kinds.profiles import PROFILES
from dpsync.kinds.registry import Registry, load
from dpsync.render.words.examples import example_text
from dpsync.render.words.fields import (
    call_words,
    comparison_words,
    listed,
    null_words,
    read_words,
    value_words,
    written_words,
    yaml_words,
)
from dpsync.render.words.kinds import (
    address_words,
    creation_words,
    deletion_words,
    identity_words,
    place_words,
    premise,
    profile_words,
    rules_words,
)

_HEAD = """\
# Kinds

A kind is a type of object that dpsync manages. This page lists every kind with all of its fields. It is
generated from the declarations in `dpsync/kinds/` by `python -m tools.kinds_page`.

How to read the tables:

- **Meaning**: the purpose of the field. `dpsync explain KIND.FIELD` prints it with an example.
- **Value**: the values you may write. A reference is a key from your files, or `{id: …}` for an object that
  your files do not declare. Required fields are bold.
- **Written**: *created*: sent when the object is created, and fixed afterwards. *changed*: sent by updates. A
  request that sends only this field is shown.
- **Null**: the effect of `null`: whether it clears the field or is refused. Fields that you leave out are not
  managed.
- **Read**: the path of the value in a response, if it differs from the field's name.
- **Unset**: the meaning of a response without the field.
- **Compared**: how dpsync compares the value in the file with the live value.

`id:` pins an entry to an existing object. Kinds with exactly one object per parent do not need it. In request
paths, `{self}` is the object's own URL and `{parent}` its parent's URL, both below `/v1`.
"""

_NOT_RUN = "<!-- not run: one entry; tests/kinds/test_meanings.py loads it -->"

_TAIL = """\
## The words of a declaration

For contributors who declare a kind. A kind is one module in `dpsync/kinds/declarations/` with a `Kind`. The
configuration format, its schema, reading, matching, planning and this page follow from it.
"""


def kinds_reference(registry: Registry, premises: Mapping[str, str] | None = None) -> str:
    """The whole page as Markdown. `premises` says in a sentence or two what each kind is, by its name."""
    kinds = _from_the_top(registry, registry.root)
    contents = "\n".join(f"- [{_title(kind)}](#{_anchor(kind)})" for kind in kinds)
    parts = [_HEAD, contents, *(_kind(registry, kind, (premises or {}).get(kind.name, "")) for kind in kinds)]
    parts += [_TAIL, _words(Kind, "kind"), _words(Lifecycle, "lifecycle")]
    parts += [_words(PlatformWork, "platform"), _words(Synced, "synced")]
    parts += [_words(Field, "field")]
    parts += [_words(ListOrder, "list order"), _words(Call, "call")]
    return "\n\n".join(part.strip("\n") for part in parts) + "\n"


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
        f"- In the file: {place_words(registry, kind)}.",
        f"- Address: {' or '.join(f'`{address}`' for address in address_words(registry, kind))}.",
        f"- Matched by: {identity_words(registry, kind)}.",
        f"- Created: {creation_words(kind)}.",
        f"- Changed: {call_words(kind.update) if kind.update else 'never'}.",
        f"- Deleted: {deletion_words(kind)}.",
        *(f"- {sentence}" for sentence in rules_words(registry, kind)),
        *(f"- {sentence}" for sentence in _profiles(registry, kind)),
    ]
    example = f"{_NOT_RUN}\n```yaml\n{example_text(entry_example(registry, kind))}```"
    parts = [f"## {_title(kind)}", premise, "\n".join(facts), _table(registry, kind), example]
    return "\n\n".join(part for part in parts if part)


def _profiles(registry: Registry, kind: Kind) -> Iterable[str]:
    """What servers with fewer operations lack."""
    verbs = {"create": "created", "update": "changed", "delete": "deleted", "order": "put in order"}
    for profile in PROFILES.values():
        there = Registry(registry.declared.values(), profile)
        where = f"On the API [profile](plan.md#profiles) `{profile.name}`"
        if kind.name not in there:
            yield f"{where}: not supported."
            continue
        supported = there[kind.name]
        fewer = [item.name for item in kind.fields if item.name in supported.unsupported_fields]
        lacks = [verbs[word] for word in sorted(supported.unsupported)]
        phrases = [f"cannot be {listed(lacks, 'or')}"] if lacks else []
        phrases += (
            [f"some values of {listed((f'`{name}`' for name in fewer), 'and')} cannot be written"]
            if fewer
            else []
        )
        phrases += profile_words(registry, kind, profile.name)
        if phrases:
            yield f"{where}: {'; '.join(phrases)}."


# Fields.


def _table(registry: Registry, kind: Kind) -> str:
    rows = [
        "| field | meaning | value | written | null | read | unset | compared |",
        "|---|---|---|---|---|---|---|---|",
        *(_row(registry, kind, field) for field in kind.fields if not field.nest),
    ]
    return "\n".join(rows)


def _row(registry: Registry, kind: Kind, field: Field) -> str:
    name = f"`{field.name}`"
    cells = [
        f"**{name}**" if field.required else name,
        meaning(kind.name, field.name),
        value_words(registry, kind, field),
        written_words(kind, field),
        null_words(kind, field),
        read_words(field),
        "" if field.absent is None else f"`{yaml_words(field.absent)}`",
        comparison_words(kind, field),
    ]
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


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


def _words(of: type, name: str) -> str:
    rows = [f"| `{word}` | {WORDS[of][word]} |" for word in words_of(of)]
    return "\n".join([f"| word of a {name} | meaning |", "|---|---|", *rows])


def page() -> str:
    """docs/kinds.md as it has to be."""
    registry = load().whole
    return kinds_reference(registry, {kind.name: premise(kind) for kind in registry.ordered})


if __name__ == "__main__":
    print(page(), end="")
