"""Documents as views: one list of entries, then the verdict.

In comes a document, out goes a `View` (`view.py`): what is said of each object, how loudly, and not in which
medium. A new thing to say is put there once. Every format calls it, and `github` for titles and comments.
"""
