"""Carry out a plan on the companion (`dpsync/server`), loaded with the responses of the platform.

Input: a plan, its session, and the recorded responses (`dpsync/client/recording.py`).
Output: a `Rehearsal`. Nothing is sent to the platform, no port is opened, and no secret is known here.

    world       the data of the local server: the same objects under the same ids
    replica     the companion of a rehearsal, in this process and in memory
    unproven    what a rehearsal cannot show, because no response contains it
    moment      a time in which something is public that is public neither before nor after the apply
    fault       a request that fails on purpose in a rehearsal
"""
