"""Holds the companion and dpsync against the vendor's documents: `make contract`.

    python -m tests.contract

The documents are fetched once. Without npm nothing is checked, and one line says so.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import Final

from . import editions

ANSWERS: Final = (
    "tests/contract",
    "tests/kinds/test_limits.py",
    "tests/server/test_companion_edition.py",
    "tests/server/test_vendor_client.py",
    "tests/docs/test_platforms.py",
)
REQUESTS: Final = {
    "0.202.0": "tests/kinds/test_every_field_published.py",
    "0.146.0": "tests/kinds/test_every_field.py",
}
"""By edition the tests that write every field of every kind to it, the profile `published` and the profile
`full`: each request and each answer is judged."""


def main() -> int:
    """Run the contract tests. Return 1 if a request or an answer contradicts a vendor document, else 0."""
    if shutil.which("npm") is None and not all(map(editions.is_here, editions.EDITIONS)):
        print("the contract was not checked: npm is needed to fetch the vendor's documents")
        return 0
    editions.main()
    ended = [_pytest(*ANSWERS)]
    for edition, tests in REQUESTS.items():
        witness = ("-p", "tests.contract.witness", "--edition", edition, "-n", "auto", "--dist", "worksteal")
        ended.append(_pytest(*witness, tests, DPSYNC_SOAK="1"))
    return max(ended)


def _pytest(*arguments: str, **environment: str) -> int:
    command = [sys.executable, "-m", "pytest", "-q", *arguments]
    return int(subprocess.run(command, env={**os.environ, **environment}, check=False).returncode != 0)


if __name__ == "__main__":
    sys.exit(main())
