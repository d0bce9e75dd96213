"""What a step of the action runs: unpacks the locked dependencies, then is `dpsync github`.

The runner's tool cache has them as wheels, under the hash of the lock, whole or not at all. Whoever can write
there could put code into it: so before each run every wheel is held against its hash in requirements.txt, and
unpacked into a new directory. No code of a package runs while they are fetched.

Standard input has the inputs of the action, descriptor 3 the variables of the step (run.sh says why).
"""

from __future__ import annotations

if __name__ == "__main__":  # whoever cancels while modules are loaded, signal itself too, sees no traceback
    import _signal

    _signal.signal(_signal.SIGINT, _signal.SIG_DFL)

import hashlib
import io
import os
import platform
import re
import signal
import subprocess
import sys
import tempfile
import zipfile
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

ROOT = Path(__file__).resolve().parent.parent
LOCK = ROOT / "action" / "requirements.txt"
ENDING = (signal.SIGINT, signal.SIGTERM)
VARIABLES = 3
"""The descriptor that has the variables of the step."""
FOR_PIP = re.compile(
    r"HOME|PATH|LANG|TMPDIR|PIP_\w+|SSL_CERT_\w+|REQUESTS_CA_BUNDLE|\w+_proxy", re.IGNORECASE
)


MEANT = {"n": "\n", "\\": "\\"}


def main() -> None:
    """Become `dpsync github`."""
    os.environ.update(variables(VARIABLES))
    for number in ENDING:
        signal.signal(number, interrupted)
    inputs = sys.stdin.read()
    temporary = os.environ.get("RUNNER_TEMP") or None
    with tempfile.TemporaryDirectory(prefix="dpsync-", dir=temporary) as made:
        unpack(wheels(), Path(made))
        sys.path[:0] = [str(ROOT), made]
        import dpsync.cli.commands.github  # noqa: F401
        from dpsync.cli.main import main as run_dpsync

        for number in ENDING:
            signal.signal(number, signal.SIG_IGN)  # until the command takes them, and again when it has ended
        run_dpsync(["github"], inputs)


def variables(descriptor: int) -> dict[str, str]:
    """Return the variables that run.sh wrote to a file descriptor, one per line."""
    with os.fdopen(descriptor, encoding="utf-8", errors="surrogateescape", newline="\n") as file:
        lines = file.read().split("\n")
    pairs = (line.partition("=") for line in lines if line)
    return {name: re.sub(r"\\(.)", lambda it: MEANT[it[1]], value) for name, _, value in pairs}


def interrupted(number: int, _: object) -> None:
    """End the step. What is half installed is taken away, and no other signal keeps that from being done."""
    for one in ENDING:
        signal.signal(one, signal.SIG_IGN)
    fail("interrupted before dpsync started", "interrupted", 128 + number)


def in_cache() -> Path:
    """Where they are kept: another lock, Python or machine has another place."""
    cache = Path(os.environ.get("RUNNER_TOOL_CACHE") or tempfile.gettempdir())
    lock = hashlib.sha256(LOCK.read_bytes()).hexdigest()[:16]
    return cache / "dpsync" / f"{lock}-{sys.implementation.cache_tag}-{sys.platform}-{platform.machine()}"


def locked() -> dict[str, set[str]]:
    """Return the SHA-256 hashes of the wheels of each package in the lock file."""
    entry = re.compile(r"^([a-z0-9-]+)==.*\n((?:    --hash=\S+.*\n?)+)", re.MULTILINE)
    found = entry.findall(LOCK.read_text(encoding="utf-8"))
    return {name: set(re.findall(r"--hash=sha256:([0-9a-f]{64})", hashes)) for name, hashes in found}


def wheels() -> list[bytes]:
    """Return the content of each wheel in the lock file; download all unless the cache has exactly these."""
    place = in_cache()
    found = verified(place) if locked() else []
    if found is not None:
        return found
    place.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=place.parent) as made:
        target = Path(made) / "wheels"
        fetch(target, Path(made) / "installer")
        found = verified(target)
        if found is None:
            fail("the packages of dpsync could not be downloaded: a file differs from the lock file")
        if verified(place) is None:
            with suppress(OSError):  # there is none, or another job was faster
                place.rename(Path(made) / "other")
            with suppress(OSError):
                target.rename(place)
    return found


def verified(place: Path) -> list[bytes] | None:
    """Return the content of the wheels in a directory; None if they differ from those of the lock file."""
    left, found = locked(), []
    try:
        for path in place.iterdir():
            content = path.read_bytes() if path.is_file() else b""
            name = re.sub(r"[-_.]+", "-", path.name.partition("-")[0]).lower()
            if hashlib.sha256(content).hexdigest() not in left.pop(name, set()):
                return None
            found.append(content)
    except OSError:
        return None
    return None if left else found


def unpack(contents: list[bytes], target: Path) -> None:
    """Unpack wheels: the very bytes whose hashes were looked at."""
    for content in contents:
        with zipfile.ZipFile(io.BytesIO(content)) as wheel:
            wheel.extractall(target)


def fetch(target: Path, installer: Path) -> None:
    """Fetch the wheels into a new directory, with pip in an environment of its own."""
    run(sys.executable, "-I", "-m", "venv", str(installer))
    pip = (str(installer / "bin" / "python"), "-I", "-m", "pip", "download", "--quiet")
    options = ("--disable-pip-version-check", "--require-hashes", "--only-binary", ":all:", "--no-deps")
    run(*pip, *options, "--requirement", str(LOCK), "--dest", str(target))


def run(*command: str) -> None:
    """Run an installer: beside this file, where no setting of the checked-out repository is found."""
    environment = {name: value for name, value in os.environ.items() if FOR_PIP.fullmatch(name)}
    result = subprocess.run(command, cwd=LOCK.parent, env=environment, stdin=subprocess.DEVNULL, check=False)
    if result.returncode:
        program = Path(command[0]).name
        fail(f"the packages of dpsync could not be downloaded: {program} exited with {result.returncode}")


def fail(why: str, reason: str = "runner", code: int = 1) -> NoReturn:
    """End the step, with the outputs that say so."""
    print(f"::error title=dpsync::{why}")
    with Path(os.environ.get("GITHUB_OUTPUT") or os.devnull).open("a", encoding="utf-8") as file:
        file.write(f"outcome=failed\nexit-code={code}\nhas-changes=false\nfailure-reason={reason}\n")
    sys.exit(code)


if __name__ == "__main__":
    main()
