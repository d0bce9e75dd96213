"""Define the text, code and exit code of every refusal: a reason why dpsync does not apply a plan.

The rules in dpsync/planner and dpsync/apply decide what is refused, and fill in the words in braces.
docs/errors.md explains each code, with examples.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from dpsync.model.diagnostic import Diagnostic, Exit
from dpsync.model.nodes import Span
from dpsync.model.question import Candidate, Refusal, WayOut
from dpsync.model.text import format_command

DEFAULT_REASON: Final = "guard"
"""The reason of what has none of its own."""


class RefusalTemplate(Struct, frozen=True):
    """The text of one refusal. Several may share a code, and then have the same reason."""

    code: str
    message: str
    way_out: str
    reason: str = DEFAULT_REASON
    """The `failure-reason` of the action."""
    exit: Exit = Exit.REFUSED

    def refusal(
        self,
        address: object,
        candidates: tuple[Candidate, ...] = (),
        answers: tuple[WayOut, ...] = (),
        **words: object,
    ) -> Refusal:
        """Return the refusal for an address: the plan may not be applied before the user resolves it.

        `words` fill the placeholders of the texts. `candidates` are the objects from which the user may have
        to choose, and `answers` are edits or confirmations (`--confirm`) that resolve the refusal.
        """
        return Refusal(
            code=self.code.format(**words),
            address=str(address),
            message=self.message.format(**words),
            way_out=self.way_out.format(**words),
            candidates=candidates,
            answers=answers,
        )

    def diagnostic(self, address: str | None = None, span: Span | None = None, **words: object) -> Diagnostic:
        """Return the refusal's text as an error of the command, for an apply that has not started."""
        message, hint = self.message.format(**words), self.way_out.format(**words)
        return Diagnostic(self.code, message, span, address, hint=hint)


# Changes that the platform would not make, or not as intended.

CREATE_ONLY: Final = RefusalTemplate(
    "create-only",
    'GitBook sets the {field} of {one} only when GitBook creates the {noun}. The value stays "{before}"',
    'set the {field} to "{before}", or delete this entry and add a new {noun} under another key',
)
TAKEN: Final = RefusalTemplate(
    "taken",
    '{owner} already has the {field} "{value}"',
    "choose another {field}, or give the other {noun} a new {field}",
)
CIRCLE: Final = RefusalTemplate(
    "circle",
    "this collection would be inside itself, because this collection would be in {around}",
    "change the {field} of one of these collections",
)
SHOWN: Final = RefusalTemplate(
    "shown",
    "{where} shows {what}, and GitBook cannot transfer an object to "
    "another organization while a site shows the object",
    "first remove {what} from {where} and apply the removal. Move the entry after this apply",
)
ALSO_TRANSFERRED: Final = RefusalTemplate(
    "goes-along",
    "GitBook would also transfer {stays} to {owner}, because this collection contains {stays}",
    "first move {stays} out of the collection and apply the move, or also move the entry of {stays}",
)

# Deletes of objects that should stay.

PROTECTED: Final = RefusalTemplate(
    "protected",
    "the plan would delete this object, but policy.protect names the object{until}",
    "to keep the object, {skip}add the entry of the object again, or remove the list of the object from "
    "policy.prune. To delete the object, first remove its address from policy.protect in a separate commit "
    "(in CI: in a separate pull request). If only a pattern such as teams/* matches the object, replace the "
    "pattern by the addresses of the objects that stay protected",
)
PERHAPS_PROTECTED: Final = RefusalTemplate(
    "protected",
    "policy.protect names this object, but neither the ids file nor git shows the id of the object. The plan "
    "would delete {names}, and one of them may be the protected object",
    "in policy.protect, write the present title of the object in square brackets, such as [Old drafts]. If "
    "the object no longer exists, delete the line",
)
FORGOTTEN: Final = RefusalTemplate(
    "forgotten",
    "policy.forget names this object, but GitBook would delete the object together with its "
    "parent or another object",
    "also add the other object to policy.forget, or delete this line from policy.forget",
)
PERHAPS_FORGOTTEN: Final = RefusalTemplate(
    "forgotten",
    "policy.forget names an object that dpsync finds neither in GitBook nor in git. The plan would delete "
    "{count} in the same list, and one of them may be this object",
    "in policy.forget, write the present title of the object in square brackets, such as [Old drafts]. If "
    "several objects have the title, also write the id of the object: [Old drafts~id]. If the object no "
    "longer exists, delete the line",
)
UNREADABLE_DEPENDENTS: Final = RefusalTemplate(
    "unseen",
    "the plan would delete or move this object, but this token cannot "
    "read the objects inside this object: GET {url} is not "
    "allowed (403)",
    "use a token that can read these objects, or add an entry to keep this object",
)
NOT_EMPTY: Final = RefusalTemplate(
    "not-empty",
    "the plan would delete this {noun}, but the {noun} still contains {inside}",
    "first move {inside} out of the {noun}{how}, or delete {inside}. To keep the {noun}, add an entry for "
    "the {noun}",
)
IN_USE: Final = RefusalTemplate(
    "in-use",
    "this field refers to {named}, which the plan would delete",
    "refer to another object, or add an entry to keep {named}",
)
CONTENT: Final = RefusalTemplate("content", "{words}", "{way_out}")
REBOUND_OBJECT: Final = RefusalTemplate(
    "passed-over",
    "the plan would delete this object, but {evidence}",
    "to delete the object, add {answer}{back}",
)

# Changes to the access of administrators.

OWN_USER: Final = RefusalTemplate(
    "own-user",
    "this member is the user of the token and would {lose}",
    "another admin must apply this plan with their own token",
)
PERHAPS_OWN_USER: Final = RefusalTemplate(
    "own-user",
    "this member would {lose}, and dpsync cannot check whether this member is you: {lacking}",
    "if this member is not the user of the token, add {answer}",
)
LAST: Final = RefusalTemplate(
    "last-{value}",
    "{parent} would no longer have {a_value}",
    "keep a member with the role {value}, or give another person the role {value} in the same plan",
)

# Limits of deletes and exposures.

LIMITS: Final = RefusalTemplate("limits", "{words}", "{way_out}", reason="threshold")
EXPOSURES: Final = RefusalTemplate(
    "exposures",
    "the plan would open access (let people see or do more) in {ways}, and policy.limits.exposures allows "
    "{allowed}{since}",
    'check the lines with "opens access", then add {answer}',
    reason="threshold",
)
FOR_A_MOMENT: Final = RefusalTemplate(
    "public-for-a-moment",
    "for a moment during the apply, {names} would be public or accessible to more people than in your files",
    'check the lines with "opens access", then add {answer}. Or unpublish the site before the '
    "apply, and publish the site after the apply",
)

# Restructuring a navigation.

RESTRUCTURE: Final = RefusalTemplate(
    "restructure",
    "the top level of the navigation would change from {now} to {then}, so every URL would change",
    "to confirm this change, add {answer}",
)
NO_FIRST_SPACE: Final = RefusalTemplate(
    "restructure",
    "the new navigation contains no space, but dpsync needs a space to create the first section",
    "add a section that contains a space",
)
STAYS_HIDDEN: Final = RefusalTemplate(
    "restructure",
    "{field} is true, and must be false while dpsync rebuilds the navigation",
    "add {field} to the entry, with the value that the field should have after the apply",
)
CANNOT_HIDE: Final = RefusalTemplate(
    "restructure", STAYS_HIDDEN.message, "first set {field} to false in GitBook"
)

# Ambiguous identities.

RENAMED: Final = RefusalTemplate("unclear", "{question}", "New: {new}. Renamed: {renamed}.")
SHALLOW_CLONE: Final = RefusalTemplate(
    "unclear",
    "dpsync cannot tell whether GitBook already contains {entries} under another "
    "name{deletes}, because there is no ids file and {base}",
    "fetch the whole history: set fetch-depth: 0 in actions/checkout, "
    "or run git fetch --unshallow. If the entries are "
    "new{meant}, add {answer}",
)
EXCHANGED: Final = RefusalTemplate(
    "exchanged",
    "somebody may have swapped two names in GitBook: the name of this entry belongs to the object {id}, but "
    "references in GitBook point to the object {other_id}, which has the name of {other}",
    "if the name shows the right object, {by_name}. If the references show the right object, {by_place}",
)

# Refusals of a revert.

OUTSIDE_REVERT: Final = RefusalTemplate(
    "beyond",
    "this object would be {done}, but the apply that you revert did not change this object",
    f"to exclude the object from the revert, add --exclude {{one}}. Or apply this change first with "
    f"{format_command('apply')}",
)

# Refusals before a token is sent.

NEW_ENVIRONMENT: Final = RefusalTemplate(
    "untrusted-environment",
    'the environment "{name}" is not reviewed: {source} does not contain the environment. '
    "dpsync sent nothing to {url}",
    'first merge a change that adds the environment, or set the inputs "api-url" and "api-token" of the '
    "action",
    reason="untrusted",
)
NO_SOURCE: Final = RefusalTemplate(
    "untrusted-environment",
    'dpsync cannot check the URL of the environment "{name}": {problem}. dpsync sent nothing to {url}',
    '{hint}, or set the inputs "api-url" and "api-token" of the action',
    reason="untrusted",
)
UNCOMMITTED: Final = RefusalTemplate(
    "untrusted-environment",
    'the URL of the environment "{name}" is not committed: {why}. dpsync did not send {token} to {url}',
    "commit the file. To send the token to {url} anyway, add {flag}",
    reason="untrusted",
)
WRONG_SOURCE: Final = RefusalTemplate(
    "untrusted-environment",
    'the environment "{name}" is invalid in {source}: {problem}. dpsync sent nothing to {url}',
    'first correct the environment and merge the correction, or set the inputs "api-url" and "api-token" '
    "of the action",
    reason="untrusted",
)

# Refusals before an apply begins.

STALE: Final = RefusalTemplate("stale", "{why}", "make a new plan, and read the new plan", reason="stale")
NOT_APPROVED: Final = RefusalTemplate(
    "not-approved",
    "you approved the plan with the digest {approved}, but the plan now has the digest {found}",
    "read the new plan, and add --approved with the digest of the new plan (at least 32 digits)",
    reason="plan-changed",
)
LOCKED: Final = RefusalTemplate(
    "locked",
    'another dpsync command on this machine is applying changes to the organization "{organization}"',
    "wait until the other apply has ended",
    reason="locked",
)

ALL_REFUSALS: Final = tuple(value for value in list(globals().values()) if isinstance(value, RefusalTemplate))
REASONS_BY_CODE: Final[Mapping[str, str]] = {
    template.code: template.reason for template in ALL_REFUSALS if template.reason != DEFAULT_REASON
}
"""By code, where that is another one than `DEFAULT_REASON`."""
