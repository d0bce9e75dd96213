"""Rehearse a plan: carry it out on a local server (`dpsync/server`) with a copy of the live objects.

Input: a plan, its session, and the recorded responses of GitBook (`dpsync/client/recording.py`).
Output: a `Rehearsal`. Nothing is sent to GitBook, no port is opened, and no secret is known here.

`world.py` makes the data of the local server, `replica.py` runs it in memory. `faults.py` lets requests fail
on purpose; `findings.py` finds what is public only during the apply, and what a rehearsal cannot show.
"""
