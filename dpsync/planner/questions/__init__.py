"""What a plan asks or refuses: who is who, what holds content, what is protected, how much may go at
once.

In come `Sides` and `Decisions`. Out go refusals, each with what happened, where, why, and the answers
that settle it. The plan calls this room; drift asks it for candidates alone.
"""
