"""Implement the command line: one module per command, and the flags, questions and exit codes they share.

Input: the arguments, the environment and the answers of a person at a terminal.
Output: a document or text on stdout, messages on stderr, and an exit code. A command imports what it uses.
"""

from dpsync.cli.main import main

__all__ = ["main"]
