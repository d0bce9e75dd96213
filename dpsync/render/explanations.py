"""Build the texts of `dpsync explain` for kinds, fields and keys of the root file.

`find_explanation` builds an `Explanation` from the declarations of kinds; `explain_text.py` prints it.
`example_text` writes an example as YAML: small mappings on one line, other mappings on several lines. Error
codes are explained by docs/errors.md (`error_page.py`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct

from dpsync.importing.write_yaml import BlockMapping, on_one_line, yaml_document, yaml_scalar
from dpsync.kinds.examples import entry_example, field_example, file_example
from dpsync.kinds.field_descriptions import (
    KIND_DESCRIPTIONS,
    ROOT_KEY_DESCRIPTIONS,
    field_description,
    kind_page_url,
    root_key_page_url,
)
from dpsync.kinds.kind import Field, Kind, Restriction, SingleEntry, TreeNode
from dpsync.kinds.profiles import PROFILES, PUBLISHED
from dpsync.kinds.registry import Registry
from dpsync.kinds.types import Flag
from dpsync.kinds.value_descriptions import value_descriptions
from dpsync.kinds.watch_patterns import ACCESS_WORD, access_patterns
from dpsync.model.text import plural
from dpsync.render.value_words import (
    address_words,
    is_reference_key,
    join_words,
    key_words,
    kind_rule_sentences,
    location_phrase,
    part_sentences,
    rule_sentences,
    value_parts,
    value_sentences,
)

_MAX_INLINE_ENTRIES = 3
"""The largest number of entries of a mapping on one line, so that examples can be read on a phone."""


def example_text(value: dict[str, Any]) -> str:
    """Return an example (`dpsync.kinds.examples`) as the text of a YAML file."""
    (first, version), *entries = value.items()
    return yaml_document(_to_block(dict(entries)), f"{first}: {yaml_scalar(version)}")


def _to_block(value: Any) -> Any:
    """Mark the mappings in a value that YAML shows on several lines: large mappings, and nested ones."""
    if isinstance(value, list):
        return [_to_block(member) for member in value]
    if not isinstance(value, dict):
        return value
    members = {key: _to_block(member) for key, member in value.items()}
    is_nested = any(
        isinstance(member, dict)
        or (isinstance(member, list) and any(isinstance(item, dict) for item in member))
        for member in members.values()
    )
    return BlockMapping(members) if is_nested or len(members) > _MAX_INLINE_ENTRIES else members


class Explanation(Struct, frozen=True):
    """A heading, a description, named facts, an example as a YAML file, and the address of a docs page."""

    heading: str
    meaning: str
    facts: tuple[tuple[str, str], ...] = ()
    example: str = ""
    page_url: str = ""


def find_explanation(registry: Registry, word: str) -> Explanation | None:
    """Return the explanation of a word: KIND, KIND.FIELD, KIND.FIELD.MEMBER or a key of the root file.

    None if the word is none of these. A member is a part of a field's value. It may also be written without
    its field, as in the files.
    """
    head, _, path = word.partition(".")
    kind = find_kind(registry, head)
    if kind is None:
        return _root_key_explanation(registry, word)
    if not path:
        return _kind_explanation(registry, kind)
    if path in kind.inline_words:
        path = f"{kind.inline_words[path]}.{path}"
    name, _, member = path.partition(".")
    field = next(
        (field for field in kind.fields if field.name == name and not field.is_parent_reference), None
    )
    if field is None or (member and not field_description(kind.name, name, member)):
        return None
    return _field_explanation(registry, kind, field, member)


def find_kind(registry: Registry, word: str) -> Kind | None:
    """Return the kind with this name, noun, node type or key in the files; None if no kind has it.

    Names and nouns take precedence over keys. Case, spaces, `-` and `_` do not matter.
    """

    def normalized(text: str) -> str:
        return re.sub(r"[\s_-]", "", text).casefold()

    wanted = normalized(word)
    for kind in registry.in_dependency_order:
        if wanted in (normalized(kind.name), normalized(kind.noun)):
            return kind
    for kind in registry.in_dependency_order:
        keys = [kind.key, kind.key.rpartition(".")[2]]
        if isinstance(kind.shape, TreeNode):
            keys = [kind.shape.yaml_type]
        if wanted in map(normalized, keys):
            return kind
    return None


def explainable_words(registry: Registry) -> list[str]:
    """Return words for `dpsync explain` to suggest or complete: kinds, fields, short forms and file keys."""
    words = [kind.name for kind in registry.in_dependency_order]
    words += [f"{kind.name}.{word}" for kind in registry.in_dependency_order for word in kind.inline_words]
    words += [
        f"{kind.name}.{field.name}"
        for kind in registry.in_dependency_order
        for field in kind.fields
        if not field.is_parent_reference
    ]
    return [*words, *ROOT_KEY_DESCRIPTIONS]


def overview(registry: Registry) -> Iterable[tuple[str, str]]:
    """Yield the name of each kind, and where its entries are in the files, sorted by name."""
    for kind in sorted(registry.in_dependency_order, key=lambda kind: kind.name):
        yield kind.name, location_phrase(registry, kind)


def _root_key_explanation(registry: Registry, word: str) -> Explanation | None:
    """Return the explanation of a key of the root file, such as `policy.prune`; None for another word."""
    text = ROOT_KEY_DESCRIPTIONS.get(word)
    if text is None:
        return None
    subkeys = [name for name in ROOT_KEY_DESCRIPTIONS if name.startswith(f"{word}.")]
    values = value_descriptions(word) if "." in word else {}
    facts = [("Values", f"{value}: {sentence}") for value, sentence in values.items()]
    if word == "policy.watch":
        facts += [(f"{ACCESS_WORD} means", ", ".join(access_patterns(registry)))]
    facts += [("Keys", ", ".join(subkeys))] if subkeys else []
    return Explanation(
        word, text, _nonempty_facts(facts), example_text(file_example(word)), root_key_page_url(word)
    )


def _kind_explanation(registry: Registry, kind: Kind) -> Explanation:
    """Return the explanation of a kind: where it is written, key, address, rules, API versions and fields."""
    fields: list[str] = []
    for field in kind.fields:
        if field.is_declarable and not field.is_parent_reference:
            fields.append(f"{field.name}: {field_description(kind.name, field.name)}")
            short_forms = [word for word, name in kind.inline_words.items() if name == field.name]
            fields += [f"{word}: {field_description(kind.name, field.name, word)}" for word in short_forms]
    exposure = ""
    if kind.redirects is None:
        occasions = ["created"] if kind.creation_widens_access else []
        occasions += ["deleted"] if kind.deletion_widens_access else []
        if "who" in kind.access_fields:
            exposure = "A change to an object of this type opens access if somebody gets a stronger role."
        elif occasions:
            exposure = (
                f"An object of this type lets somebody see or do more when it is {' or '.join(occasions)}."
            )
    facts = [
        ("In your files", location_phrase(registry, kind)),
        ("Key", key_words(registry, kind)),
        *(("Address", address) for address in address_words(registry, kind)),
        *(("Rules", sentence) for sentence in kind_rule_sentences(registry, kind)),
        ("Opens access", exposure),
        ("API versions", _api_versions_text(registry, kind, None)),
        *(("Fields", text) for text in fields),
    ]
    example = example_text(entry_example(registry, kind))
    return Explanation(
        kind.name, KIND_DESCRIPTIONS[kind.name], _nonempty_facts(facts), example, kind_page_url(kind.noun)
    )


def _field_explanation(registry: Registry, kind: Kind, field: Field, member: str) -> Explanation:
    """Return the explanation of a field, or of one member of its value if `member` is not "".

    The facts are those of GitBook's current API, and the example is from the declaration of the kind.
    """
    name, published = f"{kind.name}.{field.name}", registry.for_files_of_profile(PUBLISHED.name)
    example = example_text(field_example(registry, kind, field, member))
    has_example = field.is_declarable and field.name != kind.key_field
    field = published[kind.name].field(field.name)  # as GitBook's current API has it
    if member:
        facts = [
            ("Part of", f"{name}: {field_description(kind.name, field.name)}"),
        ]
        for path, type_, required in value_parts(field.type):
            if path == member and type_ is not None:
                sentences = value_sentences(registry, type_, f"{kind.name}.{field.name}.{member}")
                facts += [("Values", sentence) for sentence in sentences]
                facts += [("Rules", sentence) for sentence in part_sentences(field, member, required)]
        inline = member in kind.inline_words
        if inline:
            facts.append(("Rules", f"In an entry, write {member} directly, without {field.name}."))
        name = f"{kind.name}.{member}" if inline else f"{name}.{member}"
    else:
        flag = isinstance(field.type, Flag)
        values = () if is_reference_key(kind, field) else value_sentences(registry, field.type, name)
        facts = [
            ("Values", "true or false" if flag else ""),
            *(("Values", text) for text in values),
            *(("Rules", text) for text in rule_sentences(registry, kind, field)),
            ("Opens access", _exposure_sentence(kind, field)),
            ("API versions", _api_versions_text(registry, kind, field)),
            ("Keys", ", ".join(dict.fromkeys(path for path, _, _ in value_parts(field.type)))),
        ]
    text = field_description(kind.name, field.name, member)
    return Explanation(
        name, text, _nonempty_facts(facts), example if has_example else "", kind_page_url(kind.noun)
    )


def _nonempty_facts(facts: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """Return the facts that have a text, without the backticks of Markdown."""
    return tuple((name, text.replace("`", "")) for name, text in facts if text)


_EXPOSURE_RULES: Mapping[str, str] = {
    "changed": "dpsync treats every change of this field as one that lets somebody see or do more.",
    "set": "Every change of the value lets somebody see or do more, unless the change removes the value.",
    "added": "A change that adds an item to the list lets somebody see or do more.",
    "linked": "A change that adds a URL lets somebody see or do more.",
    "hosts": "A change that adds a URL with a new host lets somebody see or do more.",
}
_ROLE_EXPOSURE_RULE = "A change that gives somebody a stronger role lets this person see or do more."


def _exposure_sentence(kind: Kind, field: Field) -> str:
    """Describe which changes of a field open access, so that a plan marks them; "" if none does."""
    rule = field.widening_rule
    if kind.follows_from_roles(field):
        return _ROLE_EXPOSURE_RULE
    if rule is None or kind.redirects is not None:
        return ""
    if isinstance(rule, str):
        return _EXPOSURE_RULES[rule]
    if isinstance(rule, Restriction):
        addition_sentence = (
            f" So does adding {join_words(rule.opening_words, 'or')}." if rule.opening_words else ""
        )
        return (
            "A change that removes or replaces the restriction lets somebody see or do more."
            f"{addition_sentence}"
        )
    if len(rule) == 2:
        return f"A change from {' to '.join(map(on_one_line, rule))} lets somebody see or do more."
    values = ", ".join(map(on_one_line, rule))
    return f"A change to a value further right in this list lets somebody see or do more: {values}."


def _api_versions_text(registry: Registry, kind: Kind, field: Field | None) -> str:
    """Return which API versions support a kind (or one of its fields), and what the other versions lack."""
    supporting, without_kind, limitations = [], [], []
    for profile in PROFILES.values():
        profile_registry = Registry(registry.declared.values(), profile)
        if kind.name not in profile_registry:
            without_kind.append(profile.name)
            continue
        supporting.append(profile.name)
        supported = profile_registry[kind.name]
        if field is not None and field.name in supported.unsupported_fields:
            limitations.append(f"The API version {profile.name} does not accept every value of this field.")
        elif field is None and supported.unsupported:
            verbs = " or ".join(sorted(supported.unsupported))
            limitations.append(f"The API version {profile.name} cannot {verbs} {kind.noun_with_article}.")
    if without_kind:
        objects = kind.noun if isinstance(kind.shape, SingleEntry) else plural(kind.noun)
        phrase = "versions {} do" if len(without_kind) > 1 else "version {} does"
        limitations.insert(0, f"The API {phrase.format(join_words(without_kind))} not have {objects}.")
    return " ".join([f"{', '.join(supporting)}.", *limitations])
