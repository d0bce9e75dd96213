"""`python -m dpsync.cli`."""

from dpsync.cli.main import main

main()
