"""What an import says of itself: lines, files, variables to set, what it left out, whether it is proven."""

from __future__ import annotations

from typing import Any

import pytest

from dpsync.model.plan import Origin
from dpsync.render.command_texts import render_import
from dpsync.render.documents import Finding, ImportDocument, ImportedFile, NotImported, SecretToSet, TakenOver
from dpsync.render.paint import Paint

AT = Origin(file="teams.yaml", line=7, column=3)
SHARED = Finding(
    code="shared", severity="error", message="the line is shared", address="acme", hint="write it"
)
PLACED = Finding(code="order", severity="error", message="another place", at=AT)


def said(proven: bool | None = None, verbose: int = 0, **more: Any) -> list[str]:
    return render_import(ImportDocument(exit=0, proven=proven, **more), Paint(False), verbose).splitlines()


@pytest.mark.parametrize(
    ("document", "lines"),
    [
        ({}, ["Nothing to import: these lines already contain the values from GitBook."]),
        ({"proven": True, "requests": 7}, ["Verified: a plan with these files has no changes."]),
        (
            {"proven": False, "differences": (SHARED,)},
            ["With these files, a plan still has changes:", "  acme: the line is shared", "    write it"],
        ),
        (
            {"differences": (PLACED,), "taken": (TakenOver(address="acme", field="title", at=AT),)},
            ["  acme#title  teams.yaml:7:3", "", "Not imported:", "  teams.yaml:7: another place"],
        ),
        (
            {"shared_with": ("prod", "staging"), "files": (ImportedFile(path="a.yaml", state="replaced"),)},
            [
                "note: other environments (prod and staging) also use these lines, "
                "so their values change, too",
                "~ a.yaml",
                "",
                "Done.",
            ],
        ),
        (
            {
                "proven": True,
                "secrets": (SecretToSet(name="TOKEN", address="acme/saml/okta", field="token"),),
            },
            [
                "Set these environment variables before you apply. The files do not contain their values:",
                "  TOKEN  acme/saml/okta#token",
                "",
                "Verified: a plan with these files has no changes.",
            ],
        ),
        (
            {
                "proven": True,
                "left_out": (
                    NotImported(address="acme/teams", why="may not be read"),
                    NotImported(address="acme", field="logo", why="no line says it", at=AT),
                ),
            },
            [
                "dpsync did not import these objects and fields, so dpsync does not manage them:",
                "  acme/teams: may not be read",
                "  teams.yaml:7:3: acme#logo: no line says it",
                "",
                "Verified: a plan with these files has no changes.",
            ],
        ),
    ],
)
def test_import_report_lists_written_and_omitted_values(document: dict[str, Any], lines: list[str]) -> None:
    assert said(**document) == lines


@pytest.mark.parametrize(
    ("files", "verbose", "named", "more"), [(40, 0, 40, 0), (43, 0, 40, 3), (43, 1, 43, 0)]
)
def test_import_report_limits_listed_files_unless_verbose(
    files: int, verbose: int, named: int, more: int
) -> None:
    new = tuple(ImportedFile(path=f"{number}.yaml", state="new") for number in range(files))
    lines = said(verbose=verbose, files=new)
    assert sum(line.startswith("+ ") for line in lines) == named
    assert [line for line in lines if "more" in line] == (
        [f"  and {more} more files (-v lists these files)"] if more else []
    )
