"""Match entries with live objects: by id, ids file, earlier name, then natural key. Pure functions.

A natural key is a set of fields that identifies an object, such as the title of a team.
Input: the entries and the live objects of one parent, the git base (the commit compared with), and the lines
of the ids file. Output: the matches, and a question where two answers are possible. The planner never matches
again.
"""
