"""An issue that says that drift is not being watched: opened by the third check in a row that has failed.

How many have failed so far has to be kept on GitHub, and hardly anything can be written there without a mail
to everybody who watches the repository. A label can: its description says how many, since when and why. The
first check that works takes it away, and closes the issue.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Final

from msgspec import Struct
from pydantic import BaseModel

from dpsync.github.messages.issues import Issues, moment
from dpsync.github.messages.marker import WatchMarker, first_line
from dpsync.github.messages.plan_comment import written_by
from dpsync.github.requests.api import GitHubText
from dpsync.github.requests.transport import GitHubError
from dpsync.model.text import counted
from dpsync.render.markdown import COMMENT, render_markdown, units
from dpsync.render.views import view

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
