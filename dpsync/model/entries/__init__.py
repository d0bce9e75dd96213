"""Both sides of every comparison, by address: what is declared, what is live, and which object each entry is.

config makes `Desired` and reads `Ids`, live makes `Snapshot`; identity, planner, apply and importing read
them. A value here holds references, raw ids and secrets as types of their own (`values`), and never as
texts.
"""
