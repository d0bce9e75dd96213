"""dpsync: a docs platform's organization as YAML in git, planned, applied and proven converged."""

__version__ = "0.1.0"
