"""One state machine of everything that people do with dpsync, and a check of each promise after each step.

`machine.py` takes the steps, `checks.py` holds the promises, `checkout.py` is the repository of a person,
`edits.py` what people do to files and to a platform, `platforms.py` the companion, `command.py` the command
line with faults and kills. `python -m tests.machine` runs it (`make soak MINUTES=…`).
"""
