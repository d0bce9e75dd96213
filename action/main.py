"""What a step of the action runs: installs the locked dependencies once, then is `dpsync github`.

They go into the runner's tool cache under the hash of the lock, whole or not at all. What is installed is in
requirements.txt with its hashes, as wheels only: no code of a package runs while it is installed.
"""

from __future__ import annotations

if __name__ == "__main__":  # whoever cancels while modules are loaded, signal itself too, sees no traceback
    import _signal

    _signal.signal(_signal.SIGINT, _signal.SIG_DFL)

import hashlib
import os
import platform
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NoReturn

ROOT = Path(__file__).resolve().parent.parent
LOCK = ROOT / "action" / "requirements.txt"
ENDING = (signal.SIGINT, signal.SIGTERM)
OPTIONS = ("--quiet", "--require-hashes", "--only-binary", ":all:", "--requirement", str(LOCK))


def main() -> None:
    """Become `dpsync github`."""
    for number in ENDING:
        signal.signal(number, interrupted)
    sys.path[:0] = [str(ROOT), str(dependencies())]
    import dpsync.cli.github  # noqa: F401
    from dpsync.cli.main import main as run_dpsync

    for number in ENDING:
        signal.signal(number, signal.SIG_IGN)  # until the command takes them, and again when it has ended
    run_dpsync(["github"])


def interrupted(number: int, _: object) -> None:
    """End the step. What is half installed is taken away, and no other signal keeps that from being done."""
    for one in ENDING:
        signal.signal(one, signal.SIG_IGN)
    fail("interrupted before it began", "interrupted", 128 + number)


def in_cache() -> Path:
    """Where they are kept: another lock, Python or machine has another place."""
    cache = Path(os.environ.get("RUNNER_TOOL_CACHE") or tempfile.gettempdir())
    lock = hashlib.sha256(LOCK.read_bytes()).hexdigest()[:16]
    return cache / "dpsync" / f"{lock}-{sys.implementation.cache_tag}-{sys.platform}-{platform.machine()}"


def dependencies() -> Path:
    """The directory that holds them, filled where it is not there yet."""
    place = in_cache()
    if place.is_dir():
        return place
    place.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=place.parent) as made:
        target = Path(made) / "packages"
        install(target, Path(made) / "installer")
        try:
            target.rename(place)
        except OSError:
            if not place.is_dir():  # else another job was faster
                raise
    return place


def install(target: Path, installer: Path) -> None:
    """Install into a new directory: with uv where it is there, else with pip in an environment of its own."""
    if uv := shutil.which("uv"):
        run(uv, "pip", "install", "--python", sys.executable, "--target", str(target), *OPTIONS)
        return
    run(sys.executable, "-I", "-m", "venv", str(installer))
    pip = (str(installer / "bin" / "python"), "-I", "-m", "pip", "install", "--disable-pip-version-check")
    run(*pip, "--target", str(target), *OPTIONS)


def run(*command: str) -> None:
    """Run an installer: beside this file, where no setting of the checked-out repository is found."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("DPSYNC_")}
    result = subprocess.run(command, cwd=LOCK.parent, env=environment, check=False)
    if result.returncode:
        fail(f"its packages could not be installed: {Path(command[0]).name} ended with {result.returncode}")


def fail(why: str, reason: str = "runner", code: int = 1) -> NoReturn:
    """End the step, with the outputs that say so."""
    print(f"::error title=dpsync::{why}")
    with Path(os.environ.get("GITHUB_OUTPUT") or os.devnull).open("a", encoding="utf-8") as file:
        file.write(f"outcome=failed\nexit-code={code}\nhas-changes=false\nfailure-reason={reason}\n")
    sys.exit(code)


if __name__ == "__main__":
    main()
