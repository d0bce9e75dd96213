"""Open, update and close the drift issue, and the issue about failing drift checks.

- `DriftIssue`: one issue for the drift of a key. Only a complete check changes it. A closed issue is opened
  again, so that the history of drift is in one place.
- `FailingChecksIssue`: an issue that the third failed drift check in a row opens. The count must be kept on
  GitHub, where nearly everything that can be written sends a mail to everybody who watches the repository. A
  label does not: its description has the count, the time and the reasons. The first successful check deletes
  the label and closes the issue.
"""

from __future__ import annotations

import hashlib
import re
import time
from datetime import UTC, datetime
from typing import Final, Generic, TypeVar

import msgspec
from msgspec import Struct
from pydantic import BaseModel

from dpsync.github.api import GitHub, GitHubText
from dpsync.github.plan_comment import (
    DriftMarker,
    FailingChecksMarker,
    Marker,
    comment_footer,
    marker_line,
    read_marker,
)
from dpsync.github.transport import GitHubError
from dpsync.github.workspace import WorkflowRun
from dpsync.model.drift import Drift
from dpsync.model.text import format_count, json_text
from dpsync.render.documents import DriftDocument
from dpsync.render.markdown import MAX_COMMENT_UNITS, escape_prose, render_markdown, utf16_length
from dpsync.render.views import make_view
from dpsync.render.visible import visible

M = TypeVar("M", bound=Marker)
_MAX_TITLE_CHARS: Final = 200


class Issues(Struct, Generic[M], frozen=True):
    """The issues that dpsync opened for one configuration (`key`) and one purpose (`marker_type`).

    `workflow_run` is the present run, `now` its time in Unix seconds, and `labels` are for new issues.
    """

    github: GitHub
    key: str
    workflow_run: WorkflowRun
    marker_type: type[M]
    labels: tuple[str, ...] = ()
    now: int = msgspec.field(default_factory=lambda: int(time.time()))

    def find(self) -> list[tuple[GitHubText, M]]:
        """Return the issues with this key that the account of the token opened, oldest first.

        Open and closed issues are returned, each with its marker.
        """
        viewer = self.github.viewer()
        result = []
        for text in self.github.issues(viewer):
            marker = read_marker(text.body, self.marker_type) if text.author == viewer else None
            if marker is not None and marker.key == self.key:
                result.append((text, marker))
        return result

    def current(self) -> tuple[GitHubText, M] | None:
        """Return the oldest open issue with its marker; without one, the newest closed issue, or None.

        A marker is a hidden comment in the text of the issue, with data of the last run.
        """
        issues_with_markers = self.find()
        for issue, marker in issues_with_markers:
            if issue.open:
                return issue, marker
        return issues_with_markers[-1] if issues_with_markers else None

    def open_issue(self, name: tuple[str, ...], body: str) -> GitHubText:
        """Open an issue, and return it. If two runs do so at the same time, the older issue stays.

        `name` are the parts of the title, such as ("Drift", "production").
        """
        title = visible(" · ".join(filter(None, name)))[:_MAX_TITLE_CHARS]
        opened = self.github.open_issue(title, body, self.labels)
        first = next((text for text, _ in self.find() if text.open), opened)
        if first.number < opened.number:
            self.github.edit_issue(opened.number, state="closed", state_reason="not_planned")
            return first
        return opened

    def close(self, why: str) -> GitHubText | None:
        """Close all open issues, except those of later runs. Return the last of these issues, or None.

        `why` is the text of a comment that is added to each issue.
        """
        closed_issue = None
        for text, marker in self.find():
            if text.open and marker.age <= self.workflow_run.age:
                self.github.comment(text.number, why)
                closed_issue = self.github.edit_issue(text.number, state="closed", state_reason="completed")
        return closed_issue


def format_time(seconds: int) -> str:
    """Return a time in Unix seconds as text."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M UTC")


DRIFT_ENDED_TEXT: Final = (
    "**There is no drift any more.** The drift ended without an apply of this workflow: somebody changed "
    "GitBook back, or the files now contain the values in GitBook."
)
DRIFT_APPLIED_TEXT: Final = "**There is no drift any more.** An apply changed GitBook to match the files."
_DIGESTED_FIELDS: Final = {"address", "what", "id", "place", "renamed", "fields"}


def drift_digest(drift: Drift) -> str:
    """Return a digest of the differences between GitBook and the files, without their causes.

    The same drift has the same digest, so a later check can tell whether the drift changed.
    """
    differences = [difference.model_dump(mode="json", include=_DIGESTED_FIELDS) for difference in drift.found]
    for difference in differences:
        for field in difference["fields"]:
            field.pop("cause")
    return hashlib.sha256(json_text(differences).encode()).hexdigest()


def issue_body(marker: DriftMarker, document: DriftDocument, workflow_run: WorkflowRun) -> str:
    """Return the text of the drift issue, within GitHub's limit."""
    seen = (
        f"dpsync first found this drift on {format_time(marker.since)}, "
        f"and has found the drift in {format_count(marker.checks, 'check')} so far.\n\n"
    )
    head = marker_line(marker) + seen
    foot = f"\n\n{comment_footer(workflow_run)}"
    limit = MAX_COMMENT_UNITS - utf16_length(head) - utf16_length(foot)
    return f"{head}{render_markdown(make_view(document), limit)}{foot}"


class DriftIssue(Struct, frozen=True):
    """The drift issue of a key."""

    issues: Issues[DriftMarker]

    def record_check(self, document: DriftDocument, name: tuple[str, ...]) -> GitHubText | None:
        """Open, update or close the issue after a drift check. Return the issue, or None if nothing changed.

        The issue stays open if a part of GitBook could not be read. `name` distinguishes several
        configurations in the title.
        """
        if document.drifted:
            return self._update(document, name)
        if document.drift.unread:
            return None  # the unreadable part may have drifted
        return self.close(DRIFT_ENDED_TEXT)

    def close(self, why: str) -> GitHubText | None:
        """Close the open issue with a reason."""
        return self.issues.close(f"{why}\n\n{comment_footer(self.issues.workflow_run)}")

    def _update(self, document: DriftDocument, name: tuple[str, ...]) -> GitHubText:
        """Open the issue or edit its text. If the drift changed, add a comment, which sends mails.

        An issue of a later run is not changed. A closed issue is opened again.
        """
        digest = drift_digest(document.drift)
        github, workflow_run = self.issues.github, self.issues.workflow_run
        text, before = self.issues.current() or (None, None)
        was_open = text is not None and text.open
        marker = DriftMarker(
            key=self.issues.key,
            run=workflow_run.run_id,
            attempt=workflow_run.attempt,
            sha=workflow_run.sha,
            digest=digest,
            since=(before.since if before and was_open else None) or self.issues.now,
            checks=before.checks + 1 if before and was_open else 1,
        )
        body = issue_body(marker, document, workflow_run)
        if text is None or before is None:
            return self.issues.open_issue(("Drift", *name), body)
        if before.age > workflow_run.age:
            return text
        if was_open and before.digest == digest:
            return github.edit_issue(text.number, body=body)  # editing a text sends no mail
        changed = github.edit_issue(text.number, body=body, state="open")
        change = "The drift has changed" if was_open else "There is drift again"
        verdict = escape_prose(make_view(document).title)
        github.comment(text.number, f"{change}: {verdict}\n\n{comment_footer(workflow_run)}")
        return changed


FAILURES_BEFORE_ISSUE: Final = 3
_MAX_REASONS: Final = 3
"""The number of last reasons that are named."""
MAX_DESCRIPTION_CHARS: Final = 100
"""The largest number of characters of a label's description."""
_LABEL_COLOR: Final = "ededed"
_DESCRIPTION: Final = re.compile(
    r"(\d{1,6}) failed drift checks? since (\d{4}-\d\d-\d\dT\d\d:\d\dZ), run (\d{1,18})\.(\d{1,9}):([a-z -]*)"
)
_TIME: Final = "%Y-%m-%dT%H:%MZ"
_ALREADY_EXISTS_STATUS = 422


class FailedChecks(Struct, frozen=True):
    """The failed checks in a row: number, time of the first, last run, and last reasons."""

    number: int
    first_failed_at: int
    age: tuple[int, int]
    reasons: tuple[str, ...]

    def __str__(self) -> str:
        """Return the description of the label. Reasons that do not fit are left out."""
        since = datetime.fromtimestamp(self.first_failed_at, UTC).strftime(_TIME)
        text = (
            f"{format_count(self.number, 'failed drift check')} since {since}, run "
            f"{self.age[0]}.{self.age[1]}:"
        )
        for reason in self.reasons[1 - _MAX_REASONS :]:
            longer = f"{text} {reason}"
            text = longer if len(longer) <= MAX_DESCRIPTION_CHARS else text
        return text


def parse_failed_checks(text: str) -> FailedChecks | None:
    """Parse the description of a label, which `FailedChecks` wrote; return None for another text."""
    match = _DESCRIPTION.fullmatch(text)
    if match is None:
        return None
    try:
        since = datetime.strptime(match[2], _TIME).replace(tzinfo=UTC)
    except ValueError:
        return None
    age = int(match[3]), int(match[4])
    return FailedChecks(int(match[1]), int(since.timestamp()), age, tuple(match[5].split()))


class FailingChecksIssue(Struct, frozen=True):
    """The issue about failing drift checks of a key, and their count."""

    issues: Issues[FailingChecksMarker]

    @property
    def label(self) -> str:
        """The name of the label whose description contains the count of failed checks."""
        return f"dpsync-{self.issues.key[:12]}"

    def record_failure(
        self, reason: str, document: BaseModel | None, name: tuple[str, ...]
    ) -> GitHubText | None:
        """Count a failed check. From the third failure in a row on, open or update the issue, and return it.

        `reason` is a word such as "network", and `document` is what the check printed, if anything. A check
        that is older than the last counted one is ignored.
        """
        before, workflow_run = self._read_count(), self.issues.workflow_run
        if before is not None and before.age > workflow_run.age:
            return None
        reasons = (*(before.reasons if before else ()), reason)[-_MAX_REASONS:]
        failed = FailedChecks(
            before.number + 1 if before else 1,
            before.first_failed_at if before else self.issues.now,
            workflow_run.age,
            reasons,
        )
        github, description = self.issues.github, {"description": str(failed)}
        try:
            github.request("POST", "/labels", {"name": self.label, "color": _LABEL_COLOR, **description})
        except GitHubError as error:
            if error.status != _ALREADY_EXISTS_STATUS:
                raise
            github.request("PATCH", f"/labels/{self.label}", description)
        return self._update(failed, document, name) if failed.number >= FAILURES_BEFORE_ISSUE else None

    def record_success(self) -> GitHubText | None:
        """Close the issue about failing checks, and delete the label that counts failures.

        A newer run's label is kept. Return the closed issue; None if no issue was open.
        """
        closed_issue = self.issues.close(
            "**Drift checks work again.** A drift check has "
            f"succeeded.\n\n{comment_footer(self.issues.workflow_run)}"
        )
        before = self._read_count()
        if before is not None and before.age <= self.issues.workflow_run.age:
            self.issues.github.request("DELETE", f"/labels/{self.label}")
        return closed_issue

    # The issue.

    def _update(self, failed: FailedChecks, document: BaseModel | None, name: tuple[str, ...]) -> GitHubText:
        """Open the issue about failing checks, or edit its text and open it again if it is closed.

        An issue of a later run is not changed.
        """
        github, workflow_run = self.issues.github, self.issues.workflow_run
        marker = FailingChecksMarker(
            key=self.issues.key, run=workflow_run.run_id, attempt=workflow_run.attempt, sha=workflow_run.sha
        )
        body = _failing_checks_body(marker, failed, document, f"\n\n{comment_footer(workflow_run)}")
        current = self.issues.current()
        if current is None:
            return self.issues.open_issue(("Drift checks fail", *name), body)
        text, before = current
        if before.age > workflow_run.age:
            return text
        changed = github.edit_issue(text.number, body=body, state="open")
        if not text.open:
            github.comment(text.number, f"Drift checks fail again.\n\n{comment_footer(workflow_run)}")
        return changed

    # The count.

    def _read_count(self) -> FailedChecks | None:
        """Return the failed checks in a row, from the description of the label that counts them, if any."""
        try:
            label = self.issues.github.request("GET", f"/labels/{self.label}")
        except GitHubError as error:
            if error.is_missing:
                return None
            raise
        description = label.get("description") if isinstance(label, dict) else None
        return parse_failed_checks(description) if isinstance(description, str) else None


def _failing_checks_body(
    marker: FailingChecksMarker, failed: FailedChecks, document: BaseModel | None, foot: str
) -> str:
    """Return the text of the issue about failing checks, within GitHub's limit.

    The text contains what the last check printed (`document`), if anything.
    """
    checks, reasons = format_count(failed.number, "drift check"), ", ".join(failed.reasons)
    head = (
        f"{marker_line(marker)}> [!WARNING]\n"
        f"> **{checks} in a row have failed** since {format_time(failed.first_failed_at)}. The "
        "reasons of the last "
        f"failures are: {reasons}. dpsync does not know whether GitBook differs from the files.\n\n"
    )
    if document is None:
        return f"{head}The first successful drift check closes this issue.{foot}"
    foot = f"\n\nThe first successful drift check closes this issue.{foot}"
    limit = MAX_COMMENT_UNITS - utf16_length(head) - utf16_length(foot)
    return f"{head}{render_markdown(make_view(document), limit)}{foot}"
