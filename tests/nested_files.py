"""Configuration files as data, always with the key `organizations`, in whichever form they are written."""

from __future__ import annotations

from typing import Any

from dpsync.config.compose import ORGANIZATIONS_KEY, ROOT_KEYS, SINGLE_ORGANIZATION_KEY


def nested(tree: Any) -> Any:
    """Return a file with `organizations: { acme: … }` in place of `organization: acme`."""
    if not isinstance(tree, dict) or SINGLE_ORGANIZATION_KEY not in tree:
        return tree
    entry = {name: value for name, value in tree.items() if name not in (*ROOT_KEYS, SINGLE_ORGANIZATION_KEY)}
    top = {name: value for name, value in tree.items() if name in ROOT_KEYS}
    return {**top, ORGANIZATIONS_KEY: {tree[SINGLE_ORGANIZATION_KEY]: entry}}
