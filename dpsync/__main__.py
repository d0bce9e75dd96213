"""Run the command line for `python -m dpsync`."""

from dpsync.cli.main import main

main()
