"""The whole cycle in a minute, from a first plan to drift that is found.

    python3 examples/demo.py

A companion is started, a copy of examples/acme is planned, applied and proven, then somebody changes a title
behind dpsync's back and the next plan finds it. At the end everything is stopped; the checkout is as before.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parent.parent
PYTHON = ROOT / ".venv" / "bin" / "python"
TOKEN = "ada-token"  # a token of the companion's built-in world, and of nothing else


def main() -> int:
    """Run the demo. Returns 0 when every step ended as it should."""
    prepare()
    with companion() as url, a_copy():
        environment = {**os.environ, "DPSYNC_URL": url, "DPSYNC_TOKEN": TOKEN}
        say("What would be done?")
        dpsync(environment, 0, "plan")
        say("Do it.")
        dpsync(environment, 0, "apply", "--yes")
        say("Once more: nothing is left to do.")
        if "No changes." not in dpsync(environment, 0, "plan", "--detailed-exitcode"):
            sys.exit("the second plan should have been empty")
        say("Somebody renames a site by hand …")
        rename(url, "docs", "Acme Dox")
        if "Acme Dox" not in dpsync(environment, 2, "plan", "--detailed-exitcode"):
            sys.exit("the plan should have found the change")
    say("That was it: the file says one thing, the platform another, and the plan shows both.")
    return 0


def prepare() -> None:
    """Make the environment that the demo runs in, unless it is there."""
    subprocess.run([sys.executable, str(ROOT / ".ci" / "environment.py")], check=True)


@contextmanager
def companion() -> Iterator[str]:
    """The companion on a free port with its built-in world, in memory."""
    command = [str(PYTHON), "-m", "dpsync", "serve", "--port", "0"]
    print(f"$ dpsync {' '.join(command[3:])}")
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT)
    try:
        assert server.stdout is not None
        url = server.stdout.readline().strip()
        if not url:
            sys.exit("the companion did not start")
        print(url)
        yield url
    finally:
        server.terminate()
        server.wait(timeout=10)
        if server.stdout is not None:
            server.stdout.close()


@contextmanager
def a_copy() -> Iterator[None]:
    """Work in a folder with a copy of the example: an apply keeps its journal and ids beside the files."""
    before = Path.cwd()
    with TemporaryDirectory() as folder:
        shutil.copytree(
            ROOT / "examples" / "acme", Path(folder) / "acme", ignore=shutil.ignore_patterns(".dpsync")
        )
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(before)


def dpsync(environment: dict[str, str], expected: int, *arguments: str) -> str:
    """Run a command on the example and show it; stops the demo when it does not end as expected."""
    print(f"$ dpsync {' '.join(arguments)} -C acme", flush=True)
    command = [str(PYTHON), "-m", "dpsync", *arguments, "-C", "acme"]
    result = subprocess.run(
        command, env={**environment, "PYTHONPATH": str(ROOT)}, stdout=subprocess.PIPE, text=True, check=False
    )
    print(result.stdout, flush=True)
    if result.returncode != expected:
        sys.exit(f"expected exit code {expected}, got {result.returncode}")
    return result.stdout


def rename(url: str, site: str, title: str) -> None:
    """What a person does by clicking."""
    print(f'$ curl -X PATCH {url}/v1/orgs/acme/sites/{site} -d \'{{"title": "{title}"}}\'\n')
    request = urllib.request.Request(
        f"{url}/v1/orgs/acme/sites/{site}",
        method="PATCH",
        data=json.dumps({"title": title}).encode(),
        headers={"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=10) as answer:
        answer.read()


def say(text: str) -> None:
    print(f"\n── {text}\n", flush=True)


if __name__ == "__main__":
    sys.exit(main())
