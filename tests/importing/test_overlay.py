"""A value into a file that may lack its entry: what is there stays, and what is missing comes."""

from __future__ import annotations

from typing import Any

import pytest

from dpsync.importing.edit_yaml import ListItem, Step, UneditableError, insert_values

IN_A_NODE: list[Step] = ["site", "structure", ListItem("guides"), "title"]
IN_A_SITE: list[Step] = ["sites", "docs", "title"]


@pytest.mark.parametrize(
    ("text", "steps", "after"),
    [
        ("a: 1\n", ["b"], "a: 1\nb: New\n"),
        ("a: 1  # why\n", ["a"], "a: New  # why\n"),
        ("sites: {}\n", IN_A_SITE, "sites: {docs: { title: New }}\n"),
        ("sites:\n  help: { title: Help }\n", IN_A_SITE,
         "sites:\n  help: { title: Help }\n  docs: { title: New }\n"),
        ("sites:\n  docs:\n    path: docs\n", IN_A_SITE, "sites:\n  docs:\n    path: docs\n    title: New\n"),
        ("site: {}\n", IN_A_NODE, "site: {structure: [{ key: guides, title: New }]}\n"),
        (
            "site:\n  structure:\n    - key: other\n      title: Old\n    - key: guides\n      title: Old\n",
            IN_A_NODE,
            "site:\n  structure:\n    - key: other\n      title: Old\n    - key: guides\n      title: New\n",
        ),
        (
            "site:\n  structure:\n    - key: other\n",
            IN_A_NODE,
            "site:\n  structure:\n    - key: other\n    - key: guides\n      title: New\n",
        ),
    ],
)  # fmt: skip
def test_overlay_insert_creates_missing_parents(text: str, steps: list[Step], after: str) -> None:
    assert insert_values(text.encode(), "prod.yaml", [(steps, "New")]).decode() == after


def test_overlay_insert_keeps_byte_order_mark() -> None:
    values: list[tuple[list[Step], Any]] = [(["b"], 2), (IN_A_SITE, "New")]
    assert insert_values(b"\xef\xbb\xbfa: 1\n", "prod.yaml", values) == (
        b"\xef\xbb\xbfa: 1\nb: 2\nsites: { docs: { title: New } }\n"
    )


@pytest.mark.parametrize(
    ("text", "steps", "why"),
    [
        ("sites: { docs: Docs }\n", IN_A_SITE, "the overlay file has the entry in the short form"),
        ("site: { structure: guides }\n", IN_A_NODE, "no list for this entry"),
        ("site: { structure: { guides: { title: Old } } }\n", IN_A_NODE, "no list for this entry"),
    ],
)
def test_overlay_insert_refuses_incompatible_value(text: str, steps: list[Step], why: str) -> None:
    with pytest.raises(UneditableError, match=why):
        insert_values(text.encode(), "prod.yaml", [(steps, "New")])
