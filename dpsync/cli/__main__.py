"""Run the command line for `python -m dpsync.cli`."""

from dpsync.cli.main import main

main()
