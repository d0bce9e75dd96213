"""What may be done: what is applied at all, what was approved, and whose change a run is about.

In come commits, comments and the plan of now, out go a refusal, or what is free to go on. It reads GitHub and
writes nothing. `runs` calls it.
"""
