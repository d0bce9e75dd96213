"""What a command works on, by its flags and its environment.

In come flags and variables, out go the configuration, the platform with its token, and what is known from
before (the git base, the ids file). Commands call it, and the run of the action for the place of its files.
"""
