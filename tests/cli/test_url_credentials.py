"""A URL with a user or a password is a warning at its place, and no finding shows the password."""

from __future__ import annotations

import json
import urllib.parse
from collections.abc import Callable
from pathlib import Path

import pytest

from dpsync.render.formats import FORMATS
from dpsync.server.process.threaded_server import ThreadedServer
from tests.by_hand import by_hand
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
def test_validate_warns_about_password_in_url(entry: str, run: Run, project: Project) -> None:
    at = project(ROOT.format(entry=entry), {"a.csv": f"source,destination\n/a,{URL}\n"})
    ended = run("validate", "-C", str(at))
    assert ended.code == 0, ended
    assert "warning[DP242]: the URL contains a user name or a password\n  --> " in ended.err
    assert ("a.csv:2:4" if "a.csv" in entry else f"dpsync.yaml:5:{entry.index('https') + 4}") in ended.err
    assert PASSWORD not in ended.out + ended.err
    found = run("validate", "-C", str(at), "--format", "json")
    assert '"DP242"' in found.out
    assert PASSWORD not in found.out


@pytest.mark.usefixtures("platform")
def test_plan_warns_about_password_in_url(run: Run, project: Project) -> None:
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
def test_findings_mask_password_in_url(entry: str, code: str, run: Run, project: Project) -> None:
    ended = run("validate", "-C", str(project(ROOT.format(entry=entry))))
    assert (ended.code, f"error[{code}]" in ended.err) == (5, True), ended
    assert f"://{'*' * 19}@" in ended.err
    assert PASSWORD not in ended.out + ended.err


def test_invalid_environment_url_masks_password(run: Run, project: Project) -> None:
    root = ROOT.format(entry="title: Acme") + f'environments: {{ prod: {{ url: "{URL}" }} }}\n'
    ended = run("validate", "-C", str(project(root)))
    assert (ended.code, "DP141" in ended.err) == (5, True)
    assert PASSWORD not in ended.out + ended.err


@pytest.mark.parametrize("url", ["https://acme.example/@ada", "https://acme.example/?to=ada@acme.example"])
def test_at_sign_outside_url_authority_is_accepted(url: str, run: Run, project: Project) -> None:
    entry = FIELDS["redirect"].replace(URL, url)
    assert run("validate", "-C", str(project(ROOT.format(entry=entry)))).err == ""


def set_live_url(platform: ThreadedServer, url: str) -> None:
    by_hand(platform, "PUT", "/orgs/acme/openapi/shop", {"source": {"url": url}})


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("command", ["plan", "drift"])
def test_live_url_password_is_masked_in_every_format(
    command: str, format: str, run: Run, project: Project, platform: ThreadedServer
) -> None:
    """Otherwise, everybody who can read a log or a comment learns the password that was live before."""
    set_live_url(platform, URL)
    at = project(ROOT.format(entry='openapi: { shop: { source: { url: "https://new.acme.example/" } } }'))
    ended = run(command, "-C", str(at), "--format", format, "-v")
    assert "acme/openapi/shop" in ended.out, ended
    for form in (PASSWORD, urllib.parse.quote(PASSWORD, safe="")):
        assert form not in ended.out + ended.err
    if format == "json":
        assert "https://ada:[secret]@old.acme.example/" in ended.out


@pytest.mark.parametrize("command", ["apply", "show"])
def test_apply_output_and_journal_mask_url_password(
    command: str, run: Run, project: Project, platform: ThreadedServer
) -> None:
    set_live_url(platform, URL)
    at = project(ROOT.format(entry='openapi: { shop: { source: { url: "https://new.acme.example/" } } }'))
    ended = run("apply", "-C", str(at), "--yes")
    (journal,) = (at / ".dpsync" / "journal").iterdir()
    if command == "show":
        ended = run("show", str(journal), "--format", "json")
    assert "acme/openapi/shop" in ended.out, ended
    assert PASSWORD not in ended.out + ended.err
    assert PASSWORD not in journal.read_text("utf-8")
    assert "[secret]@old.acme.example" in journal.read_text("utf-8")


def test_plan_digest_differs_for_different_masked_passwords(
    run: Run, project: Project, platform: ThreadedServer
) -> None:
    """Otherwise, the approval of one password would hold for every other."""
    at = project(ROOT.format(entry='openapi: { shop: { source: { url: "https://new.acme.example/" } } }'))
    plans = []
    for url in (URL, URL.replace(PASSWORD, "another-password")):
        set_live_url(platform, url)
        plans.append(json.loads(run("plan", "-C", str(at), "--format", "json").out))
    first, second = ([one["differences"] for one in plan["plan"]["changes"]] for plan in plans)
    assert plans[0]["digest"] != plans[1]["digest"]
    assert first[0][0]["before"] == second[0][0]["before"]
    assert first[0][0]["masked"] != second[0][0]["masked"]
