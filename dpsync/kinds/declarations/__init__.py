"""The kinds: one module with one declaration for each kind.

The declarations use the words of `dpsync.kinds.kind`. Only the registry imports these modules; all other code
asks the registry.
"""
