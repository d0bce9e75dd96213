"""Serve HTTP: route each request, authenticate it, check it against its row, run it in a transaction.

Input: HTTP requests, and the rows of `operations`.
Output: the responses of the handlers, and the OpenAPI document.
"""
