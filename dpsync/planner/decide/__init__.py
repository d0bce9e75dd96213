"""What becomes of each thing, before a single request is thought of: made, changed, deleted, kept or
blocked.

In comes `Sides`. Out goes `Decisions`, with the deletions and their cascade, transfers, restructurings
and what must stay concealed until its last request. The rooms of steps, effects, questions and reasons
read decisions; none of them changes one.
"""
