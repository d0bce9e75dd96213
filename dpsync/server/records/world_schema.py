"""Check the entries of a world against their shape: the members, their types, and their references.

A world is the data that the local server starts with. A record kind declares the shape of its section as
pydantic types. `find_problems` checks a value and reports what is wrong, where, and what to do.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from typing import Annotated, Any, Final, get_args

from msgspec import Struct
from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidationError,
    ValidationInfo,
)
from pydantic_core import ErrorDetails, PydanticCustomError

from ..store import Record

Path = tuple[str | int, ...]
"""The keys and indexes that lead to a value of a world."""


class WorldProblem(Struct, frozen=True):
    """A problem of a value in a world: where and what it is, and a hint what to do."""

    path: Path
    message: str
    hint: str = ""
    is_unknown_member: bool = False
    """Whether the value is a member that this version does not know."""


class WorldModel(BaseModel):
    """An entry of a world. It accepts no other members than its fields."""

    model_config = ConfigDict(extra="forbid", strict=True, defer_build=True)


def optional_member(**limits: Any) -> Any:
    """Declare a member that may be omitted."""
    return Field(default=None, **limits)


def _check_id(text: str) -> str:
    """Return the text. Raise an error for a character that an id cannot contain."""
    return _check_characters(text, "id", lambda character: character.isspace() or not character.isprintable())


def _check_token(text: str) -> str:
    """Return the text. Raise an error for a character that an HTTP header cannot contain."""
    return _check_characters(text, "token", lambda character: not "!" <= character <= "~")


def _check_characters(text: str, error_type: str, is_wrong: Callable[[str], bool]) -> str:
    """Return the text. Raise an error if it is empty or contains a character that `is_wrong` rejects."""
    if not text:
        raise PydanticCustomError(error_type, "the text is empty")
    for character in filter(is_wrong, text):
        raise PydanticCustomError(
            error_type, "the text contains the character U+{code}", {"code": f"{ord(character):04X}"}
        )
    return text


Name = Annotated[str, AfterValidator(_check_id)]
"""An id, or another name that is part of URLs."""
Token = Annotated[str, AfterValidator(_check_token)]
"""A token that a caller sends in the header `Authorization`."""


def refers_to(*kinds: str) -> AfterValidator:
    """Return a validator for a reference: an id of a record of one of these kinds.

    The record must be in the same world (the server's initial data). The validation context has the kind and
    id of each of its records; without a context, references are not checked.
    """

    def check_reference(id: str, info: ValidationInfo) -> str:
        if info.context is None or any((kind, id) in info.context for kind in kinds):
            return id
        raise PydanticCustomError("reference", "there is no {kind} {id}", {"kind": kinds[0], "id": repr(id)})

    return AfterValidator(check_reference)


def record_keys(records: list[Record]) -> frozenset[tuple[str, str]]:
    """Return the kind and id of each record. References are checked against this set."""
    return frozenset((record.kind, record.id) for record in records)


def find_problems(
    value_type: Any, value: Any, path: Path, known: frozenset[tuple[str, str]] | None = None
) -> Iterator[WorldProblem]:
    """Yield the problems of a value, at most one for each member. `path` leads to the value.

    References are checked against the records in `known`, (kind, id) pairs; None checks no references.
    """
    try:
        _adapter(value_type).validate_python(value, context=known)
    except ValidationError as error:
        errors_by_path: dict[Path, list[ErrorDetails]] = {}
        for error_details in error.errors(include_url=False):
            errors_by_path.setdefault(_value_path(error_details["loc"], value), []).append(error_details)
        for inside, errors in errors_by_path.items():
            yield _make_problem(errors, value_type, (*path, *inside))


@cache
def _adapter(shape: Any) -> TypeAdapter[Any]:
    """Return the validator of a shape, cached because making it takes longer than checking a large world."""
    return TypeAdapter(shape)


_TYPE_NAMES: Final[Mapping[type, str]] = {
    type(None): "nothing (null)", bool: "true or false", str: "text", list: "a list", dict: "a mapping",
    int: "a number", float: "a number",
}  # fmt: skip
_EXPECTED_TYPE_NAMES: Final[Mapping[str, str]] = {
    "string_type": "text", "bool_type": "true or false", "int_type": "a whole number", "list_type": "a list",
    "dict_type": "a mapping", "model_type": "a mapping", "model_attributes_type": "a mapping",
    "float_type": "a number", "none_required": "null",
}  # fmt: skip
_HINTS: Final[Mapping[str, str]] = {
    "token": "write only ASCII letters, digits and signs, because a header contains the token",
    "id": "remove spaces and invisible characters",
    "reference": "add the object to the data, or correct the id",
}


def _make_problem(errors: list[ErrorDetails], shape: Any, path: Path) -> WorldProblem:
    """Return the problem of one value. A value that may have several types causes several errors."""
    error = next((other for other in errors if other["type"] not in _EXPECTED_TYPE_NAMES), errors[0])
    kind, value, context = error["type"], error["input"], error.get("ctx", {})
    if kind == "missing":
        return WorldProblem(path[:-1], f'"{path[-1]}" is missing', f"write {path[-1]}: …")
    if kind == "extra_forbidden":
        return unknown_member_problem(path, _member_names(shape))
    if kind == "union_tag_not_found":
        return WorldProblem(path, f"{context['discriminator']} is missing")
    if kind == "union_tag_invalid":
        tag = str(context["discriminator"]).strip("'")
        return WorldProblem(
            (*path, tag), f"expected one of {context['expected_tags']}, found {context['tag']!r}"
        )
    if kind == "literal_error":
        words = [
            word
            for other in errors
            if other["type"] == kind
            # pydantic writes the choices as one text: `'a', 'b' or 'c'`
            for word in other["ctx"]["expected"].replace(" or ", ", ").split(", ")
        ]
        return WorldProblem(path, f"expected one of {', '.join(words)}, found {value!r:.60}")
    if kind in _EXPECTED_TYPE_NAMES:
        actual = _TYPE_NAMES.get(type(value), f"a {type(value).__name__}")
        expected = list(dict.fromkeys(_EXPECTED_TYPE_NAMES[other["type"]] for other in errors))
        hint = "put it in quotes" if "text" in expected and not isinstance(value, dict | list) else ""
        return WorldProblem(path, f"expected {' or '.join(expected)}, found {actual}", hint)
    return WorldProblem(path, error["msg"], _HINTS.get(kind, ""))


def unknown_member_problem(path: Path, known: Iterable[str]) -> WorldProblem:
    """Return the problem of an unknown member."""
    return WorldProblem(
        path, f"unknown member {path[-1]!r}", suggest(str(path[-1]), known, "remove it"), True
    )


def suggest(word: str, known: Iterable[str], default: str) -> str:
    """Return a hint that names the most similar known word, or `default`."""
    from difflib import get_close_matches  # imported only if there is a problem

    nearest = get_close_matches(word, sorted(known), 1)
    return f'did you mean "{nearest[0]}"?' if nearest else default


def _value_path(loc: Path, value: Any) -> Path:
    """Return the part of a pydantic location that leads into the value. Other parts name types."""
    path: list[str | int] = []
    for number, part in enumerate(loc, 1):
        if isinstance(value, dict) and (part in value or (number == len(loc) and part != "[key]")):
            value = value.get(part)
        elif isinstance(value, list) and isinstance(part, int):
            value = value[part]
        else:
            continue
        path.append(part)
    return tuple(path)


def _member_names(shape: Any) -> Iterator[str]:
    """Yield the names of all members that an entry of a shape may have."""
    if isinstance(shape, type) and issubclass(shape, BaseModel):
        yield from shape.model_fields
    for inner in get_args(shape):
        yield from _member_names(inner)
