"""Brings the comments of a pull request to what plan_comment.py decides, whoever else writes meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from msgspec import Struct
from msgspec.structs import replace

from dpsync.github.messages.marker import PlanMarker, RestMarker, read_marker
from dpsync.github.messages.plan_comment import (
    Decision,
    FoundComment,
    comments_named,
    decide,
    of_key,
    rest_body,
    rewritable,
)
from dpsync.github.requests.api import GitHub, GitHubText
from dpsync.github.requests.transport import GitHubError
from dpsync.render.markdown import COMMENT

TOO_LONG = 422


class Comments(Struct, frozen=True):
    """The comments of one pull request, for a name: what a plan was asked for."""

    github: GitHub
    number: int
    name: str

    def found(self) -> list[FoundComment]:
        """Ours, the oldest first. Whoever else writes a marker has written a text."""
        found = comments_named(self.github.comments(self.number), self.name)
        return [one for one in found if one.text.author == self.github.viewer()]

    def ours(self, found: FoundComment) -> FoundComment | None:
        """A comment as it is now; None where somebody else has ever edited it."""
        written = self.github.written(found.text)
        marker = read_marker(written.body, PlanMarker)
        if marker is None or not written.ours:
            return None
        return FoundComment(replace(found.text, body=written.body, updated=written.last), marker)

    def write(
        self, present: FoundComment | None, marker: PlanMarker, body: Callable[[int], str], worth_it: bool
    ) -> tuple[Decision, GitHubText | None]:
        """One comment for the key: edited, made, or left alone. `body` makes it for a size.

        `present` is the one that was there a moment ago. Where two runs make one at once, the oldest stays,
        and the later run's text with it.
        """
        decision = decide(present, marker.age, body(COMMENT), worth_it)
        match decision.what:
            case "leave":
                return decision, decision.found.text if decision.found else None
            case "edit":
                assert present is not None
                return decision, self._edit(present, body)
        self.github.viewer()  # else nobody would know again whose comment it is
        made = self.add(body)
        first = rewritable(of_key(self.found(), marker.key))
        if first is None or first.text.number >= made.number:
            return decision, made
        self.github.delete_comment(made.number)
        again = decide(first, marker.age, body(COMMENT), worth_it)
        if again.what == "leave":
            return again, first.text
        return again, self._edit(first, body)

    def drop_others(self, found: Iterable[FoundComment], kept: GitHubText, age: tuple[int, int]) -> None:
        """Delete what earlier runs have left beside the one comment, as one that was killed does."""
        for other in found:
            if other.marker.state == "plan" and other.text.number != kept.number and other.marker.age < age:
                self.github.delete_comment(other.text.number)

    def rest(self, key: str) -> list[tuple[GitHubText, RestMarker]]:
        """Our further comments of plans with this key, which hold what their first ones have no room for."""
        found = []
        for text in self.github.comments(self.number):
            marker = read_marker(text.body, RestMarker)
            if marker is not None and marker.key == key and text.author == self.github.viewer():
                found.append((text, marker))
        return found

    def write_rest(self, marker: PlanMarker, displayed: list[str]) -> None:
        """The further comments of a plan, in place of those of the plan before it."""
        found = self.rest(marker.key)
        if [one.displayed for _, one in found if one.digest == marker.digest] == displayed:
            return
        for part, more in enumerate(displayed, 1):
            self.github.comment(self.number, rest_body(marker, part, more))
        for text, old in found:
            if old.age <= marker.age:
                self.github.delete_comment(text.number)

    def add(self, body: Callable[[int], str]) -> GitHubText:
        """One more comment, whatever there is."""
        return self._sized(lambda text: self.github.comment(self.number, text), body)

    def _edit(self, found: FoundComment, body: Callable[[int], str]) -> GitHubText:
        return self._sized(lambda text: self.github.edit_comment(found.text.number, text), body)

    @staticmethod
    def _sized(send: Callable[[str], GitHubText], body: Callable[[int], str]) -> GitHubText:
        try:
            return send(body(COMMENT))
        except GitHubError as error:
            if error.status != TOO_LONG:
                raise
        return send(body(COMMENT // 2))
