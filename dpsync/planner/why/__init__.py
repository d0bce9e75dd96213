"""What is told beside the decisions, for people only: the changes with their labels, and remarks on
what does nothing, what lives on and what nobody watches.

In come `Sides`, `Decisions` and steps, all of them final. Out go `Change`s and remarks. Nothing is done
or refused because of what this room says.
"""
