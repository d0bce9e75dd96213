"""Raise an error that says what to install if an optional package of the local server is missing."""

from collections.abc import Iterator
from contextlib import contextmanager


class MissingPackageError(Exception):
    """A package of an extra is not installed. The message names the package and the extra to install."""


@contextmanager
def companion_packages() -> Iterator[None]:
    """Wrap the import of the local server. Raise MissingPackageError if a package is not installed."""
    try:
        yield
    except ModuleNotFoundError as missing:
        package = (missing.name or "dpsync").partition(".")[0]
        if package == "dpsync":
            raise  # a module of dpsync itself is missing: a defect
        raise MissingPackageError(
            f"the local server needs the package {package}: run pip install 'dpsync[server]'"
        ) from None
