"""A configuration alone and with each of its environments: what is wrong anywhere, each mistake once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from dpsync.config import codes
from dpsync.config.composing.layers import Layers
from dpsync.config.load import load
from dpsync.kinds.registry import Registry
from dpsync.model.entries.desired import Desired
from dpsync.model.findings.diagnostic import Diagnostic, Findings


def check(root: Path, registry: Registry, env: Mapping[str, str], layers: Layers) -> tuple[Desired, Findings]:
    """The configuration with these layers, and all findings: of every environment where none is chosen.

    What is found without an environment is reported without one. A variable that is not set is reported only
    there: those of an environment are known where it is used.
    """
    desired, found = load(root, registry, env, layers)
    texts = dict(desired.texts)
    only_with: dict[Diagnostic, list[str]] = {}
    for name in () if layers.environment is not None else desired.environments:
        other, more = load(root, registry, env, replace(layers, environment=name))
        texts |= other.texts
        for one in more:
            if one.code != codes.MISSING_VARIABLE:
                only_with.setdefault(one, []).append(name)
        found.left_out |= more.left_out
    alone = set(found)
    found += (replace(one, environments=tuple(names)) for one, names in only_with.items() if one not in alone)
    return replace(desired, texts=texts), found
