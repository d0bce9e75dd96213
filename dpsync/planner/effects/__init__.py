"""What readers and visitors will notice: navigations and URLs before and after, what becomes more
visible or more powerful, and what would be public for a moment.

In come `Decisions`, and the steps for what happens between two of them. Out go the plan's impacts,
exposures and moments. Only the plan calls this room.
"""
