"""Declare the kinds of objects: their fields, natural keys, paths and requests. Other code asks the registry.

Input: one declaration for each kind (`declarations/`), and the profile, which is the API version of a server.
Output: a `Registry`. The schema, the reader, the comparison, the requests and their order follow from it.
"""
