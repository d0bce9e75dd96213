"""Implement what all kinds of records share: remove, transfer, load, dump, sort, and grant roles.

Input: the declarations of `resources`. A `RecordKind` has the prefix of ids, the owner, and the dependencies.
Output: changed records, and worlds as data. No code here names a kind.
"""
