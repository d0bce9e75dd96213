"""Define the frozen (immutable) values that all layers share: addresses, entries, objects, plans, events.

Input: plain values. The package does no I/O, reads no clock and knows no kind of object.
Output: immutable values. Plans, drift, reports and journal events have a JSON form.
"""
