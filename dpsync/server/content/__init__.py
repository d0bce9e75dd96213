"""The content of a space: revisions, what changes and merges them, and what is read out of them.

A revision is immutable and kept once. Everything here but `revisions` and `erasing` is a pure function of the
documents of revisions: it knows no request, no caller and no store.
"""
