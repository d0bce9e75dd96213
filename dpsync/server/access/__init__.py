"""Resolve who may do what in GitBook: roles, the access of users, and permission flags.

Input: records of members, teams, content and grants (roles on one space, collection or site) from the store.
Output: roles, accesses, `permissions` flags and numbers of visible spaces. `Context` caches the results.
`roles` has the order of roles, `resolution` resolves the role of a member on content, `organization_access`
reads the store, `visible_spaces` counts. This package does not depend on requests; only `request`, the
packages above `request`, and `records.grants` import it.
"""
