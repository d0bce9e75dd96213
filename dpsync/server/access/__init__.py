"""Who may do what.

In go records of members, teams and grants, as the store has them; out come roles, what a user is in an
organization, and how many spaces a user may view. It knows no request: callers ask through the `Context` of
one, which remembers the answers. Only `request`, what is above it, and `records.grants` use it.
"""
