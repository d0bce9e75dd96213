"""Apply the rules of spaces and their content in the store, without sites and integrations.

Input: the `Context` of a request, and a space.
Output: revisions, the content that a caller may read, the PDF, and whether merge rules are met.
"""
