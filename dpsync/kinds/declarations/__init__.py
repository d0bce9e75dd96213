"""Declare the kinds, one module for each.

Input: the words of `dpsync.kinds.kind`, and the types and fields that several kinds share.
Output: one `Kind` per module. Only the registry imports these modules; all other code asks the registry.
"""
