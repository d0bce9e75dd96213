"""Pure functions from `Desired` and `Snapshot` to a `Plan`: no network, no files, no clock.

`plan` is the whole line on one page: `inputs` (both sides under one set of names), `decide` (what
becomes of each thing), `steps` (the requests, in an order), `effects` (what readers will notice),
`questions` (refusals with their answers) and `why` (causes and remarks). `drift` sees a plan the other
way round, `selection` plans a part. The rooms before know nothing of those after.
"""
