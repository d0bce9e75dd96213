"""Twenty differences from an API version, planted into the responses of the local server.

`make contact` shows what `dpsync doctor --contact` finds: against the local server with each API version, and
against a server with every planted difference.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from dpsync.kinds.profiles import PROFILES
from dpsync.server.http.app import build_companion
from dpsync.server.process.threaded_server import ThreadedServer
from dpsync.server.store import open_store

from .altering_proxy import Answer, altering_proxy

DOCTOR = [sys.executable, "-m", "dpsync", "doctor", "--contact", "--report", "report.json"]
ACME = "dpsync: 1\norganizations: { acme: { id: acme } }\n"
ORG, SITE = "/orgs/{organization}", "/orgs/{organization}/sites/{site}"


class Difference(NamedTuple):
    """A difference as the report of `doctor --contact` names it."""

    operation: str
    member: str
    expected: str
    found: str

    def __str__(self) -> str:
        member = f"{self.member}: " if self.member else ""
        found = self.found.replace("missing", "nothing")
        return f"GET {self.operation}: {member}expected {self.expected}, found {found}"


class Planted(NamedTuple):
    """The path of a response, the change to the response, and the difference that dpsync must name."""

    path: str
    change: Callable[[Answer], Any]
    difference: Difference


def first(answer: Answer) -> dict[str, Any]:
    item: dict[str, Any] = answer.body["items"][0]
    return item


def second(answer: Answer) -> dict[str, Any]:
    """Return the second item of a list. A request for a single item has none."""
    items: list[dict[str, Any]] = answer.body["items"]
    return items[1] if len(items) > 1 else {}


def last(answer: Answer) -> dict[str, Any]:
    item: dict[str, Any] = answer.body["items"][-1]
    return item


def node(answer: Answer) -> dict[str, Any]:
    item: dict[str, Any] = answer.body["structure"][0]
    return item


PLANTED: dict[str, Planted] = {
    "user without an e-mail address": Planted(
        "/user",
        lambda one: one.body.pop("email"),
        Difference("/user", "email", "a text", "missing"),
    ),
    "count of organizations as a text": Planted(
        "/orgs",
        lambda one: one.body.update(count="2"),
        Difference("/orgs", "count", "a whole number", "a text"),
    ),
    "organization title as a number": Planted(
        "/orgs/acme",
        lambda one: one.body.update(title=7),
        Difference(ORG, "title", "a text", "a number"),
    ),
    "collection without a title": Planted(
        "/orgs/acme/collections",
        lambda one: first(one).pop("title"),
        Difference(f"{ORG}/collections", "items[].title", "a value in every response", "missing"),
    ),
    "member role as an object": Planted(
        "/orgs/acme/members",
        lambda one: first(one).update(role={"jane@acme.example": True}),
        Difference(f"{ORG}/members", "items[].role", "a text", "an object"),
    ),
    "team without an id": Planted(
        "/orgs/acme/teams",
        lambda one: last(one).pop("id"),
        Difference(f"{ORG}/teams", "items[].id", "an id", "missing"),
    ),
    "team with an empty title": Planted(
        "/orgs/acme/teams",
        lambda one: last(one).update(title=None),
        Difference(f"{ORG}/teams", "items[].title", "a text", "null"),
    ),
    "list without items": Planted(
        "/orgs/acme/openapi",
        lambda one: one.body.pop("items"),
        Difference(f"{ORG}/openapi", "items", "a list", "missing"),
    ),
    "next page as a number": Planted(
        "/orgs/acme/spaces",
        lambda one: one.body.update(next={"page": 5}),
        Difference(f"{ORG}/spaces", "next.page", "a text", "a number"),
    ),
    "unknown member role": Planted(
        "/orgs/acme/members",
        lambda one: second(one).update(role="for-janes-team"),
        Difference(f"{ORG}/members", "items[].role", "a known value", "an unknown value"),
    ),
    "operation that does not exist": Planted(
        "/orgs/acme/saml",
        lambda one: setattr(one, "status", 404),
        Difference(f"{ORG}/saml", "", "status 200", "status 404"),
    ),
    "operation that was removed": Planted(
        "/orgs/acme/translations",
        lambda one: setattr(one, "status", 410),
        Difference(f"{ORG}/translations", "", "status 200", "status 410"),
    ),
    "HTML instead of JSON": Planted(
        "/orgs/acme/agent-instructions",
        lambda one: one.headers.update({"content-type": "text/html"}),
        Difference(f"{ORG}/agent-instructions", "", "JSON", "another content type"),
    ),
    "site visibility as a boolean": Planted(
        "/orgs/acme/sites",
        lambda one: first(one).update(visibility=True),
        Difference(f"{ORG}/sites", "items[].visibility", "a text", "a boolean"),
    ),
    "text among the sites": Planted(
        "/orgs/acme/sites",
        lambda one: one.body["items"].append("a site"),
        Difference(f"{ORG}/sites", "items[]", "an object", "a text"),
    ),
    "section title as a list": Planted(
        "/orgs/acme/sites/docs/structure",
        lambda one: node(one).update(title=["Jane"]),
        Difference(f"{SITE}/structure", "structure[].title", "a text", "a list"),
    ),
    "navigation node without a type": Planted(
        "/orgs/acme/sites/docs/structure",
        lambda one: one.body["structure"].append({"title": "Without a type"}),
        Difference(f"{SITE}/structure", "structure[].object", "a text", "missing"),
    ),
    "customization title as an object": Planted(
        "/orgs/acme/sites/docs/customization",
        lambda one: one.body.update(title={"de": "x"}),
        Difference(f"{SITE}/customization", "title", "a text", "an object"),
    ),
    "visitor authentication backend as a number": Planted(
        "/orgs/acme/sites/docs/publishing/auth",
        lambda one: one.body.update(backend=1),
        Difference(f"{SITE}/publishing/auth", "backend", "a text", "a number"),
    ),
    "redirects as an object": Planted(
        "/orgs/acme/sites/docs/redirects",
        lambda one: one.body.update(items={"/jane": {}}),
        Difference(f"{SITE}/redirects", "items", "a list", "an object"),
    ),
}


def plant(path: str, answer: Answer) -> None:
    """Change a response of the local server in every planted way."""
    for planted in PLANTED.values():
        if planted.path == path and answer.body is not None:
            planted.change(answer)


@contextmanager
def local_server(profile: str) -> Iterator[ThreadedServer]:
    """Run the local server with its built-in test data and an API version."""
    with ThreadedServer(build_companion(open_store(":memory:"), profile=profile)) as running:
        running.reset()
        yield running


@contextmanager
def planted_server(url: str) -> Iterator[str]:
    """Run a proxy for a server, and plant every difference. The value is the address of the proxy."""
    with altering_proxy(url, lambda _method, path, answer: plant(path, answer)) as altered:
        yield altered


def named_differences(report: dict[str, Any]) -> set[Difference]:
    """Return every difference that a report of `doctor --contact` names."""
    return {
        Difference(one["operation"].removeprefix("GET "), each["member"], each["expected"], each["found"])
        for one in report["operations"]
        for each in one["differences"]
    }


def _examine(url: str, folder: Path) -> set[Difference]:
    """Run `dpsync doctor --contact`, print the lines about the contact, and return the named differences."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("DPSYNC_")}
    environment = {**inherited, "DPSYNC_URL": url, "DPSYNC_TOKEN": "ada-token", "NO_COLOR": "1"}
    (folder / "dpsync.yaml").write_text(ACME, encoding="utf-8")
    print(f"$ dpsync {' '.join(DOCTOR[3:])}", flush=True)
    ended = subprocess.run(DOCTOR, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    for line in ended.stdout.splitlines():
        if " contact " in line or line.endswith(("problems.", "notes.", "note.")):
            print(f"  {line}")
    print(f"  exit code {ended.returncode}\n", flush=True)
    return named_differences(json.loads((folder / "report.json").read_text(encoding="utf-8")))


def main() -> int:
    """Show the contact with each API version and with every planted difference; return the exit code."""
    wrong = False
    with tempfile.TemporaryDirectory() as place:
        for profile in PROFILES:
            print(f"Local server, API version {profile}:")
            with local_server(profile) as server:
                wrong |= bool(_examine(server.url, Path(place)))
        print(f"Local server with {len(PLANTED)} planted differences:")
        with local_server("full") as server, planted_server(server.url) as url:
            named = _examine(url, Path(place))
    for name, planted in PLANTED.items():
        print(f"{'found' if planted.difference in named else 'NOT FOUND':<9}  {name}")
    expected = {planted.difference for planted in PLANTED.values()}
    print(f"\n{len(expected & named)} of {len(expected)} found, {len(named - expected)} others named.")
    return int(wrong or named != expected)


if __name__ == "__main__":
    sys.exit(main())
