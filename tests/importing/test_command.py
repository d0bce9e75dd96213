"""`dpsync import`: what it writes for the built-in world, what it never overwrites, what it says."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from dpsync.api import import_
from dpsync.client.errors import NotFoundError
from dpsync.importing.files import CachingClient
from dpsync.kinds.registry import build_registry
from dpsync.live.sources import ReadSource, SourceReader
from dpsync.model.snapshot import LiveObject
from dpsync.server import world as worlds
from dpsync.server.http.app import build_companion
from dpsync.server.process.threaded_server import ThreadedServer
from dpsync.server.store import open_store
from tests.by_hand import by_hand
from tests.cli.conftest import Run
from tests.patience import PATIENCE

SCHEMA_LINE = "# yaml-language-server: $schema="


def git(directory: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=Test", "-c", "user.email=test@acme.example"]
    subprocess.run(["git", "-C", str(directory), *identity, *arguments], check=True, capture_output=True)


def committed(directory: Path) -> None:
    git(directory, "init", "-q")
    git(directory, "add", "-A")
    git(directory, "commit", "-qm", "all")


@pytest.fixture
def target(tmp_path: Path) -> Path:
    (tmp_path / "docs").mkdir()
    return tmp_path / "docs"


@pytest.mark.parametrize(("token", "organization"), [("ada-token", "acme"), ("hank-token", "globex")])
@pytest.mark.usefixtures("platform")
def test_plan_is_empty_after_import(
    run: Run, target: Path, token: str, organization: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DPSYNC_TOKEN", token)
    ended = run("import", "-C", str(target), "--organization", organization)
    assert ended.code == 0, ended.out + ended.err
    assert "Verified: a plan with these files has no changes." in ended.out
    planned = run("plan", "-C", str(target), "--detailed-exitcode", "--format", "json")
    assert planned.code == 0, planned.out
    assert json.loads(planned.out)["plan"]["changes"] == []


def test_merge_rules_naming_former_members_are_imported(
    platform: ThreadedServer, run: Run, target: Path
) -> None:
    users = {"rule": "require_specific_reviewers", "users": ["lin", "rui"]}
    for path in ("/orgs/acme", "/spaces/guides", "/spaces/handbook"):
        by_hand(platform, "PATCH", path, {"mergeRules": {"type": "rules", "rules": [users]}})
    by_hand(platform, "DELETE", "/orgs/acme/members/lin")
    ended = run("import", "-C", str(target), "--organization", "acme")
    assert ended.code == 0, ended.out + ended.err
    assert "Verified: a plan with these files has no changes." in ended.out
    assert "- { id: lin }" in (target / "acme/spaces.yaml").read_text()


def test_import_omits_and_reports_invalid_certificate(
    platform: ThreadedServer, run: Run, target: Path
) -> None:
    by_hand(platform, "PATCH", "/orgs/acme/saml/okta", {"certificate": "to follow!"})
    ended = run("import", "-C", str(target), "--organization", "acme")
    assert ended.code == 0, ended.out + ended.err
    assert "Verified: a plan with these files has no changes." in ended.out
    assert "acme/saml/okta#certificate: " in ended.out
    assert "the text is not a certificate: it is not Base64" in ended.out


@pytest.mark.usefixtures("platform")
def test_import_writes_one_file_per_list_and_site(run: Run, target: Path) -> None:
    run("import", "-C", str(target), "--organization", "acme")
    names = {path.relative_to(target).as_posix() for path in target.rglob("*") if path.is_file()}
    assert names == {
        ".dpsync/.gitignore", ".dpsync/ids.yaml", "dpsync.yaml", "schemas/dpsync.schema.json",
        "acme/agentInstructions.md", "acme/collections.yaml", "acme/integrations.yaml", "acme/members.yaml",
        "acme/openapi.yaml", "acme/saml.yaml", "acme/saml/azure.pem", "acme/saml/okta.pem",
        "acme/spaces.yaml", "acme/teams.yaml", "acme/translations.yaml",
        "acme/sites/docs.yaml", "acme/sites/handbook.yaml", "acme/sites/help.yaml",
        "acme/sites/handbook.adaptiveSchema.json",
    }  # fmt: skip
    for path in [target / "dpsync.yaml", *target.glob("acme/**/*.yaml")]:
        first = path.read_text(encoding="utf-8").splitlines()[0]
        assert first.startswith(SCHEMA_LINE)
        assert (
            path.parent / first.removeprefix(SCHEMA_LINE)
        ).resolve() == target / "schemas/dpsync.schema.json"


@pytest.mark.usefixtures("platform")
def test_import_output_is_human_readable(run: Run, target: Path) -> None:
    run("import", "-C", str(target), "--organization", "acme")
    assert (target / "acme/teams.yaml").read_text(encoding="utf-8").splitlines()[1:] == [
        "organization: acme",
        "teams:",
        "  legacy: { title: Legacy }",
        "  reviewers:",
        "    title: Reviewers",
        "    members: { rui@acme.example: owner }",
        "  sales:",
        "    title: Sales",
        "    members: { kim@acme.example: member }",
        "  technical-writers:",
        "    title: Technical writers",
        "    members: { ada@acme.example: owner, lin@acme.example: member }",
    ]
    members = (target / "acme/members.yaml").read_text(encoding="utf-8")
    assert "\n  kim@acme.example: read\n" in members
    spaces = (target / "acme/spaces.yaml").read_text(encoding="utf-8")
    assert "  changelog: { title: Changelog, collection: product }\n" in spaces
    collections = (target / "acme/collections.yaml").read_text(encoding="utf-8")
    assert "  api: { title: API, parent: product }\n" in collections
    root = (target / "dpsync.yaml").read_text(encoding="utf-8")
    assert root.splitlines()[1:] == [
        "# Fields with their default value are left out. To write every field: `dpsync import --full`",
        "# Not imported: publishedIntegrations/acme-tools. GitBook returns no value for the required "
        "field script. "
        "Write the entry by hand.",
        "dpsync: 1",
        "include: [acme/*.yaml, acme/sites/*.yaml]",
        "policy:",
        "  # `dpsync drift` reports changed fields that give access, also fields that are not in these "
        "files. `dpsync drift --everything` also reports new objects that give access.",
        "  watch:",
        "    - access",
        '    - "acme/publishedIntegrations/[acme-tools]#scopes=space:content:read,space:content:write"',
        '    - "acme/publishedIntegrations/[acme-tools]#target=all"',
        '    - "acme/publishedIntegrations/[acme-tools]#visibility=private"',
        "organization: acme",
        "id: acme",
        "title: Acme",
        "emailDomains: [acme.example]",
        "hostname: acme",
        "defaultRole: read",
        "defaultContent: { type: site, site: docs }",
        "ai: true",
        "collectionOrder: [product, internal]",
        "agentInstructions: { file: acme/agentInstructions.md }",
    ]
    site = (target / "acme/sites/docs.yaml").read_text(encoding="utf-8")
    left_out = (
        "customization of each site space. Skipped (one request for each site space). "
        "Import it with --full or --add."
    )
    assert f"  docs:\n    # Not imported: {left_out}\n    title: Acme Docs\n" in site
    assert "id:" not in spaces
    assert (target / "acme/agentInstructions.md").read_text(
        encoding="utf-8"
    ) == "Answer briefly and link the page.\n"


@pytest.mark.usefixtures("platform")
def test_import_creates_missing_directory(run: Run, tmp_path: Path) -> None:
    ended = run("import", "-C", str(tmp_path / "new" / "docs"), "--organization", "globex")
    assert ended.code == 0, ended.err
    assert (tmp_path / "new" / "docs" / "dpsync.yaml").is_file()


@pytest.mark.usefixtures("platform")
def test_import_into_uncreatable_directory_is_an_error(run: Run, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    ended = run("import", "-C", str(tmp_path / "file" / "docs"), "--organization", "globex")
    assert ended.code == 1
    assert f"cannot write {tmp_path / 'file' / 'docs'}: Not a directory" in ended.err


def test_import_update_in_missing_directory_is_refused(run: Run, tmp_path: Path) -> None:
    ended = run("import", "-C", str(tmp_path / "new"), "--update", "acme/teams")
    assert ended.code == 64
    assert "new' does not exist" in ended.err
    assert not (tmp_path / "new").exists()


@pytest.mark.usefixtures("platform")
def test_import_writes_only_selected_organization(run: Run, target: Path) -> None:
    assert run("import", "-C", str(target), "--organization", "globex").code == 0
    assert "acme:" not in (target / "dpsync.yaml").read_text(encoding="utf-8")


@pytest.mark.usefixtures("platform")
def test_import_of_unknown_organization_is_an_error(run: Run, target: Path) -> None:
    ended = run("import", "-C", str(target), "--organization", "initech")
    assert ended.code == 1
    assert 'this token can read no organization "initech"' in ended.err
    assert not list(target.iterdir())


def test_import_pins_only_objects_with_duplicate_titles(
    platform: ThreadedServer, run: Run, target: Path
) -> None:
    world = {
        "users": [{"id": "ada", "displayName": "Ada", "email": "ada@acme.example"}],
        "tokens": {"ada-token": "ada"},
        "organizations": [{
            "id": "acme", "title": "Acme", "members": [{"user": "ada", "role": "admin"}],
            "teams": [
                {"id": "t1", "title": "Sales"}, {"id": "t2", "title": "Sales"}, {"id": "t3", "title": "HR"},
            ],
        }],
    }  # fmt: skip
    platform.reset(world)
    assert run("import", "-C", str(target), "--organization", "acme").code == 0
    teams = (target / "acme/teams.yaml").read_text(encoding="utf-8")
    assert "sales: { id: t1, title: Sales }" in teams
    assert "sales-2: { id: t2, title: Sales }" in teams
    assert "hr: { title: HR }" in teams
    platform.reset()


def test_import_never_overwrites_uncommitted_changes(
    platform: ThreadedServer, run: Run, target: Path
) -> None:
    run("import", "-C", str(target), "--organization", "acme")
    changed = target / "acme/teams.yaml"
    before = changed.read_text(encoding="utf-8") + "# a note\n"
    changed.write_text(before, encoding="utf-8")

    by_hand(platform, "PATCH", "/orgs/acme/teams/sales", {"title": "Selling"})
    refused = run("import", "-C", str(target), "--organization", "acme")
    assert refused.code == 4
    assert "acme/teams.yaml exists already" in refused.err
    assert changed.read_text(encoding="utf-8") == before

    committed(target)
    assert run("import", "-C", str(target), "--organization", "acme").code == 0  # git could give it back
    assert "Selling" in changed.read_text(encoding="utf-8")
    assert "# a note" in changed.read_text(encoding="utf-8")

    assert run("import", "-C", str(target), "--organization", "acme", "--force").code == 0
    assert "# a note" not in changed.read_text(encoding="utf-8")


@pytest.mark.usefixtures("platform")
def test_import_never_overwrites_gitignored_file(run: Run, target: Path) -> None:
    (target / ".gitignore").write_text("dpsync.yaml\n", encoding="utf-8")
    (target / "dpsync.yaml").write_text("mine\n", encoding="utf-8")
    committed(target)
    assert run("import", "-C", str(target), "--organization", "acme").code == 4
    assert (target / "dpsync.yaml").read_text(encoding="utf-8") == "mine\n"
    assert not (target / "acme").exists()


@pytest.mark.usefixtures("platform")
def test_import_refuses_leftover_file_matching_include(run: Run, target: Path) -> None:
    (target / "acme/sites").mkdir(parents=True)
    (target / "acme/sites/gone.yaml").write_text("organizations: {}\n", encoding="utf-8")
    ended = run("import", "-C", str(target), "--organization", "acme", "--force")
    assert ended.code == 4
    assert "acme/sites/gone.yaml exists and would become part of the configuration" in ended.err
    assert not (target / "dpsync.yaml").exists()


@pytest.mark.usefixtures("platform")
def test_import_refuses_symlink_leaving_project(run: Run, target: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (target / "acme").symlink_to(tmp_path / "elsewhere")
    assert run("import", "-C", str(target), "--organization", "acme", "--force").code == 4
    assert not list((tmp_path / "elsewhere").iterdir())


@pytest.mark.usefixtures("platform")
def test_failed_import_leaves_no_files(run: Run, target: Path) -> None:
    (target / "schemas").write_text("a file where a directory belongs\n", encoding="utf-8")
    ended = run("import", "-C", str(target), "--organization", "acme")
    assert ended.code == 1
    assert "cannot write" in ended.err
    assert [path.name for path in target.iterdir()] == ["schemas"]


def test_import_names_translated_space_by_its_translation(
    platform: ThreadedServer, run: Run, target: Path
) -> None:
    world = platform.run_in_server(lambda: worlds.dump_world(platform.app.store))
    acme = next(org for org in world["organizations"] if org["id"] == "acme")
    acme["spaces"].append({"id": "french", "title": "Guides"})
    acme["translations"][0] |= {"status": "completed", "result": "french"}
    acme["sites"][0]["structure"][0]["children"].append(
        {"type": "space", "id": "docs-guides-fr", "space": "french", "path": "fr"}
    )
    platform.reset(world)
    ended = run("import", "-C", str(target), "--organization", "acme")
    assert ended.code == 0, ended.out
    assert "Verified: a plan with these files has no changes." in ended.out
    assert "guides-fr" not in (target / "acme/spaces.yaml").read_text(encoding="utf-8")
    docs = (target / "acme/sites/docs.yaml").read_text(encoding="utf-8")
    assert "{ type: space, key: fr, space: guides-fr, path: fr }" in docs
    platform.reset()


def test_import_replaces_secrets_with_environment_variables(
    platform: ThreadedServer, run: Run, target: Path
) -> None:
    world = platform.run_in_server(lambda: worlds.dump_world(platform.app.store))
    acme = next(org for org in world["organizations"] if org["id"] == "acme")
    for installation in acme["installations"]:
        installation["configuration"] = {
            "api_key": "hunter-two", "hook": "https://hooks.example/T0/B99/x8Fh2", "region": "eu", "size": 3,
        }  # fmt: skip
    platform.reset(world)
    ended = run("import", "-C", str(target), "--organization", "acme", "--format", "json")
    everything = ended.out + ended.err
    everything += "".join(p.read_text(encoding="utf-8") for p in target.rglob("*") if p.is_file())
    assert "hunter-two" not in everything
    assert "x8Fh2" not in everything
    found = json.loads(ended.out)
    assert found["proven"]
    names = {secret["name"] for secret in found["secrets"]}
    assert "ACME_INTEGRATIONS_ACME_TOOLS_CONFIGURATION_API_KEY" in names
    written = (target / "acme/integrations.yaml").read_text(encoding="utf-8")
    assert "api_key: { env: ACME_INTEGRATIONS_ACME_TOOLS_CONFIGURATION_API_KEY }" in written
    assert "region: eu" in written
    platform.reset()


def test_import_omits_and_reports_inexpressible_document(
    platform: ThreadedServer, run: Run, target: Path
) -> None:
    world = platform.run_in_server(lambda: worlds.dump_world(platform.app.store))
    acme = next(org for org in world["organizations"] if org["id"] == "acme")
    acme["agentInstructions"] = {
        "object": "document",
        "nodes": [{"object": "block", "type": "hint", "data": {"style": "info"}, "nodes": []}],
    }
    platform.reset(world)
    ended = run("import", "-C", str(target), "--organization", "acme", "--format", "json")
    assert ended.code == 0
    notes = {(note["address"], note["field"]): note["why"] for note in json.loads(ended.out)["left_out"]}
    assert "Markdown cannot express" in notes["acme/agentInstructions", "instructions"]
    assert not (target / "acme/agentInstructions.md").exists()
    platform.reset()


@pytest.mark.usefixtures("platform")
def test_import_omits_lists_the_token_cannot_read(
    run: Run, target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DPSYNC_TOKEN", "kim-token")
    ended = run("import", "-C", str(target), "--organization", "acme", "--format", "json")
    assert ended.code == 0, ended.err
    assert json.loads(ended.out)["proven"]
    assert any("no read permission" in note["why"] for note in json.loads(ended.out)["left_out"])
    root = (target / "dpsync.yaml").read_text(encoding="utf-8")
    why = "The token has no read permission. Import with the token of an administrator."
    assert f"# Not imported: saml. {why}\n" in root
    assert "\n    - access\n" in root
    site = (target / "acme/sites/docs.yaml").read_text(encoding="utf-8")
    assert f"    # Not imported: shareLinks and visitorAuth. {why}\n" in site
    drift = run("drift", "-C", str(target))
    assert drift.code == 0
    assert "No drift in the objects that dpsync could read." in drift.out
    assert "Not checked: 4 objects that this token cannot read." in drift.out


@pytest.mark.usefixtures("platform")
def test_import_comments_have_stable_order(run: Run, target: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise, two imports of the same organization write different files."""
    read = SourceReader.read

    other_place_answered = threading.Event()

    def late(sources: SourceReader, source: ReadSource) -> tuple[LiveObject, ...]:
        if source.kind == "share_link":
            assert other_place_answered.wait(PATIENCE)
        try:
            return read(sources, source)
        finally:
            if source.kind == "visitor_auth":
                other_place_answered.set()

    monkeypatch.setattr(SourceReader, "read", late)
    monkeypatch.setenv("DPSYNC_TOKEN", "kim-token")
    assert run("import", "-C", str(target), "--organization", "acme").code == 0
    site = (target / "acme/sites/docs.yaml").read_text(encoding="utf-8")
    assert "    # Not imported: shareLinks and visitorAuth. " in site


def test_import_does_not_watch_unsupported_list(platform: ThreadedServer) -> None:
    """A watched list must answer: otherwise, each drift check fails."""

    class Unserved(CachingClient):
        def pages(self, path: str, *arguments: Any) -> list[dict[str, Any]]:
            if path.endswith("/saml"):
                raise NotFoundError("GET", path, 404, "")
            return super().pages(path, *arguments)

    with Unserved(platform.url, "ada-token") as client:
        made = import_(client, build_registry(), ["acme"]).made
    root = made.files["dpsync.yaml"].decode()
    assert "# Not imported: saml. GitBook does not return this list\n" in root
    assert "    - access\n" not in root
    assert "    - members\n" in root
    assert "    - saml\n" not in root
    assert '    - "sites/*#published"\n' in root


@pytest.mark.parametrize(
    "arguments",
    [
        ["acme/teams"], ["--update"], ["--update", "--organization", "acme", "acme/teams"],
        ["--file", "dpsync.yaml"],
    ],
)  # fmt: skip
@pytest.mark.usefixtures("platform")
def test_invalid_import_argument_combination_is_refused(run: Run, target: Path, arguments: list[str]) -> None:
    assert run("import", "-C", str(target), *arguments).code == 64


def test_import_supports_reference_api_version(
    run: Run, target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ThreadedServer(build_companion(open_store(":memory:"), profile="reference")) as server:
        server.reset()
        monkeypatch.setenv("DPSYNC_URL", server.url)
        monkeypatch.setenv("DPSYNC_TOKEN", "ada-token")
        ended = run("import", "-C", str(target), "--organization", "acme", "--profile", "reference")
        assert ended.code == 0, ended.out + ended.err
        assert "Verified: a plan with these files has no changes." in ended.out
        assert not (target / "acme/integrations.yaml").exists()


@pytest.mark.usefixtures("platform")
def test_plan_does_not_load_import_modules(run: Run, target: Path) -> None:
    run("import", "-C", str(target), "--organization", "acme")
    code = (
        "import sys\nfrom dpsync.cli.main import main\n"
        f"try:\n    main(['plan', '-C', {str(target)!r}])\nexcept SystemExit:\n    pass\n"
        "print([name for name in sys.modules if name.startswith(('ruamel', 'dpsync.importing'))])"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "No changes." in ended.stdout
    assert ended.stdout.endswith("\n[]\n")


def test_import_help_lists_its_flags(run: Run) -> None:
    out = run("import", "--help").out
    for flag in ("--organization", "--update", "--from-navigation", "--force"):
        assert flag in out
