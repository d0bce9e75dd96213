"""A URL with a user or a password is a warning at its place, and no finding shows the password."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from dpsync.server.process.thread import ThreadedServer
from tests.cli.conftest import Run

Project = Callable[..., Path]

PASSWORD = "hunter2-hunter2"
URL = f"https://ada:{PASSWORD}@old.acme.example/"
ROOT = """\
dpsync: 1
organizations:
  acme:
    id: acme
    {entry}
"""
SITE = "sites: {{ docs: {{ title: Acme Docs, basename: docs, {} }} }}"

FIELDS = {
    "redirect": SITE.format(f'redirects: {{ /a: {{ destination: {{ kind: external, url: "{URL}" }} }} }}'),
    "redirects in rows": SITE.format("redirects: { file: a.csv }"),
    "specification": f'openapi: {{ api: {{ source: {{ url: "{URL}" }} }} }}',
    "external link": SITE.format(
        f'structure: [{{ type: external-link, key: a, title: Blog, url: "{URL}" }}]'
    ),
    "logo": f'logo: "{URL}"',
    "user alone": SITE.format(
        f'redirects: {{ /a: {{ destination: {{ kind: external, url: "https://{PASSWORD}@a.example/" }} }} }}'
    ),
}


@pytest.mark.parametrize("entry", FIELDS.values(), ids=FIELDS)
def test_a_url_with_a_password_is_a_warning(entry: str, run: Run, project: Project) -> None:
    at = project(ROOT.format(entry=entry), {"a.csv": f"source,destination\n/a,{URL}\n"})
    ended = run("validate", "-C", str(at))
    assert ended.code == 0, ended
    assert "warning[DP242]: the URL holds a user or a password\n  --> " in ended.err
    assert ("a.csv:2:4" if "a.csv" in entry else f"dpsync.yaml:5:{entry.index('https') + 4}") in ended.err
    assert PASSWORD not in ended.out + ended.err
    found = run("validate", "-C", str(at), "--format", "json")
    assert '"DP242"' in found.out
    assert PASSWORD not in found.out


def test_plan_warns_of_a_password_in_a_url(run: Run, project: Project, platform: ThreadedServer) -> None:
    ended = run("plan", "-C", str(project(ROOT.format(entry=FIELDS["specification"]))))
    assert ended.code == 0, ended
    assert "warning[DP242]" in ended.err
    assert PASSWORD not in ended.err


WRONG = {
    "another scheme": (f'logo: "{URL}"'.replace("https", "ftp"), "DP204"),
    "unknown key": (f'logos: "{URL}"', "DP201"),
    "another type": (f'teams: "{URL[:36]}/"', "DP202"),
}


@pytest.mark.parametrize(("entry", "code"), WRONG.values(), ids=WRONG)
def test_no_finding_shows_the_password(entry: str, code: str, run: Run, project: Project) -> None:
    ended = run("validate", "-C", str(project(ROOT.format(entry=entry))))
    assert (ended.code, f"error[{code}]" in ended.err) == (5, True), ended
    assert f"://{'*' * 19}@" in ended.err
    assert PASSWORD not in ended.out + ended.err


def test_an_environment_shows_no_password(run: Run, project: Project) -> None:
    root = ROOT.format(entry="title: Acme") + f'environments: {{ prod: {{ url: "{URL}" }} }}\n'
    ended = run("validate", "-C", str(project(root)))
    assert (ended.code, "DP141" in ended.err) == (5, True)
    assert PASSWORD not in ended.out + ended.err


@pytest.mark.parametrize("url", ["https://acme.example/@ada", "https://acme.example/?to=ada@acme.example"])
def test_an_at_sign_elsewhere_is_no_credential(url: str, run: Run, project: Project) -> None:
    entry = FIELDS["redirect"].replace(URL, url)
    assert run("validate", "-C", str(project(ROOT.format(entry=entry)))).err == ""
