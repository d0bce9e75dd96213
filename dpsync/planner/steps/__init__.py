"""The requests that carry decisions out, and what each of them waits for.

In come `Sides` and `Decisions`. Out goes a `StepSet`: requests (from a kind's calls and templates) and
edges between them, which rules return: what must exist or be done first, values that only one may hold,
siblings in their order. Effects and reasons read steps; no decision is made here.
"""
