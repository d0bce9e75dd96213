"""Everything that is refused, on one page: its code, its words, the exit code and the action's reason.

Rules decide whether something is refused (dpsync/planner and dpsync/apply); here stands how it is said. The
rule fills in each word in braces. What each code means is in docs/errors.md, with examples.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from dpsync.model.findings.diagnostic import Diagnostic, Exit
from dpsync.model.findings.question import Candidate, Refusal, WayOut
from dpsync.model.findings.span import Span

GUARD: Final = "guard"
"""The reason of what has none of its own."""


class RefusalWords(Struct, frozen=True):
    """One thing that is refused. Several may share a code: they have the same reason then."""

    code: str
    message: str
    way_out: str
    reason: str = GUARD
    """The `failure-reason` of the action."""
    exit: Exit = Exit.REFUSED

    def at(
        self,
        address: object,
        candidates: tuple[Candidate, ...] = (),
        answers: tuple[WayOut, ...] = (),
        **words: object,
    ) -> Refusal:
        """The refusal of something at an address: of a plan, which may not be applied then."""
        return Refusal(
            code=self.code.format(**words),
            address=str(address),
            message=self.message.format(**words),
            way_out=self.way_out.format(**words),
            candidates=candidates,
            answers=answers,
        )

    def finding(self, address: str | None = None, span: Span | None = None, **words: object) -> Diagnostic:
        """The same as a finding: of an apply, which has not begun then."""
        message, hint = self.message.format(**words), self.way_out.format(**words)
        return Diagnostic(self.code, message, span, address, hint=hint)


# What the platform would not do, or not as it was meant.

CREATE_ONLY: Final = RefusalWords(
    "create-only",
    'the platform sets the {field} of {one} only at its creation, and it stays "{before}"',
    'set the {field} to "{before}", or declare a new {noun} under another key and remove this entry',
)
TAKEN: Final = RefusalWords(
    "taken",
    'the {field} "{value}" belongs to {owner}',
    "choose another {field}, or declare that {noun} with a new one",
)
CIRCLE: Final = RefusalWords(
    "circle", "it would lie in {around}, and so in itself", "give one of them another {field}"
)
SHOWN: Final = RefusalWords(
    "shown",
    "{where} shows {what}, and the platform transfers nothing that a site shows",
    "take {what} out of {where} and apply, then move the entry",
)
GOES_ALONG: Final = RefusalWords(
    "goes-along",
    "{stays} lies in it, and {owner} would get both",
    "move {stays} out and apply first, or declare {stays} there, too",
)

# What would go and is to stay.

PROTECTED: Final = RefusalWords(
    "protected",
    "it is protected{until} and would be deleted",
    "declare it again, take it out of prune, or take its protection away first",
)
PERHAPS_PROTECTED: Final = RefusalWords(
    "protected",
    "it is protected, and neither the ids file nor git says which live object it is. It could be one of "
    "those that would be deleted: {names}",
    "name it by its present title, [Title]; or remove the line when the object is gone",
)
FORGOTTEN: Final = RefusalWords(
    "forgotten",
    "forget names it, and the platform would delete it along with what it lies in or names",
    "forget what it lies in or names, too, or remove this line from forget",
)
PERHAPS_FORGOTTEN: Final = RefusalWords(
    "forgotten",
    "neither the platform nor the git base says which object this line means. It may be among the {count} "
    "that would be deleted in the same place",
    "forget it by its name on the platform, [Title] or [Title~id]; or remove the line of what is gone",
)
UNSEEN: Final = RefusalWords(
    "unseen",
    "it would be deleted, and this token may not read what would be deleted with it: GET {url} is not "
    "allowed (403)",
    "apply with a token that may read that, or declare it to keep it",
)
NOT_EMPTY: Final = RefusalWords(
    "not-empty",
    "it would be deleted, but {inside} is still in it",
    "move or delete what is in it first, or declare it to keep it",
)
IN_USE: Final = RefusalWords(
    "in-use",
    "it names {named}, which would be deleted",
    "name another one here, or declare {named} to keep it",
)
CONTENT: Final = RefusalWords("content", "{words}", "{way_out}")
PASSED_OVER: Final = RefusalWords(
    "passed-over", "it would be deleted, and {evidence}", "to delete it, add {answer}{back}"
)

# Who holds the keys.

OWN_USER: Final = RefusalWords(
    "own-user",
    "this token is theirs, and they would {lose}",
    "let somebody else apply this, with another token",
)
PERHAPS_OWN_USER: Final = RefusalWords(
    "own-user", "they would {lose}, and {lacking}", "if the token is not theirs, add {answer}"
)
LAST: Final = RefusalWords(
    "last-{value}",
    "{parent} would be left without {a_value}",
    "keep one, or make somebody else {value} in the same plan",
)

# How much at once.

LIMITS: Final = RefusalWords("limits", "{words}", "{way_out}", reason="threshold")
EXPOSURES: Final = RefusalWords(
    "exposures",
    "{changes} would open access; allowed: {allowed}{since}",
    'check the lines with "opens access", then add {answer}',
    reason="threshold",
)
FOR_A_MOMENT: Final = RefusalWords(
    "public-for-a-moment",
    "{names} would be public, or more powerful than declared, for a moment",
    'check the lines with "opens access", then add {answer}; or unpublish the site while '
    "its parts are created",
)

# A navigation of another kind.

RESTRUCTURE: Final = RefusalWords(
    "restructure",
    "its navigation has {now} at the root and would get {then}: every URL would change",
    "to confirm this, add {answer}",
)
NOTHING_TO_BEGIN: Final = RefusalWords(
    "restructure",
    "its new navigation shows no space, so dpsync cannot begin to build it",
    "declare a section that shows a space",
)
STAYS_HIDDEN: Final = RefusalWords(
    "restructure",
    "{field} is true, and must be false while dpsync rebuilds the navigation",
    "declare {field} with the value that it should have afterwards",
)
CANNOT_HIDE: Final = RefusalWords(
    "restructure", STAYS_HIDDEN.message, "set {field} to false on the platform first"
)

# Who is who.

RENAMED: Final = RefusalWords("unclear", "{question}", "New: {new}. Renamed: {renamed}.")
SHALLOW_CLONE: Final = RefusalWords(
    "unclear",
    "this clone cannot tell whether {entries} would be created a second time, since they may be live under "
    "another name{deletes}: there is no ids file, and {base}",
    "fetch the whole history (fetch-depth: 0 in actions/checkout, or git fetch --unshallow); or, if they are "
    "new{meant}, add {answer}",
)
EXCHANGED: Final = RefusalWords(
    "exchanged",
    "only its name matches {id}; references in the files point to {other_id}, which has the name of {other}. "
    "Perhaps only the two names were exchanged",
    "if the name is right, {by_name}; if the references are right, {by_place}",
)

# Of a revert.

BEYOND: Final = RefusalWords(
    "beyond",
    "it would be {done}, and the apply that is taken back did not change it",
    "leave it out: --exclude {one}; or bring it about with plan and apply first",
)

# Of a command that would send a token, before it is sent.

NEW_ENVIRONMENT: Final = RefusalWords(
    "untrusted-environment",
    'the environment "{name}" is not reviewed yet: it does not exist in {source}. Nothing was sent to {url}',
    "merge the environment first, or set the inputs api-url and api-token of the action",
    reason="untrusted",
)
NO_SOURCE: Final = RefusalWords(
    "untrusted-environment",
    'dpsync cannot check the address of the environment "{name}": {problem}. Nothing was sent to {url}',
    "{hint}, or set the inputs api-url and api-token of the action",
    reason="untrusted",
)
UNCOMMITTED: Final = RefusalWords(
    "untrusted-environment",
    'the address of the environment "{name}" is not committed: {why}. {token} was not sent to {url}',
    "commit it, or say {flag} if {url} may have the token",
    reason="untrusted",
)
WRONG_SOURCE: Final = RefusalWords(
    "untrusted-environment",
    'the environment "{name}" is invalid in {source}: {problem}. Nothing was sent to {url}',
    "merge a correction first, or set the inputs api-url and api-token of the action",
    reason="untrusted",
)

# Of an apply, before it begins.

STALE: Final = RefusalWords("stale", "{why}", "plan again, and read the new plan", reason="stale")
NOT_APPROVED: Final = RefusalWords(
    "not-approved",
    "you approved the plan {approved}, and the plan is now {found}",
    "read the new plan, and approve it by its digest (32 digits or more)",
    reason="plan-changed",
)
LOCKED: Final = RefusalWords(
    "locked",
    'another dpsync is applying to the organization "{organization}"',
    "wait until that apply has ended",
    reason="locked",
)

ALL: Final = tuple(value for value in list(globals().values()) if isinstance(value, RefusalWords))
REASONS: Final[Mapping[str, str]] = {item.code: item.reason for item in ALL if item.reason != GUARD}
"""By code, where that is another one than `GUARD`."""
