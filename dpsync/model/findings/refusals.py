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
    'GitBook sets the {field} of {one} only when it is created, so the {field} stays "{before}"',
    'set {field} back to "{before}", or remove this entry and declare a new {noun} under another key',
)
TAKEN: Final = RefusalWords(
    "taken",
    '{owner} already uses the {field} "{value}"',
    "choose another {field}, or declare that {noun} with another {field}",
)
CIRCLE: Final = RefusalWords(
    "circle",
    "this object would be inside itself: it would be in {around}",
    "give one of these objects another {field}",
)
SHOWN: Final = RefusalWords(
    "shown",
    "{where} shows {what}, and GitBook cannot transfer an object that a site shows",
    "remove {what} from {where} and apply, then move the entry to the other organization",
)
GOES_ALONG: Final = RefusalWords(
    "goes-along",
    "{stays} is inside this collection, so GitBook would transfer both to {owner}",
    "move {stays} out of the collection and apply first, or declare {stays} in the other organization, too",
)

# What would go and is to stay.

PROTECTED: Final = RefusalWords(
    "protected",
    "this object is protected{until}, but the plan would delete it",
    "declare the object again, remove the prune pattern that covers the object, or remove the protection in "
    "an earlier change",
)
PERHAPS_PROTECTED: Final = RefusalWords(
    "protected",
    "dpsync cannot tell which object this protect pattern means: neither the ids file nor git knows its key. "
    "The protected object could be one of the objects that the plan deletes: {names}",
    "write the pattern with the present title of the object, [Title]; or remove the pattern if the object no "
    "longer exists",
)
FORGOTTEN: Final = RefusalWords(
    "forgotten",
    "policy.forget keeps this object, but the plan deletes another object that GitBook deletes together "
    "with this one",
    "add the other object to policy.forget, too, or remove this object from policy.forget",
)
PERHAPS_FORGOTTEN: Final = RefusalWords(
    "forgotten",
    "dpsync cannot tell which object this forget pattern means: neither GitBook nor git knows its key. The "
    "plan deletes {count} in the same list, and the object may be among them",
    "write the pattern with the present title of the object, [Title] or [Title~id]; or remove the pattern if "
    "the object no longer exists",
)
UNSEEN: Final = RefusalWords(
    "unseen",
    "this token cannot read what would be deleted or transferred together with this object: GET {url} is not "
    "allowed (403)",
    "apply with a token that may read it, or declare the object to keep it",
)
NOT_EMPTY: Final = RefusalWords(
    "not-empty",
    "the plan would delete this object, but {inside} is still inside",
    "move or delete {inside} first, or declare this object to keep it",
)
IN_USE: Final = RefusalWords(
    "in-use",
    "this field refers to {named}, which the plan would delete",
    "refer to another object here, or declare {named} to keep it",
)
CONTENT: Final = RefusalWords("content", "{words}", "{way_out}")
PASSED_OVER: Final = RefusalWords(
    "passed-over",
    "the plan would delete this object, but {evidence}",
    "to delete the object, add {answer}{back}",
)

# Who holds the keys.

OWN_USER: Final = RefusalWords(
    "own-user",
    "your token belongs to this member, who would {lose}",
    "ask another person to apply this plan with their token",
)
PERHAPS_OWN_USER: Final = RefusalWords(
    "own-user",
    "this member would {lose}, and the token may belong to this member: {lacking}",
    "if the token belongs to another person, add {answer}",
)
LAST: Final = RefusalWords(
    "last-{value}",
    "this plan would leave {parent} without {a_value}",
    "keep {a_value}, or give another member the role {value} in the same plan",
)

# How much at once.

LIMITS: Final = RefusalWords("limits", "{words}", "{way_out}", reason="threshold")
EXPOSURES: Final = RefusalWords(
    "exposures",
    "{changes} would open access, and policy.limits.exposures allows {allowed}{since}",
    'check the lines with "opens access", then add {answer}',
    reason="threshold",
)
FOR_A_MOMENT: Final = RefusalWords(
    "public-for-a-moment",
    "during the apply, {names} would for a moment be public, or have more access than your files declare",
    'check the lines with "opens access", then add {answer}. Or unpublish the site before you apply this '
    "plan",
)

# A navigation of another kind.

RESTRUCTURE: Final = RefusalWords(
    "restructure",
    "the top level of this navigation would change from {now} to {then}, so every URL would change",
    "to confirm this, add {answer}",
)
NOTHING_TO_BEGIN: Final = RefusalWords(
    "restructure",
    "the new navigation shows no space, so dpsync cannot start to build it",
    "declare a section that shows a space",
)
STAYS_HIDDEN: Final = RefusalWords(
    "restructure",
    "{field} must be false while dpsync rebuilds the navigation, but {field} is true",
    "declare {field} with the value that the site should have after the apply",
)
CANNOT_HIDE: Final = RefusalWords(
    "restructure", STAYS_HIDDEN.message, "first set {field} to false in GitBook"
)

# Who is who.

RENAMED: Final = RefusalWords("unclear", "{question}", "New: {new}. Renamed: {renamed}.")
SHALLOW_CLONE: Final = RefusalWords(
    "unclear",
    "dpsync cannot tell from this clone whether {entries} would create a second copy of an object that "
    "exists "
    "under another name{deletes}: there is no ids file, and {base}",
    "fetch the whole history (fetch-depth: 0 in actions/checkout, or git fetch --unshallow). Or, if the "
    "entries are new{meant}, add {answer}",
)
EXCHANGED: Final = RefusalWords(
    "exchanged",
    "the name of this entry belongs to the object {id}, but the references to this entry lead to the object "
    "{other_id}, which has the name of {other}. Perhaps the names of the two objects were swapped in GitBook",
    "if the name is right, {by_name}. If the references are right, {by_place}",
)

# Of a revert.

BEYOND: Final = RefusalWords(
    "beyond",
    "this object would be {done}, but the apply that you revert did not change the object",
    "exclude the object from the revert (--exclude {one}), or first change it with plan and apply",
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
    "commit the address, or add {flag} if dpsync may send the token to {url}",
    reason="untrusted",
)
WRONG_SOURCE: Final = RefusalWords(
    "untrusted-environment",
    'the environment "{name}" is invalid in {source}: {problem}. Nothing was sent to {url}',
    "merge a correction first, or set the inputs api-url and api-token of the action",
    reason="untrusted",
)

# Of an apply, before it begins.

STALE: Final = RefusalWords("stale", "{why}", "run dpsync plan again, and read the new plan", reason="stale")
NOT_APPROVED: Final = RefusalWords(
    "not-approved",
    "you approved the plan with the digest {approved}, but the plan now has the digest {found}",
    "read the new plan, and approve its digest (at least 32 digits)",
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
