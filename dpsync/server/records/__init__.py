"""Implement what all kinds of records share: remove, transfer, load, dump, sort, and grant roles.

Input: the declarations in `resources`: a `RecordKind` has the prefix of ids, the owner (the record with which
another record is removed), and the dependencies. No code here names a kind.
Output: changed records, and worlds (the data that a local server starts with) as plain data.
"""
