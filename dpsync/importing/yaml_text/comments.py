"""The comments of a YAML text: what a person wrote there for people, and no edit may lose."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import yaml

_COMMENT = re.compile("#.*")
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def comments(text: str) -> Counter[str]:
    """How often each comment stands in a text: all that is behind a # between two tokens.

    That of the line on which a text of several lines begins (`key: | # this`) is not among them.

    Raises yaml.YAMLError for what is no YAML.
    """
    found: Counter[str] = Counter()
    at = 0
    for token in yaml.scan(text, _LOADER):
        found.update(_COMMENT.findall(text[at : token.start_mark.index]))
        at = max(at, token.end_mark.index)
    found.update(_COMMENT.findall(text[at:]))
    return found
