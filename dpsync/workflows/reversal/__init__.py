"""The configuration that takes an apply back: every value of before, and nothing else that differs from live.

    applied         the changes of a plan that were carried out
    recorded        these changes with their values, checked like values in a file
    entries         the entries while they become what they were, with the notes of what does not
    deleted, changed, created
                    what becomes of the things that the apply has deleted, changed and made, in this order
    values          a recorded value with its references as they are now
    configuration   all of that in one line

In go a session, what was applied, and the plan of what is live now. Out come a configuration, what it touches
and what it deletes, and notes. `workflows/revert.py` alone calls this room.
"""
