"""The companion: a local service that serves the platform's API with real state.

It is an independent witness. It is written from the API's own description and imports nothing from the rest
of dpsync, so a plan that converges on it proves something.
"""
