"""Edits of files, and the titles that they use."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .files import Files
from .places import Edit


def put(address: str, **fields: Any) -> Edit:
    def edit(files: Files) -> None:
        for name, value in fields.items():
            files.set(address, name, value)

    return edit


def add(address: str, entry: Any, file: str = "") -> Edit:
    return lambda files: files.add(address, entry, file)


def drop(*addresses: str) -> Edit:
    return lambda files: files.remove(*addresses)


def rekey(address: str, new: str) -> Edit:
    return lambda files: files.rename(address, new)


def both(*edits: Edit) -> Edit:
    def edit(files: Files) -> None:
        for one in edits:
            one(files)

    return edit


def exchange(first: str, second: str, name: str = "title") -> Edit:
    def edit(files: Files) -> None:
        titles = files.get(first)[name], files.get(second)[name]
        files.set(first, name, titles[1])
        files.set(second, name, titles[0])

    return edit


def move(address: str, to: str, file: str = "") -> Edit:
    return lambda files: files.add(to, files.take(address), file)


def reorder(address: str) -> Edit:
    """Reverse the children of a structure."""
    return lambda files: files.set(address, "structure", files.get(address)["structure"][::-1])


def nothing(_: Files) -> None:
    """Change only how the files are formatted: saving them does."""


def rekey_and(address: str, key: str, **fields: Any) -> Edit:
    """Change the key of an entry and some fields."""
    return both(put(address, **fields), rekey(address, key))


def teams(titles: Iterable[str], file: str = "") -> Edit:
    return both(*(add(f"teams/{key_of(title)}", {"title": title}, file) for title in titles))


def key_of(title: str) -> str:
    return title.lower().replace(" ", "-")


def new_section(space: str, title: str, above: str = "sites/docs/structure", **fields: Any) -> Edit:
    """Add a section that shows a space."""
    key = key_of(title)
    shows = [{"type": "space", "key": "main", "space": space, "path": "main"}]
    node = {"type": "section", "key": key, "title": title, "path": key, **fields, "children": shows}
    return add(f"{above}/{key}", node)


def new_space_and_section(title: str, **fields: Any) -> Edit:
    return both(add(f"spaces/{key_of(title)}", {"title": title, **fields}), new_section(key_of(title), title))


def include(file: str) -> Edit:
    return lambda files: files.include(file)


def prune(*places: str) -> Edit:
    return lambda files: files.policy(prune=list(places))


FIVE = ("Growth", "Finance", "Legal", "Workplace", "Procurement")
THREE = ("Growth", "Finance", "Legal")
SIXTY = (
    "Accra", "Ankara", "Athens", "Baku", "Bergen", "Berlin", "Bogota", "Boston", "Cairo", "Cardiff",
    "Chicago",
    "Dakar", "Delhi", "Dublin", "Durban", "Fukuoka", "Geneva", "Glasgow", "Hanoi", "Havana", "Houston",
    "Istanbul", "Jakarta", "Kabul", "Kyoto", "Lagos", "Lima", "Lisbon", "Ljubljana", "London", "Lusaka",
    "Madrid", "Malmo", "Manila", "Melbourne", "Mexico City", "Milan", "Montreal", "Mumbai", "Munich",
    "Nairobi", "Naples", "Oslo", "Ottawa", "Oxford", "Perth", "Phoenix", "Porto", "Quito", "Reykjavik",
    "Rome", "Santiago", "Seoul", "Tallinn", "Tokyo", "Tunis", "Vienna", "Vilnius", "Warsaw", "Zurich",
)  # fmt: skip
SPECIFICATION = '{"openapi": "3.1.0", "info": {"title": "Billing", "version": "1"}, "paths": {}}'
EMPTY = ("teams/legacy", "teams/interns", "teams/partners", "teams/contractors")
EMPTY_IDS = ("team-legacy", "team-interns", "team-partners", "team-contractors")
STAFFED = ("teams/translators", "teams/design", "teams/reviewers")
STAFFED_IDS = ("team-translators", "team-design", "team-reviewers")
