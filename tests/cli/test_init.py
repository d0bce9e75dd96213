"""`dpsync init`: the files of a new project. It overwrites nothing, and writes nowhere else."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

from dpsync.api import load
from dpsync.importing.layout import _TEMPLATES, WorkflowSettings, root_file, workflow_files
from dpsync.render.error_page import _PAGE_LOCATIONS
from tests.cli.conftest import Run
from tests.patience import PATIENCE

ROOT = Path(__file__).parents[2]
TOOLS = Path(sys.executable).parent
SMALL = ("--organization", "acme", "--empty")
COMMIT = "c0ffee" * 6 + "1234"
WITH_WORKFLOWS = (*SMALL, "--workflows", "--action-ref", COMMIT)
FILES = [".gitignore", ".vscode/settings.json", "dpsync.yaml", "schemas/dpsync.schema.json"]
WORKFLOWS = [f".github/workflows/{name}.yml" for name in ("apply", "drift", "plan")]


def files(folder: Path) -> list[str]:
    found = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file() or path.is_symlink())
    return sorted(str(path) for path in found if path.parts[0] not in (".git", "state"))


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    folder = tmp_path / "checkout"
    folder.mkdir()
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
    return folder


def test_init_writes_configuration_without_managed_fields(checkout: Path, run: Run) -> None:
    ended = run("init", "-C", str(checkout), *SMALL)
    assert (ended.code, files(checkout)) == (0, FILES)
    (entry,) = load(checkout / "dpsync.yaml").entries.values()
    assert (str(entry.address), entry.pin, dict(entry.fields)) == ("acme", "acme", {})
    assert (checkout / ".gitignore").read_text() == ".dpsync/\n"


def test_init_links_editor_schema(checkout: Path, run: Run) -> None:
    run("init", "-C", str(checkout), *SMALL)
    settings = json.loads((checkout / ".vscode/settings.json").read_text())
    ((schema, _),) = settings["yaml.schemas"].items()
    assert json.loads((checkout / schema).read_text())["title"] == "dpsync configuration"
    assert (checkout / "dpsync.yaml").read_text().startswith(f"# yaml-language-server: $schema={schema}\n")


@pytest.mark.parametrize("id", ["acme", "-Jf93", "äöü", "1", "true", "a/b", "$X"])
def test_init_root_file_loads_for_any_organization_id(id: str, tmp_path: Path) -> None:
    (tmp_path / "dpsync.yaml").write_bytes(root_file(id))
    (entry,) = load(tmp_path / "dpsync.yaml", env={}).entries.values()
    assert entry.pin == id


def test_second_init_writes_no_files(checkout: Path, run: Run) -> None:
    run("init", "-C", str(checkout), *WITH_WORKFLOWS)
    before = {name: (checkout / name).stat().st_mtime_ns for name in files(checkout)}
    ended = run("init", "-C", str(checkout), *WITH_WORKFLOWS)
    assert ended.code == 0
    assert {name: (checkout / name).stat().st_mtime_ns for name in files(checkout)} == before
    assert "written" not in ended.out


def test_init_keeps_existing_files(checkout: Path, run: Run) -> None:
    """Otherwise, a committed file of the project is overwritten by a template."""
    (checkout / ".gitignore").write_text("*.pyc\n")
    (checkout / "dpsync.yaml").write_text("dpsync: 1\norganizations: { a: { id: a } }\n")
    out = run("init", "-C", str(checkout), *SMALL).out
    assert (checkout / ".gitignore").read_text() == "*.pyc\n"
    assert (
        "kept     .gitignore, because the file exists already. dpsync would have written:\n    .dpsync/\n"
        in out
    )
    assert "kept     dpsync.yaml" in out
    assert (checkout / "dpsync.yaml").read_text() == "dpsync: 1\norganizations: { a: { id: a } }\n"


def test_init_fills_in_github_workflows(checkout: Path, run: Run) -> None:
    run("init", "-C", str(checkout / "docs"), *WITH_WORKFLOWS, "--repository", "acme/docs",
        "--environment", "live")  # fmt: skip
    assert [name for name in files(checkout) if name.startswith(".github")] == WORKFLOWS
    apply, drift, plan = (yaml.safe_load((checkout / name).read_text()) for name in WORKFLOWS)
    for workflow in (apply, drift, plan):
        (job,) = workflow["jobs"].values()
        assert job["if"] == "github.repository == 'acme/docs'"
        ours = job["steps"][-1]
        assert ours["uses"] == f"dpsync/dpsync@{COMMIT}"
        assert ours["with"]["working-directory"] == "docs"
    assert apply["jobs"]["apply"]["environment"] == "live"
    assert plan[True]["pull_request"]["paths"][0] == "docs/**"


def test_init_workflows_contain_no_placeholders() -> None:
    for text in workflow_files(WorkflowSettings(action=COMMIT)).values():
        assert b"docs-platform/" not in text
        assert b"working-directory: docs-platform" not in text
        assert b"0123456789abcdef" not in text


@pytest.mark.parametrize(
    "linter",
    [
        ["zizmor", "-q", "--offline", "--persona=auditor"],
        ["actionlint"],
        ["check-jsonschema", "--builtin-schema", "vendor.github-workflows"],
    ],
    ids=lambda linter: linter[0],
)
def test_init_workflows_pass_linters(linter: list[str], checkout: Path, run: Run) -> None:
    """The owner of an action can change what a tag or a branch of the action runs."""
    ended = run("init", "-C", str(checkout / "docs"), *WITH_WORKFLOWS, "--repository", "acme/docs")
    assert ended.code == 0
    command = [TOOLS / linter[0], *linter[1:], *(checkout / name for name in WORKFLOWS)]
    done = subprocess.run(command, cwd=checkout, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    for name in WORKFLOWS:
        text = (checkout / name).read_text()
        assert text.count("uses:") == 2
        assert re.search(rf"uses: dpsync/dpsync@{COMMIT}$", text, re.MULTILINE)
        assert re.search(r"uses: actions/checkout@[0-9a-f]{40} # v\d+\.\d+\.\d+$", text, re.MULTILINE)


def test_init_workflows_require_action_commit(checkout: Path, run: Run) -> None:
    """Only a release knows its commit. The alternative would be a tag, which others can move."""
    ended = run("init", "-C", str(checkout), *SMALL, "--workflows")
    assert (ended.code, files(checkout)) == (64, [])
    assert "--action-ref COMMIT" in ended.err
    assert "this dpsync is not a release" in ended.err


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["--action-ref", "v0.1.0"], "is not the id of a commit (40 digits)"),
        (["--action-ref", f"{COMMIT}\n      - run: id"], "is not the id of a commit (40 digits)"),
        (["--environment", "a }} ${{ secrets.X"], "the environment"),
        (["--environment", "a\nb: c"], "the environment"),
        (["--repository", "acme"], "does not have the form OWNER/NAME"),
        (["--repository", "a/b' || true || '"], "does not have the form OWNER/NAME"),
    ],
)
def test_init_rejects_values_unsafe_in_workflows(
    flags: list[str], said: str, checkout: Path, run: Run
) -> None:
    """Otherwise, the name of a directory is an expression in a workflow that holds the token."""
    ended = run("init", "-C", str(checkout), *WITH_WORKFLOWS, *flags)
    assert (ended.code, said in ended.err, files(checkout)) == (64, True, [])


def test_init_rejects_directory_named_like_workflow_expression(checkout: Path, run: Run) -> None:
    folder = checkout / "${{ github.token }}"
    folder.mkdir()
    ended = run("init", "-C", str(folder), *WITH_WORKFLOWS)
    assert (ended.code, "the directory" in ended.err, files(checkout)) == (64, True, [])


@pytest.mark.parametrize("name", [".vscode", "schemas", ".github"])
def test_init_does_not_follow_symlinked_directory(
    name: str, checkout: Path, run: Run, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (checkout / name).symlink_to(outside)
    ended = run("init", "-C", str(checkout), *WITH_WORKFLOWS)
    assert ended.code == 4
    assert list(outside.iterdir()) == []


def test_init_keeps_symlinked_file(checkout: Path, run: Run, tmp_path: Path) -> None:
    (checkout / ".gitignore").symlink_to(tmp_path / "elsewhere")
    assert run("init", "-C", str(checkout), *SMALL).code == 0
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize("flags", [[], ["--organization", "acme"], ["--empty"], ["--no-input"]])
def test_init_without_terminal_exits_64_for_missing_flags(flags: list[str], checkout: Path, run: Run) -> None:
    """Otherwise, in a script the command waits for a person."""
    ended = run("init", "-C", str(checkout), *flags)
    assert (ended.code, files(checkout)) == (64, [])
    assert "--organization ID" in ended.err


@pytest.mark.usefixtures("platform")
def test_init_import_writes_live_objects(checkout: Path, run: Run) -> None:
    ended = run("init", "-C", str(checkout), "--organization", "acme", "--import")
    assert ended.code == 0
    assert set(FILES) <= set(files(checkout))
    assert len(load(checkout / "dpsync.yaml").entries) > 20
    assert "ada-token" not in ended.out + ended.err


@pytest.mark.usefixtures("platform")
def test_init_import_with_rejected_token_writes_no_files(
    checkout: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DPSYNC_TOKEN", "wrong")
    assert run("init", "-C", str(checkout), "--organization", "acme", "--import").code == 1
    assert files(checkout) == []


@pytest.mark.parametrize(
    ("workflows", "written"),
    [
        ([(b"workflows", b"n\n")], []),
        ([(b"workflows", b"y\n"), (b"40 digits", COMMIT.encode() + b"\n")], WORKFLOWS),
    ],
    ids=["without workflows", "with workflows"],
)
def test_init_prompts_for_missing_values_at_terminal(
    workflows: list[tuple[bytes, bytes]], written: list[str], checkout: Path, programs: Path
) -> None:
    ours, theirs = pty.openpty()
    env = {name: value for name, value in os.environ.items() if name not in ("CI", "DPSYNC_URL")}
    process = subprocess.Popen(
        [programs / "dpsync", "init", "-C", str(checkout)],
        env=env, stdin=theirs, stderr=theirs, stdout=subprocess.PIPE, text=True, close_fds=True,
    )  # fmt: skip
    os.close(theirs)
    said = b""
    for question, answer in ((b"organization", b"acme\n"), (b"into the files?", b"n\n"), *workflows):
        while question not in said:
            said += os.read(ours, 65536)
        os.write(ours, answer)
    out, _ = process.communicate(timeout=PATIENCE)
    os.close(ours)
    assert process.returncode == 0
    assert "written  dpsync.yaml" in out
    assert files(checkout) == sorted([*FILES, *written])


def test_wheel_includes_printed_pages_and_templates() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    included = project["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    wanted = {
        str(one.relative_to(ROOT)): str(other.relative_to(ROOT))
        for other, one in (_PAGE_LOCATIONS, _TEMPLATES)
    }
    assert included.items() >= wanted.items()
    assert all((ROOT / name).exists() for name in wanted)


@pytest.mark.parametrize("url", [None, "https://api.gitbook.com"], ids=["default address", "GitBook"])
@pytest.mark.parametrize("there", [False, True], ids=["new", "configuration is there"])
def test_init_next_steps_for_gitbook_are_read_only(
    there: bool, url: str | None, checkout: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At the first contact, nobody should write to a production organization."""
    monkeypatch.delenv("DPSYNC_TOKEN", raising=False)
    monkeypatch.delenv("DPSYNC_URL", raising=False)
    if url is not None:
        monkeypatch.setenv("DPSYNC_URL", url)
    if there:
        run("init", "-C", str(checkout), "--organization", "acme", "--empty")
    commit = ("--workflows", "--action-ref", "0" * 40)
    out = run("init", "-C", str(checkout), "--organization", "acme", "--empty", *commit).out
    steps = [line.partition(": dpsync ")[2] for line in out.splitlines() if ": dpsync " in line]

    new = "" if there else " --organization acme --force"
    assert steps == [
        f"import -C {checkout}{new}", f"plan -C {checkout}", f"doctor -C {checkout} --contact"
    ]  # fmt: skip
    assert "Next, set DPSYNC_TOKEN to an access token from your user settings in GitBook" in out
    assert "apply" not in out.replace(".github/workflows/apply.yml", "")


def test_init_next_steps_for_local_server_omit_contact(
    checkout: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DPSYNC_URL", "http://127.0.0.1:8787")
    monkeypatch.setenv("DPSYNC_TOKEN", "ada-token")
    out = run("init", "-C", str(checkout), "--organization", "acme", "--empty").out

    assert "To see the plan: dpsync plan" in out
    assert "--contact" not in out


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("", "https://api.gitbook.com"),
        ("http://127.0.0.1:8787", "https://api.gitbook.com"),
        ("https://kim:secret@docs.acme.example", "https://**********@docs.acme.example"),
    ],
    ids=["default URL", "local server", "URL with a password"],
)
def test_init_workflows_print_required_github_settings(
    url: str, shown: str, checkout: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise, a newcomer has workflows without knowing which URL and environments to set."""
    monkeypatch.setenv("DPSYNC_URL", url)
    out = run("init", "-C", str(checkout), *WITH_WORKFLOWS, "--environment", "live").out
    assert out.splitlines()[-2:] == [
        f"In the repository's settings on GitHub, set the variable DPSYNC_URL to {shown}. Create the GitHub "
        "environments plan, drift and live, each with the secret DPSYNC_TOKEN.",
        "More: https://github.com/dpsync/dpsync/blob/main/docs/github-action.md",
    ]
