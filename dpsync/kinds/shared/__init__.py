"""Define the fields and types that several kinds share: roles, merge rules, languages, looks, integrations.

Input: the classes of `dpsync.kinds.kind`, and the types of `dpsync.kinds.types`.
Output: fields and types for the declarations, which alone import this package.
"""
