"""Run dpsync in a GitHub workflow: check the commit and the approvals, and report the result on GitHub.

Input: the inputs of the action, the event, and the JSON documents that the dpsync commands print.
Output: comments, issues, summaries and outputs. `transport.py` alone talks to GitHub. `cli/github_action.py`
runs dpsync and passes the documents on: nothing here plans or applies.

- **key**: the configuration, environment and part of a comment or an issue; each key has one of both
- **marker**: the first line of each comment and issue of dpsync: an HTML comment that identifies its plan
- **frozen**: a comment whose plan was applied: dpsync never rewrites it, and the next plan gets a new one
"""
