"""The configuration that reverts an apply: it changes only the objects that the apply changed.

    applied         the changes that the apply carried out
    recorded        these changes with their values, checked like values in a file of the configuration
    addresses       where the recorded objects are declared now, found by their ids
    entries         the entries that get previous values, and notes about objects that are not restored
    deleted, changed, created
                    restore deleted objects, restore changed fields, delete created objects (in this order)
    configuration   makes the configuration with these modules

`workflows/revert.py` uses this package to make and carry out the plan.
"""
