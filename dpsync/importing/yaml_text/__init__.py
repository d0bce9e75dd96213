"""Values → YAML text: written as people write it, or put into lines that are there.

In go a text with its nodes and a new value, out comes the text in which every other character is as it was.
What a value means is not known here. The rooms beside this one call it.
"""
