"""Open, update and close the issues about drift and unwatched objects.

Issues of ours: found by their markers, and of two that were opened at once the first one stays.

One issue for the drift of a key: opened, rewritten when the drift is another one, closed when it is gone.

Only a check that was made and complete touches it. A closed one is opened again, so that the
trail of a configuration's drift is in one place.

An issue that says that drift is not being watched: opened by the third check in a row that has failed.

How many have failed so far has to be kept on GitHub, and hardly anything can be written there without a mail
to everybody who watches the repository. A label can: its description says how many, since when and why. The
first check that works takes it away, and closes the issue.
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
from dpsync.github.plan_comment import DriftMarker, Marker, WatchMarker, first_line, read_marker, written_by
from dpsync.github.transport import GitHubError
from dpsync.github.workspace import WorkflowRun
from dpsync.model.drift import Drift
from dpsync.model.text import counted, json_text
from dpsync.render.documents import DriftDocument
from dpsync.render.markdown import COMMENT, prose, render_markdown, units
from dpsync.render.views import view
from dpsync.render.visible import visible

M = TypeVar("M", bound=Marker)
_TITLE: Final = 200


class Issues(Struct, Generic[M], frozen=True):
    """The issues of one key and sort of marker, and the run that looks after them. `now` is its time."""

    github: GitHub
    key: str
    place: WorkflowRun
    sort: type[M]
    labels: tuple[str, ...] = ()
    now: int = msgspec.field(default_factory=lambda: int(time.time()))

    def found(self) -> list[tuple[GitHubText, M]]:
        """Ours, open and closed, the oldest first."""
        viewer = self.github.viewer()
        found = []
        for text in self.github.issues(viewer):
            marker = read_marker(text.body, self.sort) if text.author == viewer else None
            if marker is not None and marker.key == self.key:
                found.append((text, marker))
        return found

    def current(self) -> tuple[GitHubText, M] | None:
        """The one that is open, else the last one."""
        found = self.found()
        return next((one for one in found if one[0].open), found[-1]) if found else None

    def open_one(self, name: tuple[str, ...], body: str) -> GitHubText:
        """Open one. Where two runs do that at once, the first one stays."""
        title = visible(" · ".join(filter(None, name)))[:_TITLE]
        made = self.github.open_issue(title, body, self.labels)
        first = next((text for text, _ in self.found() if text.open), made)
        if first.number < made.number:
            self.github.edit_issue(made.number, state="closed", state_reason="not_planned")
            return first
        return made

    def close(self, why: str) -> GitHubText | None:
        """Close what is open and not of a later run, with the reason."""
        closed = None
        for text, marker in self.found():
            if text.open and marker.age <= self.place.age:
                self.github.comment(text.number, why)
                closed = self.github.edit_issue(text.number, state="closed", state_reason="completed")
        return closed


def moment(seconds: int) -> str:
    """A time for people."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M UTC")


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


IN_A_ROW: Final = 3
_NAMED: Final = 3
"""The last reasons, which are named."""
LONGEST: Final = 100
"""Characters of a label's description."""
_COLOUR: Final = "ededed"
_KEPT: Final = re.compile(
    r"(\d{1,6}) failed drift checks? since (\d{4}-\d\d-\d\dT\d\d:\d\dZ), run (\d{1,18})\.(\d{1,9}):([a-z -]*)"
)
_TIME: Final = "%Y-%m-%dT%H:%MZ"
_THERE_ALREADY = 422


class Failed(Struct, frozen=True):
    """The failed checks in a row: how many, since when, which run was the last one, and the last reasons."""

    number: int
    since: int
    age: tuple[int, int]
    reasons: tuple[str, ...]

    def __str__(self) -> str:
        since = datetime.fromtimestamp(self.since, UTC).strftime(_TIME)
        text = f"{counted(self.number, 'failed drift check')} since {since}, run {self.age[0]}.{self.age[1]}:"
        for reason in self.reasons[1 - _NAMED :]:
            longer = f"{text} {reason}"
            text = longer if len(longer) <= LONGEST else text
        return text


def read_failed(text: str) -> Failed | None:
    """What a label's description says; None where it is not as we write one."""
    found = _KEPT.fullmatch(text)
    if found is None:
        return None
    try:
        since = datetime.strptime(found[2], _TIME).replace(tzinfo=UTC)
    except ValueError:
        return None
    age = int(found[3]), int(found[4])
    return Failed(int(found[1]), int(since.timestamp()), age, tuple(found[5].split()))


class Watch(Struct, frozen=True):
    """The issue of one key, and its count."""

    issues: Issues[WatchMarker]

    @property
    def label(self) -> str:
        return f"dpsync-{self.issues.key[:12]}"

    def failed(self, reason: str, document: BaseModel | None, name: tuple[str, ...]) -> GitHubText | None:
        """After a check that has failed: the issue, where it is open by now."""
        before, place = self._kept(), self.issues.place
        if before is not None and before.age > place.age:
            return None
        reasons = (*(before.reasons if before else ()), reason)[-_NAMED:]
        now = Failed(
            before.number + 1 if before else 1,
            before.since if before else self.issues.now,
            place.age,
            reasons,
        )
        self._keep(now)
        return self._tell(now, document, name) if now.number >= IN_A_ROW else None

    def works(self) -> GitHubText | None:
        """After a check that was made: the issue, where it was closed by that."""
        closed = self.issues.close(
            f"**Drift checks work again.** A drift check has succeeded.\n\n{written_by(self.issues.place)}"
        )
        before = self._kept()
        if before is not None and before.age <= self.issues.place.age:
            self.issues.github.ask("DELETE", f"/labels/{self.label}")
        return closed

    # The issue.

    def _tell(self, failed: Failed, document: BaseModel | None, name: tuple[str, ...]) -> GitHubText:
        github, place = self.issues.github, self.issues.place
        marker = WatchMarker(key=self.issues.key, run=place.run, attempt=place.attempt, sha=place.sha)
        body = _body(marker, failed, document, f"\n\n{written_by(place)}")
        current = self.issues.current()
        if current is None:
            return self.issues.open_one(("Drift checks fail", *name), body)
        text, before = current
        if before.age > place.age:
            return text
        changed = github.edit_issue(text.number, body=body, state="open")
        if not text.open:
            github.comment(text.number, f"Drift checks fail again.\n\n{written_by(place)}")
        return changed

    # The count.

    def _kept(self) -> Failed | None:
        try:
            found = self.issues.github.ask("GET", f"/labels/{self.label}")
        except GitHubError as error:
            if error.missing:
                return None
            raise
        said = found.get("description") if isinstance(found, dict) else None
        return read_failed(said) if isinstance(said, str) else None

    def _keep(self, failed: Failed) -> None:
        github, content = self.issues.github, {"description": str(failed)}
        try:
            github.ask("POST", "/labels", {"name": self.label, "color": _COLOUR, **content})
        except GitHubError as error:
            if error.status != _THERE_ALREADY:
                raise
            github.ask("PATCH", f"/labels/{self.label}", content)


def _body(marker: WatchMarker, failed: Failed, document: BaseModel | None, foot: str) -> str:
    checks, reasons = counted(failed.number, "drift check"), ", ".join(failed.reasons)
    head = (
        f"{first_line(marker)}> [!WARNING]\n"
        f"> **{checks} in a row have failed** since {moment(failed.since)}. The reasons of the last "
        f"failures are: {reasons}. dpsync does not know whether GitBook differs from the files.\n\n"
    )
    if document is None:
        return f"{head}The first successful drift check closes this issue.{foot}"
    foot = f"\n\nThe first successful drift check closes this issue.{foot}"
    return f"{head}{render_markdown(view(document), COMMENT - units(head) - units(foot))}{foot}"
