"""Kinds that the product does not have are imported, too: everything follows from their declaration."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from dpsync.api import Imported, import_
from dpsync.importing.files import CachingClient
from dpsync.kinds.registry import Registry
from tests.kinds import studio as studios
from tests.kinds import test_toy_kind as libraries
from tests.kinds.pipeline import Pipeline
from tests.kinds.test_hard_words import GRANTS
from tests.kinds.toy_http import Json, page, route, serving


class Listed(studios.Studio):
    """The studio with the list of all studios, which is where an import begins."""

    @route("GET", "/studios")
    def all_studios(self) -> Json:
        return page([{"id": "st", "name": "Studio"}])


def imported(toy: Pipeline) -> Imported:
    with CachingClient(toy.url, "token") as client:
        return import_(client, toy.registry)


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Pipeline]:
    with serving(libraries.Library()) as url:
        yield Pipeline(url, Registry(libraries.toy_kinds()), tmp_path)


@pytest.fixture
def studio(tmp_path: Path) -> Iterator[Pipeline]:
    with serving(Listed()) as url:
        yield Pipeline(url, Registry(studios.toy_kinds()), tmp_path)


def test_import_writes_toy_resource_kinds(library: Pipeline) -> None:
    library.apply(libraries.FIRST)
    made = imported(library)
    assert made.proven, made.problems
    assert made.made.files["town-library/people.yaml"].decode().splitlines()[1:] == [
        "organization: town-library",
        "people:",
        "  kim: Kim",
        "  lee: Lee",
    ]
    shelves = made.made.files["town-library/shelves.yaml"].decode()
    assert "sequel: the-rise" in shelves  # a reference by key
    assert "keepers: { kim: head, lee: guest }" in shelves  # keys that are references, the short form
    assert "front: true" in shelves
    assert "front: false" not in shelves
    assert "lit: false" not in shelves


def test_import_writes_permissions_of_toy_resource_kinds(studio: Pipeline) -> None:
    studio.apply(GRANTS)
    made = imported(studio)
    assert made.proven, made.problems
    written = b"".join(made.made.files.values()).decode()
    assert "permissions:" in written
    assert "crews: { blue: look, red: write }" in written
