"""Show dpsync in half a minute: import, plan, apply, and undo a change that somebody makes in GitBook.

    python3 examples/demo.py

The demo starts the local server (GitBook's API on this machine) and works in a temporary folder. At the end,
the demo stops everything and leaves the checkout unchanged.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import urllib.request
import venv
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parent.parent
ENVIRONMENT = ROOT / "build" / "demo"
PYTHON = ENVIRONMENT / "bin" / "python"
TOKEN = "ada-token"  # a documented token of the local server, which works nowhere else


def main() -> int:
    """Run the demo. Return 0 if every step succeeded."""
    prepare()
    with companion() as url, a_folder() as folder:
        environment = {
            **os.environ,
            "DPSYNC_URL": url,
            "DPSYNC_TOKEN": TOKEN,
            "PYTHONPATH": str(ROOT),
            "XDG_STATE_HOME": str(folder / ".state"),
            "GIT_CONFIG_GLOBAL": os.devnull,
        }
        say("Write the organization from GitBook into files, and commit the files.")
        dpsync(environment, 0, "import", "--organization", "acme", "--quiet", lines=3)
        commit("Import")
        say("Allow dpsync to delete teams.")
        edit("dpsync.yaml", "policy:\n", "policy:\n  prune: [teams]\n")
        show_line("dpsync.yaml", "prune")
        commit("Allow deletes")
        say("Rename a site, add a space, and delete a team in the files.")
        edit("acme/sites/docs.yaml", "title: Acme Docs\n", "title: Acme Documentation\n")
        edit("acme/spaces.yaml", "spaces:\n", "spaces:\n  webhooks: { title: Webhooks }\n")
        edit("acme/teams.yaml", "  legacy: { title: Legacy }\n", "")
        commit("Edit")
        dpsync(environment, 0, "plan")
        say("Apply the plan.")
        dpsync(environment, 0, "apply", "--yes")
        say("Somebody renames the site in GitBook.")
        rename(url, "docs", "Acme Dox")
        dpsync(environment, 2, "drift")
        say("Undo this change in GitBook.")
        dpsync(environment, 0, "apply", "--yes", "--quiet", "--select", "acme/sites/docs")
        if "No changes." not in dpsync(environment, 0, "plan"):
            sys.exit("the last plan should have no changes")
    return 0


def prepare() -> None:
    """Install dpsync with its local server into build/demo if it is missing."""
    if not PYTHON.exists():
        print("Installing dpsync into build/demo …", flush=True)
        venv.create(ENVIRONMENT, with_pip=True)
        pip = [str(PYTHON), "-m", "pip", "install", "-qq", "--disable-pip-version-check"]
        subprocess.run([*pip, f"{ROOT}[server]"], check=True)


@contextmanager
def companion() -> Iterator[str]:
    """Run the local server on a free port with its test data; yield its URL."""
    command = [str(PYTHON), "-m", "dpsync", "serve", "--port", "0"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT)
    try:
        assert server.stdout is not None
        url = server.stdout.readline().strip()
        if not url:
            sys.exit("the local server did not start")
        print(f"$ dpsync serve &\n{url}", flush=True)
        yield url
    finally:
        server.terminate()
        server.wait(timeout=10)
        if server.stdout is not None:
            server.stdout.close()


@contextmanager
def a_folder() -> Iterator[Path]:
    """Work in an empty temporary folder with a git repository."""
    before = Path.cwd()
    with TemporaryDirectory() as folder:
        os.chdir(folder)
        git("init", "--quiet")
        try:
            yield Path(folder)
        finally:
            os.chdir(before)


def dpsync(environment: dict[str, str], expected: int, *arguments: str, lines: int | None = None) -> str:
    """Run a command and show it; stop the demo if it ends with another exit code than expected.

    `lines`: how many of the first lines to print; None prints all.
    """
    shown = " ".join(f'"{one}"' if " " in one else one for one in arguments)
    print(f"$ dpsync {shown}", flush=True)
    command = [str(PYTHON), "-m", "dpsync", *arguments]
    result = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=False)
    printed = result.stdout.splitlines()
    if lines is not None:
        printed = [*printed[:lines], "…", printed[-1]]
    print("\n".join(printed), flush=True)
    if result.returncode != expected:
        sys.exit(f"expected exit code {expected}, got {result.returncode}")
    return result.stdout


def edit(file: str, before: str, after: str) -> None:
    """Replace a text in a file."""
    path = Path(file)
    text = path.read_text(encoding="utf-8")
    if before not in text:
        sys.exit(f"{file} does not contain {before!r}")
    path.write_text(text.replace(before, after, 1), encoding="utf-8")


def show_line(file: str, key: str) -> None:
    """Print the line of a file that contains a key."""
    lines = Path(file).read_text(encoding="utf-8").splitlines()
    number, line = next((number, line) for number, line in enumerate(lines, 1) if f"{key}:" in line)
    print(f"$ grep -n {key} {file}\n{number}:{line}", flush=True)


def commit(message: str) -> None:
    """Commit all files."""
    git("add", ".")
    git("-c", "user.name=Ada", "-c", "user.email=ada@acme.example", "commit", "--quiet", "--message", message)


def git(*arguments: str) -> None:
    """Run git in the working directory."""
    subprocess.run(["git", *arguments], check=True)


def rename(url: str, site: str, title: str) -> None:
    """Change the title of a site, as somebody in GitBook's app does."""
    request = urllib.request.Request(
        f"{url}/v1/orgs/acme/sites/{site}",
        method="PATCH",
        data=json.dumps({"title": title}).encode(),
        headers={"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=10) as answer:
        answer.read()


def say(text: str) -> None:
    """Print what happens next."""
    print(f"\n── {text}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
