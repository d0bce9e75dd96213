"""Read documents that commands printed as JSON, so that `dpsync show` can print them again."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from pydantic import BaseModel, ValidationError

from dpsync.apply.saved_plan import format_name, invalid_plan_error, parse_saved_plan, read_content
from dpsync.render.documents import (
    ApplyDocument,
    DriftDocument,
    FindingsDocument,
    PlanDocument,
    RehearseDocument,
)
from dpsync.render.json_conversion import plan_document

_DOCUMENT_TYPES: Final = (PlanDocument, DriftDocument, ApplyDocument, RehearseDocument, FindingsDocument)


def read_document(path: Path) -> BaseModel:
    """Return the document in a file: a saved plan, or output of a command with `--format json`.

    Raises DiagnosticError (exit 5) if the file is neither, is damaged, or has another version.
    """
    return parse_document(path, read_content(path))


def parse_document(path: Path, content: bytes) -> BaseModel:
    """Return the document in the content of a file: a saved plan, or the JSON output of a command.

    Raises DiagnosticError (exit 5) if the content is neither, is damaged, or has another version. `path` is
    for the message.
    """
    name = format_name(content)
    for document in _DOCUMENT_TYPES:
        if name == document.model_fields["format"].default:
            try:
                return document.model_validate_json(content)
            except ValidationError:
                reason = (
                    f"the file does not fit the format {name}. Perhaps another version of dpsync wrote "
                    "the file"
                )
                raise invalid_plan_error(path, reason) from None
    saved_plan = parse_saved_plan(path, content)
    return plan_document(saved_plan.plan, saved_plan.rehearsal)
