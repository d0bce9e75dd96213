"""dpsync: manage a GitBook organization as YAML in git. Plan changes, apply them, and verify the result."""

__version__ = "0.1.0"
__commit__ = ""
"""The commit of the release that this package is; .ci/release.py writes it, and any other build has none."""
