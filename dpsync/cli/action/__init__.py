"""A run of `dpsync github`: its parts that need this process, its files and its environment.

In come the inputs of the action and the environment of the runner, out go what `dpsync.github` tells and the
exit code of the step. It runs other commands through `cli/main.py`; only `cli/commands/github.py` calls it.
"""
