"""A view as what other tools show beside lines of files, or count.

In comes a view, out go annotations of a log, SARIF, JUnit's XML or a code quality report. `formats.py` calls
it, and nothing else does.
"""
