"""docs/errors.md names every code that dpsync can print, and no other; its examples produce those codes.

The page shows only examples that help its reader. error_examples.md beside this file has the others.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import httpx
import pytest

from dpsync.api import Session, load_registry
from dpsync.client.client import ReadClient
from dpsync.client.transport import HttpTransport, Request, Response, Stats, Token
from dpsync.config.codes import TOP_KEY
from dpsync.config.compose import ROOT_KEYS
from dpsync.model import refusals
from dpsync.model.desired import Desired
from dpsync.model.diagnostic import Diagnostic, DiagnosticError, Exit
from dpsync.render.diagnostics import render_diagnostics
from dpsync.server.process.threaded_server import ThreadedServer
from tests.no_tls import NO_TLS

from .examples import REGISTRY, TOKEN, Reader, read
from .markdown import DOCS, ROOT, Section, sections

SOURCE = ROOT / "dpsync"
PAGE = {section.title: section for section in sections(DOCS / "errors.md") if section.level == 3}
EXAMPLES = {section.title: section for section in sections(Path(__file__).with_name("error_examples.md"))}
"""Sections with the examples that the page does not show."""
# A code whose cause is a race, another program, a flag or an ids file has no example that could be run.
WITHOUT_EXAMPLE = {
    "beyond",
    "DP130",
    *(
        "DP136",
        "DP140",
        "DP142",
        "DP143",
        "DP144",
        "DP145",
        "DP155",
        "DP146",
        "DP149",
        "DP243",
        "DP246",
        "DP311",
        "DP312",
        "DP313",
        "DP314",
        "DP315",
        "DP320",
        "DP330",
        "DP331",
    ),
    *("DP332", "DP333", "exchanged", "passed-over", "public-for-a-moment", "unseen"),
}


BEFORE_AN_APPLY = (
    refusals.STALE, refusals.NOT_APPROVED, refusals.LOCKED,
    refusals.NEW_ENVIRONMENT, refusals.NO_SOURCE, refusals.UNCOMMITTED, refusals.WRONG_SOURCE,
)  # fmt: skip
"""What ends a command before it has made or carried out a plan."""


def _calls(name: str, files: Iterator[Path]) -> Iterator[ast.Call]:
    for text in (file.read_text(encoding="utf-8") for file in files):
        for node in ast.walk(ast.parse(text)) if f"{name}(" in text else ():
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == name:
                yield node


@cache
def _diagnostic_codes() -> set[str]:
    text = "".join(path.read_text(encoding="utf-8") for path in SOURCE.rglob("*.py"))
    return set(re.findall(r"\bDP\d{3}\b", text))


def _ending_codes() -> set[str]:
    found = _calls(
        "Diagnostic",
        (SOURCE / "cli" / name for name in ("exit_codes.py", "failures.py", "commands/serve.py")),
    )
    own = {str(call.args[0].value) for call in found if isinstance(call.args[0], ast.Constant)}
    return own | {item.code for item in BEFORE_AN_APPLY}


@cache
def _refusal_codes() -> set[str]:
    """Those of plans, also those made of a kind's guard (`last-admin`)."""
    guards = {kind.guard.value for kind in REGISTRY.in_dependency_order if kind.guard}
    return {
        code
        for item in refusals.ALL_REFUSALS
        if item not in BEFORE_AN_APPLY
        for code in ({item.code.format(value=one) for one in guards} if "{" in item.code else {item.code})
    }


def test_errors_page_headings_match_all_codes() -> None:
    assert set(PAGE) == _diagnostic_codes() | _refusal_codes() | _ending_codes()


@pytest.mark.parametrize(
    ("chapter", "codes"),
    [
        ("Files", {code for code in _diagnostic_codes() if code < "DP200"}),
        ("Entries and values", {code for code in _diagnostic_codes() if "DP200" < code < "DP300"}),
        ("Comparison with GitBook", {code for code in _diagnostic_codes() if code > "DP300"}),
        ("Refusals", _refusal_codes()),
        ("Failures", _ending_codes()),
    ],
)
def test_errors_page_lists_code_in_correct_chapter(chapter: str, codes: set[str]) -> None:
    assert {title for title, section in PAGE.items() if section.above == chapter} == codes


@pytest.mark.parametrize("code", sorted(PAGE))
def test_errors_page_explains_every_code(code: str) -> None:
    assert " ".join(PAGE[code].words).strip()


@pytest.mark.parametrize("code", sorted(title for title in PAGE if title.startswith(("DP1", "DP2"))))
def test_configuration_error_example_produces_documented_code(code: str, tmp_path: Path) -> None:
    section = _example(code)
    if code in WITHOUT_EXAMPLE:
        assert not section.blocks
        return
    _, found = _read(section, tmp_path / "project")
    assert {diagnostic.code for diagnostic in found} == {code}


def test_errors_page_lists_all_root_keys() -> None:
    allowed = re.findall(r"`(\w+)`", " ".join(PAGE[TOP_KEY].words))
    assert set(allowed) == set(ROOT_KEYS)


def _example(code: str) -> Section:
    """Return the section with the example of a code: that of the page, or that of error_examples.md."""
    return PAGE[code] if PAGE[code].blocks else EXAMPLES.get(code, PAGE[code])


def _read(
    section: Section, folder: Path, platform: ThreadedServer | None = None
) -> tuple[Desired | None, list[Diagnostic]]:
    """Work through the example of a section; return its configuration and diagnostics."""
    with Reader(folder, platform.url if platform else "") as reader:
        reader.work_through(section.blocks)
    assert reader.taken == section.blocks
    return read(folder, reader.env)


def _planned(section: Section, platform: ThreadedServer, directory: Path) -> tuple[set[str], int]:
    """Plan the example of a section; return the codes of its problems and the exit code."""
    desired, found = _read(section, directory, platform)
    assert desired is not None
    assert not found
    with ReadClient(platform.url, "ada-token") as client:
        try:
            plan = Session(desired, load_registry(desired.profile)).plan(client).plan
        except DiagnosticError as ended:
            return {diagnostic.code for diagnostic in ended.diagnostics}, int(ended.exit_code)
    return {refusal.code for refusal in plan.refusals}, 4


@pytest.mark.parametrize("code", sorted(title for title in PAGE if title.startswith("DP3")))
def test_comparison_error_example_produces_documented_code(
    code: str, platform: ThreadedServer, tmp_path: Path
) -> None:
    section = _example(code)
    if code in WITHOUT_EXAMPLE:
        assert not section.blocks
        return
    found, ended = _planned(section, platform, tmp_path / "project")
    assert found == {code}
    stated = re.findall(r"exit code is (\d+)\.", " ".join(PAGE[code].words)) or ["5"]
    assert stated == [str(ended)]


class _SomebodyElse:
    """A transport beside which somebody deletes a team between two readings of the teams."""

    def __init__(self, url: str) -> None:
        self._inner = HttpTransport(url, Token("ada-token"))
        self._url = url
        self._readings = 0

    def send(self, request: Request) -> Response:
        if request.path == "/orgs/acme/teams":
            self._readings += 1
            if self._readings == 2:
                httpx.delete(
                    f"{self._url}/v1/orgs/acme/teams/sales", headers=TOKEN, **NO_TLS
                ).raise_for_status()
        return self._inner.send(request)

    def close(self) -> None:
        self._inner.close()

    def stats(self) -> Stats:
        return self._inner.stats()


def test_errors_page_tests_every_example() -> None:
    run = {code for code in PAGE if code.startswith("DP")} | _refusal_codes()
    shown = {code for code, section in PAGE.items() if section.blocks}
    other = {code for code, section in EXAMPLES.items() if section.blocks}
    assert not shown & other
    assert shown | other <= run
    assert [
        block.language
        for section in sections(DOCS / "errors.md")
        if section.level < 3
        for block in section.blocks
    ] == ["text"]


def test_plan_fails_when_list_changes_during_reading(platform: ThreadedServer, tmp_path: Path) -> None:
    desired, _ = _read(_example("protected"), tmp_path / "project")
    assert desired is not None
    with (
        ReadClient(platform.url, "ada-token", transport=_SomebodyElse(platform.url)) as client,
        pytest.raises(DiagnosticError) as ended,
    ):
        Session(desired, load_registry(desired.profile)).plan(client)
    assert [diagnostic.code for diagnostic in ended.value.diagnostics] == ["DP320"]
    assert ended.value.exit_code == Exit.FAILED


@pytest.mark.parametrize("code", sorted(_refusal_codes() - WITHOUT_EXAMPLE))
def test_refusal_example_produces_documented_refusal(
    code: str, platform: ThreadedServer, tmp_path: Path
) -> None:
    found, _ = _planned(_example(code), platform, tmp_path / "project")
    # Whoever takes the last admin away takes away their own role, too.
    assert found - {"own-user"} == {code} - {"own-user"}
    assert code in found


def test_errors_page_shows_printed_message(tmp_path: Path) -> None:
    (shown,) = next(section for section in sections(DOCS / "errors.md") if section.level == 1).of("text")
    written = "dpsync: 1\norganizations:\n  acme:\n    id: acme\n    titel: Acme\n"
    (tmp_path / "dpsync.yaml").write_text(written, encoding="utf-8")
    desired, found = read(tmp_path, {})
    assert desired is not None
    assert render_diagnostics(found, desired.texts) == shown.text


def test_errors_page_explains_every_exit_code() -> None:
    top = next(section for section in sections(DOCS / "errors.md") if section.level == 1)
    rows = [line.split("|")[1] for line in top.words if re.match(r"\| \d", line)]
    assert {int(number) for row in rows for number in re.findall(r"\d+", row)} == set(Exit)
