"""A command imports what it uses: nobody waits for a part of dpsync, or a library, that it does not need."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from dpsync.server.process.threaded_server import ThreadedServer

ROOT = Path(__file__).parents[2]
MODULES = {"markdown-it-py": "markdown_it", "pyyaml": "yaml", "ruamel.yaml": "ruamel"}
"""The modules of the packages that dpsync depends on, where they have another name."""
CONFIGURATION = "dpsync: 1\norganizations:\n  acme: { id: acme }\n"
STARTED = """
import sys
from dpsync.cli import main
try:
    main()
finally:
    names = {".".join(name.split(".")[: 1 + name.startswith("dpsync.")]) for name in sys.modules}
    print(*sorted(names), file=sys.stderr)
"""

# Of each command the packages of dpsync that it imports, then those that dpsync depends on.
COMPLETED = "pl⇥"
"""What a shell asks for at the tabulator key."""
FILES = "api cli collector config disk kinds model render workflows"
COMMANDS = {
    "--version": ("cli collector model", "click msgspec"),
    "--help": ("cli collector model", "click msgspec"),
    "help": ("cli collector model", "click msgspec"),
    "help environment": ("cli collector model", "click msgspec"),
    "help plan": ("cli collector disk model render", "click msgspec"),
    "version": ("cli collector model render", "click msgspec"),
    "completion bash": ("cli collector model", "click msgspec"),
    COMPLETED: ("cli collector model", "click msgspec"),
    "explain DP201": ("cli collector disk model render", "click msgspec"),
    "explain site.visibility": (
        "cli collector config disk importing kinds model render",
        "click msgspec yaml",
    ),
    "fmt --check": ("cli collector config disk importing kinds model render", "click msgspec yaml"),
    "config": (f"{FILES} importing", "click msgspec pydantic yaml"),
    "list --offline": (f"{FILES} apply client", "click msgspec pydantic yaml"),
    "plan --help": ("cli collector disk model render", "click msgspec"),
    "validate": (FILES, "click msgspec yaml"),
    "validate --format json": (FILES, "click msgspec pydantic yaml"),
    "plan": (
        f"{FILES} apply client identity live planner",
        "click httpcore httpx msgspec pydantic yaml",
    ),
}


def packages() -> set[str]:
    """Return the import names of dpsync's packages and dependencies, including the extras."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lists = [project["dependencies"], *project["optional-dependencies"].values()]
    names = {re.split(r"[\[>=<]", one)[0].strip() for depends in lists for one in depends}
    parts = (path.stem for path in (ROOT / "dpsync").iterdir())
    return {MODULES.get(name, name) for name in names} | {f"dpsync.{name}" for name in parts}


PLUGIN = """\
from pathlib import Path
Path("seen").touch()
plugin = None
"""


def test_third_party_pydantic_plugin_is_not_loaded(server: ThreadedServer, tmp_path: Path) -> None:
    server.reset()
    (tmp_path / "dpsync.yaml").write_text(CONFIGURATION, encoding="utf-8")
    (tmp_path / "nosy.py").write_text(PLUGIN, encoding="utf-8")
    about = tmp_path / "nosy-1.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: nosy\nVersion: 1\n", encoding="utf-8")
    (about / "entry_points.txt").write_text("[pydantic]\nnosy = nosy:plugin\n", encoding="utf-8")
    surroundings = {name: value for name, value in os.environ.items() if not name.startswith("PYDANTIC")}
    surroundings |= {"DPSYNC_URL": server.url, "DPSYNC_TOKEN": "ada-token", "PYTHONPATH": str(tmp_path)}
    subprocess.run(
        [sys.executable, "-c", "from dpsync.cli import main; main()", "plan", "--quiet"],
        cwd=tmp_path, env=surroundings, capture_output=True, check=True,
    )  # fmt: skip
    assert not (tmp_path / "seen").exists()


@pytest.mark.parametrize("command", COMMANDS)
def test_command_imports_only_needed_packages(command: str, server: ThreadedServer, tmp_path: Path) -> None:
    server.reset()
    (tmp_path / "dpsync.yaml").write_text(CONFIGURATION, encoding="utf-8")
    names = ("PATH", "HOME", "TMPDIR", "PYTHONPATH")
    surroundings = {name: os.environ[name] for name in names if name in os.environ}
    surroundings |= {"DPSYNC_URL": server.url, "DPSYNC_TOKEN": "ada-token"}
    if command == COMPLETED:
        surroundings |= {"_DPSYNC_COMPLETE": "bash_complete", "COMP_WORDS": "dpsync pl", "COMP_CWORD": "1"}
        command = ""
    ended = subprocess.run(
        [sys.executable, "-c", STARTED, *command.split()],
        cwd=tmp_path, env=surroundings, capture_output=True, text=True, check=True,
    )  # fmt: skip
    ours, others = COMMANDS[command or COMPLETED]
    wanted = {*others.split(), *(f"dpsync.{name}" for name in ours.split())}
    assert packages() & {*ended.stderr.splitlines()[-1].split()} == wanted
