"""The command line: one file per command, each a thin layer over dpsync.api.

Heavy imports wait for their command.
"""

from dpsync.cli.main import main

__all__ = ["main"]
