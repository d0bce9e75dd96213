"""One mistake, tried with tests."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from .child import arguments, in_a_child, outcome_of
from .collected import Collected
from .observed import FIRST


@dataclass(frozen=True)
class Trial:
    """One change of a file."""

    tree: Path
    collected: Collected
    file: str
    changed: str
    cpu: float

    def in_memory(self, tests: Sequence[str], outside: bool) -> tuple[str, str]:
        """What the tests say, and which one failed. One that fails for another reason is passed over."""
        while tests:
            outcome, killer = self.collected.run(tests, self.file, self.changed, self.cpu)
            if outcome == "elsewhere" or (outcome == "killed" and not killer):
                return self.from_the_start(tests)
            if outcome != "killed":
                return outcome, ""
            right = self.collected.passes(killer)
            if right and not (outside and self.from_the_start([killer])[0] == "survived"):
                return outcome, killer
            tests = tests[tests.index(killer) + 1 :]
        return "survived", ""

    def from_the_start(self, tests: Sequence[str]) -> tuple[str, str]:
        """The same when all modules are imported with the change."""
        while tests:
            outcome, killer = self._imported_anew(tests, self.changed)
            if outcome != "killed" or self._passes([killer] if killer else tests):
                return outcome, killer
            tests = tests[tests.index(killer) + 1 :] if killer in tests else []
        return "survived", ""

    def _passes(self, tests: Sequence[str]) -> bool:
        """Whether tests pass with the file as it is; of several, whether they can be collected."""
        known = self.collected.from_the_start
        key = tuple(tests)
        if key not in known:
            words = ["--collect-only"] if len(tests) > 1 else []
            known[key] = (
                self._imported_anew(tests, (self.tree / self.file).read_text(), words)[0] == "survived"
            )
        return known[key]

    def _imported_anew(self, tests: Sequence[str], text: str, words: Sequence[str] = ()) -> tuple[str, str]:
        failed = self.tree.parent / "failed-from-the-start"
        failed.write_text("")

        def run() -> int:
            import pytest

            class Chosen:
                """These tests of their files, in this order: no command line could name each of them."""

                def __init__(self, names: Sequence[str]) -> None:
                    self.order = {name: number for number, name in enumerate(names)}

                def place(self, item: pytest.Item) -> int | None:
                    whole = self.order.get(item.nodeid.partition("[")[0])
                    return self.order.get(item.nodeid, whole)

                @pytest.hookimpl(trylast=True)
                def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
                    chosen = [item for item in items if self.place(item) is not None]
                    items[:] = sorted(chosen, key=lambda item: self.place(item) or 0)

                def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
                    if report.failed:
                        failed.write_text(report.nodeid)

            sys.dont_write_bytecode = True
            importlib.invalidate_caches()
            for part in (tests[:FIRST], tests[FIRST:]):
                files = dict.fromkeys(name.partition("::")[0] for name in part)
                plugins = [Chosen(part)]
                ended = pytest.main([*arguments(self.tree), *words, *files], plugins=plugins) if part else 0
                if ended:
                    return int(ended)
            return 0

        with changed_file(self.tree / self.file, text):
            return outcome_of(in_a_child(run, self.cpu)), failed.read_text()


@contextlib.contextmanager
def changed_file(path: Path, text: str) -> Iterator[None]:
    """The file has this text for a while. Its bytecode, known by time and size only, goes for as long."""
    source, times = path.read_bytes(), path.stat()
    cached = Path(importlib.util.cache_from_source(str(path)))
    bytecode = cached.read_bytes() if cached.exists() else None
    cached.unlink(missing_ok=True)
    path.write_text(text)
    try:
        yield
    finally:
        path.write_bytes(source)
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
        if bytecode is not None:
            cached.write_bytes(bytecode)
