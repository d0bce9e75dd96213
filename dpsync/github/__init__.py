"""What GitHub is told: the comment of a plan, the issue of drift, the job summary, annotations and outputs.

`action.py` decides whether anything may be done at all. `plan.py`, `apply.py` and `drift.py` each do one
command and tell it, with what `run.py` gives to all of them. Texts are made by pure functions. `transport.py`
is the only module that talks to GitHub, for `api.py` and `branches.py`, which know the requests. Nothing here
plans or applies: cli/github_commands.py runs dpsync and hands over the documents that it prints.

- **key**: which configuration, environment and part: one comment and one issue for each
- **marker**: the first line of a text of ours on GitHub, an HTML comment that says which plan it tells
- **frozen**: a comment whose plan was applied; it is never rewritten, the next plan gets a new one
"""
