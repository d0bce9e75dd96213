"""Spaces and their contents in the store.

In go a request's `Context` and a space; out come its revisions, the content that a caller reads, its PDF,
and whether its merge rules are met. Answers, handlers and families use it; it knows neither sites nor
integrations.
"""
