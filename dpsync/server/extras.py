"""What an installation without the companion's packages says."""

from collections.abc import Iterator
from contextlib import contextmanager


class MissingPackage(Exception):
    """A package of an extra is not installed; the text names it and what to install."""


@contextmanager
def companion_packages() -> Iterator[None]:
    """Around the import of the companion. Raises MissingPackage."""
    try:
        yield
    except ModuleNotFoundError as missing:
        package = (missing.name or "dpsync").partition(".")[0]
        if package == "dpsync":
            raise  # that is a mistake of our own
        raise MissingPackage(
            f"the local server needs the package {package}: run pip install 'dpsync[server]'"
        ) from None
