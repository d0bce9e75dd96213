"""Decide which injected fault (error status, delay, broken connection, wrong page) a request gets.

Input: the rules that a test has set, and each request. Output: a fault, which `gateway.py` carries out.
Each rule counts the requests that it matches and how often its fault happened, so that a test can distinguish
a fault that the client overcame from a fault that never happened.
"""

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, Self
from urllib.parse import parse_qs

import yaml
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, model_validator
from pydantic.alias_generators import to_camel

from ..models.base import Paged
from ..operations import ALL_OPERATIONS
from ..request.operation import Operation

FaultTiming = Literal["before", "after"]
"""`before`: the request is never carried out. `after`: its changes are committed before the fault."""

Seconds = Annotated[float, Field(ge=0, le=3600, allow_inf_nan=False)]
HeaderText = Annotated[str, Field(pattern=r"^[\x20-\x7e]*$", max_length=200)]


class _FaultModel(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, alias_generator=to_camel, populate_by_name=True)


class StatusFault(_FaultModel):
    """Another status. `retryAfter` is sent unchanged, `retryDate` as the date so many seconds from now."""

    kind: Literal["status"]
    status: int = Field(ge=400, le=599)
    when: FaultTiming = "before"
    retry_after: int | float | HeaderText | None = None
    retry_date: Annotated[float, Field(ge=-(10**6), le=10**6)] | None = None
    body: str | None = None
    content_type: HeaderText = "application/json"


class DelayFault(_FaultModel):
    """A delayed answer. If the client gives up, the request is carried out nevertheless."""

    kind: Literal["delay"]
    seconds: Seconds
    when: FaultTiming = "before"


class ResetFault(_FaultModel):
    """A connection reset (RST) without an answer."""

    kind: Literal["reset"]
    when: FaultTiming = "before"


class TruncateFault(_FaultModel):
    """Half of the body, then the end of the connection. An answer without a body is not sent at all."""

    kind: Literal["truncate"]


class ContentTypeFault(_FaultModel):
    """The same answer with another content type."""

    kind: Literal["content-type"]
    value: HeaderText = "text/html; charset=utf-8"


class DripFault(_FaultModel):
    """The same answer, a few bytes at a time."""

    kind: Literal["drip"]
    bytes: int = Field(1, ge=1)
    seconds: Seconds = 0.05


class RepeatPageFault(_FaultModel):
    """Always the first page of a list. `limit` is the largest number of items on a page."""

    kind: Literal["repeat-page"]
    limit: int | None = Field(None, ge=1, le=1000)


class ShiftPageFault(_FaultModel):
    """A later page of a list that changed after the page before.

    The page repeats `by` items of the page before; a negative `by` skips as many items.
    """

    kind: Literal["shift-page"]
    by: int = Field(1, ge=-1000, le=1000)
    limit: int | None = Field(None, ge=1, le=1000)


Fault = Annotated[
    StatusFault
    | DelayFault
    | ResetFault
    | TruncateFault
    | ContentTypeFault
    | DripFault
    | RepeatPageFault
    | ShiftPageFault,
    Field(discriminator="kind"),
]


class FaultRule(_FaultModel):
    """A fault and the requests that get it.

    `operation` is an operation id (`createOrganizationTeam`) or a method and path (`PUT
    /orgs/{organizationId}/teams`), where a segment in braces matches any segment; if omitted, the rule
    matches every request.

    `nth` selects one of the matching requests (counted from 1), `every` selects each request whose number is
    a multiple, and `probability` selects requests at random, but always the same ones for the same `seed`.
    Without these fields, all matching requests get the fault. `times` limits how often the fault happens.
    """

    operation: str | None = None
    nth: int | None = Field(None, ge=1)
    every: int | None = Field(None, ge=1)
    probability: float | None = Field(None, gt=0, le=1)
    seed: int | None = None
    times: int | None = Field(None, ge=1)
    fault: Fault

    @model_validator(mode="after")
    def _check_one_choice(self) -> Self:
        """Check that the rule selects requests in one way only, and that its operation exists.

        Raise ValueError otherwise.
        """
        if sum(option is not None for option in (self.nth, self.every, self.probability)) > 1:
            raise ValueError("set only one of the fields 'nth', 'every' and 'probability'")
        if self.seed is not None and self.probability is None:
            raise ValueError("the field 'seed' needs the field 'probability'")
        if self.operation is not None and not any(_can_match(self.operation, row) for row in ALL_OPERATIONS):
            raise ValueError(f"operation: unknown operation {self.operation!r}")
        return self


FAULT_RULES = TypeAdapter(list[FaultRule])


def read_schedule(path: Path) -> "FaultSchedule":
    """Read the fault rules from a YAML or JSON file. Raise ValueError if a rule is invalid."""
    try:
        rules = FAULT_RULES.validate_python(
            yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
        )
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ValueError(f"{path}: {' '.join(str(error).split())}") from None
    except ValidationError as error:
        raise ValueError(format_validation_error(error, str(path))) from None
    return FaultSchedule(rules)


def format_validation_error(error: ValidationError, location: str) -> str:
    """Return the first five errors as one text, each with the location of its value, such as `[0].fault`."""
    messages = []
    for error_details in error.errors(include_url=False, include_input=False)[:5]:
        value_path = "".join(
            f"[{step}]" if isinstance(step, int) else f".{step}" for step in error_details["loc"]
        )
        messages.append(f"{location}{value_path}: {error_details['msg']}")
    return "; ".join(messages)


class CountedRule:
    """A rule with its counts: `matched` requests match its operation, and `used` of them got its fault."""

    def __init__(self, rule: FaultRule) -> None:
        self.rule = rule
        self.matched = 0
        self.used = 0
        self._random = random.Random(rule.seed or 0)  # noqa: S311

    def should_fire(self) -> bool:
        """Return whether the most recently matched request gets the fault."""
        rule = self.rule
        chosen = (
            (rule.nth is None or self.matched == rule.nth)
            and (rule.every is None or self.matched % rule.every == 0)
            and (rule.probability is None or self._random.random() < rule.probability)
        )
        return chosen and (rule.times is None or self.used < rule.times)

    def as_dict(self) -> dict[str, Any]:
        """Return the rule and its counts as the control plane shows them."""
        rule = self.rule.model_dump(mode="json", by_alias=True, exclude_unset=True)
        return {"rule": rule, "matched": self.matched, "used": self.used}


class FaultSchedule:
    """The rules in order. The first rule that fires decides the fault of a request."""

    def __init__(self, rules: Sequence[FaultRule] = ()) -> None:
        self.rules = [CountedRule(rule) for rule in rules]

    def select_fault(
        self, operation: Operation | None, method: str, segments: list[str], query: str
    ) -> CountedRule | None:
        """Return the first rule that fires for a request, or None if the request gets no fault.

        Every rule that matches the request counts it, because rules fire at certain requests (such as each
        third one). The fault of the returned rule counts as used.
        """
        chosen: CountedRule | None = None
        for scheduled in self.rules:
            if not _matches(scheduled.rule, operation, method, segments, query):
                continue
            scheduled.matched += 1
            if scheduled.should_fire() and chosen is None:
                chosen = scheduled
                chosen.used += 1
        return chosen


def _matches(
    rule: FaultRule, operation: Operation | None, method: str, segments: list[str], query: str
) -> bool:
    """Return whether a rule applies to a request. A page fault applies only to requests for lists."""
    if isinstance(rule.fault, RepeatPageFault | ShiftPageFault):
        listed = operation is not None and method == "GET" and issubclass(operation.query_model, Paged)
        if not listed or (rule.fault.limit is None and "page" not in parse_qs(query)):
            return False
    if rule.operation is None:
        return True
    if " " not in rule.operation:
        return operation is not None and operation.id == rule.operation
    expected_method, pattern = _parse_operation(rule.operation)
    return expected_method == method and _segments_match(pattern, segments, from_request=True)


def _can_match(operation: str, row: Operation) -> bool:
    """Return whether the `operation` of a rule can match a row of the table of operations."""
    if " " not in operation:
        return operation == row.id
    method, pattern = _parse_operation(operation)
    return method == row.method and _segments_match(
        pattern, ["v1", *row.path.strip("/").split("/")], from_request=False
    )


def _parse_operation(operation: str) -> tuple[str, list[str]]:
    """Return the method and the segments of an operation such as `PUT /orgs/{organizationId}/teams`."""
    method, _, path = operation.partition(" ")
    segments = path.strip().strip("/").split("/")
    return method, segments if segments[0] == "v1" else ["v1", *segments]


def _segments_match(pattern: list[str], segments: list[str], *, from_request: bool) -> bool:
    """Return whether a path matches a pattern, in which a segment in braces matches any segment.

    `from_request`: the segments come from a request, where braces have no special meaning.
    """
    return len(pattern) == len(segments) and all(
        expected == segment or expected.startswith("{") or (not from_request and segment.startswith("{"))
        for expected, segment in zip(pattern, segments, strict=True)
    )
