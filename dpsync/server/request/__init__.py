"""Give a handler the `Context` of its request: what the handler may find, put and remove.

Input: a request that `http` has routed and checked, and the store.
Output: the `Context`; and helpers: the declaration of an operation, pages of lists, the changes in a body,
and a cache of responses.
"""
