"""The library for HTTP is imported without its command line, which would import others."""

from __future__ import annotations

import subprocess
import sys

import pytest

NAMES = "'httpx._main' in sys.modules, 'rich' in sys.modules"


@pytest.mark.parametrize(
    ("program", "said"),
    [
        (f"import sys, dpsync.client.transport; print({NAMES})", "False False"),
        # Whoever has it already keeps what is there.
        ("import sys, httpx; there = sys.modules.get('httpx._main'); from dpsync.client import transport; "
         "print(transport.httpx is httpx, sys.modules.get('httpx._main') is there)", "True True"),
    ],
)  # fmt: skip
def test_httpx_command_line_module_is_not_imported(program: str, said: str) -> None:
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ended.stdout.strip() == said
