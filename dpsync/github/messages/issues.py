"""Issues of ours: found by their markers, and of two that were opened at once the first one stays."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import Final, Generic, TypeVar

from msgspec import Struct, field

from dpsync.github.messages.marker import Marker, read_marker
from dpsync.github.requests.api import GitHub, GitHubText
from dpsync.github.runner.place import WorkflowRun
from dpsync.render.names import visible

M = TypeVar("M", bound=Marker)
_TITLE: Final = 200


class Issues(Struct, Generic[M], frozen=True):
    """The issues of one key and sort of marker, and the run that looks after them. `now` is its time."""

    github: GitHub
    key: str
    place: WorkflowRun
    sort: type[M]
    labels: tuple[str, ...] = ()
    now: int = field(default_factory=lambda: int(time.time()))

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
