"""What each operation does: plain functions of a Context that return the answer's body or raise ApiError.

A room for each part of the API; `ordinary` has the handlers of all kinds that need none of their own. Rows of
`operations` and declarations of `families` name them, nothing else calls them.
"""
