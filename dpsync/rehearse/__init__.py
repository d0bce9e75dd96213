"""A plan is carried out on a companion that was loaded with what is live, before the platform sees a write.

    recording   the answers that the plan was made from (dpsync/client/recording.py)
    world       the same things under the same ids, as the companion loads them; `answers` has the way of each
    replica     the companion of a rehearsal: in this process and in memory; no port is opened
    unproven    what a rehearsal cannot show, because no answer has it
    moment      something that is public on the way and neither before nor afterwards
    fault       a request that fails in a rehearsal on purpose

This package alone connects the companion (`dpsync/server/`) with the rest of dpsync. Nothing here sends
anything to the platform, writes a file, or knows a secret.
"""
