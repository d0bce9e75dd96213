"""Carry out the operations on sites: navigation, looks, redirects, visitors, agents and connections.

Input: the `Context` of a checked request. Site spaces use the handlers of `spaces`.
Output: the body of the response, or an `ApiError`.
"""
