"""Declare the terms of the translation glossary (`Kind`): fields and requests.

The API gives terms no name, so dpsync recognizes a term by its text in any language.
Output: a `Kind`, from which dpsync derives the file schema, the comparison with GitBook, and the requests.
"""

from dpsync.kinds.kind import EntryMapping, Field, Kind, ListRead, Put
from dpsync.kinds.shared.fields import LANGUAGE, LANGUAGES
from dpsync.kinds.types import Table, Text

_TERMS = "{parent}/translations-glossary"


def _operation(**operation: str) -> dict[str, list[dict[str, str]]]:
    """Return the body of a request that changes the glossary by one operation."""
    return {"operations": [operation]}


GLOSSARY_TERM = Kind(
    name="glossary_term", parent="organization", key="glossary", label="glossary term", shape=EntryMapping(),
    url_path=_TERMS, read=ListRead(_TERMS),
    natural_keys=tuple(f"translations.{language}" for language in LANGUAGES), title_field="translations",
    # One request for all of them, which answers nothing: what was made is looked up.
    create=Put(_TERMS, _operation(type="insert", translations="$translations"), repeat="look_up"),
    update=Put(_TERMS, _operation(type="update", id="$id", translations="$translations"), repeat="safe"),
    delete=Put(_TERMS, _operation(type="delete", id="$id"), repeat="safe"), shorthand_field="translations",
    fields=(
        Field(
            "translations",
            Table(LANGUAGE, Text(1, 255, r"[^\r\n]+", pattern_description="one line"), min_keys=1),
            required=True,
        ),
    ),
)  # fmt: skip
