"""Carry out the operations on organizations, members, teams, invitations and roles.

Input: the `Context` of a checked request.
Output: the body of the response, or an `ApiError`.
"""
