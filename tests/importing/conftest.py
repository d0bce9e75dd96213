"""The command against a running companion, as in tests/cli."""

from tests.cli.conftest import platform, project, run

__all__ = ["platform", "project", "run"]
