"""One run of all tests on the code as it is: which lines does each of them run, and how long does it take?

What is noted of a file of tests counts as long as that file and the packages are the same. So whoever has
written a test for a mutant that survived waits for the run of that file alone.
"""

from __future__ import annotations

import gzip
import json
import os
import sys
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

from .child import all_in_children, arguments
from .observed import Observed


@dataclass
class _Note:
    """What is known of some files of tests. Tests are known by their names."""

    files: dict[str, str] = field(default_factory=dict)
    """A digest of each file of tests, by its path."""
    seconds: dict[str, float] = field(default_factory=dict)
    contexts: dict[str, dict[int, list[str]]] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path) -> _Note:
        with gzip.open(path, "rt") as file:
            read = json.load(file)
        names = ["", *read["seconds"]]
        together = [[names[number] for number in numbers] for numbers in read["together"]]
        contexts = {
            file: {int(line): together[number] for line, number in lines.items()}
            for file, lines in read["contexts"].items()
        }
        return cls(read["files"], read["seconds"], contexts)

    def write(self, path: Path) -> None:
        """The same tests run many lines: each such list is written once."""
        numbers = {name: number for number, name in enumerate(["", *self.seconds])}
        together: dict[tuple[int, ...], int] = {}
        contexts: dict[str, dict[int, int]] = {}
        for file, lines in self.contexts.items():
            contexts[file] = {}
            for line, names in lines.items():
                ran = tuple(sorted(numbers[name] for name in names if name in numbers))
                contexts[file][line] = together.setdefault(ran, len(together))
        path.parent.mkdir(parents=True, exist_ok=True)
        begun = path.with_suffix(f".{os.getpid()}")
        whole = {"files": self.files, "seconds": self.seconds, "together": [*together], "contexts": contexts}
        with gzip.open(begun, "wt") as written:
            json.dump(whole, written)
        begun.rename(path)

    def of(self, files: Collection[str]) -> _Note:
        """What is known of these files, and what collecting tests runs."""
        if self.files.keys() == set(files):
            return self
        chosen = {name for name in self.seconds if name.partition("::")[0] in files}
        kept: dict[int, list[str]] = {}  # the lists are shared by many lines, and are long

        def of(names: list[str]) -> list[str]:
            if id(names) not in kept:
                kept[id(names)] = [name for name in names if name in chosen or not name]
            return kept[id(names)]

        return _Note(
            {file: digest for file, digest in self.files.items() if file in files},
            {name: taken for name, taken in self.seconds.items() if name in chosen},
            {
                file: {line: of(names) for line, names in lines.items()}
                for file, lines in self.contexts.items()
            },
        )

    def add(self, other: _Note) -> None:
        """What is known of other files of tests."""
        self.files |= other.files
        self.seconds |= other.seconds
        for file, lines in other.contexts.items():
            there = self.contexts.setdefault(file, {})
            for line, names in lines.items():
                there[line] = [*dict.fromkeys([*there.get(line, ()), *names])]


def observe(tree: Path, packages: Sequence[str], tests: Sequence[str], path: Path, jobs: int) -> Observed:
    """What is known of these tests; files that the note does not have are run first, in so many processes."""
    asked = _digests(tree, tests)
    note = _Note.read(path) if path.exists() else _Note()
    left = [file for file, digest in asked.items() if note.files.get(file) != digest]
    if left:
        note = note.of(note.files.keys() - left)
        parts = [left[number::jobs] for number in range(jobs) if left[number::jobs]]
        pieces = [path.with_suffix(f".part-{number}") for number in range(len(parts))]
        path.parent.mkdir(parents=True, exist_ok=True)
        ended = all_in_children(
            [
                partial(_noting, tree, packages, {file: asked[file] for file in part}, piece)
                for part, piece in zip(parts, pieces, strict=True)
            ]
        )
        if not {*ended} <= {"0", "1", "5"}:  # some failed; a part may have none to run
            sys.exit(f"the tests cannot be run (pytest ended with {', '.join(ended)})")
        for piece in pieces:
            note.add(_Note.read(piece))
            piece.unlink()
        note.write(path)
    known = note.of(asked)
    return Observed(known.seconds, known.contexts)


def note_of(tree: Path, packages: Sequence[str]) -> Path:
    """Where what is known of the tests of this code is kept, outside of the project."""
    digest = sha256(repr((sys.version, packages)).encode())
    for package in packages:
        for path in sorted((tree / package).rglob("*.py")):
            digest.update(f"{path.relative_to(tree)}\n".encode() + path.read_bytes())
    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "dpsync-mutants"
    return folder / f"{digest.hexdigest()[:16]}.json.gz"


def _digests(tree: Path, tests: Sequence[str]) -> Mapping[str, str]:
    """The files of tests in these directories, or these files, with a digest of each."""
    found = sorted({path for name in tests for path in _files(tree / name)})
    return {str(path.relative_to(tree)): sha256(path.read_bytes()).hexdigest()[:16] for path in found}


def _files(path: Path) -> Iterator[Path]:
    yield from path.rglob("test_*.py") if path.is_dir() else [path]


def _noting(tree: Path, packages: Sequence[str], files: dict[str, str], path: Path) -> int:
    import pytest
    from coverage import Coverage

    sys.dont_write_bytecode = False
    watched = Coverage(
        data_file=None, config_file=False, source=[str(tree / package) for package in packages]
    )
    seconds: dict[str, float] = {}

    class Contexts:
        @pytest.hookimpl(wrapper=True)
        def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
            watched.switch_context(item.nodeid)
            began, failed = time.process_time(), item.session.testsfailed
            result = yield
            if item.session.testsfailed > failed:
                print(f"left out, since it fails on the code as it is: {item.nodeid}", flush=True)
            else:
                seconds[item.nodeid] = time.process_time() - began
            watched.switch_context("")
            return result

    watched.start()
    words = [word for word in arguments(tree) if word != "-x"]
    ended = pytest.main([*words, *files], plugins=[Contexts()])
    watched.stop()
    data: Any = watched.get_data()
    contexts = {
        str(Path(file).relative_to(tree)): data.contexts_by_lineno(file) for file in data.measured_files()
    }
    _Note(files, seconds, contexts).write(path)
    return int(ended)
