"""Contain the files of the HTML page: its frame, style and script. This package has no Python code.

Input: the view (what a report shows) as JSON, which `render/html.py` puts into `report.html`.
Output: one page that opens from disk and sends no request.
"""
