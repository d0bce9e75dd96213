"""The documents that commands print as JSON, and back from what was printed.

In come plans, drift, reports and findings, out go versioned models (`documents.py`), from which the schemas
are derived. What a person can do about each difference is worked out here, since programs read it, too.
Commands make documents; every other room of `render` reads them.
"""
