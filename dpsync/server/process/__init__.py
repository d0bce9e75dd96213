"""Start and stop the local server.

Input: a database, a world (the initial data) for a new database, and an address to listen on.
Output: a process with any number of workers (`dpsync serve`), or a thread in the process of a test.
"""
