"""A companion and a bench that makes any kind of thing live."""

from tests.kinds.test_every_field import bench

__all__ = ["bench"]
