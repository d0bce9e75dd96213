"""Offer values for shell completion: addresses, environments, and words for `dpsync explain`.

Completion reads files, never fails, and offers no word that has a meaning in a shell, because a shell
inserts the word as it is. Apart from `options`, because it loads kinds only when a shell asks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Final

import click

_HARMLESS: Final = re.compile(r"[A-Za-z0-9@][A-Za-z0-9@._+/%:#-]*")
_MOST: Final = 500
"""Words that are offered: nobody reads more."""


def environments(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Return the environments of the root file that begin with the typed text."""
    try:
        from dpsync.config.compose import load_sources
        from dpsync.config.discovery import Directory

        found = load_sources(Directory(_root(context)), {}).environments
    except Exception:  # a line that is being typed is no place for a message
        return []
    return _offered(found, incomplete)


def addresses(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Return the addresses of entries that begin with the typed text."""
    try:
        import os

        from dpsync.config.load import load
        from dpsync.kinds.registry import load as load_registry

        desired, _ = load(_root(context), load_registry(), os.environ)
        found = [str(address) for address in sorted(desired.resources)]
    except Exception:
        return []
    return _offered(found, incomplete)


def words(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Return what `dpsync explain` explains: kinds, fields, keys of the root file, and codes."""
    try:
        from dpsync.kinds.registry import load
        from dpsync.render.error_page import codes
        from dpsync.render.explanations import what_can_be_explained

        found = [*what_can_be_explained(load()), *codes()]
    except Exception:
        return []
    return _offered(found, incomplete)


def _root(context: click.Context) -> Path:
    from dpsync.cli.configuration import ConfigurationPaths

    directory = context.params.get("directory") or Path()
    return ConfigurationPaths.find(tuple(context.params.get("files") or ()), directory).root


def _offered(found: Iterable[str], incomplete: str) -> list[str]:
    harmless = (word for word in found if word.startswith(incomplete) and _HARMLESS.fullmatch(word))
    return [word for word, _ in zip(harmless, range(_MOST), strict=False)]
