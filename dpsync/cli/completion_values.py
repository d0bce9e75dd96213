"""Offer values for shell completion: addresses, environments, and words for `dpsync explain`.

Completion reads files, never fails, and offers no word that has a meaning in a shell, because a shell inserts
the word as it is. These functions are not in `options`, so that kinds load only when a shell asks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Final

import click

_SAFE_IN_SHELLS: Final = re.compile(r"[A-Za-z0-9@][A-Za-z0-9@._+/%:#-]*")
_MAX_VALUES: Final = 500
"""Words that are offered: nobody reads more."""


def environments(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Return the environments of the root file that begin with the typed text, for completion in a shell.

    After any error, return nothing.
    """
    del parameter
    try:
        from dpsync.config.compose import load_sources
        from dpsync.config.discovery import DiskFiles

        names = load_sources(DiskFiles(_root_file(context)), {}).environments
    except Exception:  # a line that is being typed is no place for a message
        return []
    return _values_with_prefix(names, incomplete)


def addresses(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Return the addresses of entries that begin with the typed text, for completion in a shell.

    After any error, return nothing.
    """
    del parameter
    try:
        import os

        from dpsync.config.load import load
        from dpsync.kinds.registry import build_registry as load_registry

        desired, _ = load(_root_file(context), load_registry(), os.environ)
        texts = [str(address) for address in sorted(desired.entries)]
    except Exception:
        return []
    return _values_with_prefix(texts, incomplete)


def explain_words(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Return the words that `dpsync explain` knows and that begin with the typed text.

    After any error, return nothing.
    """
    del context, parameter
    try:
        from dpsync.kinds.registry import build_registry
        from dpsync.render.error_page import read_code_sections
        from dpsync.render.explanations import explainable_words

        words = [*explainable_words(build_registry()), *read_code_sections()]
    except Exception:
        return []
    return _values_with_prefix(words, incomplete)


def _root_file(context: click.Context) -> Path:
    """Return the root file that the flags typed so far choose."""
    from dpsync.cli.configuration import ConfigurationPaths

    directory = context.params.get("directory") or Path()
    return ConfigurationPaths.find(tuple(context.params.get("files") or ()), directory).root


def _values_with_prefix(values: Iterable[str], incomplete: str) -> list[str]:
    """Return the values that begin with the typed text and need no quoting in a shell, up to a limit."""
    safe_values = (
        value for value in values if value.startswith(incomplete) and _SAFE_IN_SHELLS.fullmatch(value)
    )
    return [value for value, _ in zip(safe_values, range(_MAX_VALUES), strict=False)]
