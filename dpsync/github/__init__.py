"""What GitHub is told: the comment of a plan, the issue of drift, the job summary, annotations and outputs.

Texts are made by pure functions; `transport.py` is the only module that talks to GitHub. Nothing here plans
or applies: cli/github.py runs a command and hands over the document that it printed.

- **key**: which configuration, environment and part: one comment and one issue for each
- **marker**: the first line of a text of ours on GitHub, an HTML comment that says which plan it tells
- **frozen**: a comment whose plan was applied; it is never rewritten, the next plan gets a new one
"""
