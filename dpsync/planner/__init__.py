"""Make a plan: compare the files with the live objects, decide, and order requests. Pure functions, no I/O.

Input: `Sides`: `Desired` (the files) and `Snapshot` (the live objects) under one set of addresses, the
options, and the git base (the commit compared with).
Output: a `Plan`, the same bytes for the same input. `plan.py` has all stages on one page.
"""
