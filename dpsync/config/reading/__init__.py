"""One file's text → what it says, with positions: a tree of YAML nodes, or the lines of an ids file.

In goes a text, out come nodes and diagnostics; `syntax` puts the parser's errors into plain words, and
`scalars` says what an unquoted word means. A file is known by its name alone: no other file is looked at.
Whoever has a YAML text may call it.
"""
