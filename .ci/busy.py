"""Runs a command while every core has something else to do as well: no test may depend on how fast it runs.

    python3 .ci/busy.py make test

Ends with the command's exit code. What keeps the cores busy ends with this process, however that ends.
"""

from __future__ import annotations

import os
import subprocess
import sys

BUSY = "import os\nparent = os.getppid()\nwhile os.getppid() == parent:\n    sum(range(1_000_000))"
"""Counts for as long as whoever has started it is there."""


def main() -> int:
    """Run the command of the arguments."""
    cores = [subprocess.Popen([sys.executable, "-c", BUSY]) for _ in range(os.cpu_count() or 1)]
    try:
        return subprocess.run(sys.argv[1:], check=False).returncode
    finally:
        for core in cores:
            core.terminate()
            core.wait()


if __name__ == "__main__":
    sys.exit(main())
