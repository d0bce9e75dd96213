"""The command line, as in tests/cli."""

from tests.cli.conftest import example, platform, project, run

__all__ = ["example", "platform", "project", "run"]
