"""Tests that are collected once: each change is tried in a child of the process that has collected them."""

from __future__ import annotations

import contextlib
import gc
import os
import traceback
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cache
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from types import CodeType, FunctionType

from .child import ELSEWHERE, arguments, in_a_child, outcome_of


class Collected:
    """A process in which all tests are collected. It runs some of them in children, each with one change."""

    def __init__(self, tree: Path, tests: Sequence[str]) -> None:
        self._tree = tree
        self.from_the_start: dict[tuple[str, ...], bool] = {}
        """Whether tests pass on the code as it is when all modules are imported anew, as far as known."""
        self._connection, there = Pipe()
        self._child = os.fork()
        if self._child == 0:
            self._connection.close()
            try:
                _serve(tree, tests, there)
            except Exception:
                traceback.print_exc()
            finally:
                os._exit(1)
        there.close()

    def __enter__(self) -> Collected:
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()
        os.waitpid(self._child, 0)

    def run(self, tests: Sequence[str], file: str, changed: str | None, cpu: float) -> tuple[str, str]:
        """What came of these tests with this text of a file, or without a change; and the one that failed.

        A name without parameters is the test with all of its parameters.
        """
        self._connection.send((tests, file, changed, cpu))
        answer: tuple[str, str] = self._connection.recv()
        return answer

    @cache  # noqa: B019
    def passes(self, test: str) -> bool:
        """Whether a test passes on the code as it is."""
        return self.run([test], "", None, 60.0)[0] == "survived"


def _serve(tree: Path, tests: Sequence[str], there: Connection) -> None:
    import pytest

    os.dup2(os.open(os.devnull, os.O_RDWR), 1)
    failed = tree.parent / "failed"

    class Serving:
        @pytest.hookimpl(tryfirst=True)
        def pytest_runtestloop(self, session: pytest.Session) -> bool:
            items: dict[str, list[pytest.Item]] = defaultdict(list)
            for item in session.items:
                for name in {item.nodeid, item.nodeid.partition("[")[0]}:
                    items[name].append(item)
            gc.unfreeze()  # what is frozen is not told
            functions = [one for one in gc.get_objects() if type(one) is FunctionType]
            gc.freeze()

            def run() -> int:
                if changed is not None and not _change(functions, tree / file, changed):
                    return ELSEWHERE
                chosen = [(name, item) for name in names for item in items[name]]
                following = [*(item for _, item in chosen[1:]), None]
                for (name, item), after in zip(chosen, following, strict=True):
                    session.config.hook.pytest_runtest_protocol(item=item, nextitem=after)
                    if session.testsfailed:
                        failed.write_text(name)
                        return 1
                return 0

            with contextlib.suppress(EOFError):
                while True:
                    names, file, changed, cpu = there.recv()
                    failed.write_text("")
                    there.send((outcome_of(in_a_child(run, cpu)), failed.read_text()))
            return True

    pytest.main([*arguments(tree), "-s", "--tb=no", *tests], plugins=[Serving()])


def _change(functions: Sequence[FunctionType], path: Path, text: str) -> bool:
    """Give the functions of a module the code that they would have with another text of its file.

    False where nothing but an import would make the difference.
    """
    codes = [compile(one, path, "exec", dont_inherit=True) for one in (path.read_text(), text)]
    different = dict(_different(*codes))
    found = False
    for function in functions:
        new = different.get(function.__code__) if function.__code__.co_filename == str(path) else None
        if new is not None and new.co_freevars == function.__code__.co_freevars:
            function.__code__ = new
            found = True
    return found


def _different(old: CodeType, new: CodeType) -> Iterator[tuple[CodeType, CodeType]]:
    """What is not the same in two codes and in the codes inside them."""
    if old != new:
        yield old, new
        inside = [[one for one in code.co_consts if isinstance(one, CodeType)] for code in (old, new)]
        if len(inside[0]) == len(inside[1]):
            for pair in zip(*inside, strict=True):
                yield from _different(*pair)
