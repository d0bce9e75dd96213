"""Connect the packages to what people do: plan, apply, drift, import, revert, list and edit ids.

Input: `Desired` (the files), a `Registry` (the kinds of objects), a client, and the options of a run.
Output: plans, drift, reports, and edited files in memory. `session.py` (`Session`) is the start.
"""
