"""Write plans, reports, drift and findings for people and programs. This package decides nothing.

Input: frozen values, which become a document (`documents.py`).
Output: the document as JSON, or its view (`views.py`) in one of the formats of `formats.py`.
"""
