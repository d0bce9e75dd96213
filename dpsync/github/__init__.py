"""Run dpsync in a GitHub workflow: check the commit and the approvals, and report the result on GitHub.

Input: the inputs of the action, the event, and the JSON documents that the dpsync commands print.
Output: comments, issues, summaries and outputs. `transport.py` alone talks to GitHub; nothing here plans or
applies. Words: a *key* names the configuration, environment and part that a comment or an issue is about; a
*marker* is its first line, an HTML comment that identifies its plan; a *frozen* comment belongs to an applied
plan and is never rewritten.
"""
