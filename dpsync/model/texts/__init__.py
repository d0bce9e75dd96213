"""Words and forms of what is printed or saved: numbers in sentences, commands, JSON, masked secrets, URLs.

In go plain texts and numbers, out come texts. Nothing here knows an entry or a plan, so every layer may
call it.
"""
