"""Carry out the API operations: one plain function (handler) each, in a package for each part of the API.

Input: the `Context` of a checked request. The tables in `operations` and `resources` name the handlers.
Output: the body of the response, or an `ApiError`. `crud.py` serves the kinds without special rules.
"""
