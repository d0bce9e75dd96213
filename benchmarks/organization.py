"""One organization of about as many entries as asked, as the companion's world and as a configuration.

Half of the entries are spaces, a third stand in the navigations of sites, the others are collections, teams
and their members: about 15 of 1,000 entries have a request of their own when they are read.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

Json = dict[str, Any]
TOKEN = "ada-token"  # noqa: S105  (of the world below, and of nothing else)
EMOJI = "1f4d6"
"""Of every space."""
_SECTIONS = 20
"""Of each site. Every one shows a space."""
_IN_A_TEAM = 10
_IN_A_FILE = 20_000
"""Entries of one file, whose values dpsync limits."""


def world(entries: int) -> Json:
    """Return a companion's state in which all of `configuration(entries)` is live."""
    people = _people(entries)
    return {
        "users": [{"id": user, "displayName": user.title(), "email": _email(user)} for user in people],
        "tokens": {TOKEN: people[0]},
        "organizations": [
            {
                "id": "acme",
                "title": "Acme",
                "members": [
                    {"user": user, "role": "create" if n else "admin"} for n, user in enumerate(people)
                ],
                "teams": [
                    {
                        "id": f"t{n}",
                        "title": f"Team {n}",
                        "members": [{"user": user} for user in _team(n, people)],
                    }
                    for n in range(_teams(entries))
                ],
                "collections": [
                    {"id": f"c{n}", "title": f"Collection {n}"} for n in range(_collections(entries))
                ],
                "spaces": [
                    {
                        "id": f"p{n}",
                        "title": f"Space {n}: how it works",
                        "emoji": EMOJI,
                        "language": "en",
                        "defaultLevel": "read",
                        "parent": f"c{n % _collections(entries)}",
                    }
                    for n in range(_spaces(entries))
                ],
                "sites": [_live_site(n, entries) for n in range(_sites(entries))],
            }
        ],
    }


def configuration(entries: int, suffix: str = "") -> str:
    """Return the same organization as YAML. `suffix` is appended to the titles of spaces."""
    people = _people(entries)
    lines = ["dpsync: 1", "organizations:", "  acme:", "    id: acme", "    members:"]
    lines += [f"      {_email(user)}: {_role(n)}" for n, user in enumerate(people)]
    lines.append("    teams:")
    for n in range(_teams(entries)):
        lines += [f"      team-{n}:", f"        title: Team {n}", "        members:"]
        lines += [f"          {_email(user)}: member" for user in _team(n, people)]
    lines.append("    collections:")
    lines += [f"      collection-{n}: {{ title: Collection {n} }}" for n in range(_collections(entries))]
    lines.append("    spaces:")
    for n in range(_spaces(entries)):
        lines += [
            f"      space-{n}:",
            f'        title: "Space {n}: how it works{suffix}"',
            "        language: en",
            f"        emoji: '{EMOJI}'",
            "        defaultLevel: read # of everybody",
            f"        collection: collection-{n % _collections(entries)}",
        ]
    lines.append("    sites:")
    for n in range(_sites(entries)):
        lines += [
            f"      site-{n}:",
            f"        title: Site {n}",
            f"        basename: site-{n}",
            "        structure:",
        ]
        for section in range(_SECTIONS):
            shown = f"space-{_shown(n, section, entries)}"
            lines += [
                "          - type: section",
                f"            key: s{section}",
                f"            title: Section {section}",
                f"            path: section-{section}",
                "            children:",
                f"              - {{ type: space, key: en, space: {shown}, path: en }}",
            ]
    return "\n".join(lines) + "\n"


def put_into(directory: Path, entries: int) -> None:
    """Write the same as files: one, or as many as the limits of one file need."""
    text = configuration(entries)
    if entries <= _IN_A_FILE:
        (directory / "dpsync.yaml").write_text(text, encoding="utf-8")
        return
    root, *blocks = re.split(
        r"^(?=    (?:members|teams|collections|spaces|sites):$)", text, flags=re.MULTILINE
    )
    root = root.replace("dpsync: 1\n", "dpsync: 1\ninclude: [parts/*.yaml]\n")
    (directory / "dpsync.yaml").write_text(root, encoding="utf-8")
    (directory / "parts").mkdir()
    for block in blocks:
        head, *items = re.split(r"^(?=      \S)", block, flags=re.MULTILINE)
        step = _IN_A_FILE // 20
        for start in range(0, len(items), step):
            part = f"organizations:\n  acme:\n{head}{''.join(items[start : start + step])}"
            file = directory / "parts" / f"{head.strip().rstrip(':')}-{start}.yaml"
            file.write_text(part, encoding="utf-8")


def _spaces(entries: int) -> int:
    return max(1, entries // 2)


def _sites(entries: int) -> int:
    return max(1, entries // 120)


def _teams(entries: int) -> int:
    return max(1, entries // 150)


def _collections(entries: int) -> int:
    return max(1, entries // 100)


def _people(entries: int) -> list[str]:
    return [f"user-{n}" for n in range(max(2, entries // 20))]


def _email(user: str) -> str:
    return f"{user}@acme.example"


def _team(number: int, people: list[str]) -> list[str]:
    return sorted({people[(number * 7 + n) % len(people)] for n in range(_IN_A_TEAM)})


def _shown(site: int, section: int, entries: int) -> int:
    return (site * _SECTIONS + section) % _spaces(entries)


def _role(number: int) -> str:
    return "create" if number else "admin"


def _live_site(number: int, entries: int) -> Json:
    structure = [
        {
            "type": "section",
            "id": f"w{number}-s{n}",
            "title": f"Section {n}",
            "path": f"section-{n}",
            "children": [
                {
                    "type": "space",
                    "id": f"w{number}-s{n}-en",
                    "space": f"p{_shown(number, n, entries)}",
                    "path": "en",
                }
            ],
        }
        for n in range(_SECTIONS)
    ]
    site = {"id": f"w{number}", "title": f"Site {number}", "basename": f"site-{number}"}
    return {**site, "structure": structure}
