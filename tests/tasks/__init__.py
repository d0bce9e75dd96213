"""Ordinary work: the tasks of a documentation team, in each place where dpsync runs.

`tasks.py` declares the tasks, `places.py` prepares a checkout or clone, `run.py` runs one case there, and
`python -m tests.tasks.page` writes the table of all cases into docs/soak.md.
"""
