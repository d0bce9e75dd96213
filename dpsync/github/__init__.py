"""What GitHub is told: the comment of a plan, the issue of drift, the job summary, annotations and outputs.

The rooms, from above: `runs` (what a run of the action does), `permission` (what may be done), `messages`
(what is told in pull requests and issues), `runner` (what the workflow's runner gives and takes), `requests`
(what is asked of GitHub). Texts are made by pure functions, and `requests/transport.py` alone talks to it.
Nothing here plans or applies: `cli/action` runs dpsync and hands over the documents that it prints.

- **key**: which configuration, environment and part: one comment and one issue for each
- **marker**: the first line of a text of ours on GitHub, an HTML comment that says which plan it tells
- **frozen**: a comment whose plan was applied; it is never rewritten, the next plan gets a new one
"""
