"""dpsync: a docs platform's organization as YAML in git, planned, applied and proven converged."""

__version__ = "0.1.0"
__commit__ = ""
"""The commit of the release that this package is; .ci/release.py writes it, and any other build has none."""
