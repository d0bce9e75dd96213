"""Read documents that commands printed as JSON, so that `dpsync show` can print them again."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from pydantic import BaseModel, ValidationError

from dpsync.apply.saved_plan import content, format_of, parse_saved, unusable
from dpsync.render.documents import (
    ApplyDocument,
    DriftDocument,
    FindingsDocument,
    PlanDocument,
    RehearseDocument,
)
from dpsync.render.json_conversion import plan_document

_SHOWN: Final = (PlanDocument, DriftDocument, ApplyDocument, RehearseDocument, FindingsDocument)


def read_document(path: Path) -> BaseModel:
    """Return the document in a file: a saved plan, or output of a command with `--format json`.

    Raises DiagnosticError (exit 5) if the file is neither, is damaged, or has another version.
    """
    return parse_document(path, content(path))


def parse_document(path: Path, found: bytes) -> BaseModel:
    """Return the document in the content of a file. See `read_document`."""
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
