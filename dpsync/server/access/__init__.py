"""Who may do what.

    roles            the order of roles, what a user is in an organization, the flags of `permissions`
    resolution       which role a member has on a space, collection or site, by edition: pure functions
    standings        what users are in an organization, read from the store
    visible_spaces   how many spaces members and teams may view

The input is records of members, teams, grants and content, as the store has them. It knows no request:
callers ask through the `Context` of one, which remembers the answers. Only `request`, the rooms above it, and
`records.grants` use it.
"""
