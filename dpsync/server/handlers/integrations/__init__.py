"""Carry out the operations on integrations, and on their installations in organizations, spaces and sites.

Input: the `Context` of a checked request.
Output: the body of the response, or an `ApiError`.
"""
