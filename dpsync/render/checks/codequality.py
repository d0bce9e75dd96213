"""A view as GitLab's code quality report: what somebody should look at, at its line in a merge request.

GitLab shows what is new against the report of the target branch. It compares fingerprints, and of two that
are the same it drops one; so they have no line in them, and no two are the same.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

from dpsync.model.text import json_text
from dpsync.render.layout.view import View, ViewEntry, clip
from dpsync.render.options import FormatOptions
from dpsync.render.words.visible import visible

_SEVERITIES: Final = {"error": "blocker", "warning": "major"}
_LONGEST: Final = 1000
"""Characters of a description."""


def as_codequality(view: View, options: FormatOptions) -> str:
    """A list of violations, as JSON; an empty one where nobody has to look at anything."""
    return json_text(list(_violations(view, options)), indent=2)


def _violations(view: View, options: FormatOptions) -> Iterator[dict[str, Any]]:
    seen: Counter[tuple[str, ...]] = Counter()
    for entry in view.calls:
        if entry.level not in _SEVERITIES:
            continue
        rule = entry.code or entry.name
        at = entry.where or entry.enclosing
        path = visible(f"{options.below()}{at.file if at and at.file else options.root}")
        same = rule, entry.address, path, entry.summary
        seen[same] += 1
        known = "\n".join([*same, *([str(seen[same])] if seen[same] > 1 else [])])
        yield {
            "description": _description(entry, placed=at is not None),
            "check_name": f"dpsync/{rule}",
            "fingerprint": hashlib.sha256(known.encode("utf-8", "surrogatepass")).hexdigest(),
            "severity": _SEVERITIES[entry.level],
            "location": {"path": path, "lines": {"begin": at.line if at else 1}},
        }


def _description(entry: ViewEntry, placed: bool) -> str:
    parts = [clip(entry.summary or entry.name), *(word.sentence for word in entry.sentences)]
    return clip("; ".join(parts), _LONGEST) + ("" if placed else " (not on a line in your files)")
