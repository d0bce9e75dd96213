"""What is asked of GitHub: requests and their answers, as values of ours.

In come the address of an API and a token, out go comments, issues, branches, commits and pull requests, or
`GitHubError`. Every room of `dpsync.github` may call it; it calls none.
"""
