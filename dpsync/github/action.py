"""One run of the action: which commands are run, and what GitHub is told of them.

What GitHub does not take is a notice and changes no exit code; only which plan was approved must be known.
It is long because the commands share one comment: what a plan writes into it, an apply must read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from pydantic import BaseModel

from dpsync.github.api import GitHub
from dpsync.github.asked import NotThisChange, asked_for
from dpsync.github.commands import Log
from dpsync.github.comments import Comments
from dpsync.github.compared import compare
from dpsync.github.drift_issue import APPLIED, DriftIssue
from dpsync.github.inputs import Inputs
from dpsync.github.issues import Issues
from dpsync.github.marker import (
    DriftMarker,
    PlanMarker,
    State,
    WatchMarker,
    listed,
    listed_addresses,
)
from dpsync.github.outputs import STOPPED, failure
from dpsync.github.place import Place, make_key
from dpsync.github.plan_comment import (
    SHORTER,
    Found,
    changed_since,
    plan_body,
    remembered,
    reviewed,
    rewritable,
    status,
    with_status,
    worth_telling,
)
from dpsync.github.transport import GitHubError
from dpsync.github.watch import Watch
from dpsync.model.diagnostic import Exit
from dpsync.render.documents import ApplyDocument, DriftDocument, FindingsDocument, PlanDocument
from dpsync.render.markdown import COMMENT
from dpsync.render.markdown_text import code, prose
from dpsync.render.view import View, clip
from dpsync.render.views import view

_SIZES: Final = (COMMENT, SHORTER)


@dataclass(frozen=True)
class Ran:
    """How a command ended, and the document that it printed, if it did."""

    code: int
    document: BaseModel | None = None


Run = Callable[[list[str]], Ran]


@dataclass
class Action:
    """A run of the action. `run` runs a command of dpsync; `github` is None without a token for it."""

    inputs: Inputs
    place: Place
    log: Log
    run: Run
    github: GitHub | None
    plan_file: Path
    head: str | None = None
    """The commit of the working copy."""
    merged: str | None = None
    """What that commit merges into another branch, as GitHub's trial merge of a pull request does."""
    after_apply: Callable[[], None] = lambda: None
    """Called as soon as an apply has ended, however it did."""
    more: dict[str, str] = field(default_factory=dict)
    """Outputs beside those of the document."""
    said: str = ""
    """A sentence for the head of the summary, as Markdown."""
    refused: Ran | None = None

    @property
    def key(self) -> str:
        """The name of what is planned: the same in every run."""
        inputs = self.inputs
        return make_key(
            inputs.directory, "\n".join(inputs.config), inputs.environment, "\n".join(sorted(inputs.select))
        )

    @property
    def labels(self) -> tuple[str, ...]:
        """What tells this configuration from others, for people."""
        inputs = self.inputs
        directory = "" if inputs.directory == "." else inputs.directory
        return (directory, *inputs.config, inputs.environment, *inputs.select)

    def carry_out(self) -> Ran:
        """Run what the inputs ask for, and tell it."""
        command = self.inputs.command
        if self.place.asked:
            try:
                self.place = asked_for(self.place, self.github, self.head, self.merged)
            except NotThisChange as refused:
                return self._refuse(refused.reason, refused.why)
        if self.place.untrusted and (self.head is None or self.head != self.place.tested):
            return self._refuse(
                "untrusted",
                f"{self.place.event} holds the secrets of this repository, and the working copy is not its "
                "own commit but somebody else's change: use pull_request",
            )
        if self.place.helpless and not self.inputs.token:
            if command == "apply":
                return self._refuse("untrusted", "a run that gets no secrets cannot apply")
            if command != "validate":
                self.log.notice(
                    "This run gets no secrets, since the change comes from a fork or a bot: "
                    "the configuration is checked without the platform, and compared with that of the base "
                    "branch. What would change on the platform is not known."
                )
                return self.run(self._arguments("validate"))
        match command:
            case "plan":
                return self._plan()
            case "apply":
                return self._apply()
            case "drift":
                return self._drift()
        return self.run(self._arguments("validate"))

    def _refuse(self, reason: str, why: str, ran: Ran | None = None) -> Ran:
        self.log.notice(why, "error")
        self.more |= {"outcome": "refused", "failure-reason": reason}
        self.said = f"**Refused:** {prose(why)}"
        self.refused = Ran(Exit.REFUSED, ran.document if ran is not None else None)
        return self.refused

    def came_to(self, last: Ran, code: int) -> Ran:
        """How a run ends that was stopped after the command `last`: an apply may only have planned."""
        if self.inputs.command != "apply" or isinstance(last.document, ApplyDocument):
            return last
        return self.refused or Ran(code)

    def _arguments(self, command: str, *more: str) -> list[str]:
        inputs = self.inputs
        words = [command, "--directory", inputs.directory]
        words += [part for name in inputs.config for part in ("--file", name)]
        words += ["--env", inputs.environment] if inputs.environment else []
        if command == "validate":
            words.append("--changes")
        else:
            words += [part for pattern in inputs.select for part in ("--select", pattern)]
            words += inputs.arguments
        return [*words, *more, "--format", "json"]

    @contextmanager
    def _asking(self, what: str, quietly: bool = False) -> Iterator[None]:
        """Whatever GitHub answers, the run goes on. `quietly`: a missing permission is not worth a line."""
        try:
            yield
        except GitHubError as error:
            if quietly and error.not_allowed:
                return
            hint = ""
            if error.not_allowed:
                hint = " The token may not do this: it is a fork's, or the job lacks a permission."
            self.log.notice(f"{what}: {error.what}.{hint}")

    # Plan.

    def _plan(self) -> Ran:
        ran = self.run(self._arguments("plan", "--out", str(self.plan_file.resolve())))
        if self.plan_file.exists():
            self.more["plan-file"] = str(self.plan_file)
        if ran.document is not None and self.place.number is not None and self.inputs.comment != "never":
            self._comment_plan(ran.document, self.place.number)
        return ran

    def _comment_plan(self, document: BaseModel, number: int) -> None:
        if self.github is None:
            return
        with self._asking("The comment was not written"):
            comments = Comments(self.github, number, self.key)
            found = comments.found()
            before = rewritable(found)
            approved: dict[str, str] = {}
            if before is not None:
                with self._asking("Who has approved this could not be read", quietly=True):
                    approved = remembered(before, self.github.approvals(number))
            marker = self._marker(document, approved=approved)
            shown, changed = view(document), changed_since(approved, marker.digest)
            worth_it = self.inputs.comment == "always" or worth_telling(document)

            def body(size: int) -> str:
                return plan_body(marker, shown, self.place, [self._heading(), changed], size)

            decision, text = comments.write(before, marker, body, _SIZES, worth_it)
            if decision.why:
                self.log.notice(f"The comment was left as it is: {decision.why}.")
            if text is not None:
                self.more["comment-url"] = text.url
                comments.drop_others(found, text, marker.age)

    def _heading(self) -> str:
        """Which of several configurations it is."""
        labels = [code(clip(label, 100)) for label in self.labels if label]
        return f"dpsync plan · {' · '.join(labels[:5])}" if labels else ""

    def _marker(
        self, document: BaseModel, state: State = "plan", approved: dict[str, str] | None = None
    ) -> PlanMarker:
        plan = document.plan if isinstance(document, PlanDocument) else None
        return PlanMarker(
            key=self.key,
            run=self.place.run,
            attempt=self.place.attempt,
            sha=self.place.sha,
            digest=plan.digest if plan is not None else "",
            changes=listed(plan) if plan is not None else None,
            addresses=listed_addresses(plan) if plan is not None else None,
            state=state,
            approved=approved or {},
        )

    # Apply.

    def _apply(self) -> Ran:
        approval = self.inputs.approval
        comments, before = None, None
        try:
            comments = self._reviewed_in()
            before = reviewed(comments.found()) if comments is not None else None
        except GitHubError as error:
            if approval == "digest":
                self.log.notice(f"Which plan was approved could not be read: {error.what}.", "error")
                return self._refuse("not-approved", "it is not known which plan was approved")
        if approval == "none":
            ran = self.run(self._arguments("apply", "--yes"))
        elif approval != "digest":
            ran = self.run(self._arguments("apply", "--approved", approval))
        else:
            ran = self._apply_approved(comments, before)
        self.after_apply()
        self._tell_applied(ran, comments, before)
        return ran

    def _reviewed_in(self) -> Comments | None:
        """The comments of the pull request whose merge is applied."""
        if self.github is None:
            return None
        number = self.place.number
        if number is None and self.place.tested:
            number = self.github.merged_request(self.place.tested)
        return Comments(self.github, number, self.key) if number is not None else None

    def _apply_approved(self, comments: Comments | None, before: Found | None) -> Ran:
        """Carry out what was approved: the same plan, or what is left of it."""
        digest = before.marker.digest if before is not None else ""
        if digest:
            ran = self.run(self._arguments("apply", "--approved", digest))
            if not _is_other_plan(ran):
                return ran
        ran = self.run(self._arguments("plan"))
        if not isinstance(ran.document, PlanDocument) or ran.code != Exit.DONE:
            return ran
        plan = ran.document.plan
        found = compare(before.marker if before is not None else None, plan)
        if not found.unreviewed:
            return self.run(self._arguments("apply", "--approved", plan.digest))
        if not digest:
            return self._refuse(
                "not-approved",
                "no plan of this was reviewed in a merged pull request; look at what would be done, then run "
                f"this again with approval: {plan.digest[:16]}",
                ran,
            )
        refused = self._refuse(
            "plan-changed",
            f"this is not the reviewed plan: {found}; look at the plan of now, then run this again with "
            f"approval: {plan.digest[:16]}",
            ran,
        )
        self.said = (
            "> [!WARNING]\n> **Refused:** this is not the reviewed plan. Look at it, then run this again "
            f"with approval: {code(plan.digest[:16])}\n\n{found.markdown()}"
        )
        if comments is not None and self.inputs.comment != "never":
            with self._asking("The comment was not written"):
                self._comment_other_plan(comments, ran.document, view(ran.document))
        return refused

    def _comment_other_plan(self, comments: Comments, document: PlanDocument, shown: View) -> None:
        marker = self._marker(document, "refused")
        lines = [self.said]
        text = comments.add(lambda size: plan_body(marker, shown, self.place, lines, size), _SIZES)
        self.more["comment-url"] = text.url

    def _tell_applied(self, ran: Ran, comments: Comments | None, before: Found | None) -> None:
        """In the comment of the plan, and by closing the issue of its drift."""
        document = ran.document
        if not isinstance(document, ApplyDocument) or self.github is None:
            return
        report = document.report
        if comments is not None and before is not None and self.inputs.comment != "never":
            frozen = document.converged or (report is not None and report.sent)
            state: State = "applied" if frozen else before.marker.state
            if ran.code != Exit.REFUSED:
                with self._asking("The comment was not written"):
                    body = with_status(before, state, status(document, self.place))
                    text = self.github.edit_comment(before.text.number, body)
                    self.more["comment-url"] = text.url
        if document.converged and self.inputs.drift_issue:
            with self._asking("The issue of the drift was not closed", quietly=True):
                issues = Issues(self.github, self.key, self.place, DriftMarker)
                issue = DriftIssue(issues).close(APPLIED)
                if issue is not None:
                    self.more["issue-url"] = issue.url

    # Drift.

    def _drift(self) -> Ran:
        ran = self.run(self._arguments("drift"))
        if self.github is None or not self.inputs.drift_issue or ran.code in STOPPED:
            return ran
        document, name = ran.document, tuple(filter(None, self.labels))
        watch = Watch(Issues(self.github, self.key, self.place, WatchMarker, self.inputs.labels))
        text = None
        if isinstance(document, DriftDocument) and ran.code in (Exit.DONE, Exit.CHANGES):
            with self._asking("That the check has worked was not written down"):
                watch.works()
            with self._asking("The issue of the drift was not brought up to date"):
                issues = Issues(self.github, self.key, self.place, DriftMarker, self.inputs.labels)
                text = DriftIssue(issues).checked(document, name)
        else:
            with self._asking("That the check has failed was not written down"):
                text = watch.failed(failure(document, ran.code), document, name)
        if text is not None:
            self.more["issue-url"] = text.url
        return ran


def _is_other_plan(ran: Ran) -> bool:
    """Whether an apply has refused because the plan is not the approved one."""
    document = ran.document
    return isinstance(document, FindingsDocument) and any(
        one.code == "not-approved" for one in document.findings
    )
