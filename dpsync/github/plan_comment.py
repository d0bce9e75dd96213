"""Write and mark the comment with a plan in a pull request.

What a plan has shown, as digests, and what several plans have shown together: pure.

A plan shows what is done to each thing: one `Shown` for what is made or deleted as a whole, one for each
field that changes, one for each thing that becomes more visible. A digest names the platform and the id of
the organization, so what a plan for one has shown says nothing about another.

The first line of every text of ours on GitHub: which plan or drift it tells, and by which run.

Its values are numbers, hexadecimal digits and base64url, so that nothing in it can end the HTML comment. It
counts only at the very beginning of a text, and only in a text whose author is us.

What a comment says, and whether it is written: pure. Marker first, then what happened, then the plan.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Any, Final, Literal, TypeVar

from msgspec import Struct
from msgspec.structs import replace
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from dpsync.github.api import GitHubText, Review
from dpsync.github.workspace import WorkflowRun, branch_key, plan_key
from dpsync.model.change import Change
from dpsync.model.plan import DIGITS, Plan
from dpsync.model.text import NOWHERE, json_text, short_commit, some
from dpsync.render.documents import ApplyDocument, PlanDocument
from dpsync.render.markdown import COMMENT, code, prose, render_markdown, units
from dpsync.render.report_words import done, ending
from dpsync.render.view import View, clip

SIZE: Final = 30
"""Bytes of one `Shown`: 40 characters of base64."""
_ADDRESS: Final = 11
_FIELD: Final = 3
_WHAT: Final = 16
"""Bytes of a digest on which an approval rests. Two addresses or fields that look alike lose an approval."""
WHOLE: Final = bytes(_FIELD)
"""Instead of a field: the whole thing."""
_EXPOSED: Final = b"\x80"
_CONTEXT: Final = ("address", "kind", "action", "id", "inside")
_ANY_UPDATE: Final = (("update", None), ("move", None), ("await", None))
"""Steps of a change that follow from the fields that it changes."""


class Shown(Struct, frozen=True, order=True):
    """One thing that is done: where, in which field (empty: to the whole), and what. All are digests."""

    address: bytes
    field: bytes
    what: bytes

    def __bytes__(self) -> bytes:
        return self.address + self.field + self.what

    @property
    def exposes(self) -> bool:
        """It is told of what becomes more visible, and is no change by itself."""
        return self.field >= _EXPOSED

    @property
    def of(self) -> bytes:
        """The field that it is about, or WHOLE."""
        return bytes([self.field[0] & 0x7F]) + self.field[1:]


def read_shown(content: bytes) -> tuple[Shown, ...]:
    """What `bytes` of several gave. What is left over at the end is nothing."""
    whole = range(0, len(content) - SIZE + 1, SIZE)
    return tuple(_read(content[at : at + SIZE]) for at in whole)


def _read(one: bytes) -> Shown:
    return Shown(one[:_ADDRESS], one[_ADDRESS:-_WHAT], one[-_WHAT:])


def shown_by(plan: Plan) -> tuple[Shown, ...]:
    """Everything that a plan shows, each once."""
    found = [one for change in plan.changes for one in shown_of(change, plan)]
    return tuple(dict.fromkeys([*found, *(one for _, one in exposures_shown(plan))]))


def shown_of(change: Change, plan: Plan) -> tuple[Shown, ...]:
    """What a plan shows of one of its changes; never nothing.

    How its requests are sent is left out: what is left of a plan after half of it was done has the same
    changes, with ids where addresses were.
    """
    done = change.done.model_dump(mode="json")
    for item in done["differences"]:
        if item["masked"] is None:
            del item["masked"]
    context = [_target(plan, change.address), *(done[name] for name in _CONTEXT)]
    if change.action == "update" and (parts := list(_parts(change, done))):
        return tuple(_displayed(change.address, field, [*context, what]) for field, what in parts)
    steps = [[step.verb, step.answers] for step in change.steps]
    rest = [done["differences"], done["moved"], done["effects"], steps]
    return (_displayed(change.address, "", [*context, rest]),)


def exposures_shown(plan: Plan) -> Iterator[tuple[str, Shown]]:
    """What becomes more visible or more powerful, with where."""
    for item in plan.exposures:
        what = [_target(plan, item.address), "exposed", item.model_dump(mode="json")]
        one = _displayed(item.address, item.field, what)
        yield item.address, replace(one, field=bytes([one.field[0] | 0x80]) + one.field[1:])


def address_digest(address: str) -> bytes:
    """The address as a `Shown` has it."""
    return _hashed(address)[:_ADDRESS]


def latest_shown(oldest_first: Iterable[Iterable[Shown]]) -> frozenset[Shown]:
    """What several plans have shown: where two of them speak of the same thing, the later one counts.

    The same thing is a field, or an address where one of the two speaks of the whole.
    """
    found: set[Shown] = set()
    for displayed in map(tuple, oldest_first):
        said = {(one.address, one.of) for one in displayed}
        addresses = {one.address for one in displayed}
        wholes = {address for address, field in said if field == WHOLE}
        found = {
            one for one in found
            if one.address not in addresses
            or not (one.of == WHOLE or one.address in wholes or (one.address, one.of) in said)
        } | set(displayed)  # fmt: skip
    return frozenset(found)


def _parts(change: Change, done: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """What an update does, one after the other: by the field, or another name for what has none."""
    for item in done["differences"]:
        yield item["field"], ["field", item]
    if done["moved"] is not None:
        yield "#moved", ["moved", done["moved"]]
    for effect in done["effects"]:
        yield "#effects", ["effect", effect]
    for step in dict.fromkeys((step.verb, step.answers) for step in change.steps):
        if step not in _ANY_UPDATE:
            yield "#steps", ["step", *step]


def _target(plan: Plan, address: str) -> list[str]:
    """The platform and organization of an address, by their names for each other."""
    root = address.partition("/")[0]
    return [plan.target, next((one.id for one in plan.organizations if one.address == root), "")]


def _displayed(address: str, field: str, what: Any) -> Shown:
    named = Shown(address_digest(address), _hashed(field)[:_FIELD] if field else WHOLE, b"")
    return replace(named, field=named.of, what=_hashed(json_text(_ordered(what)))[:_WHAT])


def _hashed(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def _ordered(value: object) -> object:
    if isinstance(value, dict):
        return {key: _ordered(value[key]) for key in sorted(value)}
    return [_ordered(item) for item in value] if isinstance(value, list) else value


Hex = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]*$", max_length=64)]
Base64url = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]*$", max_length=57_000)]
Moment = Annotated[int, Field(ge=0, lt=2**40)]
"""Seconds since 1970."""
Count = Annotated[int, Field(ge=1, lt=2**31)]
State = Literal["plan", "applied", "converged", "refused"]
M = TypeVar("M", bound="Marker")

FIRST: Final = 500
"""Of what a plan shows, how much the marker of its comment holds: 20,000 characters."""
FURTHER: Final = 1_400
"""How much the marker of each further comment holds."""
COMMENTS: Final = 20
"""How many further ones there may be. Of what does not fit only the plan's digest is kept."""
_FIRST_LINE: Final = re.compile(r"<!-- dpsync:([a-z]+):1 (\{[^<>\r\n]*\}) -->(?:\r?\n|$)")


class Marker(BaseModel):
    """What every marker has."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)
    kind: str = Field(default="", exclude=True)
    key: Hex
    run: Annotated[int, Field(ge=0, lt=2**63)]
    attempt: Annotated[int, Field(ge=0, lt=2**31)] = 1
    sha: Hex = ""
    digest: Hex = ""

    @property
    def age(self) -> tuple[int, int]:
        return self.run, self.attempt


class PlanMarker(Marker):
    """Of a comment that tells a plan. `key` names its platform and organizations, too."""

    kind: Literal["plan"] = Field(default="plan", exclude=True)
    name: Hex = ""
    """The configuration, environment and part: what is known of a plan that could not be made."""
    branch: Hex = ""
    """The digest of the branch that the pull request was for."""
    state: State = "plan"
    """plan: it may still be rewritten; all others are frozen. applied: it counted, and an apply has begun.
    converged: an apply of the commit `applied` has ended it. refused: made after the merge by an apply.
    """
    applied: Hex = ""
    displayed: Base64url | None = None
    """What the plan has shown, or the first part of it; None where it is too much for all comments."""
    approved: dict[Base64url, Hex] = Field(default_factory=dict, max_length=50)
    """Who has approved which plan: names in base64url."""

    @property
    def full(self) -> bool:
        """Whether further comments may hold more of what the plan has shown."""
        return len(shown_in([self.displayed or ""])) >= FIRST


class RestMarker(Marker):
    """Of a comment with more of what the plan with this digest has shown."""

    kind: Literal["rest"] = Field(default="rest", exclude=True)
    part: Annotated[int, Field(ge=1, le=COMMENTS)]
    displayed: Base64url


class DriftMarker(Marker):
    """Of an issue that tells drift."""

    kind: Literal["drift"] = Field(default="drift", exclude=True)
    since: Moment = 0
    """When a check has found drift first, since there was none."""
    checks: Count = 1
    """How many have found some since then."""


class WatchMarker(Marker):
    """Of an issue that says that drift is not being watched."""

    kind: Literal["watch"] = Field(default="watch", exclude=True)


def first_line(marker: Marker) -> str:
    """The marker as the first line of a text, with its line break."""
    return f"<!-- dpsync:{marker.kind}:1 {json_text(marker)} -->\n"


def read_marker(text: str, model: type[M]) -> M | None:
    """The marker that a text begins with; None where it has none, another one, or a damaged one."""
    found = _FIRST_LINE.match(text)
    if found is None or found[1] != model.model_fields["kind"].default:
        return None
    try:
        return model.model_validate_json(found[2])
    except ValidationError:
        return None


def without_marker(text: str) -> str:
    """What people see of a text of ours."""
    found = _FIRST_LINE.match(text)
    return text[found.end() :] if found else text


def base64url(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).decode().rstrip("=")


def name_of(encoded: str) -> str:
    """What `base64url` was made of."""
    return _decoded(encoded).decode(errors="replace")


def marker_values(displayed: tuple[Shown, ...]) -> list[str]:
    """What markers hold of what a plan has shown: the first one's, then those of further comments."""
    if len(displayed) > FIRST + COMMENTS * FURTHER:
        return []
    starts = [0, *range(FIRST, len(displayed), FURTHER)]
    parts = zip(starts, [*starts[1:], len(displayed)], strict=True)
    return [base64url(b"".join(map(bytes, displayed[start:end]))) for start, end in parts]


def shown_in(texts: Iterable[str]) -> tuple[Shown, ...]:
    """What `kept` has kept; a damaged text holds nothing."""
    return tuple(one for text in texts for one in read_shown(_decoded(text)))


def _decoded(text: str) -> bytes:
    try:
        return base64.urlsafe_b64decode(f"{text}==")  # more of them than are needed change nothing
    except ValueError:
        return b""


_CONTENT: Final = "<!-- dpsync:content -->\n"
"""Between what happened and the plan. It stands before all foreign text, so the first one is ours."""
_UNKNOWN: Final = "a plan that this comment no longer shows"
_NAMED: Final = 5
"""People or labels that are named in one line."""


class FoundComment(Struct, frozen=True):
    """A comment of ours with its marker."""

    text: GitHubText
    marker: PlanMarker


class Decision(Struct, frozen=True):
    """What to do: `leave` an existing comment (or none) as it is, `edit` it, or make a `new` one."""

    what: Literal["leave", "edit", "new"]
    found: FoundComment | None = None
    why: str = ""


def comments_named(comments: Iterable[GitHubText], name: str) -> list[FoundComment]:
    """The comments with a marker of this name, the oldest first, whoever has written them."""
    found = []
    for text in comments:
        marker = read_marker(text.body, PlanMarker)
        if marker is not None and marker.name == name:
            found.append(FoundComment(text, marker))
    return found


def of_key(found: Iterable[FoundComment], key: str) -> list[FoundComment]:
    """Those of one platform and its organizations, or of what was not known; all where `key` is not known."""
    return [one for one in found if not key or one.marker.key in (key, "")]


def rewritable(found: Iterable[FoundComment]) -> FoundComment | None:
    """The comment that the next plan goes into: the oldest one that is not frozen."""
    return next((one for one in found if one.marker.state == "plan"), None)


def decide(found: FoundComment | None, age: tuple[int, int], body: str, worth_it: bool) -> Decision:
    """What becomes of the comment. `worth_it`: whether there is anything to tell where nothing stands yet."""
    if found is None:
        return Decision("new") if worth_it else Decision("leave")
    if found.marker.age > age:
        return Decision("leave", found, f"a later run ({found.marker.run}) has already written the comment")
    if found.text.body == body:
        return Decision("leave", found)
    return Decision("edit", found)


def remembered(found: FoundComment | None, approvals: Iterable[Review]) -> dict[str, str]:
    """Who has approved which plan, by names in base64url; "" where no comment says which one that was.

    An approval that came after the comment was last written was for the plan in it; an earlier one is what
    was remembered of it then. Both times are GitHub's. One that is not remembered came before the first plan,
    or the comment that it was for is not there any more.
    """
    known: dict[str, str] = {}
    for review in approvals:
        name = base64url(review.author.encode())
        if found is not None and review.at > found.text.updated:
            known[name] = found.marker.digest
        else:
            known[name] = found.marker.approved.get(name, "") if found is not None else ""
    return dict(sorted(known.items())[:50])


def changed_since(approved: Mapping[str, str], digest: str) -> str:
    """That the plan is another one than was approved, by whom; empty where it is not."""
    others = [(name_of(name), other) for name, other in approved.items() if other != digest]
    if not others:
        return ""
    parts = [
        f"{code(clip(name, 50))} approved {code(other[:DIGITS]) if other else _UNKNOWN}"
        for name, other in others
    ]
    return f"> [!WARNING]\n> **The plan changed after** {some(parts, _NAMED)}. Review the plan again."


def plan_marker(
    name: str,
    place: WorkflowRun,
    document: BaseModel,
    state: State = "plan",
    approved: Mapping[str, str] | None = None,
) -> PlanMarker:
    """The marker of a comment that tells a plan, or why there is none. `name` is what was asked for."""
    plan = document.plan if isinstance(document, PlanDocument) else None
    return PlanMarker(
        key=plan_key(name, plan) if plan is not None else "",
        name=name,
        branch=branch_key(place.into),
        run=place.run,
        attempt=place.attempt,
        sha=place.sha,
        digest=plan.digest if plan is not None else "",
        displayed=next(iter(marker_values(shown_by(plan))), None) if plan is not None else None,
        state=state,
        approved=dict(approved or {}),
    )


def heading(name: Iterable[str]) -> str:
    """Which of several configurations it is; empty for the only one."""
    labels = [code(clip(label, 100)) for label in name]
    return f"dpsync plan · {' · '.join(labels[:_NAMED])}" if labels else ""


def plan_body(
    marker: PlanMarker, view: View, place: WorkflowRun, lines: Iterable[str] = (), limit: int = COMMENT
) -> str:
    """A whole comment of at most `limit` UTF-16 units. `lines` are ours and stand before the plan."""
    head = _head(marker, lines)
    foot = f"\n\n{written_by(place)}"
    return f"{head}{render_markdown(view, limit - units(head) - units(foot))}{foot}"


def written_by(place: WorkflowRun) -> str:
    commit = f"commit {code(short_commit(place.sha))}, " if place.sha else ""
    return f"<sub>{commit}[run {place.run}]({place.url})</sub>"


def rest_body(marker: PlanMarker, part: int, displayed: str) -> str:
    """A further comment, with what the marker of the first one has no room for."""
    more = RestMarker(
        key=marker.key,
        run=marker.run,
        attempt=marker.attempt,
        sha=marker.sha,
        digest=marker.digest,
        part=part,
        displayed=displayed,
    )
    return (
        f"{first_line(more)}The plan {code(marker.digest[:DIGITS])} is too large for one comment. This "
        "comment contains a part of the list of changes in an invisible form. If an apply stops halfway, "
        "dpsync needs this comment to continue the apply."
    )


def with_status(found: FoundComment, state: State, line: str, applied: str = "") -> str:
    """The same comment with what became of its plan, in place of what was said of that before."""
    marker = found.marker.model_copy(update={"state": state, "applied": applied})
    before, separator, content = found.text.body.partition(_CONTENT)
    if not separator:
        content = without_marker(before)
    return f"{_head(marker, [line])}{content}"


def _head(marker: PlanMarker, lines: Iterable[str]) -> str:
    parts = [line for line in lines if line]
    return first_line(marker) + "".join(f"{line}\n\n" for line in parts) + _CONTENT


def status(document: ApplyDocument, place: WorkflowRun) -> str:
    """How an apply ended, for the comment of its plan."""
    run = f"[run {place.run}]({place.url})"
    if document.report is None:
        return f"> [!TIP]\n> **GitBook already matched the files, so dpsync changed nothing** ({run})."
    kind = "TIP" if document.converged else "WARNING"
    result = prose(done(document.plan.plan, document.report))
    ended = NOWHERE.complete(ending(document.plan.plan, document.report))
    return f"> [!{kind}]\n> **{result}** {prose(ended)} ({run})"


def worth_telling(document: object) -> bool:
    """Whether a comment is made for it where there is none: a plan with something in it, or findings."""
    if not isinstance(document, PlanDocument):
        return True
    plan = document.plan
    return not plan.empty or bool(plan.blocked or plan.refusals or plan.trouble)
