"""Carry out the operations on collections, spaces, pages, change requests, reviews and comments.

Input: the `Context` of a checked request.
Output: the body of the response, or an `ApiError`.
"""
