"""The only writers of text for people and machines: frozen values in, text out. Decides nothing.

The rooms, from above: `formats.py` (the one table of formats); `terminal`, `pages` and `checks` (a family of
formats each) and `graph.py` (a picture of the configuration); `layout` (a document as a view); `json` (the
documents); `words` (what is said, whatever the medium). Commands call it, and so do the texts for GitHub.
"""
