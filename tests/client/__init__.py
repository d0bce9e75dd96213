"""The HTTP client against a server that fails on purpose, over real sockets."""
