"""Carries out a plan: preflight, steps in the order of their graph, a journal, and a proof at the end."""
