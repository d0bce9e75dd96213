"""What is told, saved and applied: plans, drift, edits of files, and the journal of an apply.

These are frozen pydantic models without secrets, whose JSON is the same for the same content. The planner
and apply make them; render, github and the commands only read them.
"""
