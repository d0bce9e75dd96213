"""Describe fields in sentences for users: allowed values, and rules for writing the field."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dpsync.importing.write_yaml import on_one_line
from dpsync.kinds.kind import Field, Kind, ListOrder
from dpsync.kinds.meanings import meaning
from dpsync.kinds.registry import Registry
from dpsync.kinds.types import Enum, Flag, Json, Many, Object, OneOf, Own, Page, Reference, Table, Text, Type
from dpsync.kinds.types.texts import Certificate, LongText, Markdown
from dpsync.kinds.value_meanings import values_of
from dpsync.model.text import plural

_LISTED = 12
"""The largest number of values that are described one by one."""
_SHORT = 30
"""The largest number of characters of a default."""


def value_sentences(registry: Registry, type_: Type, path: str) -> list[str]:
    """Describe the values of a type; `path` is the path of the field, with the name of its kind."""
    match type_:
        case Page():
            return ["Write the id or the path of the page."]
        case Text():
            return list(_text(type_))
        case Enum(words=words, nil=nil):
            return choices(path, (*words, *([nil] if nil else [])))
        case Own(what=what):
            return [
                *choices(path, values_of(path)),
                f"`{{ id: … }}`: The id of {what} that already exists.",
            ]
        case Reference(kinds=kinds):
            nouns = [registry[name].one for name in kinds if name in registry]
            return [f"Write the key of {listed(nouns, 'or')}."]
        case Object(one=True, parts=parts):
            return [f"Write exactly one of the keys {listed((f'`{name}`' for name in parts), 'or')}."]
        case Many(of=of, most=most):
            items = f" {', '.join(f'`{word}`' for word in of.words)}." if isinstance(of, Enum) else ""
            return [f"{intro}{items}"] if (intro := _list(registry, of, most)) else []
        case Json():
            return _json(type_)
        case Table(keys=keys, values=values):
            names = list(_text(keys, " of each key")) if isinstance(keys, Text) else []
            return [*names, *_text(values, " of each value")] if isinstance(values, Text) else names
        case Markdown():
            return ["Write Markdown or `{ file: PATH }`."]
        case LongText(most=most):
            limit = [f"Length: up to {most} characters."] if most else []
            what = "the certificate" if isinstance(type_, Certificate) else "a text"
            return [f"Write {what} or `{{ file: PATH }}`.", *limit]
        case Flag() | Object() | OneOf():
            return []
    raise TypeError(f"no words for {type(type_).__name__}")


def choices(path: str, words: Iterable[str]) -> list[str]:
    """Return a sentence for each value of a choice; one sentence if there are very many values."""
    said, values = values_of(path), tuple(words)
    if len(values) <= _LISTED and all(value in said for value in values):
        return [f"`{value}`: {said[value]}" for value in values]
    return [f"Write one of {', '.join(f'`{value}`' for value in values)}."]


def _text(type_: Text, of: str = "") -> Iterator[str]:
    if type_.secret:
        yield "Write `{ env: NAME }`." if not of else "Write each value as `{ env: NAME }`."
    elif type_.form is None:
        if type_.meaning and not type_.meaning.startswith("the name of"):
            _, colon, form = type_.meaning.partition(": ")
            yield f"Format{of}: {form if colon else type_.meaning}."
        if type_.most is not None:
            least = f"{type_.least} to " if type_.least else "up to "
            yield f"Length{of}: {least if type_.least < type_.most else ''}{type_.most} characters."


def _list(registry: Registry, of: Type, most: int | None) -> str:
    limit = f" of up to {most}" if most is not None else ""
    match of:
        case Enum():
            return f"Write a list of{limit and f' up to {most} of'} these values:"
        case Reference(kinds=kinds):
            keys = listed((plural(registry[name].noun) for name in kinds), "or")
            return f"Write a list of{limit and f' up to {most}'} keys of {keys}."
        case Object() | OneOf():
            return f"Write a list{limit or ' of'} mappings."
    return f"Write a list{limit} items." if limit else ""


def _json(type_: Json) -> list[str]:
    shape = type_.shape
    items = shape.get("items", {}) if shape.get("type") == "array" else shape
    what = {"object": "a mapping", "array": "a list of mappings"}.get(shape.get("type", ""), "any value")
    if type_.is_shaped:
        return [f"Keys: {', '.join(f'`{name}`' for name in items.get('properties', ()))}."]
    secrets = ["To use a secret as a value, write `{ env: NAME }`."] if type_.secrets else []
    return [f"Write {what} or `{{ file: PATH }}`.", *secrets]


# Rules for writing a field.


def rule_sentences(registry: Registry, kind: Kind, field: Field) -> Iterator[str]:
    """Yield what a user must know to write a field, apart from its values."""
    if field.name == kind.natural:
        yield (
            "Use this key as the key of the entry."
            if isinstance(field.type, Reference)
            else "Write this value as the key of the entry."
        )
        return
    if not field.declarable:
        yield "GitBook sets this field. You cannot write this field."
        return
    if field.name == kind.default:
        yield "If the entry does not have this field, dpsync uses the key of the entry."
    elif field.required:
        yield "Required."
    if field.on == "create" and field.via is None:
        yield "You cannot change this field after the object is created."
    if field.unique:
        both = f"Two {plural(kind.noun)} {_within(registry, field.unique)}"
        yield f"{both} cannot have the same `{field.name}`."
    if field.one_per:
        both = f"Two {plural(kind.noun)} {_within(registry, field.one_per)}"
        yield f"{both} cannot both have `{field.name}: true`."
    if field.instead_of:
        yield f"An entry cannot have both `{field.name}` and `{field.instead_of}`."
    if not isinstance(field, ListOrder) and "`null`" not in meaning(kind.name, field.name):
        yield from _null(field)
    default = on_one_line(field.platform_default)
    if field.platform_default not in (None, {}, []) and not field.required and len(default) <= _SHORT:
        yield f"Default: `{default}`."


def _within(registry: Registry, place: str) -> str:
    return "with the same parent" if place == "parent" else f"in the same {registry[place].noun}"


def _null(field: Field) -> Iterator[str]:
    if field.null in ("clear", "empty"):
        yield f"`null` clears `{field.name}`."
    elif field.null == "by hand":
        yield "dpsync cannot clear this field. To clear this field, use GitBook."


def part_sentences(field: Field, part: str, required: bool) -> Iterator[str]:
    """Yield when a part of a field's value is required or allowed."""
    if not field.forms:
        whole = ".".join((field.name, *part.split(".")[:-1]))
        if required:
            always = field.required and whole == field.name
            yield "Required." if always else f"Required if you write `{whole}`."
        return
    if needed := [f"`{value}`" for value, form in field.forms.items() if part in form.required]:
        yield f"Required if `{field.formed_by}` is {listed(needed, 'or')}."
    only = [f"`{value}`" for value, form in field.forms.items() if part in form.parts]
    if allowed := [value for value in only if value not in needed]:
        yield f"Allowed only if `{field.formed_by}` is {listed(allowed, 'or')}."


def value_parts(type_: Type, above: str = "") -> Iterator[tuple[str, Type | None, bool]]:
    """Yield the path and type of each part of a value (None for a short form), and whether it is required."""
    match type_:
        case Object(parts=parts, required=required):
            for name, part in parts.items():
                yield f"{above}{name}", part, name in required
                yield from value_parts(part, f"{above}{name}.")
        case OneOf(tag=tag, forms=forms):
            yield from ((f"{above}{word}", None, False) for word in getattr(type_, "short_words", ()))
            yield f"{above}{tag}", Enum(tuple(forms)), True
            found = [list(value_parts(form, above)) for form in forms.values()]
            inside = {path: inner for parts in found for path, inner, _ in parts}
            for path, inner in inside.items():
                yield path, inner, all((path, inner, True) in parts for parts in found)
        case Many(of=items) | Table(values=items):
            yield from value_parts(items, above)


def listed(words: Iterable[str], link: str = "and") -> str:
    """Return "a, b and c" for the words a, b and c."""
    *most, last = words
    return f"{', '.join(most)} {link} {last}" if most else last
