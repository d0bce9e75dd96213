"""One issue for the drift of a key: opened, rewritten when the drift is another one, closed when it is gone.

Only a check that was made and complete touches it. A closed one is opened again, so that the
trail of a configuration's drift is in one place.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Final

from dpsync.github.api import GitHub, Text
from dpsync.github.marker import DriftMarker, first_line, read_marker
from dpsync.github.place import Place
from dpsync.github.plan_comment import written_by
from dpsync.model.drift import Drift
from dpsync.model.json_text import json_text
from dpsync.render.documents import DriftDocument
from dpsync.render.markdown import COMMENT, render_markdown, units
from dpsync.render.markdown_text import prose
from dpsync.render.views import view
from dpsync.render.visible import visible

GONE: Final = (
    "**No drift any more.** No apply of this workflow has said that it did it: "
    "the platform was put back by hand, or the files have taken over what is live."
)
APPLIED: Final = "**No drift any more:** an apply has made the platform as the files say."
_TITLE: Final = 200
_MATERIAL: Final = {"address", "what", "id", "place", "renamed", "fields"}


def drift_digest(drift: Drift) -> str:
    """What differs from what, without why: the same drift has the same digest in every check."""
    found = [item.model_dump(mode="json", include=_MATERIAL) for item in drift.found]
    for item in found:
        for field in item["fields"]:
            field.pop("cause")
    return hashlib.sha256(json_text(found).encode()).hexdigest()


def title(labels: tuple[str, ...]) -> str:
    """The title: which configuration, environment and part."""
    return visible(" · ".join(filter(None, ("Drift", *labels))))[:_TITLE]


def issue_body(marker: DriftMarker, document: DriftDocument, place: Place, limit: int = COMMENT) -> str:
    head = first_line(marker)
    foot = f"\n\n{written_by(place)}"
    return f"{head}{render_markdown(view(document), limit - units(head) - units(foot))}{foot}"


@dataclass(frozen=True)
class DriftIssue:
    """The issue of one key, and the run that looks after it."""

    github: GitHub
    key: str
    place: Place
    labels: tuple[str, ...] = ()

    def checked(self, document: DriftDocument, name: tuple[str, ...]) -> Text | None:
        """After a check: the issue that tells its drift, or the one that is closed now; None for neither."""
        if document.drifted:
            return self._tell(document, name)
        if document.drift.unread:
            return None  # what could not be read may have drifted
        return self.close(GONE)

    def close(self, why: str) -> Text | None:
        """Close what is open, with the reason."""
        closed = None
        for text, marker in self._found():
            if text.open and marker.age <= self.place.age:
                self.github.comment(text.number, f"{why}\n\n{written_by(self.place)}")
                closed = self.github.edit_issue(text.number, state="closed", state_reason="completed")
        return closed

    def _tell(self, document: DriftDocument, name: tuple[str, ...]) -> Text:
        digest = drift_digest(document.drift)
        place = self.place
        marker = DriftMarker(key=self.key, run=place.run, attempt=place.attempt, sha=place.sha, digest=digest)
        body = issue_body(marker, document, place)
        found = self._found()
        if not found:
            made = self.github.open_issue(title(name), body, self.labels)
            return self._one(made)
        text, before = next((one for one in found if one[0].open), found[-1])
        if before.age > place.age or (text.open and before.digest == digest):
            return text
        said = "The drift is another one now" if text.open else "There is drift again"
        changed = self.github.edit_issue(text.number, body=body, state="open")
        verdict = prose(view(document).title)
        self.github.comment(text.number, f"{said}: {verdict}\n\n{written_by(place)}")
        return changed

    def _one(self, made: Text) -> Text:
        """Where two runs open an issue at once, the first one stays."""
        first = next((text for text, _ in self._found() if text.open), made)
        if first.number < made.number:
            self.github.edit_issue(made.number, state="closed", state_reason="not_planned")
            return first
        return made

    def _found(self) -> list[tuple[Text, DriftMarker]]:
        viewer = self.github.viewer()
        found = []
        for text in self.github.issues(viewer):
            marker = read_marker(text.body, DriftMarker) if text.author == viewer else None
            if marker is not None and marker.key == self.key:
                found.append((text, marker))
        return found
