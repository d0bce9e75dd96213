"""What is told in pull requests and issues, and how it is found again.

In come documents and their views, out go comments and issues of ours, each with a marker in its first line.
What a text says is pure; comments and issues are written whoever else writes meanwhile. `runs` and
`permission` call it.
"""
