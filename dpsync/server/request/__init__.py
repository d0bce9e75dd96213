"""One request, and what every operation needs to answer it.

In go a request that `http` has routed and checked, and the store; a handler gets them as a `Context`, through
which it finds, puts and removes records. Beside it: what an operation is declared as, pages of a list, what a
body changes, and the cache of what was worked out before. Every room above may use it.
"""
