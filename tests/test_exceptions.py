"""What every exception must allow: Python writes a traceback, a cause and notes onto it on its way."""

from __future__ import annotations

import pkgutil
from importlib import import_module

import pytest

import dpsync


def exceptions() -> list[type[BaseException]]:
    """Every class of exception that the package defines, the companion's among them."""
    names = [module.name for module in pkgutil.walk_packages(dpsync.__path__, "dpsync.")]
    modules = [import_module(name) for name in names if not name.endswith("__main__")]
    found = {
        value
        for module in modules
        for value in vars(module).values()
        if isinstance(value, type)
        and issubclass(value, BaseException)
        and value.__module__ == module.__name__
    }
    return sorted(found, key=lambda item: f"{item.__module__}.{item.__name__}")


@pytest.mark.parametrize("kind", exceptions(), ids=lambda kind: kind.__name__)
def test_exception_classes_accept_traceback_cause_notes_and_hashing(kind: type[BaseException]) -> None:
    error = kind.__new__(kind)
    error.__traceback__ = None
    error.__cause__ = error.__context__ = ValueError("before")
    error.__suppress_context__ = True
    error.add_note("seen on the way")
    assert error.__notes__ == ["seen on the way"]
    assert len({error}) == 1  # whoever collects exceptions needs to hash them


def test_exception_scan_finds_known_exception_classes() -> None:
    assert {"StaleStateError", "NotApprovedError", "UnknownOutcomeError", "DiagnosticError", "ApiError"} <= {
        kind.__name__ for kind in exceptions()
    }
