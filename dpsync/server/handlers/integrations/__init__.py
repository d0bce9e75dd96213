"""Carry out the API operations on integrations, and on their installations in organizations and content.

Input: the `Context` of a checked request.
Output: the body of the response, or an `ApiError`.
"""
