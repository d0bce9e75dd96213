"""For requests to a server of a test: where there is no TLS, no certificates are read."""

NO_TLS = {"verify": False, "trust_env": False}
"""Options of httpx, which else reads all certificates for each client. That takes longer than a request."""
