"""What several kinds say in the same words: roles, merge rules, languages and looks.

Declarations import it, and nothing else does.
"""
