"""The HTTP service.

In go requests; out come the answers of the operations' handlers. Here a request is routed, authenticated and
checked against its row, and run in a transaction. Only `process` and `control` use it.
"""
