"""Files with `organization: acme` at the top: their other keys are the settings and entries of acme."""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from dpsync.config import codes
from dpsync.model.diagnostic import Diagnostic
from dpsync.model.nodes import Mapping, Scalar

WORD: Final = "organization"
WHOLE: Final = "organizations"


def with_organizations(file: Mapping, top_keys: tuple[str, ...]) -> tuple[Mapping, Diagnostic | None]:
    """Return the file with `organizations: { acme: … }` in place of `organization: acme`, and what is wrong.

    `top_keys` stay at the top of the file. Keys and values keep their source positions.
    """
    key, name = file.key(WORD), file.get(WORD)
    if key is None or name is None:
        return file, None
    rest = Mapping(tuple(entry for entry in file.entries if entry[0].text != WORD), file.span)
    if not isinstance(name, Scalar) or not isinstance(name.value, str):
        message, hint = f'"{WORD}" must be the key of an organization', f"write {WORD}: acme"
        return rest, Diagnostic(codes.SHAPE, message, name.span, hint=hint)
    if (whole := file.key(WHOLE)) is not None:
        message, hint = f'"{WORD}" and "{WHOLE}" cannot both be in one file', "delete one of the two keys"
        return rest, Diagnostic(codes.TOP_KEY, message, whole.span, hint=hint)
    top = tuple(entry for entry in rest.entries if entry[0].text in top_keys)
    inside = Mapping(tuple(entry for entry in rest.entries if entry[0].text not in top_keys), file.span)
    organizations = Mapping(((name, inside),), file.span)
    return Mapping((*top, (replace(key, value=WHOLE, text=WHOLE), organizations)), file.span), None
