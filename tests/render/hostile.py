"""Documents full of texts that want to be more than texts, for every output that has an escape."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

from hypothesis import strategies as st
from pydantic import ValidationError

from dpsync.model.change import (
    Blocked,
    Change,
    Difference,
    Effect,
    Exposure,
    Kept,
    Note,
    PlatformTrouble,
    SitePreview,
    Step,
    Waiting,
)
from dpsync.model.drift import Drift, Drifted, Edit, EditedField, Edits, FieldDrift, Renamed
from dpsync.model.journal import Outcome, Report, Unkept
from dpsync.model.plan import Deviation, FaultRun, Origin, Plan, Rehearsal, Unproven
from dpsync.model.question import Candidate, Refusal
from dpsync.model.snapshot import MatchedBy
from dpsync.render.documents import (
    ApplyDocument,
    DriftDocument,
    Finding,
    FindingsDocument,
    PlanDocument,
    RehearseDocument,
    Related,
)
from dpsync.render.json_conversion import drift_document, plan_document

PIECES = [
    "`", "``", "```", "````\n", "~~~", "<script>alert(1)</script>", "</script>",
    "<!-- dpsync:plan:1 -->", "-->", "<img src=x onerror=alert(1)>", "</details>", "</summary>",
    "</code>", "@octocat", "@acme/docs", "#123", "GH-7", "acme/docs#4", "deadbeefcafe",
    "https://evil.example/x", "www.evil.example", "eve@evil.example", "[x](http://e)",
    "![x](http://e/x.png)", "[x]: http://e", "<http://evil.example>", "&lt;b&gt;", "&#64;x", "|",
    "| - |", "\n", "\n\n# Heading", "\n- item", "\n1. one", "1.", "2)", "===", "---", "***", "**bold**",
    "_em_", "~~no~~", ":tada:", "\u202e", "\u200b", "\x1b[31m", "\x07", "\r", "\t", "\\", "\\`", "$x$",
    "{{x}}", "${x}", "{0}", "[^1]", "- [ ] t", "::error::x", "::set-output name=a::b", "##[set-env name=a]x",
    "%0A", "%0A::error::", "]]>", "<![CDATA[", "&", "\"", "'", "\ufffe", "\U0001f600", "é", "ع", "漢字",
    "word", "two words", "(see", "it).", "x, y;", " ", "  ",
]  # fmt: skip
_ANY = st.text(st.characters(codec="utf-8"), max_size=3)
TEXT = st.lists(st.sampled_from(PIECES) | _ANY, max_size=5).map("".join)
NAME = TEXT.map(lambda text: f"acme/teams/{text.replace('/', '%2F') or 'x'}")
LONG = TEXT.map(lambda text: f"{text}\n" * 30)
VALUE = (
    TEXT
    | LONG
    | st.none()
    | st.booleans()
    | st.lists(TEXT, max_size=2)
    | st.dictionaries(TEXT, TEXT, max_size=2)
)
ORIGIN = st.builds(
    Origin, file=TEXT | st.just("caf\udce9.yaml"), line=st.integers(1, 99), column=st.integers(1, 99)
)
DIFFERENCE = st.builds(
    Difference,
    field=st.sampled_from(["title", "icon"]),
    before=VALUE,
    after=VALUE,
    known=st.booleans(),
    cause=st.sampled_from(["edited here", "changed outside", None]),
)


@st.composite
def changes(draw: st.DrawFn) -> Change:
    action = draw(st.sampled_from(["create", "update", "delete"]))
    asked = Step(id="1", verb="act", method="POST", path="/x", repeat="never", summary=draw(TEXT))
    return Change(
        address=draw(NAME),
        kind="team",
        action=action,
        label=draw(TEXT),
        id=draw(TEXT),
        matched=draw(st.sampled_from([None, *MatchedBy])),
        matched_detail=draw(TEXT),
        inside=draw(st.none() | TEXT),
        differences=tuple(draw(st.lists(DIFFERENCE, max_size=2))) if action != "delete" else (),
        moved=draw(st.none() | TEXT),
        cause=draw(st.sampled_from([None, "edited here", "changed outside"])),
        effects=(Effect(address=draw(NAME), what=draw(TEXT)),) if action == "delete" else (),
        steps=(asked,) if draw(st.booleans()) else (),
    )


@st.composite
def plans(draw: st.DrawFn) -> PlanDocument:
    found = draw(st.lists(changes(), max_size=12))
    candidate = Candidate(address=draw(NAME), id=draw(TEXT), title=draw(TEXT), why=draw(TEXT))
    refusal = Refusal(
        code="limits", address=draw(NAME), message=draw(TEXT), way_out=draw(TEXT), candidates=(candidate,)
    )
    blocked = Blocked(address=draw(NAME), reason=draw(TEXT), todo=draw(TEXT))
    told = draw(st.booleans())
    plan = Plan(
        platform=f"https://{draw(TEXT)}",
        environment=draw(st.none() | TEXT),
        base="0" * 40,
        base_from=draw(TEXT),
        changes=tuple(found),
        exposures=(Exposure(address=draw(NAME), field="title", words=draw(TEXT)),) if told else (),
        refusals=(refusal,) if told else (),
        blocked=(blocked,) if told else (),
        trouble=(PlatformTrouble(address=draw(NAME), what=draw(TEXT)),),
        waiting=(Waiting(address=draw(NAME), what=draw(TEXT)),),
        notes=(Note(address=draw(NAME), text=draw(TEXT), severity="warning"),),
        kept=(Kept(place="acme/teams", addresses=tuple(draw(st.lists(NAME, min_size=1, max_size=12)))),),
        previews=(SitePreview(address=draw(NAME), title=draw(TEXT), url=f"https://{draw(TEXT)}/ "),),
        origins={change.address: draw(ORIGIN) for change in found},
    )
    return plan_document(plan)


@st.composite
def drifts(draw: st.DrawFn) -> DriftDocument:
    field = FieldDrift(field="title", live=draw(VALUE), file=draw(VALUE), cause="changed outside")
    found = tuple(
        Drifted(
            address=draw(NAME), kind="team", what=what, label=draw(TEXT), fields=(field,), place=draw(TEXT),
            renamed=(Renamed(address=draw(NAME), id=draw(TEXT), label=draw(TEXT)),),
        )
        for what in draw(st.lists(st.sampled_from(["different", "missing", "undeclared"]), max_size=3))
    )  # fmt: skip
    return drift_document(Drift(found=found, unread=(draw(NAME),)))


@st.composite
def findings(draw: st.DrawFn) -> FindingsDocument:
    finding = st.builds(
        Finding, code=st.sampled_from(["DP201", "stale"]), severity=st.sampled_from(["error", "warning"]),
        message=TEXT, at=st.none() | ORIGIN, address=st.none() | NAME, hint=st.none() | TEXT,
        related=st.builds(lambda text, at: (Related(text=text, at=at),), TEXT, ORIGIN),
    )  # fmt: skip
    found = draw(st.lists(finding, max_size=12))
    field = st.builds(
        EditedField, field=TEXT, before=VALUE, after=VALUE,
        declared=st.sampled_from(["both", "before", "after"]),
    )  # fmt: skip
    edit = st.builds(
        Edit, address=NAME, what=st.sampled_from(["removed", "renamed", "changed", "added"]), kind=TEXT,
        label=TEXT, before=st.none() | NAME, inside=st.integers(0, 3), at=st.none() | ORIGIN,
        fields=st.lists(field, max_size=1).map(tuple),
    )  # fmt: skip
    edits = Edits(
        base=draw(st.sampled_from([None, "0" * 40])),
        base_from=draw(TEXT),
        found=tuple(draw(st.lists(edit, max_size=2))),
    )
    return FindingsDocument(
        exit=5,
        findings=tuple(found),
        left_out=draw(st.sampled_from([{}, {"DP201": 7}])),
        edits=draw(st.sampled_from([None, edits])),
    )


@st.composite
def applies(draw: st.DrawFn) -> ApplyDocument:
    made = draw(plans())
    results = ["done", "failed", "unknown", "not-tried", "stale", "requested"]
    outcome = st.builds(
        Outcome, step=TEXT, address=NAME, verb=st.just("update"), result=st.sampled_from(results),
        error=st.none() | TEXT, field=st.none() | TEXT, origin=st.none() | ORIGIN,
    )  # fmt: skip
    unkept = Unkept(address=draw(NAME), field="title", path=draw(TEXT), sent=draw(TEXT), live=draw(TEXT))
    report = Report(
        plan="0" * 64, outcomes=tuple(draw(st.lists(outcome, max_size=5))), verified=draw(st.booleans()),
        remaining=draw(st.sampled_from([None, made.plan, Plan()])), trouble=(draw(TEXT),), unkept=(unkept,),
        journal=draw(st.none() | TEXT), unrecorded=draw(st.none() | TEXT),
    )  # fmt: skip
    return ApplyDocument(exit=3, converged=False, plan=made, report=draw(st.sampled_from([None, report])))


@st.composite
def rehearsals(draw: st.DrawFn) -> RehearseDocument:
    made = draw(plans())
    deviation = st.builds(
        Deviation, what=st.sampled_from(["loading", "step", "convergence", "public", "stopped"]),
        message=TEXT, address=st.none() | NAME, step=st.none() | TEXT, origin=st.none() | ORIGIN,
    )  # fmt: skip
    left = st.builds(
        Unproven, what=st.sampled_from(["token", "refused", "assumed", "fetched"]), message=TEXT,
        about=st.lists(TEXT, max_size=5).map(tuple),
    )  # fmt: skip
    run = st.builds(
        FaultRun, seed=st.just(1), faults=st.just(("429 at write 1",)), good=st.booleans(), end=TEXT
    )
    rehearsal = Rehearsal(
        plan="0" * 64, steps=3, done=2, converged=draw(st.booleans()),
        deviations=tuple(draw(st.lists(deviation, max_size=3))),
        unproven=tuple(draw(st.lists(left, max_size=3))), seed=1,
        faults=tuple(draw(st.lists(run, max_size=2))),
    )  # fmt: skip
    made = made.model_copy(update={"rehearsal": draw(st.sampled_from([None, rehearsal]))})
    whole = draw(st.sampled_from([None, rehearsal]))
    return RehearseDocument(exit=4, fit=False, plan=made, rehearsal=whole)


DOCUMENTS = plans() | drifts() | findings() | applies() | rehearsals()

FORGED = "x\x00\x08\x1b[31m\ufffe\u202e\n::error::y <b>&]]>"
"""A text that no medium takes as it is."""


def forge(text: str, parse: Callable[[str], object]) -> str:
    """JSON with a hostile text in each place where `parse` takes one; each is another one."""
    found = json.loads(text)
    open_: dict[tuple[str | int, ...], bool] = {}
    for number, place in enumerate(_texts(found)):
        changed = _put(found, place, f"{number}{FORGED}")
        alike = tuple(-1 if isinstance(part, int) else part for part in place)
        if alike not in open_:
            open_[alike] = _fits(changed, parse)
        if open_[alike]:
            found = changed
    return json.dumps(found)


def _fits(value: Any, parse: Callable[[str], object]) -> bool:
    try:
        parse(json.dumps(value))
    except ValidationError:
        return False
    return True


def _texts(value: Any, *place: str | int) -> Iterator[tuple[str | int, ...]]:
    if isinstance(value, str):
        yield place
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, item in items:
        yield from _texts(item, *place, name)


def _put(value: Any, place: tuple[str | int, ...], text: str) -> Any:
    if not place:
        return text
    made = dict(value) if isinstance(value, dict) else list(value)
    made[place[0]] = _put(made[place[0]], place[1:], text)
    return made
