"""A view as a page: Markdown as GitHub reads it, and one HTML file.

In comes a view, out goes a text in which nothing foreign can become markup. `formats.py` calls it, and
`github` for its comments, issues and summaries.
"""
