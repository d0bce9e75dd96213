"""The command line: one file per command, each a thin layer over dpsync.api.

The rooms, from above: `commands`, `action` (what `dpsync github` does), then `main.py` and `endings.py`, with
which every command begins and ends, `arguments` (what a command works on), `terminal` (how it speaks). Heavy
imports wait for their command.
"""

from dpsync.cli.main import main

__all__ = ["main"]
