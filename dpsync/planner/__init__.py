"""Make a plan: pure functions without network, files or clock.

Input: `Sides`: `Desired` and `Snapshot` under one set of addresses, the options, and the git base.
Output: a `Plan`, the same bytes for the same input. `plan.py` has all stages on one page.
"""
