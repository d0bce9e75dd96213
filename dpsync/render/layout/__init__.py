"""A document as a view: blocks of entries, the most dangerous first.

In comes a document, out goes a `View` (`view.py`): what is told, in which order, how loudly, and not in which
medium. A new thing to tell is put there once. Every format calls it, and `github` for titles and comments.
"""
