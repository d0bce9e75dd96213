"""Structs compare as they say, keep what they cache, and show no token."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cached_property

import pytest
from msgspec import Struct

import dpsync
from dpsync.cli.connection import Connection, InjectedCredentials
from dpsync.github.runner import Inputs
from dpsync.kinds.types import List, Reference
from dpsync.model.address import Address, Pattern
from dpsync.model.ids import RecordedLine
from dpsync.model.nodes import Span

SECRET = "dps_key_canary"


def structs() -> list[type[Struct]]:
    """Every struct that a module of dpsync defines, but for what only runs as a program."""
    found = []
    for module in pkgutil.walk_packages(dpsync.__path__, "dpsync."):
        if not module.name.endswith("__main__"):
            for one in vars(importlib.import_module(module.name)).values():
                if isinstance(one, type) and issubclass(one, Struct) and one.__module__ == module.name:
                    found.append(one)
    return found


def test_structs_with_cached_properties_declare_dict() -> None:
    """A cached property without `dict=True` fails when it is asked for, and not before."""
    assert {
        one.__name__
        for one in structs()
        if not one.__dictoffset__
        and any(isinstance(part, cached_property) for base in one.__mro__ for part in vars(base).values())
    } == set()


def test_structs_with_custom_equality_define_hash_and_inequality() -> None:
    """Without `__ne__` the one of msgspec is asked, which knows nothing of our `__eq__`."""
    assert {
        one.__name__
        for one in structs()
        if "__eq__" in vars(one) and not {"__ne__", "__hash__"} <= {*vars(one)}
    } == set()


@pytest.mark.parametrize(
    "holder",
    [
        Connection("https://api.acme.example", SECRET, "DPSYNC_URL", "DPSYNC_TOKEN"),
        InjectedCredentials("https://api.acme.example", SECRET),
        Inputs(token=SECRET, github_token=SECRET, ids_token=SECRET),
    ],
)
def test_repr_of_credentials_hides_token(holder: Struct) -> None:
    assert SECRET not in repr(holder)
    assert SECRET not in str([holder])


HERE, THERE = Span("a.yaml", 1, 1, 1, 2), Span("b.yaml", 2, 1, 2, 2)
LINE = Address.parse("acme/teams/a")


@pytest.mark.parametrize(
    ("here", "there", "other"),
    [
        (
            Pattern("teams/*", ("*", "teams", "*"), span=HERE),
            Pattern("teams/*", ("*", "teams", "*"), span=THERE),
            Pattern("spaces/*", ("*", "spaces", "*"), span=HERE),
        ),
        (
            RecordedLine(LINE, "x", span=HERE),
            RecordedLine(LINE, "x", span=THERE),
            RecordedLine(LINE, "y", span=HERE),
        ),
    ],
)
def test_equality_ignores_source_position(
    here: Pattern | RecordedLine, there: Pattern | RecordedLine, other: Pattern | RecordedLine
) -> None:
    assert here == there
    assert not here != there  # noqa: SIM202
    assert hash(here) == hash(there)
    assert here != other
    assert not here == other  # noqa: SIM201


def test_file_start_span_has_zero_length() -> None:
    start = Span.start_of("a.yaml")
    assert str(start) == "a.yaml:1:1"
    assert (start.end_line, start.end_column) == (start.line, start.column)


def test_equivalent_field_types_are_equal() -> None:
    assert List(Reference.to("team", "member")) == List(Reference(("team", "member")))
    assert Reference.to("team") != Reference.to("member")
