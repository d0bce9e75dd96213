"""Define the changes of a plan: differences, steps, effects, and what a plan reports besides changes.

A `Change` is about one address: its differences with their labels, its effects on other objects, and its
steps, each of which is one request. A plan also reports refused changes (`Blocked`), objects without an entry
that stay (`Kept`), remarks (`Note`), objects that become more public (`Exposure`), changed URLs (`UrlImpact`)
and the order of a navigation (`NavigationChange`).

Addresses are texts here, because these values are saved as JSON. A label says who changed a value, as far as
git knows. Labels are for people: no decision of dpsync depends on a label.
"""

from __future__ import annotations

from typing import Any, Final, Literal

from dpsync.model.address import Address, FieldAddress
from dpsync.model.frozen import Frozen
from dpsync.model.mask import MASK_TEXT
from dpsync.model.snapshot import MatchedBy
from dpsync.model.text import json_text
from dpsync.model.urls import mask_passwords
from dpsync.model.values import digest


class Addressed(Frozen):
    """`address` is the text of an address, or of one with a field."""

    address: str

    @property
    def location(self) -> Address:
        """Return the address as a value; for the address of a field, the address of its entry."""
        return FieldAddress.parse(self.address).address


Cause = Literal["edited here", "changed outside", "both", "reverted"]
"""edited here: the commit compared with has another value than the files. changed outside: the files have the
value that was applied last, and no commit since then has the live value. both: the files changed the value,
and the live value is from outside. reverted: `dpsync revert` undoes the change of an apply.

A difference without a label has None: git does not know who changed the value.
"""

LabeledPart = Literal["field", "made", "removed", "place"]
"""What has the label: a field, an entry that is not live, a live object without an entry, or a position."""

_CAUSE_TEXTS: Final[dict[tuple[LabeledPart, Cause], str]] = {
    ("made", "edited here"): "added here",
    ("made", "changed outside"): "deleted outside",
    ("removed", "edited here"): "removed here",
    ("removed", "changed outside"): "made outside",
    ("place", "edited here"): "moved here",
    ("place", "changed outside"): "moved outside",
}


def cause_text(cause: Cause, part: LabeledPart) -> str:
    """Return the label in words, which name the action on a whole object or position."""
    return _CAUSE_TEXTS.get((part, cause), cause)


Verb = Literal["create", "restore", "transfer", "update", "move", "act", "await", "delete"]

Phase = Literal["free", "place", "link", "default", "withdraw", "expose", "clear"]
"""What a step stands where it does for. A plain one has none.

free: gives up a value that somebody else is about to take. place: brings into what it will lie in. link: a
field with a request of its own. default: an exclusive flag. withdraw, expose: less or more visible, before
and after all else. clear: deletes before what comes in its place, and not at the end.
"""

SHOW_SUMMARY: Final = "show"
"""The summary of a step that shows an object which the same plan creates hidden."""

Repeat = Literal["safe", "look_up", "never"]
"""Whether a request may be sent again when nobody knows what became of it. No method says so: each call does.

safe: sent twice it does the same as sent once. look_up: sent twice it may make two; what it makes is looked
for, and it is not sent again. never: it only acts, and nothing that could be read tells whether it did.
"""


class Gives(Addressed):
    """After the step this address has the id at `pointer` in the answer (or `id`, when known before)."""

    pointer: str | None = None
    id: Any = None


class Step(Frozen):
    """A single request.

    `path` and `body` hold ids of what is live and markers for what is not made yet. `needs` must have
    succeeded, `follows` must have ended. `repeat` says whether it may be sent again when its outcome is
    unknown: `safe`, `look_up` (what it makes is looked for instead) or `never`.
    """

    id: str
    verb: Verb
    phase: Phase | None = None
    method: str
    path: str
    body: Any = None
    gives: tuple[Gives, ...] = ()
    needs: tuple[str, ...] = ()
    follows: tuple[str, ...] = ()
    repeat: Repeat
    answers: str | None = None
    whole: bool = False
    summary: str = ""


Action = Literal["create", "update", "delete"]


class Difference(Frozen):
    """One field: what is live and what is wanted. `known` is false where the live value cannot be read."""

    field: str
    before: Any = None
    after: Any = None
    known: bool = True
    cause: Cause | None = None
    """The label: who changed the value, as far as git knows. Nothing that dpsync does depends on it."""
    inherited: str | None = None
    """Whose value it is so far: that one changes in this plan, and so the value is written as its own."""
    taken_from: str | None = None
    """The id of the sibling that loses this flag, if only one sibling can have the flag."""
    masked: str | None = None
    """Digest of both original values if a URL password was masked: an approval covers the password."""

    def after_masking(self, original: Difference) -> Difference:
        """Return this masked difference, with a digest of the original values if a password was masked.

        `Mask.mask_data` calls it after masking. The digest lets an approval cover the hidden password of a
        URL.
        """
        values = json_text([original.before, original.after])
        if mask_passwords(values, MASK_TEXT) == values:
            return self
        return self.model_copy(update={"masked": digest([original.before, original.after])})


class Effect(Addressed):
    """What goes or changes along with a delete or another change, without a request of its own."""

    what: str
    counts: bool = True
    kind: str = ""
    """Of the object at the address, or of the object whose field it names."""
    label: str = ""


class Removed(Frozen):
    """The entry that a deleted object had: its address, and the file that it stood in."""

    address: str
    file: str


class Change(Addressed):
    """One address: why it changes, how, and by which requests in which order."""

    kind: str
    action: Action
    label: str = ""
    """What people know it by: its title."""
    id: str | None = None
    matched: MatchedBy | None = None
    """By what its object was recognised, where that was neither its line nor its first natural key."""
    matched_detail: str = ""
    """The fields of a later natural key, or the address of the entry whose line it was."""
    digest: str | None = None
    """Of the live object, as it was when the plan was made."""
    watched: tuple[str, ...] = ()
    """The fields of the digest: declared ones that are not ignored; for a delete all that last."""
    inside: str | None = None
    """Of a new node the one that encloses it (its group), where the address does not say that."""
    differences: tuple[Difference, ...] = ()
    moved: str | None = None
    cause: Cause | None = None
    """The label of a create, delete, restore or move; None if git does not know, or only fields differ."""
    effects: tuple[Effect, ...] = ()
    was: tuple[Difference, ...] = ()
    """Of what is deleted the values that it has so far: those that a request writes, and none that may be
    secret. By these a revert makes it anew. It is in no digest: `digest` stands for all of its values."""
    removed: Removed | None = None
    """Of what is deleted the entry that the git base has for it. It is in no digest."""
    steps: tuple[Step, ...] = ()

    @property
    def without_labels(self) -> Change:
        """Return the change without its label and history, which do not affect an apply."""
        no_label = {"cause": None, "taken_from": None}
        differences = tuple(difference.model_copy(update=no_label) for difference in self.differences)
        return self.model_copy(update={"cause": None, "differences": differences, "was": (), "removed": None})


class Blocked(Addressed):
    """Wanted, but not to be done by this tool: the reason, and what a person must do."""

    reason: str
    todo: str = ""
    because: str | None = None
    place: str | None = None
    """Of what cannot be moved: where the files put it among its siblings."""


class Waiting(Frozen):
    """Work that the platform does by itself."""

    address: str
    what: str
    field: str | None = None
    """The declared field whose value the platform is processing."""


class PlatformTrouble(Frozen):
    """An error that the platform reports for a declared object."""

    address: str
    what: str
    field: str | None = None
    """The declared field whose last value the platform could not process."""


class Kept(Frozen):
    """Live things in a declared place that nobody declares and nothing prunes."""

    place: str
    addresses: tuple[str, ...]


class Unwatched(Frozen):
    """What no entry names, so that drift does not see it move: places, and fields of `things` entries."""

    places: int = 0
    fields: int = 0
    things: int = 0


class Note(Addressed):
    """Something worth knowing that changes nothing.

    `address` is what it is about: an address, or a pattern of the policy or an answer as it was written.
    """

    text: str
    severity: Literal["note", "warning"] = "note"
    permanent: bool = False
    """Every plan says it again, and nobody could do anything about it: it is counted for people."""
    detail: bool = False
    """Nobody has to act on it: a terminal prints it only with -v."""
    consequence: bool = False
    """It tells what the changes bring with them: whoever agrees to them agrees to it, too."""


class Exposure(Addressed):
    """Something that becomes more visible or more powerful.

    `field` is empty where the thing itself does it: it is new, or goes and kept people out.
    """

    field: str = ""
    before: Any = None
    after: Any = None
    words: str
    """What happens, for people."""
    missing: tuple[str, ...] = ()
    """What the files lack, so that the plan cannot tell who gains access."""
    moment: bool = False
    """Whether it is so only while the plan is carried out, and neither before nor afterwards."""


class UrlImpact(Addressed):
    """A public URL that changes, begins or ends. Both ends are None while people see nothing there.

    Where the new one cannot be told before, `known` is false and `why` says why.
    """

    before: str | None = None
    after: str | None = None
    known: bool = True
    why: str = ""
    shows: str | None = None
    """The address of what is seen at the old URL afterwards."""
    redirected: str | None = None
    """The address of a redirect that leads on from the old URL already."""
    place: str = ""
    """The mapping of entries that a redirect belongs in."""
    redirect: dict[str, Any] | None = None
    """The entry to add there that leads from the old URL to where this is then: its key with its fields."""


class SitePreview(Addressed):
    """A live site that the plan changes, and the URL of its preview in GitBook.

    The preview shows the live site, also what is not published. It does not show the plan.
    """

    title: str
    url: str


class NavigationNode(Frozen):
    """A group, section, place or link of a navigation, as readers see it."""

    address: str
    kind: str
    title: str
    path: str | None = None
    """Its segment in URLs, or where it leads."""
    marks: tuple[str, ...] = ()
    """Its flags that are set: default, hidden, draft."""
    inside: tuple[NavigationNode, ...] = ()
    also: tuple[str, ...] = ()
    """Where else readers see the same afterwards: what comes to one place, and stays at another."""


class NavigationChange(Frozen):
    """A navigation that changes, from its root down. `known` is false where nobody can tell."""

    address: str
    before: tuple[NavigationNode, ...] = ()
    after: tuple[NavigationNode, ...] = ()
    known: bool = True
