"""A companion and a bench that makes any kind of thing live."""

from tests.kinds.test_every_field import bench, server

__all__ = ["bench", "server"]
