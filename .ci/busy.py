"""Run a command while half of the cores are busy: no test may depend on how fast it runs.

    python3 .ci/busy.py make test

Exits with the command's exit code. The busy processes end with this process, however this process ends.
"""

from __future__ import annotations

import os
import subprocess
import sys

BUSY = "import os\nparent = os.getppid()\nwhile os.getppid() == parent:\n    sum(range(1_000_000))"
"""Counts for as long as whoever has started it is there."""


def main() -> int:
    """Run the command of the arguments."""
    cores = [
        subprocess.Popen([sys.executable, "-c", BUSY]) for _ in range(max(1, (os.cpu_count() or 1) // 2))
    ]
    try:
        return subprocess.run(sys.argv[1:], check=False).returncode
    finally:
        for core in cores:
            core.terminate()
            core.wait()


if __name__ == "__main__":
    sys.exit(main())
