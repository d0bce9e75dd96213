"""How the companion is started and stopped.

As a process with any number of workers (`dpsync serve`), or in a thread of the calling process (tests).
It opens a database, loads a world into a fresh one, and listens. Only the command and the tests call it.
"""
