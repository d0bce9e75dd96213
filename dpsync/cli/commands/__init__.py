"""The commands, one file each: its flags, the order of its parts, its exit code.

In come the words of a command line, out go a document or text on stdout and an exit code. `cli/main.py` finds
a command by its name and imports it when it is called; nothing else may.
"""
