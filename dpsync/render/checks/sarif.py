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
from dpsync.model.plans.plan import Origin
from dpsync.model.texts.json_text import json_text
from dpsync.render.layout.view import Block, View, ViewEntry, body, clip
from dpsync.render.options import FormatOptions

SCHEMA: Final = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
BODY: Final = 50
"""Lines of a message."""


def as_sarif(view: View, options: FormatOptions) -> str:
    """One run with its rules and results, as JSON."""
    found = [(block, entry) for block, entry in view.calls if block.level != "note"]
    rules = {_rule(block, entry): block for block, entry in found}
    order = {rule: index for index, rule in enumerate(rules)}
    run = {
        "tool": {
            "driver": {
                "name": "dpsync",
                "version": __version__,
                "rules": [_described(rule, block, view) for rule, block in rules.items()],
            }
        },
        "columnKind": "unicodeCodePoints",
        "results": [_result(block, entry, order, options) for block, entry in found],
    }
    return json_text({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2)


def _rule(block: Block, entry: ViewEntry) -> str:
    return entry.code or block.name


def _described(rule: str, block: Block, view: View) -> dict[str, Any]:
    about = f"{view.name}: {block.name}" + (f" ({rule}, see docs/errors.md)" if rule != block.name else "")
    level = {"level": block.level}
    return {"id": rule, "shortDescription": {"text": about}, "defaultConfiguration": level}


def _result(block: Block, entry: ViewEntry, order: dict[str, int], options: FormatOptions) -> dict[str, Any]:
    rule = _rule(block, entry)
    message = "\n".join([" ".join(filter(None, (entry.address, clip(entry.summary)))), *body(entry, BODY)])
    known = hashlib.sha256(f"{rule}\n{entry.address}\n{'' if entry.address else entry.summary}".encode())
    return {
        "ruleId": rule,
        "ruleIndex": order[rule],
        "level": block.level,
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
