"""Where something was written, and what is wrong with it: spans, YAML nodes, diagnostics and their questions.

These are values only. Every layer makes them, the layers above collect them, and render alone puts them
into words.
"""
