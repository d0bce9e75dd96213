"""Connect the packages to what people do: plan, apply, drift, import, revert, list and edit ids.

Input: `Desired`, a `Registry`, a client, and the options of a run.
Output: plans, drift, reports, and edited files in memory. `session.py` (`Session`) is the start.
"""
