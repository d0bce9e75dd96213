"""The pytest plugin, as somebody uses it who has dpsync installed: in a pytest of its own."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from dpsync.testing import DocsPlatform, PlatformClock, PlatformRequest
from tests.patience import PATIENCE

PAGE = Path(__file__).parents[2] / "docs" / "testing.md"
TEXT = PAGE.read_text(encoding="utf-8")


OTHERS = ("-p", "no:schemathesis", "-p", "no:hypothesispytest", "-p", "no:xdist")
"""Plugins that the tests of dpsync use, and that whoever installs it does not have."""


def run(directory: Path, text: str, *options: str) -> tuple[int, str]:
    (directory / "test_docs.py").write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-W", "error", "-p", "no:cacheprovider", *OTHERS, *options]
    ended = subprocess.run(
        command, cwd=directory, capture_output=True, text=True, check=False, timeout=PATIENCE
    )
    return ended.returncode, ended.stdout + ended.stderr


def test_pytest_plugin_reports_unused_fault_rules(tmp_path: Path) -> None:
    text = """
def test_missed(docs_platform):
    docs_platform.faults = [{"operation": "createOrganizationTeam", "fault": {"kind": "reset"}}]

def test_chance(docs_platform):
    docs_platform.faults = [{"probability": 0.5, "fault": {"kind": "reset"}}]

def test_taken_back(docs_platform):
    docs_platform.faults = [{"fault": {"kind": "reset"}}]
    docs_platform.faults = []
"""
    code, out = run(tmp_path, text)
    assert code == 1, out
    assert "3 passed, 1 error" in out
    assert (
        "the local server did not simulate these failures (faults): [{'operation': 'createOrganizationTeam'"
        in out
    )


def test_pytest_plugin_imports_server_only_when_used(tmp_path: Path) -> None:
    text = """
import sys

def test_other():
    assert "dpsync.testing" in sys.modules
    assert not {"starlette", "uvicorn", "dpsync.server"} & set(sys.modules)
"""
    code, out = run(tmp_path, text)
    assert code == 0, out


def test_pytest_plugin_can_be_disabled(tmp_path: Path) -> None:
    code, out = run(tmp_path, "def test_it(docs_platform): ...", "-p", "no:dpsync")
    assert code == 1
    assert "fixture 'docs_platform' not found" in out


def test_pytest_plugin_without_server_extra_suggests_install(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text("import sys; sys.modules['uvicorn'] = None", encoding="utf-8")
    code, out = run(tmp_path, "def test_it(docs_platform): ...")
    assert code == 1
    assert "the local server needs the package uvicorn: run pip install 'dpsync[server]'" in out
    assert "Traceback" not in out
    assert "ModuleNotFoundError" not in out


def test_pytest_plugin_resets_server_data_for_each_test(tmp_path: Path) -> None:
    text = """
import httpx
import pytest

@pytest.mark.parametrize("number", [1, 2])
def test_it(docs_platform, number):
    assert docs_platform.requests == [] and docs_platform.token == "ada-token"
    assert any(team["id"] == "writers" for team in docs_platform.world["organizations"][0]["teams"])
    docs_platform.world = {"tokens": {}, "organizations": []}
    httpx.get(docs_platform.url + "/v1/orgs")
"""
    code, out = run(tmp_path, text)
    assert code == 0, out


def test_docs_platform_fixture_rejects_invalid_settings(docs_platform: DocsPlatform) -> None:
    with pytest.raises(ValueError, match="unknown operation 'createTeem'"):
        docs_platform.faults = [{"operation": "createTeem", "fault": {"kind": "reset"}}]
    with pytest.raises(ValueError, match="invalid data"):
        docs_platform.world = {"organizations": [{"members": [{}]}]}
    with pytest.raises(ValueError, match="user 'nobody' not found"):
        docs_platform.token_of("nobody")


@pytest.mark.usefixtures("docs_platform")
def test_testing_page_lists_every_fixture_member() -> None:
    table = "\n".join(line for line in TEXT.splitlines() if line.startswith("| "))
    shown = set(re.findall(r"`(\w+)[`(]", table))
    members = {name for of in (DocsPlatform, PlatformClock) for name in vars(of) if name[0] != "_"}
    assert members <= shown
    assert set(PlatformRequest.__struct_fields__) <= shown
    assert {"url", "token", "clock"} <= shown


def test_docs_platform_fixture_serves_local_server_api(docs_platform: DocsPlatform) -> None:
    headers = {"Authorization": f"Bearer {docs_platform.token_of('hank')}"}
    answer = httpx.get(docs_platform.url + "/v1/user", headers=headers, trust_env=False, timeout=PATIENCE)
    assert answer.json()["id"] == "hank"
    (seen,) = docs_platform.requests
    assert (seen.operation, seen.caller, seen.status) == ("getUser", "hank", 200)
