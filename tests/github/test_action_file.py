"""action.yml, and how the locked dependencies get onto a runner."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import signal
import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType

import pytest
import yaml

from dpsync.github.inputs import NAMES as INPUTS
from dpsync.github.inputs import Inputs, read_inputs
from dpsync.github.outputs import NAMES as OUTPUTS
from tests.github.runner import Step, read_outputs
from tests.patience import PATIENCE

ROOT = Path(__file__).parents[2]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
TOOLS = Path(sys.executable).parent


def test_the_inputs_are_those_that_are_read_with_the_same_defaults() -> None:
    assert set(ACTION["inputs"]) == set(INPUTS)
    defaults = {name: one["default"] for name, one in ACTION["inputs"].items() if name != "github-token"}
    assert read_inputs(json.dumps(defaults)) == Inputs()


def test_the_outputs_are_those_that_are_written() -> None:
    values = {name: one["value"] for name, one in ACTION["outputs"].items()}
    assert values == {name: f"${{{{ steps.dpsync.outputs.{name} }}}}" for name in OUTPUTS}


def test_nothing_is_put_into_a_script() -> None:
    (step,) = ACTION["runs"]["steps"]
    assert "${{" not in step["run"]
    assert step["run"].startswith("exec ")
    assert step["env"] == {"DPSYNC_ACTION_INPUTS": "${{ toJSON(inputs) }}"}


def test_it_is_an_action_as_github_reads_one() -> None:
    command = [TOOLS / "check-jsonschema", "--builtin-schema", "vendor.github-actions", ROOT / "action.yml"]
    subprocess.run(command, check=True, capture_output=True)


def test_the_lock_has_every_dependency_with_hashes_and_nothing_else_but_names() -> None:
    lock = (ROOT / "action" / "requirements.txt").read_text(encoding="utf-8")
    assert "://" not in lock
    entry = r"^([a-z0-9-]+)==\S+(?: ; [^\\]+)? \\\n(?:    --hash=sha256:[0-9a-f]{64}(?: \\)?\n)+"
    pinned = re.findall(entry, lock, re.MULTILINE)
    assert pinned == re.findall(r"^([a-z][^=\s]*)", lock, re.MULTILINE)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = {re.split(r"[^\w.-]", one)[0].replace(".", "-") for one in project["dependencies"]}
    assert wanted <= set(pinned)


# How they are installed.


@pytest.fixture
def starter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """action/main.py with an empty tool cache, and a uv that only writes down how it was called."""
    spec = importlib.util.spec_from_file_location("starter", ROOT / "action" / "main.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    programs = tmp_path / "bin"
    programs.mkdir()
    monkeypatch.setenv("RUNNER_TOOL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("GITHUB_OUTPUT", str(tmp_path / "output"))
    monkeypatch.setenv("DPSYNC_ACTION_INPUTS", "a token")
    monkeypatch.setenv("PATH", f"{programs}:/usr/bin:/bin")
    return module


def uv(tmp_path: Path, script: str) -> Path:
    path = tmp_path / "bin" / "uv"
    told = f'echo "$@" >> {tmp_path}/asked; env > {tmp_path}/env; pwd > {tmp_path}/pwd\n'
    path.write_text(f"#!/bin/sh\n{told}{script}\n", encoding="utf-8")
    path.chmod(0o755)
    return tmp_path / "asked"


MAKE = 'while [ "$1" != --target ]; do shift; done; mkdir -p "$2/httpx"'


def test_dependencies_are_installed_once_and_without_a_token(starter: ModuleType, tmp_path: Path) -> None:
    asked = uv(tmp_path, MAKE)
    place = starter.dependencies()
    assert (place / "httpx").is_dir()
    assert starter.dependencies() == place
    (line,) = asked.read_text().splitlines()
    assert f"--require-hashes --only-binary :all: --requirement {ROOT}/action/requirements.txt" in line
    assert "DPSYNC_ACTION_INPUTS" not in (tmp_path / "env").read_text()
    assert (tmp_path / "pwd").read_text().strip() == f"{ROOT}/action"
    assert list((tmp_path / "cache" / "dpsync").iterdir()) == [place]


def test_another_lock_gets_another_place(
    starter: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    uv(tmp_path, MAKE)
    first = starter.dependencies()
    (tmp_path / "lock").write_text("other")
    monkeypatch.setattr(starter, "LOCK", tmp_path / "lock")
    assert starter.dependencies() != first


def test_an_installation_that_fails_leaves_nothing_and_sets_the_outputs(
    starter: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    uv(tmp_path, f"{MAKE}; exit 3")
    with pytest.raises(SystemExit):
        starter.dependencies()
    assert list((tmp_path / "cache" / "dpsync").iterdir()) == []
    assert read_outputs((tmp_path / "output").read_text())["failure-reason"] == "runner"
    (command,) = Step().read(capsys.readouterr().out).commands
    assert command.data == "its packages could not be installed: uv ended with 3"


@pytest.mark.parametrize(("name", "number"), [("INT", 2), ("TERM", 15)])
def test_cancelled_while_it_installs_it_leaves_nothing_and_sets_the_outputs(
    name: str, number: int, starter: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The installer gets no signal: it would go on for ever."""
    os.mkfifo(tmp_path / "never")
    uv(tmp_path, f"{MAKE}; kill -{name} $PPID; read line < {tmp_path}/never")
    before = {one: signal.getsignal(one) for one in (signal.SIGINT, signal.SIGTERM)}
    try:
        with pytest.raises(SystemExit) as ended:
            starter.main()
        assert signal.getsignal(signal.SIGTERM) == signal.SIG_IGN  # no other one disturbs the end
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)
    assert ended.value.code == 128 + number
    assert list((tmp_path / "cache" / "dpsync").iterdir()) == []
    found = read_outputs((tmp_path / "output").read_text())
    assert (found["failure-reason"], found["exit-code"]) == ("interrupted", str(128 + number))
    assert Step().read(capsys.readouterr().out).commands[0].data.startswith("interrupted")


def test_of_two_jobs_that_install_at_once_both_go_on(starter: ModuleType, tmp_path: Path) -> None:
    uv(tmp_path, MAKE)
    place = starter.dependencies()
    place.rename(tmp_path / "kept")
    uv(tmp_path, f"{MAKE}; mkdir -p {place}/httpx")
    assert starter.dependencies() == place


def test_a_runner_without_python_says_so(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    for name in ("bash", "dirname"):
        (tmp_path / "bin" / name).symlink_to(Path("/usr/bin") / name)
    environment = {"PATH": str(tmp_path / "bin"), "GITHUB_OUTPUT": str(tmp_path / "output")}
    command = ["/bin/bash", "--", str(ROOT / "action" / "run.sh")]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert ended.returncode == 1
    assert "needs Python 3.11" in Step().read(ended.stdout).commands[0].data
    assert read_outputs((tmp_path / "output").read_text())["outcome"] == "failed"


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_cancelled_while_it_looks_for_python_it_ends_and_sets_the_outputs(
    number: signal.Signals, code: int, tmp_path: Path
) -> None:
    """Bash gets the signal and its child does not: then bash would go on when that has ended well."""
    (tmp_path / "bin").mkdir()
    for name in ("bash", "dirname", "cat"):
        (tmp_path / "bin" / name).symlink_to(Path("/usr/bin") / name)
    for name in ("asked", "go-on"):
        os.mkfifo(tmp_path / name)
    python = tmp_path / "bin" / "python3"
    python.write_text(f"#!/bin/sh\necho > {tmp_path}/asked\ncat {tmp_path}/go-on\n", encoding="utf-8")
    python.chmod(0o755)
    output = tmp_path / "output"
    environment = {"PATH": str(tmp_path / "bin"), "GITHUB_OUTPUT": str(output)}
    running = subprocess.Popen(["/bin/bash", "--", str(ROOT / "action" / "run.sh")], env=environment)
    (tmp_path / "asked").read_text()
    assert read_outputs(output.read_text())["exit-code"] == "137"
    running.send_signal(number)
    (tmp_path / "go-on").write_text("")
    assert running.wait(PATIENCE) == code
    found = read_outputs(output.read_text())
    assert (found["outcome"], found["failure-reason"], found["exit-code"]) == (
        "failed", "interrupted", str(code),
    )  # fmt: skip
