"""The tree → `Desired`: which entries there are, their addresses and values, and the policy.

`declare` finds the entries, `resolve` reads their fields by their types, and `checks` compares entries. In
go nodes and the registry of kinds, out come checked values and diagnostics. Only the loader calls it;
`schema` and `supported` are for callers outside, about the form of a configuration and about what a server
can read of it.
"""
