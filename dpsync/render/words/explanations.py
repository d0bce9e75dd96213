"""Build the text of `dpsync explain` for a kind, a field or a root-file key, from the declarations."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct

from dpsync.kinds.examples import entry_example, field_example
from dpsync.kinds.kind import Field, Kind, Lifted, Node
from dpsync.kinds.meanings import MEANINGS, OF_THE_FILE, meaning
from dpsync.kinds.profiles import PROFILES
from dpsync.kinds.registry import Registry
from dpsync.kinds.watching import ACCESS, access_patterns
from dpsync.render.words.examples import example_text
from dpsync.render.words.fields import (
    comparison_words,
    null_words,
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


class Explanation(Struct, frozen=True):
    """A heading, a description, named facts, and an example as the text of a YAML file."""

    head: str
    meaning: str
    facts: tuple[tuple[str, str], ...] = ()
    example: str = ""


def explained(registry: Registry, word: str) -> Explanation | None:
    """Return the explanation of KIND, KIND.FIELD or a root-file key; None if the word is none of these."""
    head, _, rest = word.partition(".")
    kind = kind_named(registry, head)
    if kind is None:
        return _of_the_file(registry, word)
    if not rest:
        return _kind(registry, kind)
    name, _, member = rest.partition(".")
    field = next((item for item in kind.fields if item.name == name and not item.nest), None)
    if field is None or (member and not meaning(kind.name, name, member)):
        return None
    return _field(registry, kind, field, member)


def kind_named(registry: Registry, word: str) -> Kind | None:
    """Return the kind with this name, noun, node type or key in the files; None if no kind has it."""
    wanted = _plain(word)
    for names in (_own_names, _places):
        for kind in registry.ordered:
            if wanted in map(_plain, names(kind)):
                return kind
    return None


def _own_names(kind: Kind) -> Iterator[str]:
    yield from (kind.name, kind.noun)


def _places(kind: Kind) -> Iterator[str]:
    if isinstance(kind.shape, Node):
        yield kind.shape.type
    else:
        yield from (kind.key, kind.key.rpartition(".")[2])


def _plain(word: str) -> str:
    return re.sub(r"[\s_-]", "", word).casefold()


def what_can_be_explained(registry: Registry) -> list[str]:
    """Return each word that `explained` accepts: kinds, their fields, and root-file keys."""
    found = [kind.name for kind in registry.ordered]
    found += [
        f"{kind.name}.{item.name}" for kind in registry.ordered for item in kind.fields if not item.nest
    ]
    return [*found, *OF_THE_FILE]


def overview(registry: Registry) -> Iterable[tuple[str, str]]:
    """Yield the name of each kind and its place in the files."""
    for kind in sorted(registry.ordered, key=lambda kind: kind.name):
        yield kind.name, place_words(registry, kind).partition(";")[0]


def _of_the_file(registry: Registry, word: str) -> Explanation | None:
    said = OF_THE_FILE.get(word)
    if said is None:
        return None
    inside = [name for name in OF_THE_FILE if name.startswith(f"{word}.")]
    facts = [("Page", "docs/configuration.md"), *([("Keys", ", ".join(inside))] if inside else [])]
    if word == "policy.watch":
        facts += [(f"{ACCESS} means", ", ".join(access_patterns(registry)))]
    return Explanation(word, said, tuple(facts))


def _kind(registry: Registry, kind: Kind) -> Explanation:
    fields = [f"{item.name}: {meaning(kind.name, item.name)}" for item in kind.fields if item.declarable]
    facts = [
        ("In the file", place_words(registry, kind)),
        ("Address", " or ".join(address_words(registry, kind))),
        ("Matched by", identity_words(registry, kind)),
        ("Created", creation_words(kind)),
        ("Deleted", deletion_words(kind)),
        ("Opens access", _kind_exposure(kind)),
        *(("Note", sentence) for sentence in rules_words(registry, kind)),
        ("Profiles", _profiles(registry, kind, None)),
        *(("Differs on", words) for words in _differences(registry, kind, "")),
        *(("Field", text) for text in fields),
    ]
    said = premise(kind) or f"The contents of `{kind.key}:`."
    return Explanation(kind.name, said, _nonempty(facts), example_text(entry_example(registry, kind)))


def _field(registry: Registry, kind: Kind, field: Field, member: str) -> Explanation:
    if member:
        facts = [("In", f"{kind.name}.{field.name}: {meaning(kind.name, field.name)}")]
    else:
        facts = [
            ("Value", value_words(registry, kind, field)),
            ("Required", "yes" if field.required and field.name != kind.default else ""),
            ("Written", written_words(kind, field)),
            ("Cleared", _cleared(kind, field)),
            ("Default", "" if field.platform_default is None else yaml_words(field.platform_default)),
            ("Opens access", _exposure(registry, kind, field)),
            ("Compared", comparison_words(kind, field)),
            ("Profiles", _profiles(registry, kind, field)),
            *(("Differs on", words) for words in _differences(registry, kind, field.name)),
            ("Members", ", ".join(_members(kind, field))),
        ]
    name = f"{kind.name}.{field.name}" + (f".{member}" if member else "")
    example = field.declarable and field.name != kind.natural
    return Explanation(
        name,
        meaning(kind.name, field.name, member),
        _nonempty(facts),
        example_text(field_example(registry, kind, field)) if example else "",
    )


def _members(kind: Kind, field: Field) -> Iterator[str]:
    lead = f"{field.name}."
    yield from (name.removeprefix(lead) for name in MEANINGS.get(kind.name, {}) if name.startswith(lead))


def _nonempty(facts: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    return tuple((name, words.replace("`", "")) for name, words in facts if words)


def _cleared(kind: Kind, field: Field) -> str:
    if field.name == kind.natural or not field.declarable:
        return ""
    said = null_words(kind, field)
    return said if field.null == "by hand" else f"null {said}"


_RAISED: Mapping[str, str] = {
    "changed": "if the value changes",
    "set": "if the value changes and is not removed",
    "added": "if an item is added to the list",
    "linked": "if a new link to a URL is added",
    "hosts": "if a URL with a new host is added",
}
_STRONGER_ROLE = "if somebody gets a stronger role anywhere"


def _exposure(registry: Registry, kind: Kind, field: Field) -> str:
    """Describe the changes of a field that open access, which a plan marks with "opens access"."""
    raised = field.exposes
    if kind.resolves(field):
        return _STRONGER_ROLE
    if raised is None or kind.redirects is not None:
        return ""
    if isinstance(raised, str):
        return _RAISED[raised]
    if isinstance(raised, Lifted):
        opens = f", or if {' or '.join(raised.opens)} is added" if raised.opens else ""
        return f"if a restriction is removed or replaced{opens}"
    return f"if the value moves to the right in: {', '.join(map(yaml_words, raised))}"


def _kind_exposure(kind: Kind) -> str:
    if kind.redirects is not None:
        return ""
    if "who" in kind.access:
        return "if one is created, changed or deleted and somebody gets a stronger role by it"
    said = ["created"] if kind.security else []
    said += ["deleted"] if kind.keeps_out else []
    return f"if one is {' or '.join(said)}" if said else ""


def _differences(registry: Registry, kind: Kind, field: str) -> Iterator[str]:
    """Yield how each API profile differs for a kind, or for one of its fields."""
    for name in PROFILES:
        for words in profile_words(registry, kind, name):
            about, colon, rest = words.partition(": ")
            if (about == f"`{field}`") if field else not (colon and about.startswith("`")):
                yield f"{name}: {rest if field else words}"


def _profiles(registry: Registry, kind: Kind, field: Field | None) -> str:
    """Return the API profiles that support a kind or field, and what the others lack."""
    there, lacking = [], []
    for profile in PROFILES.values():
        serving = Registry(registry.declared.values(), profile)
        if kind.name not in serving:
            lacking.append(f"not on {profile.name}")
            continue
        there.append(profile.name)
        supported = serving[kind.name]
        if field is not None and field.name in supported.unsupported_fields:
            lacking.append(f"{profile.name} cannot write every value")
        elif field is None and supported.unsupported:
            lacking.append(f"{profile.name} cannot {' or '.join(sorted(supported.unsupported))} it")
    return "; ".join([", ".join(there), *lacking])
