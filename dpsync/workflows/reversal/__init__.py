"""The configuration that reverts an apply: previous values for what the apply changed, nothing else.

    applied         the changes of a plan that were carried out
    recorded        these changes with their values, checked like values in a file
    addresses       where the recorded objects are declared now, found by their ids
    entries         the entries while they get their previous values, and what is not restored
    deleted, changed, created
                    what becomes of the objects that the apply deleted, changed and created, in this order
    configuration   all of that together

`workflows/revert.py` uses this package to make and carry out the plan.
"""
