"""How long a text, and how many entries a list may have: by the platform's own documents, for every field.

The companion's document is always there. Those of the vendor are where they were fetched: `make contract`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, Final

import pytest

from dpsync.kinds.kind import Call, Field, Kind
from dpsync.kinds.registry import Registry, build_registry
from dpsync.server.http.openapi import build_document
from dpsync.server.operations import ALL_OPERATIONS
from dpsync.server.operations.profiles import operations_of_profile
from tests.contract import editions
from tests.contract.openapi import Contract
from tests.references import resolved

Schema = dict[str, Any]
Path = tuple[str, ...]
LIMITS: Final = ("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties")
FORMS: Final = ("allOf", "anyOf", "oneOf")

OF_ITS_FORM: Final = (
    r"organization\.emailDomains/\[\] maxLength 253, not None",  # no name of a domain is longer
    r"site\.proxy minLength 3, not None", r"redirect\.source minLength 2, not None",
    r"channel\.setupSettings/allowedRepositories/\[\] minLength 3, not None",
    r"openapi\.source (min|max)Properties 1, not None",
    r"glossary_term\.translations minProperties 1, not None",
    r"context_connection\.setupSettings/(repository minLength 3, not None|apiEmail minLength 3, not 1)",
    r"context_connection\.setupSettings/channelId minLength 4, not None",
)  # fmt: skip
"""What is shorter, or longer, could not have the form that is asked for."""
LEFT_TO_THE_PLATFORM: Final = (
    r"published_integration\.externalLinks/\[\]/url maxLength None, not 2048",
    r"saml\.certificate maxLength None, not 10000", r"openapi\.source/text minLength None, not 1",
    r"mcp_server\.headers/\* (min|max)Length None, not (1|512)",
    r"context_connection\.setupSettings/\w+ (min|max)Length None, not (1|1024)",  # secrets
    r"customization\.styling/\w+/fontFaces(/\[\]/sources)? minItems None, not 1",
)  # fmt: skip
"""What dpsync takes and the platform refuses: a secret is not known before it is sent."""
AS_ELSEWHERE: Final = (
    r"\w+\.(\w+/.*)?localized(Title|Description)/\* maxLength (128|256|2048), not None",
    r"visitor_auth\.\w+URL maxLength 2048, not None",
    r"site_space_customization\.title maxLength 128, not None",
    r"context_connection\.setupSettings/url maxLength 2048, not None",
)  # fmt: skip
"""A document says nothing; the same texts have this limit elsewhere."""
OF_THE_REFERENCE: Final = {
    "0.146.0": (
        r"(site_space_)?customization\.title minLength 1, not 2", r"share_link\.name maxLength 100, not 50",
    ),
    "companion of published": (
        r"external_link\.title minLength 2, not 1",
        r"published_integration\.configurations/.* (minLength 2, not None|maxLength 50, not 30)",
    ),
}  # fmt: skip
"""By document: where another one has another rule, and dpsync has that."""


def of_the_companion(profile: str) -> Callable[[], Schema]:
    return lambda: build_document(operations_of_profile(ALL_OPERATIONS, profile))


def of_the_vendor(edition: str) -> Any:
    fetched = pytest.mark.skipif(not editions.is_here(edition), reason="not fetched: make contract")
    profile = {"0.146.0": "full", "0.202.0": "published"}[edition]
    return pytest.param(profile, edition, lambda: editions.document(edition), marks=fetched, id=edition)


DOCUMENTS: Final = [
    ("full", "companion of full", of_the_companion("full")),
    ("published", "companion of published", of_the_companion("published")),
    of_the_vendor("0.146.0"),
    of_the_vendor("0.202.0"),
]


@pytest.mark.parametrize(("profile", "name", "read"), DOCUMENTS)
def test_field_limits_equal_api_schema_limits(profile: str, name: str, read: Callable[[], Schema]) -> None:
    explained = (*OF_ITS_FORM, *LEFT_TO_THE_PLATFORM, *AS_ELSEWHERE, *OF_THE_REFERENCE.get(name, ()))
    held = {*limits(build_registry(profile), read())}
    assert len(held) > 60
    different = {
        f"{place} {word} {ours}, not {theirs}"
        for place, word, ours, theirs in held
        if (ours or 0) != (theirs or 0) and not (word == "minLength" and ours == 1 and not theirs)
    }
    # Where the platform does not say it, no text is empty: there is none of it then, which is null.
    assert {one for one in different if not any(re.fullmatch(row, one) for row in explained)} == set()


def limits(registry: Registry, said: Schema) -> Iterator[tuple[str, str, int | None, int | None]]:
    """Each limit of a value that is written: its place, its word, ours and that of the document."""
    contract = Contract(said)
    for kind in registry.kinds.values():
        for field in kind.fields:
            ours = Document(field.type.schema())
            for call in calls(kind, field):
                for path in paths(registry, kind, call.path):
                    theirs = Document(contract.document, body(contract, call.method, path))
                    for sent in sent_in(call.body, name_in(call, kind, field), field.name):
                        yield from compared(f"{kind.name}.{field.name}", ours, theirs, sent)


def compared(
    name: str, ours: Document, theirs: Document, sent: Path
) -> Iterator[tuple[str, str, int | None, int | None]]:
    for place in ours.places():
        if found := [*theirs.at((*sent, *place))]:
            for word in LIMITS:
                one, other = of_forms(word, ours.at(place)), of_forms(word, found)
                if one or other:
                    yield "/".join((name, *place)), word, one, other


def of_forms(word: str, forms: Iterator[Schema] | list[Schema]) -> int | None:
    """Return the limit of a value with several forms. All forms that have a limit must have the same."""
    found = {form[word] for form in forms if word in form}
    assert len(found) <= 1, (word, found)
    return found.pop() if found else None


class Document:
    """A JSON Schema, with the document that its references are in."""

    def __init__(self, around: Schema, root: Schema | None = None) -> None:
        self.around, self.root = around, around if root is None else root

    def at(self, place: Path) -> Iterator[Schema]:
        """Yield the schemas of a value in this place: `[]` is an item of a list, `*` any member."""
        return self._at(self.root, place)

    def _at(self, schema: Schema, place: Path) -> Iterator[Schema]:
        schema = resolved(self.around, schema)
        for word in FORMS:
            for form in schema.get(word, ()):
                yield from self._at(form, place)
        if not place:
            yield schema
        elif (part := self._parts(schema).get(place[0])) is not None:
            yield from self._at(part, place[1:])

    def places(self) -> list[Path]:
        return [*dict.fromkeys(self._places(self.root, ()))]

    def _places(self, schema: Schema, place: Path) -> Iterator[Path]:
        yield place
        for name, part in self._parts(schema).items():
            yield from self._places(part, (*place, name))
        for word in FORMS:
            for form in schema.get(word, ()):
                yield from self._places(form, place)

    def _parts(self, schema: Schema) -> dict[str, Schema]:
        parts = {"[]": schema.get("items"), "*": schema.get("additionalProperties")}
        return schema.get("properties", {}) | {
            name: part for name, part in parts.items() if isinstance(part, dict)
        }


def calls(kind: Kind, field: Field) -> list[Call]:
    """Return the calls with a body that write the field."""
    if field.own_call is not None:
        found: list[Any] = (
            [field.own_call] if isinstance(field.own_call, Call) else [*field.own_call.values()]
        )
    else:
        found = [kind.create] if field.written_in in ("create", "both") else []
        found += [kind.update] if field.written_in in ("update", "both") else []
    return [call for call in found if isinstance(call, Call) and call.body is not None]


def body(contract: Contract, method: str, path: str) -> Schema:
    """Return the schema of an operation's body, or {} if the document lacks the operation."""
    operation = contract.operation(method, path) or {}
    content = operation.get("requestBody", {}).get("content", {})
    found: Schema = content.get("application/json", {}).get("schema", {})
    return found


def name_in(call: Call, kind: Kind, field: Field) -> str:
    return field.create_name if call is kind.create and field.create_name else field.wire_name


def sent_in(template: Any, wire: str, name: str) -> Iterator[Path]:
    """Where in a body the value of a field goes."""
    match template:
        case "$fields":
            yield (wire,)
        case "$value":
            yield ()
        case str() if template == f"${name}":
            yield ()
        case dict():
            for key, part in template.items():
                inside = () if key == "..." else (key,)
                yield from ((*inside, *rest) for rest in sent_in(part, wire, name))
        case list():
            yield from (("[]", *rest) for part in template for rest in sent_in(part, wire, name))


def paths(registry: Registry, kind: Kind, template: str) -> tuple[str, ...]:
    """Return the paths of a template, one for each kind of parent, with a letter for each id."""
    path = template.partition("?")[0].replace("{self}", kind.url_path)
    above = [one for parent in kind.parents for one in paths(registry, registry[parent], "{self}")]
    found = [path.replace("{parent}", one) for one in above] if "{parent}" in path else [path]
    return tuple(re.sub(r"\{(\w+)\}", lambda name: segment(registry, kind, name[1]), one) for one in found)


def segment(registry: Registry, kind: Kind, name: str) -> str:
    """Return a letter for an id, or one letter for each of its parts."""
    named = kind if name == "id" else registry.kinds.get(name)
    return re.sub(r"\{[\w.]+\}", "x", named.id_path) if named is not None and "{" in named.id_path else "x"
