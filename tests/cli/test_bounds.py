"""What the flags take, at the edges, and what holds without them."""

from __future__ import annotations

import pathlib
from importlib import import_module

import click
import pytest

from dpsync.cli.completion_values import _values_with_prefix
from dpsync.cli.connection import _read_token_file

CONTEXT = click.Context(click.Command("dpsync"))


def option(command: str, flag: str) -> click.Parameter:
    """Return the click parameter of a command's flag."""
    found = import_module(f"dpsync.cli.commands.{command}").command
    return next(one for one in found.params if flag in one.opts)


@pytest.mark.parametrize(("command", "flag", "without", "least", "below", "most", "beyond"), [
    ("plan", "--parallelism", "4", "1", "0", "64", "65"),
    ("plan", "--timeout", "30", "0.1", "0.09", "3600", None),
    ("rehearse", "--faults", "0", "0", "-1", "1000", "1001"),
    ("rehearse", "--seed", "", "0", "-1", "1000000", None),
    ("serve", "--port", "8787", "0", "-1", "65535", "65536"),
    ("serve", "--workers", "1", "1", "0", "64", "65"),
    ("serve", "--latency", "0", "0", "-1", "3600000", "3600001"),
])  # fmt: skip
def test_numeric_flag_enforces_range(
    command: str, flag: str, without: str, least: str, below: str, most: str, beyond: str | None
) -> None:
    found = option(command, flag)
    if without:
        assert float(found.get_default(CONTEXT)) == float(without)
    for text in (least, most):
        found.type.convert(text, found, CONTEXT)
    for text in (below, *filter(None, [beyond])):
        with pytest.raises(click.BadParameter, match="not in the range"):
            found.type.convert(text, found, CONTEXT)


def test_token_file_larger_than_16_kib_is_rejected(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "token"
    file.write_text("x" * 16_384)
    assert _read_token_file(file) == "x" * 16_384
    file.write_text("x" * 16_385)
    with pytest.raises(click.UsageError, match="the file is larger than 16 KiB"):
        _read_token_file(file)


def test_completion_offers_at_most_500_words() -> None:
    words = [f"word{number}" for number in range(501)]
    assert _values_with_prefix(words, "word") == words[:500]
