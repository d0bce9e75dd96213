"""What all kinds of records have in common, written once.

A `Family` declares one kind: its ids, its owner, what depends on what, how a world says it and how it is
served. Here are removing, transferring, loading and dumping by these declarations, the order of siblings, and
the roles that are given on things. The declarations themselves are in `families`; nothing here names a kind.
"""
