"""Carry out a plan: check, send each step with a journal entry before and after it, then verify.

Input: an accepted `Plan`, the `Snapshot` it was made from, and a `WriteClient`.
Output: requests, journal lines, lines of the ids file, and a `Report`. `run.py` (`apply_plan`) is the start.
"""
