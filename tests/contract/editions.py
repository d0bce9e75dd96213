"""The vendor's published editions of the API that the contract is checked against, by pinned hashes.

The vendor publishes its OpenAPI document inside the npm package of its JavaScript client. A package is
fetched once into a cache outside the repository (`python -m tests.contract.editions`); nothing of it is ever
committed.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any, Final

PACKAGE: Final = "@gitbook/api"
EDITIONS: Final = {
    "0.146.0": "gWcSCbN+9Zc/XOEk4t8v70kKyaVJQytHMnnstArr8av1YpHzZWEpVQCeQ20SnJvkvO5y+P7TCVxJCLG2ciT9SQ==",
    "0.202.0": "qhrjEQbNNmCljR0AgP79+BsVh9yelh9TIBg9X3TyYx5a3lJwDiT3sw1ND9DFQSxGHp8hH5w+20KJHn/IDpTbaw==",
}
"""Each edition with the SHA-512 of its package, as npm writes it."""


def cache() -> Path:
    """Return the directory of the fetched packages, in $XDG_CACHE_HOME or ~/.cache."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "dpsync-contract"


def is_here(edition: str) -> bool:
    """Whether the package of this edition was fetched and unpacked."""
    return (package(edition) / "spec" / "openapi.json").exists()


def package(edition: str) -> Path:
    """Return the unpacked package of an edition: the document in `spec`, the JavaScript client in `dist`."""
    return cache() / edition / "package"


def document(edition: str) -> dict[str, Any]:
    """Return the OpenAPI document of an edition that was fetched."""
    path = package(edition) / "spec" / "openapi.json"
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def fetch(edition: str) -> None:
    """Fetch one edition into the cache. Ends the program when npm is missing or the hash is another one."""
    npm = shutil.which("npm")
    if npm is None:
        sys.exit(
            "npm is needed to fetch the vendor's document (apt-get install npm): the contract was not checked"
        )
    target = cache() / edition
    target.mkdir(parents=True, exist_ok=True)
    packed = subprocess.run(
        [npm, "pack", "--silent", f"{PACKAGE}@{edition}"],
        cwd=target,
        capture_output=True,
        text=True,
        check=False,
    )
    if packed.returncode:
        sys.exit(f"npm could not fetch {PACKAGE}@{edition}: {packed.stderr.strip()[-500:]}")
    archive = target / packed.stdout.split()[-1]
    found = base64.b64encode(hashlib.sha512(archive.read_bytes()).digest()).decode()
    if found != EDITIONS[edition]:
        archive.unlink()
        sys.exit(f"{PACKAGE}@{edition} has the SHA-512 {found}, not {EDITIONS[edition]}: it is not used")
    with tarfile.open(archive) as files:
        files.extractall(target, filter="data")


def main() -> None:
    """Fetch every edition that is not here yet."""
    for edition in EDITIONS:
        if not is_here(edition):
            fetch(edition)


if __name__ == "__main__":
    main()
