"""Match entries with live objects: by id, ids file, earlier name, then natural key. Pure functions.

Input: the entries and the live objects of one parent, the git base, and the lines of the ids file.
Output: the matches, and a question where two answers are possible. The planner never matches again.
"""
