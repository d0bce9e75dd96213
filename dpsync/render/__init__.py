"""Write plans, reports, drift and findings for people and programs. This package decides nothing.

Input: frozen (immutable) values, which become a document (`documents.py`).
Output: the document as JSON, or its view (`views.py`: entries, levels and texts) in a format of `formats.py`.
"""
