"""A view as SARIF 2.1.0, for code scanning: findings, refusals, deletes, exposures, drift, what is blocked.

Mere changes are not in it: they are what somebody wants. Nothing is in it that differs from run to run, so
that a result is recognised when it comes again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any, Final
from urllib.parse import quote

from dpsync import __version__
from dpsync.model.plan import Origin
from dpsync.model.text import json_text
from dpsync.render.layout.view import View, ViewEntry, body, clip
from dpsync.render.options import FormatOptions

SCHEMA: Final = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
BODY: Final = 50
"""Lines of a message."""


def as_sarif(view: View, options: FormatOptions) -> str:
    """One run with its rules and results, as JSON."""
    found = [entry for entry in view.calls if entry.level != "note"]
    rules = {_rule(entry): entry for entry in found}
    order = {rule: index for index, rule in enumerate(rules)}
    run = {
        "tool": {
            "driver": {
                "name": "dpsync",
                "version": __version__,
                "rules": [_described(rule, entry, view) for rule, entry in rules.items()],
            }
        },
        "columnKind": "unicodeCodePoints",
        "results": [_result(entry, order, options) for entry in found],
    }
    return json_text({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2)


def _rule(entry: ViewEntry) -> str:
    return entry.code or entry.name


def _described(rule: str, entry: ViewEntry, view: View) -> dict[str, Any]:
    about = f"{view.name}: {entry.name}" + (f" ({rule}, see docs/errors.md)" if rule != entry.name else "")
    level = {"level": entry.level}
    return {"id": rule, "shortDescription": {"text": about}, "defaultConfiguration": level}


def _result(entry: ViewEntry, order: dict[str, int], options: FormatOptions) -> dict[str, Any]:
    rule = _rule(entry)
    message = "\n".join([clip(entry.summary), *body(entry, BODY)])
    known = hashlib.sha256(f"{rule}\n{entry.address}\n{'' if entry.address else entry.summary}".encode())
    return {
        "ruleId": rule,
        "ruleIndex": order[rule],
        "level": entry.level,
        "message": {"text": _message(message)},
        "locations": list(_locations(entry, options)),
        "partialFingerprints": {"dpsync/v1": known.hexdigest()},
    }


def _locations(entry: ViewEntry, options: FormatOptions) -> Iterator[dict[str, Any]]:
    location: dict[str, Any] = {}
    if at := entry.where or entry.enclosing:
        location["physicalLocation"] = _physical(at, options)
    if entry.address:
        location["logicalLocations"] = [{"fullyQualifiedName": entry.address, "kind": "resource"}]
    if location:
        yield location


def _physical(at: Origin, options: FormatOptions) -> dict[str, Any]:
    uri = quote(f"{options.below()}{at.file}", errors="surrogatepass")
    return {"artifactLocation": {"uri": uri}, "region": {"startLine": at.line, "startColumn": at.column}}


def _message(text: str) -> str:
    """A text in which nothing is a placeholder (`{0}`) or a link (`[text](target)`)."""
    return text.replace("{", "{{").replace("}", "}}").replace("](", "] (")
