"""Rehearsals → views: what deviated first, then what was shown, and what could not be checked."""

from __future__ import annotations

from collections.abc import Iterator

from dpsync.model.plans.plan import DIGITS
from dpsync.model.plans.rehearsal import Rehearsal
from dpsync.render.json.documents import RehearseDocument
from dpsync.render.layout.deviations import deviation_blocks
from dpsync.render.layout.plan import about, plan_view
from dpsync.render.layout.view import Block, Blocks, Level, Tone, View, ViewEntry, ViewLine
from dpsync.render.words import rehearsal as words


def rehearsal_view(document: RehearseDocument) -> View:
    """All that is told of a rehearsal; of a plan that was not rehearsed, the plan."""
    plan, rehearsal = document.plan.plan, document.rehearsal
    if rehearsal is None:
        whole = plan_view(plan, document.plan.digest)
        said = "Nothing to rehearse." if plan.can_apply else "Not rehearsed."
        return View((ViewLine(said), *whole.verdict), whole.about, whole.blocks, whole.foot, name="rehearse")
    blocks = Blocks()
    blocks.found += deviation_blocks(plan, rehearsal)
    proven = (ViewEntry(what, text) for what, text in words.proven(rehearsal))
    headline = "Shown on a companion that holds what is live:"
    blocks.add(
        "proven", "Shown: {}", "none", proven, headline=headline, shape="lines", prefix="  ", tone="plain"
    )
    blocks.found += _faults(rehearsal)
    left = (
        ViewEntry(one.what, words.unproven(one), full=words.unproven(one, whole=True))
        for one in rehearsal.unproven
    )
    headline = "Could not be checked:"
    blocks.add(
        "unproven", "Could not be checked: {}", "note", left, headline=headline, shape="lines", prefix="  ",
        tone="plain", asked=True,
    )  # fmt: skip
    tone: Tone = "good" if rehearsal.fit else "bad"
    verdict = (ViewLine(words.summary(rehearsal)), ViewLine(words.verdict(rehearsal), tone))
    foot = (ViewLine(f"plan {rehearsal.plan[:DIGITS]}; nothing but GET was sent to the platform"),)
    return View(verdict, about(plan), tuple(blocks.found), foot, name="rehearse")


def _faults(rehearsal: Rehearsal) -> Iterator[Block]:
    blocks = Blocks()
    headline = f"With faults, drawn from --seed {rehearsal.seed}:"
    levels: tuple[tuple[bool, Level], ...] = ((True, "none"), (False, "error"))
    for good, level in levels:
        runs = (
            ViewEntry(str(number), words.faults(run), sign="" if good else "!")
            for number, run in enumerate(rehearsal.faults, 1)
            if run.good is good
        )
        title = f"With faults, {'converged' if good else 'ended otherwise'}: {{}}"
        blocks.add(
            "fault" if good else "failed-fault", title, level, runs, fails=not good, headline=headline,
            shape="lines", prefix="  ", tone="plain" if good else "bad",
        )  # fmt: skip
    yield from blocks.found
