"""Make a plan: compare the files with the live objects, decide, and order requests. Pure functions, no I/O.

Input: `Sides`: the files (`Desired`) (the files) and the live objects (`Snapshot`) (the live objects) under one set of addresses, the
options of the run, and the git base (the configuration in the commit compared with).
Output: a `Plan`, the same bytes for the same input. `plan.py` shows the whole way on one page.
"""
