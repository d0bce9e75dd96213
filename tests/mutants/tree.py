"""A copy of the project in a temporary directory, in which mistakes can be made."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]


@contextlib.contextmanager
def copied(root: Path) -> Iterator[Path]:
    """A copy of a project, from which this process and those that it starts import and run everything."""
    os.environ.setdefault("CI", "true")  # the properties draw the same examples each time
    with tempfile.TemporaryDirectory(prefix="mutants-") as directory:
        tree = Path(directory).resolve() / "tree"
        left_out = shutil.ignore_patterns(".git", ".venv", "__pycache__", ".*_cache", ".hypothesis")
        shutil.copytree(root, tree, ignore=left_out)
        elsewhere = [entry for entry in sys.path if Path(entry).resolve() != root.resolve()]
        sys.path[:] = [str(tree), *elsewhere]
        os.environ["PYTHONPATH"] = str(tree)
        os.chdir(tree)
        yield tree
