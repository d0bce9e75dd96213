"""The kinds: one file each, with one declaration from which everything about it follows.

In go the words of `kind`, types of fields and what kinds share; out comes a `Kind`. Only the registry
imports a file of this room: whoever asks about a kind asks the registry, and no other module names one.
"""
