"""Define the frozen values that all layers share: addresses, entries, objects, plans, findings, events.

Input: plain values. The package does no I/O, reads no clock and knows no kind.
Output: immutable values. Plans, drift, reports and journal events have a JSON form.
"""
