"""Declare the kinds of objects that dpsync manages, one module for each: fields, keys, paths and requests.

Input: the classes of `dpsync.kinds.kind`, and the types and fields that several kinds share.
Output: one `Kind` per module. Only the registry imports these modules; all other code asks the registry.
"""
