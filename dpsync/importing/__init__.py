"""Write live objects as configuration files, and edit single values in existing files.

Input: a `ReadClient`, or a plan with the existing files. No code here names a kind.
Output: the text of files in memory, and a list of what was left out. Only `write_files` in `files.py` writes
to the disk.
"""
