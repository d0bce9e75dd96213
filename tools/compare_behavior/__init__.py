"""Compare what two commits of dpsync do: `python -m tools.compare_behavior A B` (see `__main__`)."""
