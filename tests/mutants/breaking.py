"""Replace one symbol of dpsync with a mistake, in a test process and in every process that the tests start.

Python imports `sitecustomize` when it starts. `make promises` puts `site/` onto PYTHONPATH and names the
symbol and its replacement in the environment. The symbol is replaced right after its module is executed,
which is before another module can import the symbol by name.
"""

from __future__ import annotations

import functools
import inspect
import os
import sys
import traceback
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from pkgutil import resolve_name
from types import FunctionType, ModuleType
from typing import Any

SYMBOL = "BROKEN_SYMBOL"
"""Environment variable: module and name separated by a colon, such as `dpsync.disk:lock`."""
REPLACEMENT = "BROKEN_BY"
"""Environment variable: a name in a module of this package, such as `applying.never_lock`."""

HERE = Path(__file__).parent
WRONG = 70
"""Exit code of a process whose mistake is itself wrong, such as one with a NameError."""
_MISTAKE = "__mistake__"
"""Name of the module global that holds the mistake for a redirected function."""


def install() -> None:
    """Replace the symbol that the environment names as soon as its module is imported, if it names one."""
    if SYMBOL in os.environ:
        sys.meta_path.insert(0, _Replacing(os.environ[SYMBOL], replacement(os.environ[REPLACEMENT])))


def replacement(name: str) -> Any:
    """Return the replacement with a name such as `applying.never_lock`."""
    return resolve_name(f"{__package__}.{name.replace('.', ':')}")


class _Replacing:
    """Find the module of the symbol, and replace the symbol once the module is executed."""

    def __init__(self, symbol: str, mistake: Any) -> None:
        self._module, _, self._path = symbol.partition(":")
        self._mistake = mistake

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        spec = PathFinder.find_spec(name, path, target) if name == self._module else None
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def exec_module(module: ModuleType) -> None:
                execute(module)
                replace(module, self._path, self._mistake)

            spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


def replace(module: ModuleType, path: str, mistake: Any) -> None:
    """Replace a member of a module, or of one of its classes."""
    *classes, name = path.split(".")
    owner = functools.reduce(getattr, classes, module)
    setattr(owner, name, broken(inspect.getattr_static(owner, name), mistake))


def broken(original: Any, mistake: Any) -> Any:
    """Return the replacement for a function, property or class.

    The mistake for a function or property is called with the original and then with the arguments of the
    call. The mistake for a class is called with the class and returns another class.
    """
    if isinstance(original, type):
        return mistake(original)
    if isinstance(original, property):
        return property(calling(mistake, original.fget))
    return redirected(original, mistake) if original.__closure__ is None else calling(mistake, original)


def calling(mistake: Callable[..., Any], original: Any) -> Callable[..., Any]:
    """Return a function that calls the mistake. If the mistake itself is wrong, the process ends."""

    @functools.wraps(original)
    def call(*given: Any, **named: Any) -> Any:
        try:
            return mistake(original, *given, **named)
        except (AttributeError, ImportError, NameError, TypeError) as error:
            *_, (frame, _) = traceback.walk_tb(error.__traceback__)
            if Path(frame.f_code.co_filename).parent != HERE:
                raise
            traceback.print_exc()
            os._exit(WRONG)

    return call


def redirected(original: FunctionType, mistake: Callable[..., Any]) -> FunctionType:
    """Replace the code of a function in place, so that tables that already hold the function change, too."""
    copy = FunctionType(original.__code__, original.__globals__, original.__name__, original.__defaults__)
    copy.__kwdefaults__ = original.__kwdefaults__
    original.__globals__[_MISTAKE] = calling(mistake, copy)
    original.__code__ = (lambda *given, **named: globals()["__mistake__"](*given, **named)).__code__
    return original
