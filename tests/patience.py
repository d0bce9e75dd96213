"""How long a test waits for what must come: a bound for what hangs, never a claim about speed."""

PATIENCE = 600.0
"""Seconds."""
