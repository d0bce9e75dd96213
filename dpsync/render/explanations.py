"""Build the texts of `dpsync explain` for kinds, fields, root-file keys and error codes.

`explained` builds an `Explanation` from the declarations. `codes` and `plain_section` read the sections of
docs/errors.md, which is part of the package. `example_text` writes an example as YAML: small mappings on one
line, other mappings on several lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from msgspec import Struct

from dpsync.importing.write_yaml import BlockMapping, document, on_one_line, scalar
from dpsync.kinds.editions import PROFILES, PUBLISHED
from dpsync.kinds.examples import entry_example, field_example, file_example
from dpsync.kinds.kind import Field, Kind, Lifted, Node, Single
from dpsync.kinds.meanings import KINDS, OF_THE_FILE, meaning, page_of_key, page_of_kind
from dpsync.kinds.registry import Registry
from dpsync.kinds.types import Flag
from dpsync.kinds.value_meanings import values_of
from dpsync.kinds.watching import ACCESS, access_patterns
from dpsync.model.text import plural
from dpsync.render.value_words import (
    address_words,
    key_words,
    listed,
    part_sentences,
    place_words,
    rule_sentences,
    rules_words,
    value_parts,
    value_sentences,
)

_SHORT = 3
"""The largest number of entries of a mapping on one line, so that examples can be read on a phone."""


def example_text(value: dict[str, Any]) -> str:
    """Return a whole file with the values of an example (`dpsync.kinds.examples`)."""
    (first, version), *rest = value.items()
    return document(_to_block(dict(rest)), f"{first}: {scalar(version)}")


def _to_block(value: Any) -> Any:
    """Return the same value, in which large and nested mappings are on several lines."""
    if isinstance(value, list):
        return [_to_block(item) for item in value]
    if not isinstance(value, dict):
        return value
    parts = {key: _to_block(item) for key, item in value.items()}
    holds = any(isinstance(item, dict) or _is_list_of_mappings(item) for item in parts.values())
    return BlockMapping(parts) if holds or len(parts) > _SHORT else parts


def _is_list_of_mappings(value: Any) -> bool:
    return isinstance(value, list) and any(isinstance(item, dict) for item in value)


class Explanation(Struct, frozen=True):
    """A heading, a description, named facts, an example as a YAML file, and the address of a docs page."""

    head: str
    meaning: str
    facts: tuple[tuple[str, str], ...] = ()
    example: str = ""
    page: str = ""


def explained(registry: Registry, word: str) -> Explanation | None:
    """Return the explanation of KIND, KIND.FIELD or a root-file key; None if the word is none of these."""
    head, _, rest = word.partition(".")
    kind = kind_named(registry, head)
    if kind is None:
        return _root_key_explanation(registry, word)
    if not rest:
        return _kind(registry, kind)
    if rest in kind.inline_words:
        rest = f"{kind.inline_words[rest]}.{rest}"
    name, _, member = rest.partition(".")
    field = next((item for item in kind.fields if item.name == name and not item.nest), None)
    if field is None or (member and not meaning(kind.name, name, member)):
        return None
    return _field(registry, kind, field, member)


def kind_named(registry: Registry, word: str) -> Kind | None:
    """Return the kind with this name, noun, node type or key in the files; None if no kind has it."""
    wanted = _normalized(word)
    for names in (_kind_names, _key_names):
        for kind in registry.ordered:
            if wanted in map(_normalized, names(kind)):
                return kind
    return None


def _kind_names(kind: Kind) -> Iterator[str]:
    yield from (kind.name, kind.noun)


def _key_names(kind: Kind) -> Iterator[str]:
    if isinstance(kind.shape, Node):
        yield kind.shape.type
    else:
        yield from (kind.key, kind.key.rpartition(".")[2])


def _normalized(word: str) -> str:
    return re.sub(r"[\s_-]", "", word).casefold()


def what_can_be_explained(registry: Registry) -> list[str]:
    """Return each word that `explained` accepts: kinds, their fields with short forms, and root-file keys."""
    words = [kind.name for kind in registry.ordered]
    words += [f"{kind.name}.{word}" for kind in registry.ordered for word in kind.inline_words]
    words += [
        f"{kind.name}.{item.name}" for kind in registry.ordered for item in kind.fields if not item.nest
    ]
    return [*words, *OF_THE_FILE]


def overview(registry: Registry) -> Iterable[tuple[str, str]]:
    """Yield the name of each kind and its place in the files."""
    for kind in sorted(registry.ordered, key=lambda kind: kind.name):
        yield kind.name, place_words(registry, kind)


def _root_key_explanation(registry: Registry, word: str) -> Explanation | None:
    text = OF_THE_FILE.get(word)
    if text is None:
        return None
    inside = [name for name in OF_THE_FILE if name.startswith(f"{word}.")]
    values = values_of(word) if "." in word else {}
    facts = [("Values", f"{value}: {sentence}") for value, sentence in values.items()]
    if word == "policy.watch":
        facts += [(f"{ACCESS} means", ", ".join(access_patterns(registry)))]
    facts += [("Keys", ", ".join(inside))] if inside else []
    return Explanation(word, text, _nonempty(facts), example_text(file_example(word)), page_of_key(word))


def _kind(registry: Registry, kind: Kind) -> Explanation:
    fields: list[str] = []
    for item in kind.fields:
        if item.declarable and not item.nest:
            fields.append(f"{item.name}: {meaning(kind.name, item.name)}")
            words = [word for word, name in kind.inline_words.items() if name == item.name]
            fields += [f"{word}: {meaning(kind.name, item.name, word)}" for word in words]
    facts = [
        ("In your files", place_words(registry, kind)),
        ("Key", key_words(registry, kind)),
        *(("Address", address) for address in address_words(registry, kind)),
        *(("Rules", sentence) for sentence in rules_words(registry, kind)),
        ("Opens access", _kind_exposure(kind)),
        ("API versions", _api_versions(registry, kind, None)),
        *(("Fields", text) for text in fields),
    ]
    example = example_text(entry_example(registry, kind))
    return Explanation(kind.name, KINDS[kind.name], _nonempty(facts), example, page_of_kind(kind.noun))


def _field(registry: Registry, kind: Kind, field: Field, member: str) -> Explanation:
    name, today = f"{kind.name}.{field.name}", registry.written_for(PUBLISHED.name)
    example = example_text(field_example(registry, kind, field, member))
    written = field.declarable and field.name != kind.natural
    field = today[kind.name].field(field.name)  # as GitBook's current API has it
    if member:
        facts = [
            ("Part of", f"{name}: {meaning(kind.name, field.name)}"),
            *_part_facts(registry, kind, field, member),
        ]
        inline = member in kind.inline_words
        if inline:
            facts.append(("Rules", f"In an entry, write {member} directly, without {field.name}."))
        name = f"{kind.name}.{member}" if inline else f"{name}.{member}"
    else:
        flag = isinstance(field.type, Flag)
        facts = [
            ("Values", "true or false" if flag else ""),
            *(("Values", text) for text in value_sentences(registry, field.type, name)),
            *(("Rules", text) for text in rule_sentences(registry, kind, field)),
            ("Opens access", _exposure(registry, kind, field)),
            ("API versions", _api_versions(registry, kind, field)),
            ("Keys", ", ".join(dict.fromkeys(path for path, _, _ in value_parts(field.type)))),
        ]
    text = meaning(kind.name, field.name, member)
    return Explanation(name, text, _nonempty(facts), example if written else "", page_of_kind(kind.noun))


def _part_facts(registry: Registry, kind: Kind, field: Field, member: str) -> Iterator[tuple[str, str]]:
    for path, type_, required in value_parts(field.type):
        if path == member and type_ is not None:
            sentences = value_sentences(registry, type_, f"{kind.name}.{field.name}.{member}")
            yield from (("Values", sentence) for sentence in sentences)
            yield from (("Rules", sentence) for sentence in part_sentences(field, member, required))


def _nonempty(facts: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    return tuple((name, words.replace("`", "")) for name, words in facts if words)


_RAISED: Mapping[str, str] = {
    "changed": "Every change of the value lets somebody see or do more.",
    "set": "Every change of the value lets somebody see or do more, unless the change removes the value.",
    "added": "A change that adds an item to the list lets somebody see or do more.",
    "linked": "A change that adds a URL lets somebody see or do more.",
    "hosts": "A change that adds a URL with a new host lets somebody see or do more.",
}
_STRONGER_ROLE = "A change that gives somebody a stronger role lets this person see or do more."


def _exposure(registry: Registry, kind: Kind, field: Field) -> str:
    """Describe the changes of a field that open access, which a plan marks with "opens access"."""
    exposing = field.exposes
    if kind.resolves(field):
        return _STRONGER_ROLE
    if exposing is None or kind.redirects is not None:
        return ""
    if isinstance(exposing, str):
        return _RAISED[exposing]
    if isinstance(exposing, Lifted):
        opens = f" So does adding {listed(exposing.opens, 'or')}." if exposing.opens else ""
        return f"A change that removes or replaces the restriction lets somebody see or do more.{opens}"
    if len(exposing) == 2:
        return f"A change from {' to '.join(map(on_one_line, exposing))} lets somebody see or do more."
    values = ", ".join(map(on_one_line, exposing))
    return f"A change to a value further right in this list lets somebody see or do more: {values}."


def _kind_exposure(kind: Kind) -> str:
    if kind.redirects is not None:
        return ""
    if "who" in kind.access:
        return "A change to an object of this type opens access if somebody gets a stronger role."
    when = ["created"] if kind.security else []
    when += ["deleted"] if kind.keeps_out else []
    return (
        f"An object of this type lets somebody see or do more when it is {' or '.join(when)}." if when else ""
    )


def _api_versions(registry: Registry, kind: Kind, field: Field | None) -> str:
    """Return the API versions that support a kind or field, and what the others lack."""
    supporting, absent, lacking = [], [], []
    for profile in PROFILES.values():
        serving = Registry(registry.declared.values(), profile)
        if kind.name not in serving:
            absent.append(profile.name)
            continue
        supporting.append(profile.name)
        supported = serving[kind.name]
        if field is not None and field.name in supported.unsupported_fields:
            lacking.append(f"The API version {profile.name} does not accept every value of this field.")
        elif field is None and supported.unsupported:
            verbs = " or ".join(sorted(supported.unsupported))
            lacking.append(f"The API version {profile.name} cannot {verbs} {kind.one}.")
    if absent:
        objects = kind.noun if isinstance(kind.shape, Single) else plural(kind.noun)
        do = "versions {} do" if len(absent) > 1 else "version {} does"
        lacking.insert(0, f"The API {do.format(listed(absent))} not have {objects}.")
    return " ".join([f"{', '.join(supporting)}.", *lacking])
