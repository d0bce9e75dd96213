"""A second `dpsync import` keeps whatever the files say beside live values."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from dpsync.server.process.threaded_server import ThreadedServer
from tests.by_hand import by_hand
from tests.cli.conftest import Run
from tests.importing.test_command import committed, git

Project = Callable[..., Path]

ROOT = """\
dpsync: 1
include: [people/*.yaml]          # ours
policy:
  prune: [teams]
  protect: [sites/*]
  forget: ["acme/teams/[Legacy]"]
  ignore: ["sites/*#visibility"]
environments:
  prod: { url: "${DPSYNC_URL_PROD:?where it is}", token: { env: DPSYNC_TOKEN_PROD }, overlay: prod.yaml }
organizations:
  acme:
    id: ${ACME:-acme}
    title: Acme
    sites:
      manual: { previously: { basename: old }, title: Acme Docs, basename: docs, visibility: unlisted }
"""
PEOPLE = """\
organizations:
  acme:
    teams:
      # Those who write.
      authors: { title: "Technical writers" }
      people: { title: People }
"""
DECIDED = (
    "ours", "prune:", "protect:", "forget:", "ignore:", "prod:", "DPSYNC_URL_PROD", "prod.yaml",
    "${ACME:-acme}", "previously:", "visibility: unlisted",
)  # fmt: skip


@pytest.fixture
def directory(platform: ThreadedServer, run: Run, project: Project) -> Path:
    """Create a project that is live and committed; then change and create objects by hand."""
    del run
    made = project(
        ROOT, {"people/teams.yaml": PEOPLE, "prod.yaml": "organizations: { acme: { title: Acme } }"}
    )
    committed(made)
    by_hand(platform, "PATCH", "/orgs/acme/sites/docs", {"title": "Acme Manual"})
    by_hand(platform, "PUT", "/orgs/acme/teams", {"title": "Made by hand"})
    return made


def test_second_import_keeps_edits_and_adds_live_values(run: Run, directory: Path) -> None:
    """Otherwise, what the policy leaves alone gets an entry."""
    ended = run("import", "-C", str(directory), "--format", "json")
    root, people = (directory / "dpsync.yaml").read_text(), (directory / "people/teams.yaml").read_text()
    assert {word for word in DECIDED if word not in root} == set()
    assert "title: Acme Manual" in root
    assert '# Those who write.\n      authors: { title: "Technical writers" }' in people
    assert "made-by-hand: { title: Made by hand }" in people
    assert "Legacy" not in people
    assert sorted(path.name for path in directory.glob("[!.]*")) == ["dpsync.yaml", "people", "prod.yaml"]
    assert [item["address"] for item in json.loads(ended.out)["differences"]] == ["acme/teams/people"]
    assert ended.code == 3


def test_second_import_without_changes_keeps_files(run: Run, directory: Path) -> None:
    run("import", "-C", str(directory))
    committed(directory)
    run("import", "-C", str(directory))
    assert git_says(directory) == ""


def git_says(directory: Path) -> str:
    asked = ["git", "-C", str(directory), "status", "--porcelain", "--", "*.yaml"]
    return subprocess.run(asked, check=True, capture_output=True, text=True).stdout


def test_second_import_follows_platform_changes(run: Run, platform: ThreadedServer, tmp_path: Path) -> None:
    target = tmp_path / "new"
    assert run("import", "-C", str(target), "--organization", "acme").code == 0
    committed(target)
    made = by_hand(platform, "PUT", "/orgs/acme/teams", {"title": "Made by hand"})
    by_hand(
        platform, "PUT", f"/orgs/acme/teams/{made['id']}/members", {"memberships": {"lin": {"role": "owner"}}}
    )
    by_hand(platform, "PATCH", "/orgs/acme/spaces/guides" if False else "/spaces/guides", {"title": "Guide"})
    ended = run("import", "-C", str(target))
    assert ended.code == 0, ended.out + ended.err
    assert "Verified: a plan with these files has no changes." in ended.out
    assert "made-by-hand" in (target / "acme/teams.yaml").read_text()
    assert "lin@acme.example: owner" in (target / "acme/teams.yaml").read_text()
    assert run("drift", "-C", str(target), "--everything").code == 0


KEPT = """\
  prune: [teams]
  protect: [sites/*]
  forget: ["acme/teams/[Legacy]"]
  ignore: ["sites/*#visibility"]
environments:
  prod: { url: "${DPSYNC_URL_PROD:?where it is}", token: { env: DPSYNC_TOKEN_PROD }, overlay: prod.yaml }
organization: acme
"""
LOST = """\
note: the new dpsync.yaml does not contain:
  include "people/*.yaml": the new files contain the entries
  the variable ${ACME}: the file contains the value from GitBook instead
  the comment # ours
"""


@pytest.mark.parametrize("flags", [pytest.param([], id="defaults"), pytest.param(["--full"], id="full")])
def test_import_with_force_keeps_policy_and_environments(flags: list[str], run: Run, directory: Path) -> None:
    """Otherwise, a second import silently removes the protection of sites."""
    (directory / "people/teams.yaml").unlink()
    ended = run("import", "-C", str(directory), "--organization", "acme", "--force", *flags)
    assert KEPT in (directory / "dpsync.yaml").read_text()
    assert LOST in ended.err
    assert run("validate", "-C", str(directory)).code == 0


def test_import_with_force_reports_invalid_policy_as_lost(run: Run, directory: Path) -> None:
    wrong = ROOT.replace("prune: [teams]", "prune: [tems]")
    (directory / "dpsync.yaml").write_text(wrong)
    ended = run("import", "-C", str(directory), "--organization", "acme", "--force")
    assert "\n  policy.prune: " in ended.err
    text = (directory / "dpsync.yaml").read_text()
    assert ("prune:" in text, "protect: [sites/*]" in text) == (False, True)


def test_second_import_refuses_invalid_existing_files(run: Run, directory: Path) -> None:
    (directory / "dpsync.yaml").write_text(ROOT + "nonsense: true\n")
    ended = run("import", "-C", str(directory))
    assert ended.code == 4
    assert "DP" in ended.err
    assert "dpsync.yaml exists already and has errors, so dpsync cannot keep its content" in ended.err
    assert "nonsense" in (directory / "dpsync.yaml").read_text()


def test_second_import_refuses_undeclared_organization(run: Run, directory: Path) -> None:
    ended = run("import", "-C", str(directory), "--organization", "globex")
    assert (ended.code, 'the existing files declare no organization "globex"' in ended.err) == (1, True)


def test_second_import_refuses_uncommitted_changes(run: Run, directory: Path) -> None:
    (directory / "dpsync.yaml").write_text(ROOT + "# not committed\n")
    assert run("import", "-C", str(directory)).code == 4
    assert "Acme Manual" not in (directory / "dpsync.yaml").read_text()
    git(directory, "commit", "-qam", "now it is")
    assert run("import", "-C", str(directory)).code == 3


NOTE = (
    "    # Not imported: {}. The token has no read permission. Import with the token of an administrator.\n"
)


@pytest.mark.usefixtures("platform")
def test_second_import_with_more_access_completes_files(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise, visitor access is left out silently and the comment says that it was not imported."""
    target, file = tmp_path / "new", tmp_path / "new/acme/sites/help.yaml"
    monkeypatch.setenv("DPSYNC_TOKEN", "lin-token")
    assert run("import", "-C", str(target), "--organization", "acme").code == 0
    assert NOTE.format("shareLinks and visitorAuth") in file.read_text()
    committed(target)
    monkeypatch.setenv("DPSYNC_TOKEN", "ada-token")
    ended = run("import", "-C", str(target))
    assert ended.code == 0, ended.out + ended.err
    assert "    visitorAuth: { backend: custom }\n    structure:\n" in file.read_text()
    root = (target / "dpsync.yaml").read_text()
    assert "saml:\n  azure:\n    label: Azure\n" in root
    assert "no read permission" not in root + file.read_text()
    committed(target)
    run("import", "-C", str(target))
    assert git_says(target) == ""


@pytest.mark.usefixtures("platform")
def test_second_import_with_less_access_names_unreadable_lists(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target, file = tmp_path / "new", tmp_path / "new/acme/sites/help.yaml"
    assert run("import", "-C", str(target), "--organization", "acme").code == 0
    committed(target)
    monkeypatch.setenv("DPSYNC_TOKEN", "lin-token")
    ended = run("import", "-C", str(target))
    assert "  acme/sites/*/shareLinks: the token has no read permission." in ended.out
    assert "somebody deleted the object" not in ended.out
    assert NOTE.format("shareLinks") in file.read_text()
    assert "visitorAuth: { backend: custom }" in file.read_text()
    committed(target)
    run("import", "-C", str(target))
    assert git_says(target) == ""


@pytest.mark.usefixtures("platform")
def test_second_import_adds_entry_as_block(run: Run, project: Project) -> None:
    root = (
        "dpsync: 1\npolicy: { watch: [saml] }\norganization: acme\nid: acme\nsaml:\n  okta: { label: Okta }\n"
    )
    directory = project(root)
    committed(directory)
    ended = run("import", "-C", str(directory))
    assert ended.code == 0, ended.out + ended.err
    text = (directory / "dpsync.yaml").read_text()
    assert "  azure:\n    label: Azure\n" in text
    assert "    certificate: |\n      -----BEGIN CERTIFICATE-----\n" in text
