"""What is published: a wheel and a source distribution with what they need, the same bytes each time."""

from __future__ import annotations

import os
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

from tests.distribution.installed import ROOT, build, copied

EPOCH = "1700000000"


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sdist")
    return build(copied(folder / "source"), folder / "made", "sdist", EPOCH)


def names_in(sdist: Path) -> set[str]:
    with tarfile.open(sdist) as archive:
        return {member.name.partition("/")[2] for member in archive.getmembers()}


def test_wheel_contains_package_and_printed_files(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
    package = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "dpsync").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    workflows = {f"dpsync/workflows.examples/{path.name}" for path in (ROOT / "examples/workflows").iterdir()}
    assert names == package | workflows | {"dpsync/errors.md"}


def test_sdist_contains_only_wheel_sources(sdist: Path) -> None:
    names = names_in(sdist)
    rest = {name for name in names if not name.startswith(("dpsync/", "examples/workflows/"))}
    assert rest == {
        ".gitignore", "CHANGELOG.md", "LICENSE", "PKG-INFO", "README.md", "docs/errors.md", "pyproject.toml",
    }  # fmt: skip


def test_wheel_from_sdist_equals_wheel_from_checkout(sdist: Path, tmp_path: Path) -> None:
    with tarfile.open(sdist) as archive:
        archive.extractall(tmp_path, filter="data")
    (unpacked,) = tmp_path.iterdir()
    again = build(unpacked, tmp_path / "again", "wheel", EPOCH)
    first = build(copied(tmp_path / "source"), tmp_path / "first", "wheel", EPOCH)
    assert again.name == first.name
    assert again.read_bytes() == first.read_bytes()


@pytest.mark.parametrize("target", ["wheel", "sdist"])
def test_wheel_and_sdist_builds_are_reproducible(target: str, tmp_path: Path) -> None:
    """Another directory, other times of the files and another umask mean nothing."""
    first = build(copied(tmp_path / "one"), tmp_path / "first", target, EPOCH)
    before = os.umask(0o077)
    try:
        other = copied(tmp_path / "another place")
        for path in other.rglob("*"):
            os.utime(path, (1_000_000_000, 1_000_000_000))
        second = build(other, tmp_path / "second", target, EPOCH)
    finally:
        os.umask(before)
    assert first.name == second.name
    assert first.read_bytes() == second.read_bytes()


def test_wheel_metadata_states_dependencies_and_license(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith("/METADATA")]
        said = archive.read(name).decode()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert said.count("\nRequires-Dist: ") == len(project["dependencies"]) + sum(
        map(len, project["optional-dependencies"].values())
    )
    assert "\nRequires-Python: >=3.11\n" in said
    assert "\nLicense-Expression: Apache-2.0\n" in said
