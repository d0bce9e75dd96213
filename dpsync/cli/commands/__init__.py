"""Define the commands of dpsync, one module each: its flags, its steps in order, and its exit code.

Input: the arguments of one command. `cli/main.py` imports the module when the command is called.
Output: a document or text on stdout, and an exit code.
"""
