"""Describe fields in words: their values, their requests, and how two values are compared."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from dpsync.kinds.kind import ANY, Call, Field, Kind, ListOrder
from dpsync.kinds.registry import Registry
from dpsync.kinds.types import Enum, Flag, Json, Many, Object, OneOf, Own, Page, Reference, Table, Text, Type
from dpsync.kinds.types.texts import Certificate, LongText, Markdown


def call_words(call: Call) -> str:
    return f"`{call.method} {call.path}`"


def value_words(registry: Registry, kind: Kind, field: Field) -> str:
    words = type_words(registry, field.type)
    if field.name == kind.natural:
        words = f"the entry's key: {words}"
    if field.unique:
        scope = "among its siblings" if field.unique == "parent" else f"in its {registry[field.unique].noun}"
        words += f"; unique {scope}"
    if field.one_per:
        scope = "among its siblings" if field.one_per == "parent" else f"in a {registry[field.one_per].noun}"
        words += f"; one {scope}"
    if field.instead_of:
        words += f"; replaces `{field.instead_of}`"
    return words


def type_words(registry: Registry, type_: Type) -> str:
    match type_:
        case Page():
            return "id or path of a page"
        case Text():
            return _text(type_)
        case Flag():
            return "`true` or `false`"
        case Enum(words=words, nil=nil):
            return ", ".join(f"`{word}`" for word in (*words, *([nil] if nil else [])))
        case Own(what=what):
            return f"`own` (GitBook creates one if needed), or the `{{id: …}}` of {what}"
        case Reference(kinds=kinds):
            return f"reference: {' or '.join(registry[name].noun for name in kinds if name in registry)}"
        case Object(parts=parts, one=one):
            inside = ", ".join(f"`{name}`: {type_words(registry, part)}" for name, part in parts.items())
            return f"mapping of {'one of ' if one else ''}{inside}" if parts else "no value"
        case OneOf(tag=tag, forms=forms):
            return f"mapping with `{tag}:` {_forms(registry, forms)}"
        case Many(of=of, as_set=as_set):
            return f"{'set' if as_set else 'list'} of{_many(type_)}: {type_words(registry, of)}"
        case Json() if type_.is_shaped:
            inside = ", ".join(f"`{name}`" for name in _members(type_.shape))
            return f"{'list of mappings' if type_.shape['type'] == 'array' else 'mapping'} of {inside}"
        case Json(secrets=secrets):
            form = {"object": "mapping of any JSON", "array": "list of any JSON"}.get(
                type_.shape.get("type", "")
            )
            leaves = "; values may be secrets: `{env: NAME}`" if secrets else ""
            return f"{form or 'JSON'}, inline or as `{{file: PATH}}`{leaves}"
        case Table(keys=keys, values=values):
            return (
                f"mapping from {type_words(registry, keys)} to {type_words(registry, values)}{_many(type_)}"
            )
        case Markdown():
            return "Markdown, inline or as `{file: PATH}`"
        case LongText():
            what = "certificate as PEM" if isinstance(type_, Certificate) else "text"
            most = f", up to {type_.most} characters" if type_.most else ""
            hidden = " (no list returns it)" if type_.unreadable else ""
            return f"{what}{most}{hidden}, inline or as `{{file: PATH}}`"
    raise TypeError(f"no words for {type(type_).__name__}")


def _members(shape: Mapping[str, Any]) -> Iterable[str]:
    inside = shape["items"] if shape["type"] == "array" else shape
    return tuple(inside.get("properties", ()))


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
    return "; ".join(listed(words, "or") + _parts(registry, form) for form, words in known_forms)


def _parts(registry: Registry, form: Object) -> str:
    return f" with {type_words(registry, form).removeprefix('mapping of ')}" if form.parts else " alone"


def _text(type_: Text) -> str:
    if type_.secret:
        return "secret: `{env: NAME}`"
    what = {"email": "email address", "url": "URL (http or https)", None: "text"}[type_.form]
    if type_.meaning:
        what = f"text: {type_.meaning}"
    if type_.most is None:
        return what if type_.least <= 1 else f"{what}, at least {type_.least} characters"
    least = f"{type_.least} to " if type_.least else "up to "
    return f"{what}, {least}{type_.most} characters"


def written_words(kind: Kind, field: Field) -> str:
    if field.via is not None:
        created = ["created"] if field.on in ("create", "both") and isinstance(kind.create, Call) else []
        return ", ".join([*created, *_own_calls(field.via)])
    if field.name == kind.natural:
        return "never"
    if isinstance(field, ListOrder):
        return "as the order of siblings"
    if not field.declarable:
        return "never"
    if not isinstance(kind.create, Call):
        return "changed"
    return {"create": "created", "update": "changed", "both": "created, changed"}[field.on]


def _own_calls(via: Call | Mapping[Any, Call]) -> list[str]:
    if isinstance(via, Call):
        return [call_words(via)]
    return [
        f"{'other values' if value == ANY else f'`{yaml_words(value)}`'} by {call_words(call)}"
        for value, call in via.items()
    ]


def null_words(kind: Kind, field: Field) -> str:
    if field.name == kind.natural or not field.declarable:
        return ""
    return {
        "refused": "is refused",
        "clear": "clears it",
        "empty": "clears it (sends an empty string)",
        "by hand": "null expects no value; dpsync cannot clear it, so clear it in GitBook",
    }[field.null]


def read_words(field: Field) -> str:
    if isinstance(field, ListOrder):
        return "from another list" if field.present else "from its own list"
    match field.source:
        case None:
            return "never"
        case str(path):
            return "" if path == field.name else f"`{path}`"
        case parts:
            return ", ".join(f"`{name}` at `{path}`" for name, path in parts.items())


def comparison_words(kind: Kind, field: Field) -> str:
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
            return "only the keys that you write"
        case Json(partial=partial):
            return "as JSON, only the keys that you write" if partial else "as JSON"
        case Table():
            return "as a whole"
        case Certificate():
            return "ignoring header, footer and line breaks"
        case Markdown():
            return "as formatted text, ignoring Markdown style"
        case Text(form="email") | Text(caseless=True):
            return "ignoring case"
    return "exactly"


def yaml_words(value: object) -> str:
    match value:
        case bool():
            return str(value).lower()
        case dict():
            return "{ " + ", ".join(f"{name}: {yaml_words(part)}" for name, part in value.items()) + " }"
    return str(value)


def listed(words: Iterable[str], link: str = "and") -> str:
    *most, last = words
    return f"{', '.join(most)} {link} {last}" if most else last
