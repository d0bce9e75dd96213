"""The JSON that commands have printed → documents: what was printed once can be shown again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from pydantic import BaseModel, ValidationError

from dpsync.apply.saved_plan import content, format_of, parse_saved, unusable
from dpsync.render.documents import (
    ApplyDocument,
    DriftDocument,
    FindingsDocument,
    PlanDocument,
    RehearseDocument,
)

if TYPE_CHECKING:
    pass
from dpsync.render.json_conversion import plan_document

_SHOWN: Final = (PlanDocument, DriftDocument, ApplyDocument, RehearseDocument, FindingsDocument)


def read_document(path: Path) -> BaseModel:
    """What a file holds: a saved plan, or what a command has printed with `--format json`.

    Raises DiagnosticError (exit 5) when it is neither, damaged, or of another version.
    """
    return parse_document(path, content(path))


def parse_document(path: Path, found: bytes) -> BaseModel:
    """The same of what a file holds."""
    name = format_of(found)
    for document in _SHOWN:
        if name == document.model_fields["format"].default:
            try:
                return document.model_validate_json(found)
            except ValidationError:
                why = (
                    f"the file does not fit the format {name}. Perhaps another version of dpsync wrote "
                    "the file"
                )
                raise unusable(path, why) from None
    saved = parse_saved(path, found)
    return plan_document(saved.plan, saved.rehearsal)
