"""Resolve who may do what.

Input: records of members, teams, grants and content from the store.
Output: roles, the access of users, permission flags and numbers of visible spaces. `Context` caches the
results.

    roles                 the order of roles, the access of a user in an organization, `permissions` flags
    resolution            pure functions that resolve the role of a member on content, for each profile
    organization_access   reads the access of users from the store
    visible_spaces        counts the spaces that members and teams may view

This package does not depend on requests. Only `request`, the packages above `request`, and `records.grants`
import this package.
"""
