"""Write the comment with a plan in a pull request. Its first line, the marker, says what the plan showed.

`shown_changes` reduces a plan to digests: one `ShownChange` for each created or deleted object, changed
field, or object that becomes more visible. A digest includes the platform and the organization id, so an
approval counts for one organization only. The marker holds only numbers, hexadecimal digits and base64url, so
it cannot end its HTML comment; it counts only at the beginning of a text by the token's account. `plan_body`
makes the whole comment, and `decide_comment` says whether to write it.
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
from dpsync.model.plan import APPROVED_DIGEST_DIGITS, Plan
from dpsync.model.text import NO_FLAGS, json_text, short_commit, shorten_list
from dpsync.render.documents import ApplyDocument, PlanDocument
from dpsync.render.markdown import MAX_COMMENT_UNITS, code_span, escape_prose, render_markdown, utf16_length
from dpsync.render.report_words import applied_text, result_sentence
from dpsync.render.view import View, clip_text

SHOWN_CHANGE_BYTES: Final = 30
"""The number of bytes of a `ShownChange`: 40 characters of base64."""
_ADDRESS_BYTES: Final = 11
_FIELD_BYTES: Final = 3
_CONTENT_BYTES: Final = 16
"""The number of bytes of the digest that an approval depends on. A collision of the shorter digests of
addresses or fields can only cost an approval."""
WHOLE_OBJECT: Final = bytes(_FIELD_BYTES)
"""The value of `field` for a whole object."""
_EXPOSURE_MARK: Final = b"\x80"
_CONTEXT_FIELDS: Final = ("address", "kind", "action", "id", "inside")
_ANY_UPDATE: Final = (("update", None), ("move", None), ("await", None))
"""Steps that follow from the changed fields, so they need no approval of their own."""


class ShownChange(Struct, frozen=True, order=True):
    """A change that a plan showed, as digests of its address, its field (or WHOLE_OBJECT) and its content."""

    address: bytes
    field: bytes
    content: bytes

    def __bytes__(self) -> bytes:
        """Return the record of 30 bytes that `parse_shown_changes` parses."""
        return self.address + self.field + self.content

    @property
    def exposes(self) -> bool:
        """Whether the digests are those of an exposure (more visibility), not a change."""
        return self.field >= _EXPOSURE_MARK

    @property
    def field_without_mark(self) -> bytes:
        """The digest of the field without the bit that marks an exposure; WHOLE_OBJECT for a whole object."""
        return bytes([self.field[0] & 0x7F]) + self.field[1:]


def parse_shown_changes(content: bytes) -> tuple[ShownChange, ...]:
    """Parse concatenated `ShownChange` records of 30 bytes each. An incomplete record at the end is ignored.

    A record consists of digests of an address, a field and a content.
    """
    whole = range(0, len(content) - SHOWN_CHANGE_BYTES + 1, SHOWN_CHANGE_BYTES)
    records = (content[start : start + SHOWN_CHANGE_BYTES] for start in whole)
    return tuple(
        ShownChange(record[:_ADDRESS_BYTES], record[_ADDRESS_BYTES:-_CONTENT_BYTES], record[-_CONTENT_BYTES:])
        for record in records
    )


def shown_changes(plan: Plan) -> tuple[ShownChange, ...]:
    """Return everything that a plan shows to its reviewers as digests, without duplicates.

    An approval covers exactly these changes and increases of access.
    """
    changes_shown = [
        shown_change for change in plan.changes for shown_change in shown_changes_of(change, plan)
    ]
    return tuple(
        dict.fromkeys([*changes_shown, *(shown_change for _, shown_change in shown_exposures(plan))])
    )


def shown_changes_of(change: Change, plan: Plan) -> tuple[ShownChange, ...]:
    """Return digests of what a plan shows of one change, to compare it with a reviewed plan.

    An update has one digest for each field, move, effect and special step; another change has one digest for
    the whole object. The HTTP requests are left out: after an interrupted apply, the remaining requests have
    ids in place of addresses.
    """
    content = change.without_labels.model_dump(mode="json")
    for difference in content["differences"]:
        if difference["masked"] is None:
            del difference["masked"]
    context = [_platform_and_organization(plan, change.address), *(content[name] for name in _CONTEXT_FIELDS)]
    if change.action == "update" and (parts := list(_parts_of_update(change, content))):
        return tuple(_shown_change(change.address, field, [*context, part]) for field, part in parts)
    steps = [[step.verb, step.answers] for step in change.steps]
    whole_content = [content["differences"], content["moved"], content["effects"], steps]
    return (_shown_change(change.address, "", [*context, whole_content]),)


def shown_exposures(plan: Plan) -> Iterator[tuple[str, ShownChange]]:
    """Yield the address and the digest of each exposure: an object that the plan makes more visible.

    The highest bit of the field digest marks an exposure.
    """
    for exposure in plan.exposures:
        content = [
            _platform_and_organization(plan, exposure.address),
            "exposed",
            exposure.model_dump(mode="json"),
        ]
        shown_change = _shown_change(exposure.address, exposure.field, content)
        yield (
            exposure.address,
            replace(shown_change, field=bytes([shown_change.field[0] | 0x80]) + shown_change.field[1:]),
        )


def address_digest(address: str) -> bytes:
    """Return the digest of an address (11 bytes), as `ShownChange.address` contains it."""
    return _sha256(address)[:_ADDRESS_BYTES]


def merge_shown_changes(oldest_first: Iterable[Iterable[ShownChange]]) -> frozenset[ShownChange]:
    """Merge what several plans showed. For the same object or field, the later plan counts.

    A `ShownChange` for a whole object replaces all fields of that object, and the other way round.
    """
    result: set[ShownChange] = set()
    for displayed in map(tuple, oldest_first):
        fields = {(shown_change.address, shown_change.field_without_mark) for shown_change in displayed}
        addresses = {shown_change.address for shown_change in displayed}
        whole_objects = {address for address, field in fields if field == WHOLE_OBJECT}
        result = {
            shown_change
            for shown_change in result
            if shown_change.address not in addresses
            or not (
                shown_change.field_without_mark == WHOLE_OBJECT
                or shown_change.address in whole_objects
                or (shown_change.address, shown_change.field_without_mark) in fields
            )
        } | set(displayed)
    return frozenset(result)


def _parts_of_update(change: Change, content: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the parts of an update that need approval: a name and the content that is digested.

    The name is the field. Moves, effects and steps, which belong to no field, have names such as `#moved`.
    """
    for difference in content["differences"]:
        yield difference["field"], ["field", difference]
    if content["moved"] is not None:
        yield "#moved", ["moved", content["moved"]]
    for effect in content["effects"]:
        yield "#effects", ["effect", effect]
    for step in dict.fromkeys((step.verb, step.answers) for step in change.steps):
        if step not in _ANY_UPDATE:
            yield "#steps", ["step", *step]


def _platform_and_organization(plan: Plan, address: str) -> list[str]:
    """Return the platform and the id of the organization that an address belongs to.

    Both are part of each digest, so that an approval for one organization does not count for another.
    """
    root = address.partition("/")[0]
    return [
        plan.target,
        next((organization.id for organization in plan.organizations if organization.address == root), ""),
    ]


def _shown_change(address: str, field: str, content: Any) -> ShownChange:
    """Return the digests of an address, a field ("" for the whole object) and a JSON content."""
    named = ShownChange(
        address_digest(address), _sha256(field)[:_FIELD_BYTES] if field else WHOLE_OBJECT, b""
    )
    return replace(
        named,
        field=named.field_without_mark,
        content=_sha256(json_text(_with_sorted_keys(content)))[:_CONTENT_BYTES],
    )


def _sha256(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def _with_sorted_keys(value: object) -> object:
    """Return JSON data with sorted keys at all levels, so that equal data has the same digest."""
    if isinstance(value, dict):
        return {key: _with_sorted_keys(value[key]) for key in sorted(value)}
    return [_with_sorted_keys(child) for child in value] if isinstance(value, list) else value


Hex = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]*$", max_length=64)]
Base64url = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]*$", max_length=57_000)]
UnixSeconds = Annotated[int, Field(ge=0, lt=2**40)]
"""Seconds since 1970."""
Count = Annotated[int, Field(ge=1, lt=2**31)]
State = Literal["plan", "applied", "converged", "refused"]
M = TypeVar("M", bound="Marker")

MAX_SHOWN_IN_FIRST_MARKER: Final = 500
"""The number of `ShownChange` in the marker of the comment: 20,000 characters."""
MAX_SHOWN_IN_FURTHER_MARKER: Final = 1_400
"""The number of `ShownChange` in the marker of each further comment."""
MAX_FURTHER_COMMENTS: Final = 20
"""The largest number of further comments. Of a larger plan, only the digest is kept."""
_FIRST_LINE: Final = re.compile(r"<!-- dpsync:([a-z]+):1 (\{[^<>\r\n]*\}) -->(?:\r?\n|$)")


class Marker(BaseModel):
    """The data of every marker. `run` and `attempt` identify the workflow run that wrote it."""

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
    """The marker of a comment with a plan. `key` includes the platform and the organizations."""

    kind: Literal["plan"] = Field(default="plan", exclude=True)
    name: Hex = ""
    """The key of configuration, environment and part, which is known even if planning failed."""
    branch: Hex = ""
    """The key of the base branch of the pull request."""
    state: State = "plan"
    """plan: the comment may be rewritten; in all other states it is frozen. applied: an apply of the plan
    began. converged: an apply of the commit `applied` converged. refused: an apply wrote the comment after
    the merge.
    """
    applied: Hex = ""
    displayed: Base64url | None = None
    """What the plan showed, or the first part of it; None if it does not fit into all comments."""
    approved: dict[Base64url, Hex] = Field(default_factory=dict, max_length=50)
    """The digest of the approved plan by the approver's name in base64url."""

    @property
    def is_full(self) -> bool:
        """Whether the marker is full, so that further comments may hold more."""
        return len(read_marker_values([self.displayed or ""])) >= MAX_SHOWN_IN_FIRST_MARKER


class FurtherMarker(Marker):
    """The marker of a further comment, with more of what the plan with this digest showed."""

    kind: Literal["rest"] = Field(default="rest", exclude=True)
    part: Annotated[int, Field(ge=1, le=MAX_FURTHER_COMMENTS)]
    displayed: Base64url


class DriftMarker(Marker):
    """The marker of a drift issue."""

    kind: Literal["drift"] = Field(default="drift", exclude=True)
    since: UnixSeconds = 0
    """The time of the first check that found the present drift."""
    checks: Count = 1
    """The number of checks that have found drift since then."""


class FailingChecksMarker(Marker):
    """The marker of an issue that says that drift checks fail."""

    kind: Literal["watch"] = Field(default="watch", exclude=True)


def marker_line(marker: Marker) -> str:
    """Return a marker as the first line of a text, with a line break."""
    return f"<!-- dpsync:{marker.kind}:1 {json_text(marker)} -->\n"


def read_marker(text: str, model: type[M]) -> M | None:
    """Return the marker at the beginning of a text; None for no marker, another kind, or a damaged marker."""
    match = _FIRST_LINE.match(text)
    if match is None or match[1] != model.model_fields["kind"].default:
        return None
    try:
        return model.model_validate_json(match[2])
    except ValidationError:
        return None


def without_marker(text: str) -> str:
    """Return a text without its marker."""
    match = _FIRST_LINE.match(text)
    return text[match.end() :] if match else text


def base64url(content: bytes) -> str:
    """Encode bytes in base64url without padding."""
    return base64.urlsafe_b64encode(content).decode().rstrip("=")


def decode_name(encoded: str) -> str:
    """Decode a name from base64url."""
    return _decode_base64url(encoded).decode(errors="replace")


def split_into_marker_values(displayed: tuple[ShownChange, ...]) -> list[str]:
    """Encode what a plan showed as base64url texts for the markers of comments.

    The first text is for the plan comment, the others are for further comments. The list is empty if the
    comments cannot hold everything.
    """
    if len(displayed) > MAX_SHOWN_IN_FIRST_MARKER + MAX_FURTHER_COMMENTS * MAX_SHOWN_IN_FURTHER_MARKER:
        return []
    starts = [0, *range(MAX_SHOWN_IN_FIRST_MARKER, len(displayed), MAX_SHOWN_IN_FURTHER_MARKER)]
    parts = zip(starts, [*starts[1:], len(displayed)], strict=True)
    return [base64url(b"".join(map(bytes, displayed[start:end]))) for start, end in parts]


def read_marker_values(texts: Iterable[str]) -> tuple[ShownChange, ...]:
    """Decode what a plan showed from the base64url texts of markers. A damaged text counts as empty."""
    return tuple(
        shown_change for text in texts for shown_change in parse_shown_changes(_decode_base64url(text))
    )


def _decode_base64url(text: str) -> bytes:
    """Decode base64url without padding; return b"" for a damaged text."""
    try:
        return base64.urlsafe_b64decode(f"{text}==")  # too much padding is ignored
    except ValueError:
        return b""


_CONTENT_SEPARATOR: Final = "<!-- dpsync:content -->\n"
"""The separator between the status and the plan. No foreign text precedes it: the first one is dpsync's."""
_UNKNOWN_PLAN_TEXT: Final = "a plan that this comment no longer shows"
_MAX_NAMED_APPROVERS: Final = 5
"""The largest number of people or labels in a line."""


class FoundComment(Struct, frozen=True):
    """A comment with a plan marker."""

    text: GitHubText
    marker: PlanMarker


class CommentDecision(Struct, frozen=True):
    """What to do with the comment: `leave` it (or write none), `edit` it, or write a `new` one."""

    action: Literal["leave", "edit", "new"]
    comment: FoundComment | None = None
    reason: str = ""


def plan_comments_with_name(comments: Iterable[GitHubText], name: str) -> list[FoundComment]:
    """Return the comments with a plan marker of this name by any author, oldest first."""
    result = []
    for text in comments:
        marker = read_marker(text.body, PlanMarker)
        if marker is not None and marker.name == name:
            result.append(FoundComment(text, marker))
    return result


def plan_comments_with_key(comments: Iterable[FoundComment], key: str) -> list[FoundComment]:
    """Return the comments with a key, which stands for a platform and its organizations.

    Comments without a key are returned, too, because their run failed before it knew the key. If `key` is "",
    return all comments.
    """
    return [comment for comment in comments if not key or comment.marker.key in (key, "")]


def find_rewritable_comment(comments: Iterable[FoundComment]) -> FoundComment | None:
    """Return the oldest comment that is not frozen, which the next plan replaces; None without one."""
    return next((comment for comment in comments if comment.marker.state == "plan"), None)


def decide_comment(
    present: FoundComment | None, age: tuple[int, int], body: str, should_create: bool
) -> CommentDecision:
    """Decide whether a run edits the present comment, writes a new one, or leaves everything unchanged.

    Args:
        present: The present comment; None without one.
        age: The id and attempt of the run that wants to write. A comment of a later run stays.
        body: The new body.
        should_create: Whether to write a new comment if there is none.
    """
    if present is None:
        return CommentDecision("new") if should_create else CommentDecision("leave")
    if present.marker.age > age:
        return CommentDecision(
            "leave", present, f"a later run ({present.marker.run}) has already written the comment"
        )
    if present.text.body == body:
        return CommentDecision("leave", present)
    return CommentDecision("edit", present)


def merge_approvals(comment: FoundComment | None, approvals: Iterable[Review]) -> dict[str, str]:
    """Return which plan each approver approved: the digest of the plan by the name in base64url.

    The digest is "" if it is unknown.

    An approval after the last edit of the comment is for the plan in the comment. For an earlier approval,
    the marker has the digest. Both times are GitHub's. The digest is unknown if the approval came before the
    first plan, or if its comment was deleted.
    """
    approved: dict[str, str] = {}
    for review in approvals:
        name = base64url(review.author.encode())
        if comment is not None and review.submitted_at > comment.text.updated:
            approved[name] = comment.marker.digest
        else:
            approved[name] = comment.marker.approved.get(name, "") if comment is not None else ""
    return dict(sorted(approved.items())[:50])


def changed_plan_warning(approved: Mapping[str, str], digest: str) -> str:
    """Return a warning that the plan differs from the one that somebody approved; "" if it does not."""
    others = [(decode_name(name), other) for name, other in approved.items() if other != digest]
    if not others:
        return ""
    parts = [
        f"{code_span(clip_text(name, 50))} approved "
        f"{code_span(other[:APPROVED_DIGEST_DIGITS]) if other else _UNKNOWN_PLAN_TEXT}"
        for name, other in others
    ]
    return (
        "> [!WARNING]\n> **The plan changed after** "
        f"{shorten_list(parts, _MAX_NAMED_APPROVERS)}. Review the plan again."
    )


def plan_marker(
    name: str,
    workflow_run: WorkflowRun,
    document: BaseModel,
    state: State = "plan",
    approved: Mapping[str, str] | None = None,
) -> PlanMarker:
    """Return the marker (the invisible first line) of a comment about a plan or a failed planning.

    Args:
        name: The key of the inputs.
        workflow_run: The run that writes the comment.
        document: What `dpsync plan` printed: a plan, or findings.
        state: The state of the comment; only "plan" may be rewritten later.
        approved: The digest of the approved plan by the approver's name in base64url.
    """
    plan = document.plan if isinstance(document, PlanDocument) else None
    return PlanMarker(
        key=plan_key(name, plan) if plan is not None else "",
        name=name,
        branch=branch_key(workflow_run.base_branch),
        run=workflow_run.run_id,
        attempt=workflow_run.attempt,
        sha=workflow_run.sha,
        digest=plan.digest if plan is not None else "",
        displayed=next(iter(split_into_marker_values(shown_changes(plan))), None)
        if plan is not None
        else None,
        state=state,
        approved=dict(approved or {}),
    )


def configuration_heading(name: Iterable[str]) -> str:
    """Return a heading that distinguishes several configurations; "" for a single one."""
    labels = [code_span(clip_text(label, 100)) for label in name]
    return f"dpsync plan · {' · '.join(labels[:_MAX_NAMED_APPROVERS])}" if labels else ""


def plan_body(
    marker: PlanMarker,
    view: View,
    workflow_run: WorkflowRun,
    lines: Iterable[str] = (),
    limit: int = MAX_COMMENT_UNITS,
) -> str:
    """Return a whole comment of at most `limit` UTF-16 units. `lines` are put before the plan."""
    head = _comment_head(marker, lines)
    foot = f"\n\n{comment_footer(workflow_run)}"
    return f"{head}{render_markdown(view, limit - utf16_length(head) - utf16_length(foot))}{foot}"


def comment_footer(workflow_run: WorkflowRun) -> str:
    """Return the footer of a comment: the commit and the run that wrote it."""
    commit = f"commit {code_span(short_commit(workflow_run.sha))}, " if workflow_run.sha else ""
    return f"<sub>{commit}[run {workflow_run.run_id}]({workflow_run.url})</sub>"


def further_comment_body(marker: PlanMarker, part: int, displayed: str) -> str:
    """Return the body of a further comment, which continues the marker of a plan comment.

    Args:
        marker: The marker of the plan comment.
        part: The number of the further comment, from 1 on.
        displayed: The part of what the plan showed, in base64url.
    """
    further_marker = FurtherMarker(
        key=marker.key,
        run=marker.run,
        attempt=marker.attempt,
        sha=marker.sha,
        digest=marker.digest,
        part=part,
        displayed=displayed,
    )
    return (
        f"{marker_line(further_marker)}The plan {code_span(marker.digest[:APPROVED_DIGEST_DIGITS])} is too "
        "large for one comment. This "
        "comment contains a part of the list of changes in an invisible form. If an apply stops halfway, "
        "dpsync needs this comment to continue the apply."
    )


def body_with_status(comment: FoundComment, state: State, line: str, applied: str = "") -> str:
    """Return the body of a plan comment with a new state and a status line above the unchanged plan.

    `applied` is the applied commit for the state "converged".
    """
    marker = comment.marker.model_copy(update={"state": state, "applied": applied})
    before, separator, content = comment.text.body.partition(_CONTENT_SEPARATOR)
    if not separator:
        content = without_marker(before)
    return f"{_comment_head(marker, [line])}{content}"


def _comment_head(marker: PlanMarker, lines: Iterable[str]) -> str:
    """Return the beginning of a plan comment: the marker, status lines, and the separator before the plan."""
    parts = [line for line in lines if line]
    return marker_line(marker) + "".join(f"{line}\n\n" for line in parts) + _CONTENT_SEPARATOR


def apply_status_line(document: ApplyDocument, workflow_run: WorkflowRun) -> str:
    """Return the result of an apply, for the comment of its plan."""
    run = f"[run {workflow_run.run_id}]({workflow_run.url})"
    if document.report is None:
        return f"> [!TIP]\n> **GitBook already matched the files, so dpsync changed nothing** ({run})."
    kind = "TIP" if document.converged else "WARNING"
    result = escape_prose(applied_text(document.plan.plan, document.report))
    verdict = NO_FLAGS.add_flags_to_commands(result_sentence(document.plan.plan, document.report))
    return f"> [!{kind}]\n> **{result}** {escape_prose(verdict)} ({run})"


def is_worth_comment(document: object) -> bool:
    """Return whether to write a first comment for a document: not for an empty plan."""
    if not isinstance(document, PlanDocument):
        return True
    plan = document.plan
    return not plan.empty or bool(plan.blocked or plan.refusals or plan.trouble)
