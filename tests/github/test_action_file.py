"""action.yml, and how the locked dependencies get onto a runner."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import pytest
import yaml

from dpsync.github.runner import INPUT_NAMES as INPUTS
from dpsync.github.runner import OUTPUT_NAMES as OUTPUTS
from dpsync.github.runner import Inputs, read_inputs
from tests.github.runner import Step, read_outputs
from tests.github.tool_cache import INPUTS as PLACE_OF_INPUTS
from tests.github.tool_cache import script
from tests.patience import PATIENCE

ROOT = Path(__file__).parents[2]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
TOOLS = Path(sys.executable).parent


def test_action_yml_inputs_and_defaults_match_code() -> None:
    assert set(ACTION["inputs"]) == set(INPUTS)
    defaults = {name: one["default"] for name, one in ACTION["inputs"].items() if name != "github-token"}
    assert read_inputs(json.dumps(defaults)) == Inputs()


def test_action_yml_outputs_match_code() -> None:
    values = {name: one["value"] for name, one in ACTION["outputs"].items()}
    assert values == {name: f"${{{{ steps.dpsync.outputs.{name} }}}}" for name in OUTPUTS}


def test_action_script_passes_only_inputs_in_quoted_heredoc() -> None:
    (step,) = ACTION["runs"]["steps"]
    assert "env" not in step
    before, after = step["run"].split(PLACE_OF_INPUTS)
    assert "${{" not in before + after
    assert before.endswith("} <<'INPUTS'\n")
    assert after == "\nINPUTS\n"


@pytest.mark.parametrize(
    "text", ["INPUTS\nINPUTS\n", "'; $(touch bad) `touch bad` ${x}", "\\", "\r\n\x00\x7f", "é"]
)
def test_action_input_is_passed_unchanged_and_unexecuted(text: str, tmp_path: Path) -> None:
    (tmp_path / "action").mkdir()
    (tmp_path / "action" / "run.sh").write_text("exec cat\n")
    (tmp_path / "step").write_text(script({"api-token": text, "select": "INPUTS"}), encoding="utf-8")
    ended = subprocess.run(
        ["bash", str(tmp_path / "step")], cwd=tmp_path, env={"GITHUB_ACTION_PATH": str(tmp_path)},
        capture_output=True, check=True,
    )  # fmt: skip
    assert json.loads(ended.stdout) == {"api-token": text, "select": "INPUTS"}
    assert (tmp_path / "step").read_bytes() == b""  # nobody else finds them there
    assert not (tmp_path / "bad").exists()


def test_action_yml_matches_github_schema() -> None:
    command = [TOOLS / "check-jsonschema", "--builtin-schema", "vendor.github-actions", ROOT / "action.yml"]
    checked = subprocess.run(command, capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout


def test_action_lock_pins_every_dependency_with_hashes() -> None:
    lock = (ROOT / "action" / "requirements.txt").read_text(encoding="utf-8")
    assert "://" not in lock
    entry = r"^([a-z0-9-]+)==\S+(?: ; [^\\]+)? \\\n(?:    --hash=sha256:[0-9a-f]{64}(?: \\)?\n)+"
    pinned = re.findall(entry, lock, re.MULTILINE)
    assert pinned == re.findall(r"^([a-z][^=\s]*)", lock, re.MULTILINE)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = {re.split(r"[^\w.-]", one)[0].replace(".", "-") for one in project["dependencies"]}
    assert wanted <= set(pinned)


# How they are installed.


@dataclass
class Fetching:
    """action/main.py with a lock of one package, an empty tool cache, and a Python that stands in for pip."""

    main: ModuleType
    folder: Path
    wheel: bytes

    def pip(self, script: str = "") -> None:
        """Create a fake Python whose pip delivers the wheel and then runs `script`."""
        path = self.folder / "bin" / "python"
        path.parent.mkdir(exist_ok=True)
        path.write_text(
            f'#!/bin/sh\necho "$*" >> {self.folder}/asked; env > {self.folder}/env; pwd > {self.folder}/pwd\n'
            'case "$*" in *venv*) mkdir -p "$4/bin"; cp "$0" "$4/bin/python"; exit;; esac\n'
            'while [ "$1" != --dest ]; do shift; done\n'
            f'mkdir -p "$2"; cp {self.folder}/some_thing-1.0-py3-none-any.whl "$2"\n{script}\n'
        )
        path.chmod(0o755)

    @property
    def asked(self) -> list[str]:
        """How pip was called, since the last time."""
        path = self.folder / "asked"
        lines = path.read_text().splitlines() if path.exists() else []
        path.unlink(missing_ok=True)
        return [line for line in lines if "venv" not in line]


@pytest.fixture
def fetching(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Fetching:
    spec = importlib.util.spec_from_file_location("starter", ROOT / "action" / "main.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setenv("RUNNER_TOOL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("GITHUB_OUTPUT", str(tmp_path / "output"))
    monkeypatch.setenv("DPSYNC_TOKEN", "a token")
    monkeypatch.setenv("OKTA_CERTIFICATE", "a secret")
    monkeypatch.setenv("PIP_INDEX_URL", "https://pypi.example/simple")
    monkeypatch.setattr(sys, "executable", str(tmp_path / "bin" / "python"))
    wheel = tmp_path / "some_thing-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as file:
        file.writestr("something.py", "what = 1\n")
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    (tmp_path / "lock").mkdir()
    (tmp_path / "lock" / "lock").write_text(f"some-thing==1.0 \\\n    --hash=sha256:{digest}\n    # via x\n")
    monkeypatch.setattr(module, "LOCK", tmp_path / "lock" / "lock")
    made = Fetching(module, tmp_path, wheel.read_bytes())
    made.pip()
    return made


def test_packages_are_downloaded_once_without_token(fetching: Fetching) -> None:
    assert fetching.main.wheels() == [fetching.wheel]
    (line,) = fetching.asked
    assert "--require-hashes --only-binary :all: --no-deps --requirement" in line
    said = (fetching.folder / "env").read_text()
    assert "PIP_INDEX_URL=https://pypi.example/simple" in said
    assert "a token" not in said
    assert "a secret" not in said
    assert (fetching.folder / "pwd").read_text().strip() == str(fetching.folder / "lock")
    assert fetching.main.wheels() == [fetching.wheel]
    assert fetching.asked == []
    assert list((fetching.folder / "cache" / "dpsync").iterdir()) == [fetching.main.in_cache()]


def evil_wheel(place: Path) -> None:
    with zipfile.ZipFile(place / "some_thing-1.0-py3-none-any.whl", "w") as file:
        file.writestr("something.py", "what = 2\n")


def one_more(place: Path) -> None:
    (place / "os_thing-1.0-py3-none-any.whl").write_bytes(
        (place / "some_thing-1.0-py3-none-any.whl").read_bytes()
    )


def unpacked(place: Path) -> None:
    (place / "something.py").write_text("what = 2\n")


def a_pipe(place: Path) -> None:
    (place / "some_thing-1.0-py3-none-any.whl").unlink()
    os.mkfifo(place / "some_thing-1.0-py3-none-any.whl")


def nothing_in_it(place: Path) -> None:
    (place / "some_thing-1.0-py3-none-any.whl").unlink()


def no_directory(place: Path) -> None:
    place.rename(place.with_name("x"))
    place.write_text("")


@pytest.mark.parametrize(
    "spoil",
    [evil_wheel, one_more, unpacked, a_pipe, nothing_in_it, no_directory],
    ids=lambda one: one.__name__,
)
def test_manipulated_tool_cache_is_not_used(spoil: Callable[[Path], None], fetching: Fetching) -> None:
    fetching.main.wheels()
    spoil(fetching.main.in_cache())
    assert fetching.main.wheels() == [fetching.wheel]
    assert len(fetching.asked) == 2
    assert [path.name for path in fetching.main.in_cache().iterdir()] == ["some_thing-1.0-py3-none-any.whl"]
    fetching.main.wheels()
    assert fetching.asked == []


def test_unpacked_packages_come_from_verified_wheels(fetching: Fetching, tmp_path: Path) -> None:
    fetching.main.unpack(fetching.main.wheels(), tmp_path / "made")
    assert (tmp_path / "made" / "something.py").read_text() == "what = 1\n"


def test_changed_lock_uses_another_cache_directory(fetching: Fetching) -> None:
    first = fetching.main.in_cache()
    (fetching.folder / "lock" / "lock").write_text("other")
    assert fetching.main.in_cache() != first


def test_lock_parser_reads_all_entries_and_hashes() -> None:
    lock = (ROOT / "action" / "requirements.txt").read_text(encoding="utf-8")
    spec = importlib.util.spec_from_file_location("starter", ROOT / "action" / "main.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found = module.locked()
    assert len(found) == lock.count("==")
    assert sum(map(len, found.values())) == lock.count("--hash=")


def test_failed_package_download_cleans_up_and_sets_outputs(
    fetching: Fetching, capsys: pytest.CaptureFixture[str]
) -> None:
    fetching.pip("exit 3")
    with pytest.raises(SystemExit):
        fetching.main.wheels()
    assert list((fetching.folder / "cache" / "dpsync").iterdir()) == []
    assert read_outputs((fetching.folder / "output").read_text())["failure-reason"] == "runner"
    (command,) = Step().read(capsys.readouterr().out).commands
    assert command.data == "the packages of dpsync could not be downloaded: python exited with 3"


@pytest.mark.parametrize(("name", "number"), [("INT", 2), ("TERM", 15)])
def test_interrupted_package_download_cleans_up_and_sets_outputs(
    name: str, number: int, fetching: Fetching, capsys: pytest.CaptureFixture[str]
) -> None:
    """The installer gets no signal: it would go on for ever."""
    os.mkfifo(fetching.folder / "never")
    fetching.pip(f"kill -{name} $PPID; read line < {fetching.folder}/never")
    before = {one: signal.signal(one, fetching.main.interrupted) for one in fetching.main.ENDING}
    try:
        with pytest.raises(SystemExit) as ended:
            fetching.main.wheels()
        assert signal.getsignal(signal.SIGTERM) == signal.SIG_IGN  # no other one disturbs the end
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)
    assert ended.value.code == 128 + number
    assert list((fetching.folder / "cache" / "dpsync").iterdir()) == []
    found = read_outputs((fetching.folder / "output").read_text())
    assert (found["failure-reason"], found["exit-code"]) == ("interrupted", str(128 + number))
    assert Step().read(capsys.readouterr().out).commands[0].data.startswith("interrupted")


def test_concurrent_package_downloads_both_succeed(fetching: Fetching) -> None:
    place = fetching.main.in_cache()
    fetching.pip(f"mkdir -p {place}; cp {fetching.folder}/*.whl {place}")
    assert fetching.main.wheels() == [fetching.wheel]
    assert [path.name for path in place.iterdir()] == ["some_thing-1.0-py3-none-any.whl"]


# How Python is found and started.


@pytest.fixture
def runner(tmp_path: Path) -> Callable[..., subprocess.Popen[str]]:
    """Return a function that starts a step with another action/main.py; PATH begins with tmp_path/bin."""
    (tmp_path / "action").mkdir()
    shutil.copy(ROOT / "action" / "run.sh", tmp_path / "action")
    (tmp_path / "bin").mkdir()

    def start(main: str, **more: str) -> subprocess.Popen[str]:
        (tmp_path / "action" / "main.py").write_text(main)
        (tmp_path / "step").write_text(script({"api-token": "a token"}))
        env = {
            "PATH": f"{tmp_path}/bin:{TOOLS}:/usr/bin:/bin", "HOME": str(tmp_path),
            "GITHUB_ACTION_PATH": str(tmp_path), "GITHUB_OUTPUT": str(tmp_path / "output"), **more,
        }  # fmt: skip
        command = ["/bin/bash", "--noprofile", "--norc", "-e", "-o", "pipefail", str(tmp_path / "step")]
        return subprocess.Popen(command, cwd=tmp_path, env=env, stdout=subprocess.PIPE, text=True)

    return start


SAY = """\
import json, os, sys
sys.path.insert(0, {action!r})
from main import variables
print(json.dumps([sys.stdin.read(), dict(os.environ), variables(3)]))
"""


def test_action_python_gets_variables_by_descriptor_not_environment(
    runner: Callable[..., subprocess.Popen[str]],
) -> None:
    odd = {"ODD": "a\nb\\n\\\\ \t=&'\"$(x)é", "EMPTY": "", "DPSYNC_TOKEN": "another token", "LAST": "\n"}
    printed, _ = runner(SAY.format(action=str(ROOT / "action")), **odd).communicate()
    inputs, environment, variables = json.loads(printed)
    assert json.loads(inputs) == {"api-token": "a token"}
    assert environment.keys() <= {"LC_CTYPE"}  # Python itself sets it
    assert odd.items() <= variables.items()
    assert variables["PATH"].endswith(":/usr/bin:/bin")


def test_action_ignores_python_in_workspace_or_relative_path(
    runner: Callable[..., subprocess.Popen[str]], tmp_path: Path
) -> None:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    for folder in (workspace, tmp_path):
        for name in ("python3", "env", "dirname"):
            (folder / name).write_text(f"#!/bin/sh\necho {folder} >> {tmp_path}/started\n")
            (folder / name).chmod(0o755)
    path = f":.:{workspace}:{TOOLS}:/usr/bin:/bin"
    running = runner("import sys; print(sys.executable)", PATH=path, GITHUB_WORKSPACE=str(workspace))
    printed, _ = running.communicate()
    assert printed.strip() == str(TOOLS / "python3")
    assert not (tmp_path / "started").exists()


def test_action_start_programs_get_no_step_variables(
    runner: Callable[..., subprocess.Popen[str]], tmp_path: Path
) -> None:
    python = tmp_path / "bin" / "python3"
    python.write_text(f"#!/bin/sh\nenv >> {tmp_path}/seen; exit 1\n")
    python.chmod(0o755)
    running = runner("print('started')", DPSYNC_TOKEN="another token", BASH_ENV="x")
    assert running.communicate()[0].strip() == "started"
    seen = (tmp_path / "seen").read_text()
    names = {line.partition("=")[0] for line in seen.splitlines()}
    assert names <= {"PATH", "HOME", "PWD", "SHLVL", "_", "OLDPWD"}


def test_action_without_python_reports_required_version(
    runner: Callable[..., subprocess.Popen[str]], tmp_path: Path
) -> None:
    ended = runner("", PATH=str(tmp_path / "bin"))
    printed, _ = ended.communicate()
    assert ended.returncode == 1
    assert "needs Python 3.11" in Step().read(printed).commands[0].data
    assert read_outputs((tmp_path / "output").read_text())["outcome"] == "failed"


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_action_interrupted_during_python_search_sets_outputs(
    number: signal.Signals, code: int, runner: Callable[..., subprocess.Popen[str]], tmp_path: Path
) -> None:
    """Bash gets the signal and its child does not: then bash would go on when that has ended well."""
    for name in ("asked", "go-on"):
        os.mkfifo(tmp_path / name)
    python = tmp_path / "bin" / "python3"
    python.write_text(f"#!/bin/sh\necho > {tmp_path}/asked\ncat {tmp_path}/go-on\n", encoding="utf-8")
    python.chmod(0o755)
    running = runner("")
    (tmp_path / "asked").read_text()
    assert read_outputs((tmp_path / "output").read_text())["exit-code"] == "137"
    running.send_signal(number)
    (tmp_path / "go-on").write_text("")
    running.communicate(timeout=PATIENCE)
    assert running.returncode == code
    found = read_outputs((tmp_path / "output").read_text())
    assert (found["outcome"], found["failure-reason"], found["exit-code"]) == (
        "failed", "interrupted", str(code),
    )  # fmt: skip
