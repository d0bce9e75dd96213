"""Declare the kinds of objects (site, space, team …): their fields, natural keys, paths and requests.

A natural key is a set of fields that identifies an object, such as the title of a team.
Input: one declaration for each kind (`declarations/`), and the profile, which is the API version of a server.
Output: a `Registry`, which all other code asks. The schema, the reader, the comparison, the requests and
their order follow from the declarations.
"""
