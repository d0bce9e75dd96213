"""Carry out the operations: one plain function each, in a package for each part of the API.

Input: the `Context` of a checked request. Rows of `operations` and declarations of `resources` name them.
Output: the body of the response, or an `ApiError`. `crud.py` serves the kinds without special rules.
"""
