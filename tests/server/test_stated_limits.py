"""Every limit that the companion's document states, in one table: whoever changes one changes the table.

Where the vendor's documents state the limit, too, tests/contract/test_limits.py holds it against them.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import chain
from pathlib import Path

from pydantic_core import from_json

from dpsync.server.http.app import build_companion
from dpsync.server.operations.profiles import PROFILES
from dpsync.server.store import open_store
from tests import openapi_limits as limits

TABLE = Path(__file__).with_name("limits.txt")


def stated() -> list[str]:
    """Return a line for each member with a limit, and its profiles if not all have that limit."""
    found: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for profile in PROFILES:
        store = open_store(":memory:")
        document = from_json(build_companion(store, profile=profile).openapi_json())
        store.close()
        everything = chain(limits.of_schemas(document), limits.of_queries(document))
        for place, (member, word, value) in sorted(set(everything), key=str):
            found[f"{place} {member}"][profile].append(f"{word} {value}")
    lines = []
    for place, by_profile in found.items():
        profiles: dict[str, list[str]] = defaultdict(list)
        for profile, words in by_profile.items():
            profiles[", ".join(words)].append(profile)
        lines += [
            f"{place}: {words}" + ("" if len(names) == len(PROFILES) else f" ({', '.join(names)})")
            for words, names in profiles.items()
        ]
    return sorted(lines)


def test_every_documented_gitbook_limit_is_in_limits_table() -> None:
    assert stated() == TABLE.read_text(encoding="utf-8").splitlines()
