"""Write docs/kind-internals.md: how dpsync reads, writes and compares each field of each kind.

    python -m tools.kind_internals > docs/kind-internals.md

The page is for contributors. The pages for users are docs/kinds/ (tools/kinds_page.py).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dpsync.importing.write_yaml import on_one_line
from dpsync.kinds.field_descriptions import kind_page_file_name
from dpsync.kinds.kind import (
    ANY,
    Call,
    Field,
    GitSync,
    Kind,
    Lifecycle,
    ListOrder,
    ManualStep,
    PlatformWork,
)
from dpsync.kinds.profiles import PROFILES
from dpsync.kinds.registry import Registry, build_registry
from dpsync.kinds.types import Json, List, Object, OneOf, Table, Text
from dpsync.kinds.types.texts import Certificate, Markdown
from dpsync.render.value_words import heading, join_words, value_sentences

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
    parts = [
        _HEAD,
        *(_kind(registry, kind) for kind in sorted(registry.in_dependency_order, key=heading)),
        _TAIL,
    ]
    for of, name in _DECLARED.items():
        rows = [f"| `{word}` | {WORDS[of][word]} |" for word in words_of(of)]
        parts.append("\n".join([f"| word of a {name} | meaning |", "|---|---|", *rows]))
    return "\n\n".join(part.strip("\n") for part in parts) + "\n"


def _kind(registry: Registry, kind: Kind) -> str:
    facts = [
        f"- Name in code: `{kind.name}`. Page: [{kind.noun}](kinds/{kind_page_file_name(kind.noun)}).",
        f"- Create: {_creation(kind)}.",
        f"- Update: {_call(kind.update) if kind.update else 'never'}.",
        f"- Delete: {_call(kind.delete) if kind.delete else 'never'}.",
        *(f"- {sentence}" for sentence in _rules(registry, kind)),
        *(f"- {sentence}" for sentence in _profiles(registry, kind)),
    ]
    rows = [_row(kind, field) for field in kind.fields if not field.is_parent_reference]
    head = ["| field | written | null | read | unset | compared |", "|---|---|---|---|---|---|"]
    return "\n\n".join([f"## {heading(kind)}", "\n".join(facts), "\n".join([*head, *rows])])


def _creation(kind: Kind) -> str:
    match kind.create:
        case Call():
            return _call(kind.create) + (", with the first child" if kind.create.first_child_id_path else "")
        case ManualStep():
            return "by a person"
    return "with the parent"


def _rules(registry: Registry, kind: Kind) -> Iterator[str]:
    if kind.update and kind.update.sends_every_field:
        yield "An update sends every field. For undeclared fields, an update sends the live value again."
    elif kind.update and kind.update.replaces_object:
        yield "An update replaces the object. For undeclared fields, an update sends the live value again."
    for word, call in kind.platform_work.user_actions.items():
        yield f'`--confirm "{word} ADDRESS"` sends {_call(call)}.'
    if watched := [f"`{field.name}`" for field in kind.fields if field.can_widen_access]:
        yield f"`dpsync import` always writes {join_words(watched)}, so that `drift` reports changes."
    defaults = [
        item for item in kind.fields if item.can_widen_access and item.is_watchable and not item.required
    ]
    if defaults:
        names = join_words((f"`{field.name}`" for field in defaults), "or")
        yield f"If {names} has its default, `import` adds the field to `policy: watch` instead."
    for holder, order in registry.list_orders(kind.name).items():
        if order.move_order:
            yield (
                f"Their order in {registry[holder].noun_with_article} (`{order.name}`): "
                f"{_call(order.move_order.call)}."
            )
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
        phrases += _differences(registry, kind, supported, kind.profile_overrides.get(profile.name, {}))
        if phrases:
            yield f"{where}: {'; '.join(phrases)}."


def _differences(registry: Registry, kind: Kind, there: Kind, own: Mapping[str, Any]) -> Iterator[str]:
    if "read" in own:
        yield f"read at `{there.read.path}`"
    if "update" in own and there.update:
        yield f"an update sends only the declared fields, by {_call(there.update)}"
    if there.inherits_from_kind:
        yield (
            f"responses show the value of the {registry[there.inherits_from_kind].noun} where the "
            "object has none"
        )
    for before in kind.fields:
        after = there.field(before.name)
        path = f"{kind.name}.{before.name}"
        said = [one.rstrip(".") for one in value_sentences(registry, after.type, path)]
        if said != [one.rstrip(".") for one in value_sentences(registry, before.type, path)]:
            yield f"`{before.name}`: {', '.join(said)}"
        if after.required and not before.required:
            yield f"`{before.name}` is required"
        if after.null_effect != before.null_effect:
            yield f"`{before.name}`: null is {after.null_effect}"


def _row(kind: Kind, field: Field) -> str:
    cells = [
        f"`{field.name}`",
        _written(kind, field),
        _null(kind, field),
        _read(field),
        "" if field.value_when_absent is None else f"`{on_one_line(field.value_when_absent)}`",
        _compared(kind, field),
    ]
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def _call(call: Call) -> str:
    return f"`{call.method} {call.path}`"


def _written(kind: Kind, field: Field) -> str:
    if field.own_call is not None:
        created = (
            ["create"] if field.written_in in ("create", "both") and isinstance(kind.create, Call) else []
        )
        return ", ".join([*created, *_own_calls(field.own_call)])
    if field.name == kind.key_field or not field.is_declarable:
        return "never"
    if isinstance(field, ListOrder):
        return "as the order of siblings"
    if not isinstance(kind.create, Call):
        return "update"
    return {"create": "create", "update": "update", "both": "create, update"}[field.written_in]


def _own_calls(via: Call | Mapping[Any, Call]) -> list[str]:
    if isinstance(via, Call):
        return [_call(via)]
    return [
        f"{'other values' if value == ANY else f'`{on_one_line(value)}`'} by {_call(call)}"
        for value, call in via.items()
    ]


def _null(kind: Kind, field: Field) -> str:
    if field.name == kind.key_field or not field.is_declarable:
        return ""
    return {
        "refused": "refused",
        "clear": "sends null",
        "empty": "sends an empty string",
        "by hand": "expects no value; no request clears the field",
    }[field.null_effect]


def _read(field: Field) -> str:
    if isinstance(field, ListOrder):
        return "from another list" if field.live_order_read else "from its own list"
    match field.response_path:
        case None:
            return "never"
        case str(path):
            return "" if path == field.name else f"`{path}`"
        case parts:
            return ", ".join(f"`{name}` at `{path}`" for name, path in parts.items())


def _compared(kind: Kind, field: Field) -> str:
    if isinstance(field, ListOrder):
        return "as the order of siblings"
    if field.response_path is None:
        return "with the value in the base commit"
    if not field.is_declarable and field.name != kind.key_field:
        return ""
    match field.type:
        case List(is_set=as_set):
            return "as a set" if as_set else "in order"
        case Object() | OneOf():
            return "only the written keys"
        case Json(is_partial=partial):
            return "as JSON, only the written keys" if partial else "as JSON"
        case Table():
            return "as a whole"
        case Certificate():
            return "ignoring header, footer and line breaks"
        case Markdown():
            return "as formatted text, ignoring Markdown style"
        case Text(format="email") | Text(is_case_insensitive=True):
            return "ignoring case"
    return "exactly"


# The words of declarations.

_DECLARED: Mapping[type, str] = {
    Kind: "kind", Lifecycle: "lifecycle", PlatformWork: "platform", GitSync: "synced", Field: "field",
    ListOrder: "list order", Call: "call",
}  # fmt: skip

WORDS: dict[type, dict[str, str]] = {
    Kind: {
        "name": "name of the kind in code and in JSON",
        "parent": "parent kind; of several parents, the first one that fits; none for the organization",
        "key": "YAML key that contains the entries, below the parent",
        "shape": "`Entries` (a mapping), `Single` (one per parent) or `Node` (of an ordered tree)",
        "url_path": "URL of one object",
        "read": "where objects are read: `Pages` (a list), `One` (the URL), `Tree` or `Lists` (all nodes)",
        "fields": "fields that an entry can have",
        "label": "noun for users, if the noun is not the name",
        "list_noun": "noun in the lists of plans and drift, if it is not the usual noun",
        "delete_noun": "noun in the number of deletes, if it is not the noun of lists",
        "delete_effect": "what a delete means for people, as the plan prints it",
        "copy_url_in": "where a person copies the secret URL of a new object, as a report prints it",
        "id_path": "path of the id in a response; a text with such paths in braces if the URL needs several",
        "is_part_of_output": "true: the kind is a part of the output of its parent and has the id "
        "of the output",
        "has_unique_id": "true: the id is unique everywhere; false: the id is unique below each parent",
        "title_field": "field by which people know an object without an entry",
        "referenced_title_path": "path in a response of the title of the object to which the title "
        "field refers",
        "url": "path of the public URL in a response, and the fields that form the URL",
        "visible_when": "field values with which readers see the object and its contents",
        "redirects": "field with the path that redirects, and the entry that makes such a redirect",
        "changed_at_path": "path in a response of the time of the last change",
        "natural_keys": "natural keys in the order of use: a field, a part of a field, or several fields",
        "tie_breakers": "fields that choose between several objects with the same natural key",
        "sole_key": "field that identifies an object if no natural key does and the value is unique",
        "search_list": "list in which a kind without a parent is looked up",
        "create": "creating request, or `ByHand`: the step that a person must take",
        "update": "updating request",
        "delete": "deleting request; without one, dpsync never deletes the object",
        "order": "request that orders siblings",
        "shorthand_field": "field whose value can replace the whole entry",
        "has_content": "true: deleting an object loses work, such as pages, members, children or sign-in",
        "can_be_empty": "true: an object without children and without references holds nothing",
        "steps_after_kinds": "kinds below the same parent whose steps come first",
        "guard": "field value that at least one object must keep",
        "lifecycle": "restoring, transferring, adding and deleting; see the table below",
        "platform_work": "work of the platform on an object; see the table below",
        "creation_widens_access": "true: one more object opens access",
        "opens_parent": "true: the object opens access to its parent",
        "deletion_widens_access": "true: deleting an object opens access",
        "page_tree_path": "where the pages of an object are read, to count them",
        "foreign_items": "values in a list by which an item belongs to another kind",
        "owner_list": "list of the objects that show this object",
        "inherits_from_kind": "kind whose values a response shows where the object has none; import "
        "leaves these out",
        "profile_overrides": "different words on an API version; those of fields are at the fields",
        "git_sync": "Git Sync of the platform with a repository; see the table below",
    },
    GitSync: {
        "response_path": "path in a response of the object that describes the sync",
        "repository": "in that object: path of the repository's name",
        "provider": "in that object: path of the service that has the repository",
        "status": "in that object: path of the status of the connection",
        "synced_with_owner_member": "in that object: path that is set if the object is synced with "
        "the object that shows it",
        "installation": "in that object: path of the id of the platform's installation",
        "fields": "fields that the repository decides",
        "fields_synced_with_owner": "fields that the repository also decides if the object is "
        "synced together",
        "includes_tree": "true: the repository decides every node of the object's tree",
        "is_rechecked_before_write": "true: the object is read again before a write to its tree",
    },
    Lifecycle: {
        "restore": "request that restores a deleted object, and the sign in a response that it still works",
        "transfer": "request that moves the object with its contents to another parent",
        "create_with_id": "request that creates an object under the id of its pin, and the field "
        "that asks for it",
        "on_delete": "fate of the contents: `gone` (deleted too) or `lifted` (moved out)",
    },
    PlatformWork: {
        "outputs": "objects of another kind that the platform creates for the object",
        "busy": "field, and its values while the platform works on the object",
        "trouble": "field by which the platform reports a problem, and the values without a problem",
        "processed_field": "field whose value the platform processes after the response",
        "user_actions": "actions that a user can ask for, each with its request",
    },
    Field: {
        "name": "name in YAML and in requests, unless another word says otherwise",
        "type": "type of the values; see `dpsync/kinds/types/`",
        "written_in": "requests that send the field: `create`, `update`, `both` or `neither`",
        "read_path": "path in a response, or the path of each part; none: responses never contain the field",
        "separate_read_paths": "parts with a request of their own, sent only for entries that "
        "declare the part",
        "write_name": "name in a request",
        "create_name": "name in the creating request, if it is a third name",
        "own_call": "own request that sets the field, or one for each value",
        "fallback_call": "own request for servers whose updating request does not accept the field",
        "null_effect": "effect of null: `refused`, `clear` (sends null), `empty` (sends an empty "
        "text) or `by hand`",
        "value_when_absent": "value that a response without the field stands for",
        "is_parent_reference": "true: the position of the node in the tree sets the field",
        "exclusive_within": "kind in which only one object can have the value (`parent`: only one sibling)",
        "mutually_exclusive_with": "other field that loses its value if this field gets one",
        "unique_within": "kind in which no two objects can have the same value (`parent`: no two siblings)",
        "written_after": "fields that are written before this field",
        "exposure": "values from least to most exposed, or a restriction; more exposure is written last",
        "can_widen_access": "true: the field can open access, so import always writes the field",
        "widens_when": "changes that open access: a later one of these values, `Lifted`, `changed`, `set`, "
        "`added`, `linked` (to a URL) or a new one of `hosts`",
        "access_meaning": "part of the field in access: `who` has which `role`, the `level` of all "
        "other members, "
        "the object that it is `inside`, the object that it `shows`",
        "required": "true: an entry must have the field",
        "allows_inline_words": "true: the short forms of the value can be directly in the entry",
        "in_responses": "presence in responses: `always`, `or null` or `sometimes`",
        "form_selector": "other field whose value chooses one of the `forms`",
        "forms": "by that value, the parts that a value must have and can have",
        "refers_to_kind": "kind whose id the text is; the object must exist first",
        "platform_default": "value of a new object if no request sets the field; import leaves it out",
        "profile_overrides": "different words on an API version: `{published: {null: refused}}`",
    },
    ListOrder: {
        "item_kind": "kind of the listed objects; a list order also has the words of a field",
        "place_field": "field of that kind that places an object in this object; null: in the parent",
        "live_order_read": "where the live order is read; none: from the list of all objects of that kind",
        "move_order": "request that moves an object in the list",
    },
    Call: {
        "method": "`Post`, `Put`, `Patch` or `Delete`",
        "path": "path of the request, below `/v1`",
        "body": "template: `$fields` stands for all fields, `$NAME` for a field or an id",
        "id_source": "path of the new id in the response, or the field that is the id",
        "first_child_id_path": "path in the response of the id of the first child that the request "
        "also creates",
        "replaces_object": "true: the request replaces the object, so undeclared values are sent again",
        "read_only": "parts of a response that a `whole` request does not accept",
        "sends_every_field": "true: every field is sent, with the declared or the live value",
        "success_object": "`object` of a proper response; another one means that the request did nothing",
        "repeat": "after a lost response: `safe` to send again, `look_up` the result, or `never` send again",
    },
}


def words_of(of: type) -> list[str]:
    """Return the fields of a declaration type, without those that every field has."""
    every = _fields(Field) if of is not Field and issubclass(of, Field) else ()
    return [word for word in _fields(of) if word not in every]


def _fields(of: type) -> tuple[str, ...]:
    """Return the field names of a struct, whose annotations may need imports for type checkers only."""
    found: tuple[str, ...] = of.__struct_fields__  # type: ignore[attr-defined]
    return found


if __name__ == "__main__":
    print(page(build_registry().with_all_kinds), end="")
