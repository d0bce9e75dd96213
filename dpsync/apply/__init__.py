"""Carry out a plan: check it, send each step (request), log it in the journal before and after, then verify.

Input: an accepted `Plan`, the `Snapshot` (live objects) it was made from, and a `WriteClient`.
Output: requests, journal lines, lines of the ids file, and a `Report`. `run.py` (`apply_plan`) is the start.
"""
