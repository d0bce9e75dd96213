"""One issue for the drift of a key: opened, rewritten when the drift is another one, closed when it is gone.

Only a check that was made and complete touches it. A closed one is opened again, so that the
trail of a configuration's drift is in one place.
"""

from __future__ import annotations

import hashlib
from typing import Final

from msgspec import Struct

from dpsync.github.messages.issues import Issues, moment
from dpsync.github.messages.marker import DriftMarker, first_line
from dpsync.github.messages.plan_comment import written_by
from dpsync.github.requests.api import GitHubText
from dpsync.github.runner.place import WorkflowRun
from dpsync.model.drift import Drift
from dpsync.model.text import counted, json_text
from dpsync.render.documents import DriftDocument
from dpsync.render.markdown import COMMENT, prose, render_markdown, units
from dpsync.render.views import view

GONE: Final = (
    "**There is no drift any more.** The drift ended without an apply of this workflow: somebody changed "
    "GitBook back, or the files now contain the live values."
)
APPLIED: Final = "**There is no drift any more.** An apply changed GitBook to match the files."
_MATERIAL: Final = {"address", "what", "id", "place", "renamed", "fields"}


def drift_digest(drift: Drift) -> str:
    """What differs from what, without why: the same drift has the same digest in every check."""
    found = [item.model_dump(mode="json", include=_MATERIAL) for item in drift.found]
    for item in found:
        for field in item["fields"]:
            field.pop("cause")
    return hashlib.sha256(json_text(found).encode()).hexdigest()


def issue_body(marker: DriftMarker, document: DriftDocument, place: WorkflowRun) -> str:
    """The text of the issue: since when, what, and which run has written it; within GitHub's limit."""
    seen = (
        f"dpsync first found this drift on {moment(marker.since)}, "
        f"and has found the drift in {counted(marker.checks, 'check')} so far.\n\n"
    )
    head = first_line(marker) + seen
    foot = f"\n\n{written_by(place)}"
    return f"{head}{render_markdown(view(document), COMMENT - units(head) - units(foot))}{foot}"


class DriftIssue(Struct, frozen=True):
    """The issue of one key."""

    issues: Issues[DriftMarker]

    def checked(self, document: DriftDocument, name: tuple[str, ...]) -> GitHubText | None:
        """After a check: the issue that tells its drift, or the one that is closed now; None for neither."""
        if document.drifted:
            return self._tell(document, name)
        if document.drift.unread:
            return None  # what could not be read may have drifted
        return self.close(GONE)

    def close(self, why: str) -> GitHubText | None:
        """Close what is open, with the reason."""
        return self.issues.close(f"{why}\n\n{written_by(self.issues.place)}")

    def _tell(self, document: DriftDocument, name: tuple[str, ...]) -> GitHubText:
        digest = drift_digest(document.drift)
        github, place = self.issues.github, self.issues.place
        text, before = self.issues.current() or (None, None)
        again = text is not None and text.open
        marker = DriftMarker(
            key=self.issues.key,
            run=place.run,
            attempt=place.attempt,
            sha=place.sha,
            digest=digest,
            since=(before.since if before and again else None) or self.issues.now,
            checks=before.checks + 1 if before and again else 1,
        )
        body = issue_body(marker, document, place)
        if text is None or before is None:
            return self.issues.open_one(("Drift", *name), body)
        if before.age > place.age:
            return text
        if again and before.digest == digest:
            return github.edit_issue(text.number, body=body)  # of this nobody gets a mail
        changed = github.edit_issue(text.number, body=body, state="open")
        said = "The drift has changed" if again else "There is drift again"
        verdict = prose(view(document).title)
        github.comment(text.number, f"{said}: {verdict}\n\n{written_by(place)}")
        return changed
